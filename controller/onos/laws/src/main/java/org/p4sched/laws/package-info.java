/**
 * The control laws: pure functions from counters, configuration and state to the parameters of a scheduler.
 *
 * <p>They make the same decisions as those of the Python controller ({@code controller/p4sched/control/laws}), where
 * each law is derived. A law reads no clock and does no input or output: a sample carries the time at which its
 * counters were read. Values are immutable; their fields are public and final.
 */
package org.p4sched.laws;

/**
 * The control laws: pure functions from counters, configuration and state to the parameters of a scheduler.
 *
 * <p>They are those of the Python controller ({@code controller/p4sched/control/laws}), decision by decision. There each
 * law is derived; here are its formulas. A law reads no clock and does no input or output: a sample carries the time at
 * which its counters were read. Values are immutable; their fields are public and final.
 */
package org.p4sched.laws;

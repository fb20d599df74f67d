/**
 * The decision log: JSON lines from which every decision can be made again. Both controllers write the same lines, and
 * each of them replays the other's.
 */
package org.p4sched.laws.log;

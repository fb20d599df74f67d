/**
 * Records: what a configuration, a sample or a decision is in JSON. Values are those of {@code java.util} and {@code
 * java.lang}: maps, lists, Long, Double, Boolean, String and null.
 */
package org.p4sched.laws.record;

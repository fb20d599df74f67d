/**
 * Records: configurations, samples and decisions as JSON. Values are those of {@code java.util} and {@code
 * java.lang}: maps, lists, Long, Double, Boolean, String and null.
 */
package org.p4sched.laws.record;

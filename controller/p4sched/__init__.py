"""p4sched: a laboratory for packet scheduling on programmable switches."""

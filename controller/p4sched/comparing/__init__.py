"""`p4sched compare`: schedulers on a fixed set of workloads in virtual time, with one page for all results."""

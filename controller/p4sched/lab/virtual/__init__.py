"""The lab in virtual time: the process p4sched-virtual, and an event loop that shares its clock."""

"""`p4sched reproduce`: the published figures and tables, each next to what the laboratory measures."""

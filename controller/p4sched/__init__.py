"""p4sched: a laboratory for packet scheduling on programmable switches.

docs/API.md lists the public modules and names. All others are private.
"""

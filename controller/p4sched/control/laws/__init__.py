"""What is a scheme's own on the controller's side, one module per scheme: parameters, and a law where it has one.

A law is a pure function from counters, configuration and state to parameters (`p4sched.control.law`).
"""

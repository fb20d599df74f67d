"""The controller's part of each scheme, one module per scheme: parameters, and a law if it has one.

A law is a pure function from counters, configuration and state to parameters (`p4sched.control.law`).
"""

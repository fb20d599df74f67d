"""Queues to look at while they move: in a browser, in a terminal, and again from the logs of a finished run.

`view` describes a switch for the page, `collector` reads it, `frames` makes the messages, `page` serves it.
"""

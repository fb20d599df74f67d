"""Queues to look at while they move: in a browser, in a terminal, and again from the logs of a finished run.

`view` says what there is to see of a switch, `collector` reads it, `frames` is what a page gets, `page` serves it.
"""

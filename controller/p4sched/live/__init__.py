"""Shows queues live: in a browser, in a terminal, and as a replay from the logs of a finished run.

`view` describes a switch for the page, `collector` reads it, `messages` makes the messages, `page` serves the page.
"""

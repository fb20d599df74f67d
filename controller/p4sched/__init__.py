"""p4sched: a laboratory for packet scheduling on programmable switches.

docs/API.md lists the public modules and names. All others are private.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the wheel is for 3.10, too
    from p4sched import older_python

    older_python.complete()

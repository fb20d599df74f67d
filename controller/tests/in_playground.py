"""What tests of the playground need: Chromium, and what `make playground` builds."""

from pathlib import Path

import pytest

from p4sched.paths import PLAYGROUND_DIR

CHROMIUM = Path("/usr/bin/chromium")
FILES = ("program.wasm", "files.json", "labs.zip", "main.js")


def missing() -> str:
    """Why the tests are left out; empty if they can run."""
    if not all((PLAYGROUND_DIR / name).is_file() for name in FILES):
        return "the playground is left out: 'make playground' has not built it"
    return "" if CHROMIUM.is_file() else "the playground is left out: it needs Debian's chromium"


IN_PLAYGROUND = pytest.mark.skipif(bool(missing()), reason=missing())
"""Mark of tests that drive the page."""

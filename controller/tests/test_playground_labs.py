"""Labs in the page and on the command line: some of all known solutions, in Chromium."""

import random
from collections.abc import Iterator

import pytest
from in_playground import IN_PLAYGROUND
from playwright.sync_api import Page

from p4sched.paths import ROOT
from playground.compare_labs import Submission, compare, opened_page, submissions

SEED = 31
SAMPLE = 6

pytestmark = [
    IN_PLAYGROUND,
    pytest.mark.skipif(
        not (ROOT / "switch" / "target" / "release" / "p4sched-decisions").is_file(),
        reason="p4sched-decisions is not built",
    ),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page in Chromium; its worker loads Python once."""
    with opened_page() as found:
        yield found


@pytest.mark.parametrize(
    "submission",
    random.Random(SEED).sample(list(submissions()), SAMPLE),
    ids=lambda one: f"{one.entry.number} {one.what}",
)
def test_a_check_in_the_page_is_that_of_the_command_line(page: Page, submission: Submission) -> None:
    assert compare(page, submission).differences == []

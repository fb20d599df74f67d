"""The registry of schemes here and the one in Rust (switch/schedulers/src/lib.rs) say the same."""

import json
import subprocess
from typing import Any

from test_schemes import written

from p4sched.p4rt.traffic_manager import BEYOND_BMV2
from p4sched.paths import rust_binary
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES


def record(scheme: Scheme) -> dict[str, Any]:
    """The scheme as `p4sched-stepped --list-schemes` prints it."""
    return {
        "name": scheme.name,
        "program": scheme.program,
        "discipline": scheme.discipline.value,
        "ideal": scheme.discipline in BEYOND_BMV2,
        "rank_field": scheme.rank_field,
        "table": scheme.parameters.table,
        "action": scheme.parameters.action,
        "parameters": list(written(scheme).action_data()),
    }


def test_both_sides_have_the_same_record_of_each_scheme() -> None:
    listed = subprocess.run(
        [rust_binary("p4sched-stepped"), "--list-schemes"], capture_output=True, text=True, check=True
    ).stdout
    in_rust = [json.loads(line) for line in listed.splitlines()]
    # A fair discipline needs nothing of its program, so its model is compared with the traffic manager alone.
    here = [record(scheme) for scheme in SCHEMES.values() if scheme.in_laboratory and not scheme.fair]
    assert sorted(in_rust, key=lambda each: str(each["name"])) == sorted(here, key=lambda each: str(each["name"]))

"""The lab in a browser tab: its program gives in Chromium what the command line gives."""

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from in_playground import CHROMIUM, missing
from playwright.sync_api import Page, sync_playwright

from p4sched.cli import playground
from p4sched.errors import P4schedError
from p4sched.paths import PLAYGROUND_DIR, ROOT, rust_binary

RUN = """
([words, files, input]) => new Promise((resolve, reject) => {
  globalThis.worker ??= new Promise((ready, failed) => {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => data.failed ? failed(new Error(data.failed)) : ready(worker);
  });
  globalThis.worker.then((worker) => {
    worker.onmessage = ({ data }) => data.failed ? reject(new Error(data.failed)) : resolve(data.run);
    worker.postMessage({ id: 1, words, files, input });
  }, reject);
})
"""
"""Runs the program in the worker of the page."""

RANKS = ("uniform", "poisson", "exponential", "inverse-exponential", "convex")
ACCESS = {"rate_bps": 1_000_000_000, "delay_ns": 10_000}
BOTTLENECK = {"rate_bps": 50_000_000, "delay_ns": 500_000}
DUMBBELL = {"dumbbell": {"hosts": 3, "access": ACCESS, "bottleneck": BOTTLENECK}}
INCAST = {"incast": {"senders": 8, "access": ACCESS, "bottleneck": BOTTLENECK}}
THREE_FLOWS = [
    {"source": f"u{n}", "destination": "server", "bytes": 300_000 * n, "start_ns": n * 1_000_000, "rank": n}
    for n in (1, 2, 3)
]
AT_ONCE = [{"source": f"h{n}", "destination": "receiver", "bytes": 60_000, "rank": n} for n in range(1, 9)]
SIZES = {"queues": 8, "queue_size": 10, "window": 20, "headroom_256": 26}
BANDS = {"interval_us": 1024, "edge_1": 3200, "edge_2": 6400, "depth_1": 20, "depth_2": 20, "depth_3": 20}
WEB = {"poisson": {"sizes": "web_search", "load": 0.7, "link_bps": 50_000_000, "duration_ns": 300_000_000}}


def scenario(ports: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Three flows of TCP over one link, with changes."""
    usual = {"topology": DUMBBELL, "transports": {"tcp": {"control": "cubic"}}, "flows": {"list": THREE_FLOWS}}
    return {"end_ns": 400_000_000, "ports": ports, **usual, **changed}


def sized(scheme: str) -> dict[str, Any]:
    """Ports with a scheme, all with the same sizes."""
    return {"scheme": scheme, **SIZES}


NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("p4", scenario(sized("fifo"))),
    ("p4", scenario(sized("aifo"))),
    ("p4", scenario(sized("packs"), ranks="remaining")),
    ("p4", scenario(sized("sp_pifo"), transports={"tcp": {"control": "bbr"}})),
    ("p4", scenario({"scheme": "fdpa", "parameters": BANDS})),
    ("p4", scenario(sized("aifo"), topology=INCAST, flows={"list": AT_ONCE})),
    ("model", scenario(sized("pifo"), ranks="to_end", flows=WEB)),
    ("model", scenario(sized("rifo"), ranks="remaining", flows=WEB)),
    ("model", scenario(sized("fifo") | {"mark_at_packets": 20}, transports={"tcp": {"control": "dctcp"}})),
    ("model", scenario({"scheme": "drr"}, topology=INCAST, flows={"list": AT_ONCE})),
]
STEPPED = ("stepped", "--window", "20", "--packets", "3000")
RUNS: list[tuple[list[str], dict[str, str]]] = [
    *(
        ([*STEPPED, "--with", what, "--ranks", ranks, "--output", "out.json"], {})
        for ranks in RANKS
        for what in ("model", "p4")
    ),
    *(
        (["simulate", "scenario.json", "--with", what, "--output", "out"], {"scenario.json": json.dumps(network)})
        for what, network in NETWORKS
    ),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of the playground's address."""
    if missing():
        pytest.skip(missing())
    serving = playground.server(PLAYGROUND_DIR, 0)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        found = browser.new_page()
        found.goto(f"http://127.0.0.1:{serving.server_port}/files.json")
        yield found
        browser.close()
    serving.shutdown()
    serving.server_close()


def in_browser(page: Page, words: list[str], files: Mapping[str, str] = {}, request: str = "") -> dict[str, Any]:
    """One run in the worker."""
    found: dict[str, Any] = page.evaluate(RUN, [words, dict(files), request])
    return found


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with the lab's programs, for the command line."""
    (tmp_path / "p4").symlink_to(ROOT / "p4")
    return tmp_path


def on_command_line(lab: Path, words: list[str], files: Mapping[str, str]) -> dict[str, str]:
    """The files that a run of the native program writes."""
    for name, text in files.items():
        (lab / name).write_text(text)
    subprocess.run([str(rust_binary("p4sched-tools")), *words], cwd=lab, check=True, capture_output=True)
    written = [path for name in ("out.json", "out/*") for path in lab.glob(name)]
    return {str(path.relative_to(lab)): path.read_bytes().decode() for path in written}


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_browser_and_command_line_write_the_same_bytes(page: Page, lab: Path, number: int) -> None:
    words, files = RUNS[number]
    run = in_browser(page, words, files)
    assert run["code"] == 0, run["errors"]
    assert run["files"] == on_command_line(lab, words, files)
    assert run["files"]


@pytest.mark.parametrize("words", [["p4/packs.p4"], ["--arch", "tna", "--stages", "tofino-port/aifo.p4"]])
def test_the_compiler_prints_and_writes_the_same(page: Page, lab: Path, words: list[str]) -> None:
    options = [] if "--stages" in words else ["-o", "out.json", "--p4runtime-files", "out.txtpb"]
    (lab / "tofino-port").symlink_to(ROOT / "tofino-port")
    run = in_browser(page, ["p4c", *options, *words])
    native = subprocess.run(
        [str(rust_binary("p4sched-p4c")), *options, *words], cwd=lab, check=False, capture_output=True, text=True
    )
    assert (run["code"], run["output"], run["errors"]) == (native.returncode, native.stdout, native.stderr)
    assert run["files"] == {path.name: path.read_text() for path in lab.glob("out.*")}


def test_a_changed_program_runs_and_only_in_its_own_call(page: Page) -> None:
    source = (ROOT / "p4" / "aifo.p4").read_text()
    words = [*STEPPED, "--with", "p4", "--schemes", "aifo"]
    before = in_browser(page, words)
    changed = source.replace("admission.apply(", "length = 0; admission.apply(")
    assert in_browser(page, words, {"p4/aifo.p4": changed})["output"] != before["output"]
    assert in_browser(page, words)["output"] == before["output"]


def test_an_error_has_its_place_and_the_answers_of_an_editor_come(page: Page) -> None:
    source = (ROOT / "p4" / "aifo.p4").read_text()
    broken = source.replace("meta.rank, window_size", "meta.rnk, window_size")
    line = broken[: broken.index("meta.rnk")].count("\n")
    request = json.dumps({"file": "p4/aifo.p4"})
    run = in_browser(page, ["check"], {"p4/aifo.p4": broken}, request)
    (message,) = json.loads(run["output"])["messages"]
    assert (message["file"], message["range"]["start"]["line"], message["severity"]) == ("p4/aifo.p4", line, 1)
    assert "rnk" in message["message"]
    at = {"textDocument": {"uri": "file:///p4/aifo.p4"}, "position": {"line": line, "character": 14}}
    question = json.dumps({"method": "textDocument/definition", "params": at})
    place = json.loads(in_browser(page, ["ask"], {}, question)["output"])["result"]
    assert place["uri"] == "file:///p4/aifo.p4"


def test_a_crash_and_a_wrong_path_are_sentences_and_the_next_run_works(page: Page) -> None:
    deep = "control c() { apply { bit<8> x = " + "(" * 100_000 + "1" + ")" * 100_000 + "; } }"
    run = in_browser(page, ["check"], {"p4/deep.p4": deep}, json.dumps({"file": "p4/deep.p4"}))
    assert run["code"] == 0 or run["errors"].strip()
    with pytest.raises(Exception, match=r"begins at the root"):
        in_browser(page, ["check"], {"../x.p4": ""})
    assert in_browser(page, ["stepped", "--list-schemes"])["code"] == 0


def test_without_a_build_or_a_free_port_the_command_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playground, "PLAYGROUND_DIR", tmp_path)
    with pytest.raises(P4schedError, match="make playground"):
        playground.playground(0, browser=False)
    (tmp_path / "index.html").touch()
    with playground.server(tmp_path, 0) as other, pytest.raises(P4schedError, match="cannot listen"):
        playground.playground(other.server_port, browser=False)

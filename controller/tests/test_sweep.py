"""`p4sched sweep`: its points, what survives a kill, what is refused, and what a report shows of it."""

import fcntl
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from lab import PATIENCE_S
from pyarrow import parquet

from p4sched.cli.main import run_command
from p4sched.errors import UsageError
from p4sched.paths import rust_binary
from p4sched.results import intervals, sweeps
from p4sched.sweep import plan as plans
from p4sched.sweep.point import ATTEMPTS, FIGURES

SCENARIO = """
[scenario]
end_ns = 20_000_000
ranks = "to_end"
ports = {scheme = "fifo", queues = 2, queue_size = 10, window = 8}
transports.tcp = {control = "new_reno"}

[scenario.topology.dumbbell]
hosts = 3
access = {rate_bps = 1_000_000_000}
bottleneck = {rate_bps = 100_000_000, delay_ns = 1000}

[scenario.flows.poisson]
sizes = "web_search"
scale = 0.001
load = 0.5
link_bps = 100_000_000
duration_ns = 10_000_000
sources = ["u1", "u2", "u3"]
destinations = ["server"]

"""
SWEEP = 'schemes = ["fifo", "pifo"]\nseeds = [1, 2]\n' + SCENARIO
COMMAND = [sys.executable, "-c", "from p4sched.cli.start import main; main()"]


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A SWEEP.toml of four points."""
    path = tmp_path / "loads.toml"
    path.write_text(SWEEP)
    return path


Wrapper = Callable[[str], Path]


@pytest.fixture
def simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wrapper:
    """Puts a line of shell before each start of the simulator: `"$1"` is its scenario, `$real` the simulator."""

    def make(script: str) -> Path:
        path = tmp_path / "simulator"
        path.write_text(f'#!/bin/sh\nreal={rust_binary("p4sched-simulate")}\n{script}\nexec "$real" "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("P4SCHED_SIMULATE", str(path))
        return path

    return make


def rows(folder: Path) -> list[dict[str, Any]]:
    """The points in the result of a sweep."""
    found: list[dict[str, Any]] = parquet.read_table(folder / sweeps.FILE).to_pylist()
    return found


def run(sweep: Path, out: Path, *words: str) -> int:
    return run_command(["sweep", str(sweep), "--out", str(out), *words])


def test_points_are_the_product_with_the_seeds_innermost(sweep: Path) -> None:
    sweep.write_text(
        'schemes = ["fifo", {name = "wide", scheme = "packs", queues = 8}]\nseeds = [5, 6]\nsame_at_hosts = true\n'
        + SCENARIO
        + '[parameters]\n"topology.dumbbell.hosts" = [3, 4]\nranks = ["flow", "to_end"]\n'
    )
    plan = plans.read(sweep)
    assert len(plan.points) == 2 * 2 * 2 * 2
    first, last = plan.points[0], plan.points[-1]
    assert str(first) == "scheme fifo, load 0.5, topology.dumbbell.hosts 3, ranks flow, seed 5"
    assert [point.seed for point in plan.points[:4]] == [5, 6, 5, 6]
    assert first.scenario["ports"] == {"scheme": "fifo", "queues": 2, "queue_size": 10, "window": 8}
    assert last.scenario["ports"] == last.scenario["hosts"] == {"scheme": "packs", "queues": 8}
    assert last.scenario["topology"]["dumbbell"]["hosts"] == 4
    assert (last.scenario["ranks"], last.scenario["seed"]) == ("to_end", 6)


@pytest.mark.parametrize(
    ("text", "says"), [("schemes = [", "is not TOML"), ("schemes = " + "[" * 5000, "too deeply nested")]
)
def test_a_sweep_that_is_damaged_fails_before_anything_is_written(
    text: str, says: str, sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep.write_text(text)
    assert run(sweep, sweep.parent / "out") == 1
    assert says in capsys.readouterr().err
    assert not (sweep.parent / "out").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scheme = 3" + SCENARIO, "no setting 'scheme'; did you mean 'schemes'?"),
        ('schemes = ["wfq"]' + SCENARIO, "scheme wfq, load 0.5, seed 1: ports.scheme: there is no scheme wfq"),
        ("schemes = []" + SCENARIO, "schemes is empty"),
        ('schemes = ["fifo", "fifo"]' + SCENARIO, "schemes has 'fifo' twice"),
        ("schemes = [3]" + SCENARIO, "schemes has 3: it is a name, or a table"),
        ("loads = [0]" + SCENARIO, "loads has 0: a load is a number above 0"),
        ("loads = 0.5" + SCENARIO, "loads is a list"),
        ("seeds = [-1]" + SCENARIO, "seeds has -1"),
        ("check = true" + SCENARIO, "needs programs = true"),
        ("seeds = []" + SCENARIO, "seeds is empty"),
        (SCENARIO.replace("1_000_000_000", "0"), "topology"),
        (SCENARIO + "[parameters]\nranks = []", "parameters: ranks is empty"),
        (SCENARIO + '[parameters]\nranks = ["flow", 3]', "mixes numbers and other values"),
        (SCENARIO + '[parameters]\n"topology.star.hosts" = [1]', "the scenario has no topology.star"),
        (SCENARIO + "[parameters]\nseed = [1]", "seed has a list of its own, seeds"),
        (
            f"seeds = {list(range(1000))}\nloads = {[n / 1000 for n in range(1, 1001)]}" + SCENARIO,
            "points are too many",
        ),
        ("seeds = [1]", "scenario is missing"),
        ('scenario = "gone.json"', "gone.json: cannot be read: No such file"),
        ("[scenario]\nports = {}", "the scenario has no topology"),
        ("[scenario]\nend_ns = 2026-11-22", "the scenario has a value that JSON does not know"),
        ('schemes = ["fifo", "pifo"]\nprograms = true' + SCENARIO, "scheme pifo, load 0.5, seed 1: "),
    ],
)
def test_a_sweep_without_sense_is_refused_before_anything_is_written(
    text: str, says: str, sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep.write_text(text)
    assert run(sweep, sweep.parent / "out") == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.strip().splitlines()) == 1
    assert not (sweep.parent / "out").exists()


def test_a_file_of_flows_is_found_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    text = '{"end_ns": 1000, "topology": {}, "ports": {"scheme": "fifo"}, "flows": {"file": "f.csv"}}'
    (tmp_path / "given" / "scenario.json").write_text(text)
    (tmp_path / "sweep.toml").write_text('scenario = "given/scenario.json"\n')
    (point,) = plans.read(tmp_path / "sweep.toml").points
    assert point.scenario["flows"]["file"] == str(tmp_path / "given" / "f.csv")
    (tmp_path / "sweep.toml").write_text('scenario = "given/scenario.json"\nloads = [0.5]\n')
    with pytest.raises(UsageError, match="loads have no effect"):
        plans.read(tmp_path / "sweep.toml")


def test_a_sweep_has_a_row_for_each_point_and_runs_none_twice(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], simulator: Wrapper
) -> None:
    out = tmp_path / "out"
    sweep.write_text("loads = [0.3, 0.9]\n" + SWEEP)
    simulator(f"echo >> {tmp_path / 'runs'}")
    assert run(sweep, out, "--jobs", "3") == 0
    found = rows(out)
    assert [(row["scheme"], row["load"], row["seed"]) for row in found] == [
        (scheme, load, seed) for scheme in ("fifo", "pifo") for load in (0.3, 0.9) for seed in (1, 2)
    ]
    assert all(row["error"] is None and row["small_mean_ms"] > 0 for row in found)
    schema = parquet.read_schema(out / sweeps.FILE)
    assert schema.names == ["scheme", "load", "seed", *FIGURES, "error"]
    assert all(schema.field(name).metadata[b"meaning"] for name in schema.names)
    assert (out / "figure.png").is_file()
    before, runs = (out / sweeps.FILE).read_bytes(), (tmp_path / "runs").read_text()
    capsys.readouterr()
    assert run(sweep, out) == 0
    assert "8 of 8 points are done already" in capsys.readouterr().out
    assert (out / sweeps.FILE).read_bytes() == before
    # the two of the second run are those that try the scenario
    assert len((tmp_path / "runs").read_text()) == len(runs) + 2


def test_a_changed_sweep_keeps_the_points_that_are_the_same(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], simulator: Wrapper
) -> None:
    out = tmp_path / "out"
    assert run(sweep, out) == 0
    first = rows(out)
    sweep.write_text(SWEEP.replace("seeds = [1, 2]", "seeds = [2, 3]"))
    capsys.readouterr()
    assert run(sweep, out) == 0
    told = capsys.readouterr().out
    assert "the sweep has changed: points that are as before stay" in told
    assert "2 of 4 points are done already" in told
    assert [row for row in rows(out) if row["seed"] == 2] == [row for row in first if row["seed"] == 2]
    simulator("# another one")
    assert run(sweep, out) == 0
    told = capsys.readouterr().out
    assert "the simulator or a program is another one than before" in told
    assert "there already" not in told


def test_a_point_that_fails_leaves_the_others_and_is_reported(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    sweep.write_text(SWEEP + '[parameters]\n"ports.queue_size" = [10, 0]\n')
    assert run(sweep, out) == 1
    error = capsys.readouterr().err
    assert "4 of 8 points failed, the first one (scheme fifo, load 0.5, ports.queue_size 0, seed 1): ports: " in error
    failed = [row for row in rows(out) if row["error"] is not None]
    assert {row["ports.queue_size"] for row in failed} == {0}
    assert all("out of range" in str(row["error"]) and row["flows"] is None for row in failed)
    assert run_command(["report", str(out)]) == 0
    page = (out / "report.html").read_text()
    assert "out of range" in page
    assert "small restricted mean, ms" in page
    assert run(sweep, out) == 1
    assert "4 of 8 points are done already" in capsys.readouterr().out


def test_a_simulator_that_is_killed_is_started_again(sweep: Path, tmp_path: Path, simulator: Wrapper) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    simulator(
        f'case "$1" in */running/*) mkdir {killed}/$(basename "$(dirname "$1")") 2>/dev/null && kill -9 $$;; esac'
    )
    assert run(sweep, tmp_path / "out") == 0
    assert len(list(killed.iterdir())) == 4
    assert all(row["error"] is None for row in rows(tmp_path / "out"))


def test_a_simulator_that_is_killed_each_time_fails(
    sweep: Path, tmp_path: Path, simulator: Wrapper, capsys: pytest.CaptureFixture[str]
) -> None:
    simulator('case "$1" in */running/1/*) kill -9 $$;; esac')
    assert run(sweep, tmp_path / "out") == 1
    says = f"p4sched-simulate was ended by SIGKILL, {ATTEMPTS} times"
    assert f"1 of 4 points failed, the first one (scheme fifo, load 0.5, seed 2): {says}" in capsys.readouterr().err


def test_a_sweep_that_is_killed_leaves_no_process_and_goes_on(
    sweep: Path, tmp_path: Path, simulator: Wrapper, capsys: pytest.CaptureFixture[str]
) -> None:
    out, pipe = tmp_path / "out", tmp_path / "pipe"
    os.mkfifo(pipe)
    # the third point waits for a scenario that never comes
    simulator(f'case "$1" in */running/2/*) [ -p {pipe} ] && shift && exec "$real" {pipe} "$@";; esac')
    parent = subprocess.Popen([*COMMAND, "sweep", str(sweep), "--out", str(out), "--jobs", "1"])
    with pipe.open("w") as never:
        parent.kill()
        parent.wait()
        ended = select.poll()
        ended.register(never, 0)
        assert ended.poll(PATIENCE_S * 1000), "the simulator ends with the sweep that started it"
    pipe.unlink()
    assert len(list((out / "points").iterdir())) == 2
    assert not (out / sweeps.FILE).exists()
    assert run(sweep, out) == 0
    assert "2 of 4 points are done already" in capsys.readouterr().out
    assert not (out / "running").exists()
    undisturbed = tmp_path / "undisturbed"
    assert run(sweep, undisturbed) == 0
    assert rows(out) == rows(undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_what_is_left(
    number: signal.Signals, sweep: Path, tmp_path: Path, simulator: Wrapper
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    simulator(f'case "$1" in */running/2/*) shift && exec "$real" {pipe} "$@";; esac')
    words = [*COMMAND, "sweep", str(sweep), "--out", str(tmp_path / "out"), "--jobs", "1"]
    parent = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    with pipe.open("w"):
        parent.send_signal(number)
        _, told = parent.communicate()
    assert parent.returncode == 130
    assert "2 of 4 points are left; run the same command to continue" in told


def test_a_damaged_point_runs_again(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(sweep, out) == 0
    whole = rows(out)
    for damage, path in zip(
        ('{"figures": {"flows"', "{}", '{"figures": {"flows": 1}}'), (out / "points").iterdir(), strict=False
    ):
        path.write_text(damage)
    assert run(sweep, out) == 0
    assert "1 of 4 points are done already" in capsys.readouterr().out
    assert rows(out) == whole


def test_on_dask_the_result_is_the_same_also_when_a_worker_is_killed(
    sweep: Path, tmp_path: Path, simulator: Wrapper
) -> None:
    # The sweep itself tries the scenario, for a nanosecond; the first real run kills the worker that started it.
    simulator(f'grep -q \'"end_ns": 1,\' "$1" || ! mkdir {tmp_path / "killed"} 2>/dev/null || kill -9 $PPID')
    words = ["sweep", str(sweep), "--out"]
    told = subprocess.run(
        [*COMMAND, *words, str(tmp_path / "dask"), "--dask", "local", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "killed").exists()
    assert run(sweep, tmp_path / "here") == 0
    assert (tmp_path / "dask" / sweeps.FILE).read_bytes() == (tmp_path / "here" / sweeps.FILE).read_bytes()


def test_a_scheduler_that_does_not_answer_is_reported(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p4sched.sweep.workers.PATIENCE_S", 0.1)
    assert run(sweep, tmp_path / "out", "--dask", "tcp://127.0.0.1:1") == 1
    assert "--dask tcp://127.0.0.1:1: no scheduler of Dask answers" in capsys.readouterr().err


def test_a_server_that_is_no_scheduler_is_reported(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p4sched.sweep.workers.PATIENCE_S", 0.5)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        address = f"tcp://127.0.0.1:{web.server_port}"
        assert run(sweep, tmp_path / "out", "--dask", address) == 1
        web.shutdown()
    assert f"--dask {address}: no scheduler of Dask answers: nothing in 0.5 s" in capsys.readouterr().err


def test_dask_that_is_not_installed_is_reported(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run(sweep, tmp_path / "out", "--dask", "local") == 1
    assert "--dask needs the package 'distributed'" in capsys.readouterr().err


def test_programs_decide_over_a_list_of_flows_without_a_load(sweep: Path, tmp_path: Path) -> None:
    listed = SCENARIO[: SCENARIO.index("[scenario.flows.poisson]")]
    flow = '[[scenario.flows.list]]\nsource = "u1"\ndestination = "server"\nbytes = 50000\n'
    sweep.write_text("programs = true\ncheck = true\nseeds = [1, 2]\n" + listed + flow)
    assert run(sweep, tmp_path / "out") == 0
    assert [(row["load"], row["completed"], row["error"]) for row in rows(tmp_path / "out")] == [(None, 1, None)] * 2


def test_two_sweeps_do_not_write_to_one_folder(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(sweep, out) == 0
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(sweep, out) == 1
    assert "another sweep writes to it now" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_reported(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(sweep, sweep / "out") == 2
    assert "cannot be written: " in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root to mount a small disk")
def test_a_full_disk_ends_the_sweep_with_a_sentence(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    script = f'mount -t tmpfs -o size=24k none {out} && exec "$@"'
    words = [*COMMAND, "sweep", str(sweep), "--out", str(out), "--jobs", "1"]
    told = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *words], capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert told.stderr.strip().splitlines()[-1].endswith("cannot write: No space left on device"), told.stderr


def test_a_file_that_is_no_sweep_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / sweeps.FILE).write_text("nothing")
    assert run_command(["report", str(tmp_path)]) == 1
    assert "is not the result of a sweep" in capsys.readouterr().err


def row_of(scheme: str, seed: int, **figures: Any) -> dict[str, Any]:
    """A row of a result, without the other figures."""
    same = {"scheme": scheme, "load": 0.5, "seed": seed, "error": None}
    return same | dict.fromkeys(sweeps.SHOWN) | figures


def test_a_mean_over_seeds_has_an_interval_and_needs_all_of_them() -> None:
    told = [
        row_of("fifo", 1, restricted_mean_ms=1.0, restricted_p99_ms=5.0),
        row_of("fifo", 2, restricted_mean_ms=2.0),
        row_of("fifo", 3, restricted_mean_ms=6.0),
        row_of("fifo", 4, error="it failed"),
    ]
    (group,) = sweeps.group_rows(told, [])
    mean = group["restricted_mean_ms"]
    assert (group["seeds"], mean.value, group["restricted_p99_ms"]) == (3, 3.0, None)
    # standard deviation 2.646, t = 4.303 for two degrees of freedom
    assert mean.interval == pytest.approx((3 - 6.573, 3 + 6.573), abs=0.001)
    assert str(mean) == "3±6.6"


def test_ratios_are_paired_by_seed() -> None:
    # the seeds differ by a factor of 100, the schemes by one of about 2
    times = {"pifo": (1.0, 10.0, 100.0), "packs": (2.0, 19.0, 210.0)}
    told = [
        row_of(scheme, seed, restricted_mean_ms=time) for scheme in times for seed, time in enumerate(times[scheme])
    ]
    ((group, ratio),) = sweeps.ratios(sweeps.group_rows(told, []))
    assert group["where"]["scheme"] == "packs"
    found = ratio["restricted_mean_ms"]
    assert found is not None
    assert found.interval is not None
    assert found.value == pytest.approx((2.0 * 1.9 * 2.1) ** (1 / 3))
    assert 1.7 < found.interval[0] < 2 < found.interval[1] < 2.3
    assert ratio["restricted_p99_ms"] is None


def test_intervals_widen_as_students_t_with_few_seeds() -> None:
    assert [round(intervals.student_t(degrees), 3) for degrees in (1, 4, 9, 11, 20, 120)] == [
        12.706,
        2.776,
        2.262,
        2.201,
        2.086,
        1.98,
    ]
    assert intervals.over_seeds([1.0]) is None


SHORT = SWEEP.replace("end_ns = 20_000_000", "end_ns = 4_000_000").replace("load = 0.5", "load = 3")


def test_a_flow_that_did_not_end_counts_with_the_time_until_the_end(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    sweep.write_text(SHORT)
    assert run(sweep, out, "--keep-flows") == 0
    said = capsys.readouterr()
    assert "warning: scheme fifo, load 3.0: only " in said.err
    assert "done" in said.out
    flows = parquet.read_table(out / "flows.parquet").to_pylist()
    for row in rows(out):
        assert row["completed_share"] < sweeps.ENOUGH_DONE
        own = [
            f for f in flows if (f["scheme"], f["seed"]) == (row["scheme"], row["seed"]) and f["start_ns"] < 4_000_000
        ]
        times = [
            (4_000_000 - f["start_ns"] if f["received_ns"] is None else f["received_ns"] - f["start_ns"]) / 1e6
            for f in own
        ]
        assert row["restricted_mean_ms"] == pytest.approx(sum(times) / len(times))
        assert row["restricted_mean_ms"] > row["mean_ms"]
    assert run_command(["report", str(out)]) == 0
    page = (out / "report.html").read_text()
    assert "% of the flows ended" in page
    assert "Ratios" in page


def test_a_sweep_of_one_load_says_that_it_has_no_figure(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(sweep, out, "--paper", "pdf") == 0
    assert "no figure: it needs two loads, or a parameter with two numbers" in capsys.readouterr().out
    assert not [path for path in out.iterdir() if path.suffix in {".png", ".pdf"}]


def test_results_for_a_paper(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    sweep.write_text("loads = [0.3, 0.9]\n" + SWEEP)
    words = ("--csv", "--paper", "pdf", "--paper", "svg", "--width", "3.5")
    assert run(sweep, out, *words) == 0
    svg = (out / "figure.svg").read_text()
    assert 'width="252pt"' in svg, "3.5 inches of 72 points"
    assert (out / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert (out / "ratios.pdf").is_file()
    lines = (out / "results.csv").read_text().splitlines()
    assert lines[0].startswith('"scheme","load","seed"')
    assert len(lines) == 1 + 8
    table = parquet.read_table(out / "intervals.parquet").to_pylist()
    assert len(table) == 2 * 2 * len(sweeps.SHOWN)
    pifo = [row for row in table if row["scheme"] == "pifo" and row["figure"] == "restricted_mean_ms"]
    assert all(row["low"] < row["mean"] < row["high"] and row["baseline"] == "fifo" for row in pifo)
    assert all(row["ratio_low"] < row["ratio"] < row["ratio_high"] for row in pifo)
    before = [(out / name).read_bytes() for name in ("figure.pdf", "figure.svg", "intervals.parquet", "results.csv")]
    assert run(sweep, out, *words) == 0
    assert before == [
        (out / name).read_bytes() for name in ("figure.pdf", "figure.svg", "intervals.parquet", "results.csv")
    ]


@pytest.mark.skipif(shutil.which("xelatex") is not None, reason="shows the message without LaTeX")
def test_pgf_without_latex_is_reported(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep.write_text("loads = [0.3, 0.9]\n" + SWEEP)
    assert run(sweep, tmp_path / "out", "--paper", "pgf") == 1
    assert "PGF needs LaTeX" in capsys.readouterr().err


def test_flows_that_were_not_kept_run_again(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(sweep, out) == 0
    assert not (out / "flows.parquet").exists()
    assert run(sweep, out, "--keep-flows") == 0
    assert "points are done already" not in capsys.readouterr().out
    flows = parquet.read_table(out / "flows.parquet").to_pylist()
    assert len(flows) == sum(row["flows"] for row in rows(out))
    assert run(sweep, out, "--keep-flows") == 0
    assert "4 of 4 points are done already" in capsys.readouterr().out

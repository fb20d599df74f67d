"""The live page in a browser: a run in virtual time moves its lines."""

import asyncio
import csv
import itertools
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab import IN_VIRTUAL_TIME, PATIENCE_S, on_embedded
from pages import Served
from playwright.sync_api import Browser, Page, expect, sync_playwright
from switches import RunningSwitch

from mininet_topos.nodes import free_port
from p4sched.lab.announcement import announcements
from p4sched.live import page as live
from p4sched.live.hub import Hub
from p4sched.p4rt.program import Program
from p4sched.p4rt.session import connect, watch
from p4sched.paths import ROOT

CHROMIUM = Path("/usr/bin/chromium")
P4SCHED = ROOT / ".venv" / "bin" / "p4sched"
RUN = ("run", "fdpa_fairness", "--virtual", "--schemes", "fdpa", "--users", "8", "--rate", "50mbit")
ENDLESS = (*RUN, "--duration", "10000s", "--live")
"""However long a page takes to come, the run goes on. Who needs it ends it."""
FASTEST = "1000"
"""Of virtual time."""
WAIT_MS = PATIENCE_S * 1000
expect.set_options(timeout=WAIT_MS)
DRAWN = """
globalThis.drawn = [];
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  drawn.push(text);
  return draw.call(this, text, ...place);
};
"""
"""Of the page: what is written on its charts."""

pytestmark = [
    IN_VIRTUAL_TIME,
    pytest.mark.skipif(not CHROMIUM.is_file(), reason="needs Debian's chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=WAIT_MS)
        yield found
        found.close()


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of p4sched, ended with the block."""
    process = subprocess.Popen([P4SCHED, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE_S)
        finally:
            # nothing stays behind, also if it did not end by itself
            process.kill()
            process.wait()


def address_of(process: subprocess.Popen[bytes]) -> str:
    """What a command says is the address of its page."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line.decode())
        found = re.search(r"http://\S+", said[-1])
        if found is not None:
            return found[0]
    pytest.fail(f"no address: {''.join(said)}")


@contextmanager
def opened(browser: Browser, address: str, width: int = 1280) -> Iterator[Page]:
    """A page, on which no script has failed."""
    failures: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": 1000})
    page.set_default_timeout(WAIT_MS)
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.add_init_script(DRAWN)
    page.goto(address)
    yield page
    page.close()
    assert failures == []


@pytest.fixture(scope="module")
def run_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a run in virtual time that is only looked at."""
    with started(*ENDLESS, "--out", str(tmp_path_factory.mktemp("results"))) as run:
        yield address_of(run)


@pytest.fixture
def run_page(browser: Browser, run_address: str) -> Iterator[Page]:
    """This page, opened anew."""
    with opened(browser, run_address) as page:
        yield page


def go_on(page: Page, seconds: float) -> None:
    """Waits until the page has shown so much more of virtual time."""
    time = "parseFloat(/([0-9.]+) s/.exec(document.querySelector('#status').textContent)?.[1] ?? 'NaN')"
    page.wait_for_function(f"{time} >= 0")
    page.wait_for_function(f"least => {time} >= least", arg=page.evaluate(time) + seconds)


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Page]:
    """A page of no switch: for its scripts."""
    page = live.Page(Hub(), port=0)
    served = Served(page)
    with opened(browser, page.addresses[0]) as found:
        yield found
    served.end()


def load(switch: RunningSwitch, program: Program) -> None:
    """Loads a program; in a thread of its own, for Playwright has an event loop in this one."""

    async def connected() -> None:
        async with connect(switch.address, program):
            pass

    switch.wait_until_it_answers()
    with ThreadPoolExecutor() as threads:
        threads.submit(asyncio.run, connected()).result()


def test_the_lines_of_a_run_move(run_page: Page) -> None:
    expect(run_page.locator("#title")).to_have_text("fdpa_fairness: FDPA")
    expect(run_page.locator("#verdict")).to_have_text("exact: virtual time")
    # packets wait in one of the bands, and the chart changes
    expect(run_page.locator("table.bars")).to_contain_text(re.compile(r"band \d[1-9]\d* of"))
    before = run_page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")
    run_page.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before", arg=before)
    expect(run_page.locator("#network .legend")).to_contain_text("more than 98 % of its rate")
    times = [float(text[:-2]) for text in run_page.evaluate("drawn") if re.fullmatch(r"-?[\d.]+ s", text)]
    assert times
    assert min(times) >= 0


def test_a_decision_opens_to_the_counters_behind_it(run_page: Page) -> None:
    run_page.get_by_role("button", name="8 active users, fair share 6.25 Mbit/s").first.click()
    dialog = run_page.locator("#dialog")
    # edge 1 is the fair share over the interval of 60 ms
    expect(dialog.locator("tr", has_text="edge_1")).to_contain_text("46,875")
    expect(dialog.locator("tr", has_text="edge_5")).to_have_text("edge_5openopen")
    assert "4,294,967,295" not in dialog.inner_text()
    expect(dialog.locator("tr", has_text="user 8")).to_have_count(1)
    expect(dialog).to_contain_text("bytes so far")


def test_a_slider_changes_the_switch_and_release_gives_it_back_to_the_law(browser: Browser, tmp_path: Path) -> None:
    with started(*ENDLESS, "--out", str(tmp_path)) as run, opened(browser, address_of(run)) as page:
        a_slider_changes_the_switch_until_it_is_released(page, tmp_path)


def a_slider_changes_the_switch_until_it_is_released(run_page: Page, tmp_path: Path) -> None:
    """On the page of a run of its own."""
    knob = run_page.locator("[data-knob='first band']")
    knob.locator("input").fill("2")
    expect(run_page.locator("#decisions")).to_contain_text("first band held at 2")
    # 8 users of 50 Mbit/s: a fair share is 46875 bytes in 60 ms
    wait_for_edge(run_page, tmp_path, 2 * 46_875)
    # the law still knows who sends
    newest = run_page.locator("#decisions button").first
    expect(newest).to_contain_text("8 active users, fair share 6.25 Mbit/s")
    assert run_page.locator("#decisions").inner_text().count("no active users") <= 1
    knob.get_by_role("button", name="Release").click()
    expect(run_page.locator("#decisions")).to_contain_text("first band released")
    wait_for_edge(run_page, tmp_path, 46_875)


def wait_for_edge(page: Page, folder: Path, expected: int) -> None:
    """Waits until the first band ends there, as P4Runtime tells of the switch of the run that writes to this folder."""
    (announced,) = (found for found in announcements() if Path(found.folder).is_relative_to(folder))
    (at,) = announced.switches.values()

    async def edge() -> int:
        async with watch(at.address, device_id=at.device_id) as reader:
            found = await reader.default_action("fdpa_params")
            assert found is not None
            return found[1]["edge_1"]

    for _ in range(int(WAIT_MS) // 100):
        with ThreadPoolExecutor() as threads:
            found = threads.submit(asyncio.run, edge()).result()
        if found == expected:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"edge 1 is {found}, not {expected}")


def test_a_pause_holds_the_charts_and_a_port_shows_its_own_queues(run_page: Page) -> None:
    expect(run_page.locator("table.bars")).to_contain_text("band 1")
    run_page.keyboard.press("Space")
    expect(run_page.locator("#pause")).to_have_text("Continue")
    run_page.get_by_role("button", name="port 1 of s1").click()
    expect(run_page.get_by_role("heading", name="Link of port 1")).to_be_visible()


def test_a_page_keeps_what_it_has_when_the_run_has_ended(browser: Browser, tmp_path: Path) -> None:
    words = [*RUN, "--warmup", "1s", "--duration", "60s", "--live", "--out", str(tmp_path)]
    with started(*words) as run, opened(browser, address_of(run)) as page:
        expect(page.locator("table.bars")).to_contain_text("band 1")
        page.locator("#pace").select_option(FASTEST)
        run.communicate(timeout=PATIENCE_S)
        expect(page.locator("#status")).to_contain_text("ended")
        expect(page.locator("table.bars")).to_contain_text("band 1")
    assert (tmp_path / "summary.json").is_file()


def test_the_charts_and_their_numbers_can_be_saved(run_page: Page, tmp_path: Path) -> None:
    expect(run_page.locator("table.bars")).to_contain_text("band 1")
    go_on(run_page, 0.5)
    with run_page.expect_download() as saved:
        run_page.keyboard.press("c")
    saved.value.save_as(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:3] == ["time_s", "queues: band 1 (packets)", "queues: band 2 (packets)"]
    assert {len(row) for row in rows} == {len(head)}
    times = [float(row[0]) for row in rows]
    # on the grid of virtual time, 20 a second or, on a busy machine, half or a quarter as many; the first frame is that
    # of the instant at which the page came
    steps = {round((after - before) / 0.05, 3) for before, after in itertools.pairwise(times[1:])}
    assert steps <= {1, 2, 3, 4}
    with run_page.expect_download() as saved:
        run_page.keyboard.press("p")
    saved.value.save_as(tmp_path / "charts.png")
    assert (tmp_path / "charts.png").read_bytes().startswith(b"\x89PNG")
    # title, units and legend; on the page itself they are no part of a canvas
    written = set(run_page.evaluate("drawn"))
    assert written >= {"fdpa_fairness: FDPA, port 5 of s1", "Queue lengths", "packets", "Mbit/s", "band 1", "user 1"}
    assert "decision of the controller" in written


def test_parameters_are_drawn_as_steps(modules: Page) -> None:
    """A parameter keeps its value until a decision changes it; what is measured is drawn as lines."""
    steps = """async ([scheme, port, values]) => (await import('./panels.js')).panelsOf(scheme, port, values, [1])
        .flatMap((panel) => panel.series.map((series) => [`${panel.id}: ${series.label}`, Boolean(series.steps)]))"""
    limits = [{"label": "C", "parameter": "c"}, {"label": "k C", "parameter": "c", "share": "k"}]
    scheme = {"users": [1], "weights": [1], "limits": limits, "ranks": None}
    port = {"port": 5, "rate": 1, "discipline": "fifo", "busy": True, "sizes": {"0": 5}}
    values = {"c": 10, "k": 128, "interval_us": 60_000, "edge_1": 1000}
    drawn = dict(modules.evaluate(steps, [scheme, port, values]))
    assert {name for name, is_stepped in drawn.items() if is_stepped} == {
        "queues: C", "queues: k C", "link: rate of the link", "rates: fair share", "rates: edge 1",
    }  # fmt: skip
    assert {"queues: queue", "link: sent", "rates: user 1"} <= drawn.keys()


def test_the_rates_choose_their_axis_and_lines_near_them_are_on_it(modules: Page) -> None:
    reach = "async ([largest, heights, before]) => (await import('./reference.js')).reach(largest,"
    reach += " heights.map((height) => ({ height })), before)"

    def end(largest: float, heights: list[float], before: float | None = None) -> float:
        return float(modules.evaluate(reach, [largest, heights, before]))

    # the edges of one user who has 500 Mbit/s for himself, while rates are 0 to 40
    assert end(40, [625, 1250]) == pytest.approx(40 * 1.08)
    assert end(40, [25, 37.5, 50, 1250]) == pytest.approx(50 * 1.08)
    assert end(0, [625, 1250]) == pytest.approx(1250 * 1.08)
    # it does not move with every frame
    assert end(40, [], 50) == 50
    assert end(40, [], 100) == pytest.approx(40 * 1.08)


def test_parameters_come_into_force_when_the_decision_was_made_though_it_is_reported_later(modules: Page) -> None:
    edges = """async () => {
      const { Store } = await import("./store.js");
      const { Columns } = await import("./charts.js");
      const store = new Store();
      const columns = new Columns(store, { series: [{}], pick: (_, values) => [values.edge_1] }, "s1", 5);
      const frame = (t) => store.take({ kind: "frame", t, s: { s1: {} } });
      const force = { switch: "s1", port: null, t: 0 };
      store.take({ kind: "parameters", ...force, values: { edge_1: 1 } });
      for (const t of [1, 2, 3]) frame(t);
      columns.upToNow();
      store.take({ kind: "decision", ...force, t: 1.5, before: { edge_1: 1 }, after: { edge_1: 7 }, text: "" });
      frame(4);
      return columns.upToNow();
    }"""
    assert modules.evaluate(edges) == [[1, 2, 3, 4], [1, 7, 7, 7]]


def test_dragging_zooms_in_and_a_double_click_follows_again(run_page: Page) -> None:
    expect(run_page.locator("table.bars")).to_contain_text("band 1")
    go_on(run_page, 1)
    chart = run_page.locator(".u-over").first
    box = chart.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    run_page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    run_page.mouse.down()
    run_page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    run_page.mouse.up()
    picture = "document.querySelector('canvas').toDataURL()"
    run_page.mouse.move(0, 0)
    # what the mouse has left goes with the next picture
    go_on(run_page, 0.2)
    zoomed = run_page.evaluate(picture)
    go_on(run_page, 0.5)
    # the newest frames lie outside
    assert run_page.evaluate(picture) == zoomed
    # not with the mouse: its first click opens a decision if one is there
    chart.dispatch_event("dblclick")
    run_page.wait_for_function(f"zoomed => {picture} !== zoomed", arg=zoomed)


SEES_A_QUEUE = r"""() => new MutationObserver(() => {
  globalThis.sawAQueue ||= /band \d[1-9]\d* of/.test(document.querySelector("table.bars")?.textContent);
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""
"""Notes the moment in which a queue is not empty, which a look now and then may miss."""


@on_embedded
def test_a_run_of_the_lab_is_shown_and_recorded(browser: Browser, tmp_path: Path) -> None:
    words = ["run", "fdpa_fairness", "--schemes", "fdpa", "--users", "4", "--time-scale", "20", "--live"]
    with started(*words, "--out", str(tmp_path)) as run, opened(browser, address_of(run)) as page:
        page.evaluate(SEES_A_QUEUE)
        page.wait_for_function("() => globalThis.sawAQueue")
        expect(page.locator("#verdict")).to_contain_text("so far")
        expect(page.get_by_role("button", name="port 5 of s1")).to_be_visible()
        expect(page.get_by_role("button", name="4 active users").first).to_be_visible(timeout=WAIT_MS)
    told = [json.loads(line) for line in (tmp_path / "fdpa" / "live.jsonl").read_text().splitlines()]
    assert {message["kind"] for message in told} >= {"scene", "frame", "parameters", "decision", "health"}


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_screen(browser: Browser, run_address: str, width: int) -> None:
    with opened(browser, run_address, width) as page:
        expect(page.locator("table.bars")).to_contain_text("band 1")
        expect(page.get_by_role("heading", name="Parameters")).to_be_visible(timeout=WAIT_MS)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_says_when_its_server_is_gone_and_finds_it_again(
    browser: Browser, embedded_switch: RunningSwitch, fdpa: Program
) -> None:
    load(embedded_switch, fdpa)
    port = str(free_port())
    with started("watch", embedded_switch.address, "--port", port) as first:
        address = address_of(first)
        page = browser.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(address)
        expect(page.locator("#status")).to_contain_text("live")
    expect(page.locator("#status")).to_contain_text("no connection")
    with started("watch", embedded_switch.address, "--port", port) as second:
        address_of(second)
        expect(page.locator("#status")).to_contain_text("live")
    page.close()


def test_a_run_plays_again_from_files_alone(browser: Browser, tmp_path: Path) -> None:
    results, site = tmp_path / "results", tmp_path / "site"
    words = [*RUN, "--warmup", "1s", "--duration", "2s", "--out", str(results)]
    subprocess.run([P4SCHED, *words], check=True, capture_output=True, cwd=ROOT)
    again = ["watch", "--replay", str(results), "--export", str(site)]
    subprocess.run([P4SCHED, *again], check=True, capture_output=True, cwd=ROOT)
    with opened(browser, (site / "index.html").as_uri()) as page:
        expect(page.locator("#title")).to_have_text("fdpa_fairness: FDPA")
        page.locator("#speed").select_option("10")
        expect(page.locator("#play")).to_have_text("Play")
        expect(page.get_by_role("button", name="8 active users, fair share 6.25 Mbit/s")).to_be_visible()
        # nobody has recorded the queues of this run
        expect(page.locator("#note")).to_contain_text("no queue lengths. With --live the same run records its queues")
        page.locator("#time").fill("0.5")
        expect(page.locator("#status")).to_contain_text("0.5 s")

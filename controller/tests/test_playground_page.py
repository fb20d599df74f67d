"""The lab in a browser tab, in Chromium: the files that `make playground` has built."""

import functools
import http.server
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from in_playground import CHROMIUM, IN_PLAYGROUND
from lab import PATIENCE_S
from playwright.sync_api import Browser, Page, expect, sync_playwright

from p4sched.labs import catalogue, checking, result_text
from p4sched.labs.sandbox import Sandbox
from p4sched.paths import ROOT

BUILT = ROOT / "build" / "playground"
AXE = ROOT / "playground" / "page" / "node_modules" / "axe-core" / "axe.min.js"
RULE = "p4/include/aifo_admission.p4"
WAIT_MS = PATIENCE_S * 1000
TABS = ("inversions", "packets", "tcp", "users", "incast", "lab")
AS_MODEL = "Your program decides as the model of AIFO: the same inversions, drops and departures of every rank."
SEEN = "localStorage.setItem('p4sched-playground-tour', 'seen')"

pytestmark = IN_PLAYGROUND


class Silent(http.server.SimpleHTTPRequestHandler):
    """A server of static files without a log."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the files are served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(BUILT)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=WAIT_MS)
        yield found
        found.close()


@contextmanager
def opened(browser: Browser, address: str, script: str = SEEN, width: int = 1280) -> Iterator[Page]:
    """The page in a browser that has not been there before; no script fails. `script` runs before the page."""
    failures: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.add_init_script(script)
    page.goto(address)
    yield page
    context.close()
    assert failures == []


def type_over(page: Page, text: str, replacement: str) -> None:
    """Replaces a text of the open file, as somebody who pastes the whole file."""
    content = page.locator("#editor .cm-content")
    content.click()
    before = page.evaluate("document.querySelector('#editor .cm-content').cmTile.view.state.doc.toString()")
    assert text in before
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(before.replace(text, replacement))


def test_a_first_visit_has_a_tour_that_ends_with_a_changed_figure(browser: Browser, address: str) -> None:
    with opened(browser, address, script="") as page:
        expect(page.locator("#panel-inversions .verdict")).to_have_text(AS_MODEL)
        for _ in range(3):
            page.locator("#guide .main").click()
        page.get_by_role("button", name="Change it for me").click()
        expect(page.locator("#panel-inversions .verdict")).to_contain_text("differs from the model of AIFO")
        mine, fifo = (page.locator("#panel-inversions tbody tr").nth(row).inner_text().split("\t") for row in (0, 1))
        assert mine[1:] == fifo[1:], "without its comparison, AIFO is FIFO"
        page.get_by_role("button", name="Reset").click()
        expect(page.locator("#panel-inversions .verdict")).to_have_text(AS_MODEL)
        page.get_by_role("button", name="End the tour").click()
        expect(page.locator("#guide")).to_be_hidden()
        expect(page.get_by_role("button", name="Tour")).to_be_focused()
        page.keyboard.press("Enter")
        page.locator("#program").select_option("lab04")
        expect(page.locator("#guide")).to_be_hidden()


def test_an_error_is_under_its_line_and_a_message_leads_there(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#state")).to_have_text("The program compiles.")
        type_over(page, "verdict = REFUSED;", "verdict = nothing;")
        expect(page.locator("#state")).to_have_text("1 error")
        expect(page.locator("#editor .cm-lintRange-error")).to_have_text("nothing")
        page.locator("#file").select_option("p4/aifo.p4")
        page.locator("#messages button").click()
        expect(page.locator("#file")).to_have_value(RULE)
        page.get_by_role("button", name="Reset").click()
        expect(page.locator("#state")).to_have_text("The program compiles.")


def test_the_editor_shows_types_completes_and_goes_to_a_definition(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        line = page.locator("#editor .cm-line").filter(has_text="verdict = REFUSED")
        line.click(position={"x": 90, "y": 8})
        page.keyboard.press("F12")
        expect(page.locator("#editor .cm-activeLine")).to_have_text(re.compile(r"out bit<2> verdict"))
        line.hover(position={"x": 92, "y": 8})
        expect(page.locator(".hover")).to_contain_text("verdict")
        line.click()
        page.keyboard.press("End")
        page.keyboard.type(" len")
        expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("length")


def test_a_link_holds_the_change_and_ones_own_work_is_kept(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#state")).to_have_text("The program compiles.")
        type_over(page, "needed <= free", "needed < free")
        page.get_by_role("button", name="Copy link").click()
        page.wait_for_function("location.hash.startsWith('#1.')")
        link = page.url
    own = json.dumps({"program": "fifo", "file": "p4/fifo.p4", "edits": {"p4/fifo.p4": "// mine"}})
    with opened(browser, link, f"{SEEN};localStorage['p4sched-playground'] ??= {json.dumps(own)}") as page:
        expect(page.locator("#editor .cm-content")).to_contain_text("needed < free")
        page.get_by_role("button", name="Back to my own").click()
        expect(page.locator("#editor .cm-content")).to_have_text("// mine")
        page.reload()
        expect(page.locator("#editor .cm-content")).to_have_text("// mine")
    with opened(browser, link[:-40]) as page:
        expect(page.locator("#notice")).to_contain_text("This link is damaged")
        expect(page.locator("#state")).to_have_text("The program compiles.")


def test_a_packet_that_is_clicked_is_decided_and_shows_the_line(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.get_by_role("tab", name="Packet by packet").click()
        said = page.locator("#panel-packets .verdict")
        expect(said).to_have_text("Packet 1 of 24 (rank 9, at 0 µs) enters the queue. The model decides the same.")
        page.get_by_role("button", name="Step", exact=True).click()
        expect(said).to_contain_text("Packet 2 of 24 (rank 12")
        expect(page.locator("#editor .taken")).to_have_text("                verdict = ADMITTED;")
        expect(page.locator("#panel-packets")).to_contain_text("window")
        page.locator(".grid-of-packets").click(position={"x": 500, "y": 100})
        expect(said).to_contain_text("Packet 25 of 25")


def test_networks_show_the_program_beside_its_model(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}?program=fdpa") as page:
        # your program, FIFO and the model of FDPA
        results = page.locator("#panel-users > div.figures figure")
        expect(results).to_have_count(3)
        titles = results.locator("h2").all_inner_texts()
        index = {title.partition(":")[0]: float(title.rpartition(" ")[2]) for title in titles}
        assert index["your program"] == index["FDPA, model"] > 0.9 > index["FIFO"]


def test_a_run_plays_in_the_panels_of_the_live_page(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}?program=fdpa") as page:
        watched = page.locator("#panel-users section")
        titles = [
            "Queues now",
            "Queue lengths",
            "Drops by reason",
            "Link of the switch",
            "Rates of users",
            "Every user now",
        ]
        expect(watched.locator("figure h2")).to_have_text(titles)
        expect(watched.locator(".bars th")).to_have_text(["band 1", "band 2", "band 3"])
        watched.get_by_label("Run").select_option(label="FIFO")
        expect(watched.locator(".bars tr")).to_have_text(re.compile(r"queue\s*\d+ of 83"))
        least = "Number(/(\\d+) of/.exec(document.querySelector('#panel-users section .bars').textContent)[1])"
        assert page.evaluate(least) > 40, "TCP fills a FIFO queue"
        watched.get_by_label("Time").fill("0")
        expect(watched.locator(".bars tr")).to_have_text(re.compile(r"queue\s*0 of 83"))
        watched.get_by_role("button", name="Play").click()
        expect(watched.get_by_role("button", name="Play")).to_be_visible()
        assert page.evaluate(least) > 40, "it is at its end again"


@pytest.mark.parametrize(
    ("number", "edit"),
    [
        ("04", ("verdict = REFUSED;", "verdict = nothing;")),
        ("08", (">= ACTIVE_BYTES", "> ACTIVE_BYTES")),
        ("11", ("// ", "//  ")),
    ],
)
def test_a_lab_gives_the_marks_of_the_command_line(
    browser: Browser, address: str, tmp_path: Path, number: str, edit: tuple[str, str]
) -> None:
    entry = catalogue.find(number)
    (file,) = entry.load().files
    text = (entry.solution / file).read_text().replace(*edit)
    (tmp_path / file).write_text(text)
    expected, _ = checking.check(entry, tmp_path, Sandbox(has_solver=False))
    own = json.dumps({"program": f"lab{number}", "file": "", "edits": {f"labs/{entry.folder.name}/start/{file}": text}})
    with opened(browser, address, f"{SEEN};localStorage['p4sched-playground'] ??= {json.dumps(own)}") as page:
        page.get_by_role("button", name="Check my work").click()
        expect(page.locator("#panel-lab .row [role=status]")).to_have_text(
            f"{expected.score} of {expected.maximum} marks"
        )
        page.locator("#panel-lab .figures details").evaluate_all("all => all.forEach(one => { one.open = true })")
        said = "\n".join(page.locator("#panel-lab .figures summary, #panel-lab .figures pre").all_inner_texts())
        assert words(said) == words("\n".join(result_text.text(expected).splitlines()[:-1]))
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download to hand in").click()
        assert (saved.value.suggested_filename, saved.value.path().read_text()) == (file, text)


def words(text: str) -> list[str]:
    """Its lines, without space around them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.skipif(not AXE.is_file(), reason="npm has not installed axe-core")
@pytest.mark.parametrize("width", [1280, 400])
def test_a_screen_reader_finds_everything(browser: Browser, address: str, width: int) -> None:
    with opened(browser, address, width=width) as page:
        page.add_script_tag(path=AXE)
        for theme in ("Dark", "Light"):
            for tab in TABS:
                page.locator(f"#tab-{tab}").click()
                expect(page.locator(f"#panel-{tab}")).to_be_visible()
                found = page.evaluate(
                    "axe.run().then(({violations}) => violations.map(({id, nodes}) => [id, nodes[0].html]))"
                )
                assert found == [], f"{tab}, {theme} is next"
            page.get_by_role("button", name=theme).click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"


def test_figures_take_the_colours_of_the_theme(browser: Browser, address: str) -> None:
    """PIFO is black on light, and white on dark."""
    with opened(browser, address) as page:
        marker = page.locator("#panel-inversions figure").first.locator(".u-legend tr", has_text="PIFO").last
        seen = [marker.locator(".u-marker").evaluate("mark => getComputedStyle(mark).borderColor")]
        page.get_by_role("button", name="Dark").click()
        seen.append(marker.locator(".u-marker").evaluate("mark => getComputedStyle(mark).borderColor"))
        assert len(set(seen)) == 2


def test_tabs_follow_the_keyboard(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.locator("#tab-inversions").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#panel-lab")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.locator("#panel-lab button").first).to_be_focused()


def test_without_webassembly_the_page_says_so(browser: Browser, address: str) -> None:
    with opened(browser, address, "delete globalThis.WebAssembly") as page:
        expect(page.locator("#notice")).to_contain_text("This browser has no WebAssembly")


def test_a_browser_that_keeps_nothing_still_runs_programs(browser: Browser, address: str) -> None:
    blocked = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('blocked', 'SecurityError') }})"
    )
    with opened(browser, address, blocked) as page:
        expect(page.locator("#panel-inversions .verdict")).to_have_text(AS_MODEL)
        page.get_by_role("button", name="Dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("#notice")).to_contain_text("This browser keeps nothing here")


def test_a_second_tab_does_not_replace_a_program_unseen(browser: Browser, address: str) -> None:
    with opened(browser, address) as first:
        second = first.context.new_page()
        second.goto(address)
        expect(second.locator("#panel-inversions .verdict")).to_have_text(AS_MODEL)
        second.locator("#editor .cm-content").click()
        second.keyboard.press("Control+Home")
        second.keyboard.insert_text("// of the second tab\n")
        expect(first.locator("#notice")).to_contain_text("open in another tab")


def test_a_program_of_ten_megabytes_is_told(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#state")).to_have_text("The program compiles.")
        page.evaluate(
            "const {view} = document.querySelector('#editor .cm-content').cmTile;"
            "view.dispatch({changes: {from: 0, insert: '// ten\\n'.repeat(1_430_000)}})"
        )
        expect(page.locator("#state")).to_contain_text("MB. This page takes at most 1 MB.")
        expect(page.locator("#notice")).to_contain_text("This browser keeps nothing here")


def test_a_run_without_an_end_is_stopped(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#panel-inversions .verdict")).to_have_text(AS_MODEL)
        packets = page.locator("#panel-inversions select").nth(1)
        packets.select_option("300000")
        page.locator("#panel-inversions").get_by_role("button", name="Stop").click()
        expect(page.locator("#panel-inversions .row [role=status]")).to_have_text("Stopped.")
        packets.select_option("5000")
        expect(page.locator("#panel-inversions .row [role=status]")).to_have_text(re.compile(r"^\d+\.\d s$"))


def test_a_tab_that_is_closed_in_mid_run_loses_nothing(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#state")).to_have_text("The program compiles.")
        page.locator("#panel-inversions select").nth(1).select_option("300000")
        type_over(page, "needed <= free", "needed < free")
        again = page.context.new_page()
        page.close()
        again.goto(address)
        expect(again.locator("#editor .cm-content")).to_contain_text("needed < free")


def test_a_function_without_an_end_is_stopped(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}?program=lab08") as page:
        type_over(page, "    users = sorted(", "    while True:\n        pass\n    users = sorted(")
        page.get_by_role("button", name="Check my work").click()
        state = page.locator("#panel-lab .row [role=status]")
        expect(state).to_have_text("checking ...")
        page.locator("#panel-lab").get_by_role("button", name="Stop").click()
        expect(state).to_have_text("Stopped.")
        expect(page.locator("#editor .cm-content")).to_contain_text("while True:")

"""Writes the page and a finished run as files, which need no server.

From a `file:` address, browsers load scripts, but neither modules nor data. So the page itself contains the modules, as
`data:` addresses of an import map, and the recording is a script.
"""

import base64
import json
import re
import shutil
from pathlib import Path

from p4sched.live.page import STATIC, VENDORED

RECORDING = "recording.js"
ENTRY = '<script type="module" src="main.js"></script>'
IMPORT = re.compile(r'\bfrom "\./(\w+\.js)"')
PREFIX = "page/"


def write_site(folder: Path, runs: str) -> Path:
    """Writes the files into a folder; `runs`: the messages of the runs in JSON. Returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in VENDORED.items():
        shutil.copyfile(path, folder / name)
    for path in STATIC.iterdir():
        if path.suffix not in (".js", ".html"):
            shutil.copyfile(path, folder / path.name)
    (folder / RECORDING).write_text(f"globalThis.recording = {runs};\n", encoding="utf-8")
    page = folder / "index.html"
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    page.write_text(text.replace(ENTRY, _scripts()), encoding="utf-8")
    return page


def _scripts() -> str:
    imports = json.dumps({"imports": {f"{PREFIX}{path.name}": _address(path) for path in sorted(STATIC.glob("*.js"))}})
    return (
        f'<script src="{RECORDING}" defer></script>\n'
        f'<script type="importmap">{imports}</script>\n'
        f'<script type="module">import "{PREFIX}main.js";</script>'
    )


def _address(module: Path) -> str:
    """A module as a `data:` address. Its imports use the names of the import map."""
    source = IMPORT.sub(rf'from "{PREFIX}\1"', module.read_text(encoding="utf-8"))
    return f"data:text/javascript;base64,{base64.b64encode(source.encode()).decode()}"

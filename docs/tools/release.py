"""The notes of a release: `python3 -m docs.tools.release VERSION` prints its section of CHANGELOG.md.

Fails with one sentence unless all files that name the version agree. Needs only the standard library.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


class ReleaseError(Exception):
    """A file does not have the version of the release. The message names the file and what it has."""


def notes(version: str, root: Path = ROOT) -> str:
    """The section of a version in the changelog, without its heading. Raises ReleaseError."""
    for file, found in versions(root).items():
        if found != version:
            raise ReleaseError(f"{file} has version {found}, the release is {version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, text = section.partition("\n")
        if re.fullmatch(rf"\[?{re.escape(version)}\]? - \d{{4}}-\d\d-\d\d", heading):
            return text.strip() + "\n"
    raise ReleaseError(f"CHANGELOG.md has no heading '## {version} - YYYY-MM-DD'")


def versions(root: Path = ROOT) -> dict[str, str]:
    """The version in each file that names it. The Python package takes that of switch/Cargo.toml."""
    rust = tomllib.loads((root / "switch" / "Cargo.toml").read_text(encoding="utf-8"))
    citation = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    java = re.search(r"<version>(.+)</version>", (root / "controller" / "onos" / "pom.xml").read_text(encoding="utf-8"))
    return {
        "switch/Cargo.toml": rust["workspace"]["package"]["version"],
        "CITATION.cff": citation[1] if citation else "none",
        "controller/onos/pom.xml": java[1] if java else "none",
    }


def main() -> int:
    """The command."""
    if len(sys.argv) != 2:
        print("usage: python3 -m docs.tools.release VERSION", file=sys.stderr)
        return 2
    try:
        print(notes(sys.argv[1]), end="")
    except (OSError, ReleaseError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

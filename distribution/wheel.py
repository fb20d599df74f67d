"""Build hook of hatchling: puts everything that the laboratory needs at run time into the wheel.

The environment variable P4SCHED_PROGRAMS names the folder of the Rust programs; P4SCHED_PLATFORM is the platform of the
wheel, and so what it claims to run on. `distribution/build.sh` sets both.
"""

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {
    "docs": ("*.md", "decisions/*.md", "schedulers/*.md", "reproduction/notes.toml", "reproduction/published/**/*"),
    "labs": ("**/*",),
    "p4": ("**/*",),
    "schedulers": ("**/*",),
    "switch/compiler/p4include": ("**/*",),
    "tofino-port": ("**/*",),
    ".": ("LICENSE", "README.md", "requirements-shell.lock"),
}
"""Folders of the repository, and the files of each that the laboratory reads; they keep their places in files/."""
PACKAGES = {"experiments": "experiments", "mininet-topos": "mininet_topos"}
"""Folders that are packages, and their names."""
PROGRAMS = ("p4sched-p4c", "p4sched-switch", "p4sched-tools", "libp4sched_native.so")
LEFT_OUT = {".ipynb", ".png", ".pyc"}
"""Endings of files that nothing reads."""
READ = {"expected.png"}
"""Names of files that something reads all the same."""


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    """The hook. Does nothing for an editable installation, which runs from the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Lists the files, and says which machines the wheel is for."""
        if version == "editable":
            return
        root = Path(self.root)
        programs = Path(os.environ.get("P4SCHED_PROGRAMS", root / "switch" / "target" / "release"))
        needed = [root / "controller" / "p4sched" / "proto" / "enums.py", *(programs / name for name in PROGRAMS)]
        for path in needed:
            if not path.is_file():
                raise SystemExit(f"wheel: {path} is not built; run 'make setup'")
        commit = Path(self.directory) / ".commit"
        commit.parent.mkdir(parents=True, exist_ok=True)
        commit.write_text(f"{_commit(root)}\n", encoding="utf-8")
        build_data["force_include"] |= {
            str(commit): "p4sched/files/commit",
            **{str(programs / name): f"p4sched/files/bin/{name}" for name in PROGRAMS},
            **{
                str(path): f"p4sched/files/{path.relative_to(root)}"
                for folder, patterns in FILES.items()
                for path in _files(root / folder, patterns)
            },
            # only if somebody built it: it needs Node.js and another library of Rust
            **{
                str(path): f"p4sched/files/{path.relative_to(root / 'build')}"
                for path in _files(root / "build" / "playground", ("**/*",))
            },
            **{
                str(path): f"{package}/{path.relative_to(root / folder)}"
                for folder, package in PACKAGES.items()
                for path in _files(root / folder, ("**/*",))
            },
        }
        platform = os.environ.get("P4SCHED_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes what `initialize` wrote."""
        (Path(self.directory) / ".commit").unlink(missing_ok=True)


def _files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(path for path in found if path.name in READ or path.suffix not in LEFT_OUT)


def _commit(root: Path) -> str:
    """The commit in the words of p4sched.versions.commit."""
    if named := os.environ.get("P4SCHED_COMMIT"):
        return named
    git = ("git", "-C", str(root))
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode != 0:
        return "missing"
    changes = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+changes" if changes.stdout else "")

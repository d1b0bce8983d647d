"""What a release must not get wrong: one version everywhere, and archives that hold what they should."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SOURCES = (".ci/run", "CITATION.cff", "LICENSE", "pyproject.toml")
_FOLDERS = ("bench", "docs", "examples", "scripts", "src", "tests")
_INSTALLED = ("__init__.py", "__main__.py", "_cli/__init__.py", "py.typed")
_PLACES = {
    "src/privloss/__init__.py": r'^__version__ = "([^"]+)"$',
    "CHANGELOG.md": r"^## (\S+)",
    "CITATION.cff": r"^version: (\S+)$",
}


def versions() -> dict[str, str]:
    """The version that each place names, the changelog's being its newest."""
    return {place: _first(pattern, place) for place, pattern in _PLACES.items()}


def _first(pattern: str, place: str) -> str:
    match = re.search(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1) if match else "none"


def missing(folder: Path) -> list[str]:
    """Build both archives, from the checkout, into `folder`; what they lack or should not have."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
    return [
        *(f"sdist lacks {name}" for name in sorted(_sources() - held)),
        *(f"wheel lacks {name}" for name in sorted({f"privloss/{name}" for name in _INSTALLED} - installed)),
        *(f"wheel has {name}" for name in sorted(installed) if not name.startswith("privloss")),
    ]


def _sources() -> set[str]:
    """Everything that a reader of the archive needs to build, test and understand the package."""
    below = (path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.*") if path.is_file())
    kept = (path for path in (*below, *ROOT.glob("*.md")) if "__pycache__" not in path.parts)
    return {*_SOURCES, *(path.relative_to(ROOT).as_posix() for path in kept)}


def main() -> int:
    found = versions()
    problems = [] if len(set(found.values())) == 1 else [f"versions disagree: {found}"]
    with tempfile.TemporaryDirectory() as folder:
        problems += missing(Path(folder))
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"version {found['CHANGELOG.md']}; the archives are complete")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

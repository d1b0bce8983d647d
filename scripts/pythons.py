"""The supported Pythons of this machine, and a virtual environment for each, inside the checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.10", "3.11", "3.12", "3.13")
_PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def available() -> Iterator[tuple[str, str]]:
    """Version and executable of every supported Python that works here, the one that runs this first."""
    mine = "{}.{}".format(*sys.version_info[:2])
    for version in sorted(SUPPORTED, key=lambda version: version != mine):
        executable = _executable(version)
        if executable is not None:
            yield version, executable


def environment(version: str, executable: str, *requirements: str) -> str:
    """The Python of an environment under .venv/ that has the requirements, "." being the package itself."""
    folder = ROOT / ".venv" / version
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    stamp, state = folder / "installed", _state(executable, requirements)
    if not (stamp.is_file() and stamp.read_text() == state):
        print(f"-- Python {version}: installing {' '.join(requirements)} into {folder}", flush=True)
        subprocess.run([executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, *_pairs(requirements)], check=True, cwd=ROOT)
        stamp.write_text(state)
    return python


def _pairs(requirements: tuple[str, ...]) -> list[str]:
    """The package itself is installed editable."""
    return [token for each in requirements for token in (["-e", each] if each.startswith(".") else [each])]


def _state(executable: str, requirements: tuple[str, ...]) -> str:
    """What an environment was made from: when it changes, the environment is made anew."""
    project = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(repr((executable, requirements, project)).encode()).hexdigest()


def _executable(version: str) -> str | None:
    return next((path for path in _candidates(version) if _version(path) == version), None)


def _candidates(version: str) -> list[str]:
    named = [sys.executable, *(shutil.which(name) for name in (f"python{version}", "python3", "python"))]
    roots = {os.environ.get("PYENV_ROOT"), *map(os.path.expanduser, ("~/.pyenv", "~/.pyenv/pyenv-win"))}
    kept = [
        str(folder / name)
        for root in sorted(filter(None, roots))
        for folder in sorted(Path(root).glob(f"versions/{version}.*"), reverse=True)
        for name in ("bin/python", "python.exe")
    ]
    return [path for path in (*named, *kept, *_launched(version)) if path and os.path.exists(path)]


def _launched(version: str) -> list[str]:
    """Windows' launcher knows Pythons that are not on the path."""
    launcher = shutil.which("py")
    if launcher is None:
        return []
    command = [launcher, f"-{version}", "-c", "import sys; print(sys.executable)"]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    return said.stdout.split("\n")[:1]


def _version(path: str) -> str | None:
    """Its version if it starts and can make environments: a shim on the path may stand for nothing."""
    try:
        said = subprocess.run([path, "-c", _PROBE], check=False, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip() if said.returncode == 0 else None

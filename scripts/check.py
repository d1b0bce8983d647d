"""Everything that must hold before a change lands: `python3 scripts/check.py`, on any machine with Python.

It makes an environment in .venv/ for each supported Python that is found: on the path, under pyenv, by the
Windows launcher. The one that runs this script gets the linter, the type checker, the packages that bridges lead to,
all tests but those marked long (`--long` for these as well) and the packaging checks. The oldest and the newest (all
others with `--long`) get the tests that are not marked slow or extras, Python 3.10 with the oldest NumPy allowed. Two
Pythons are at work at a time, and what each says is shown when it is done. It ends with what was left out.

Tests that need PyTorch or JAX run with `--torch`, or `--long`: in an environment of its own, .venv/torch, made from
scripts/torch.txt. Where the variable CI is set they also run if the other Pythons leave time for it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pythons import ROOT, SUPPORTED, available, environment

OLDEST = ("numpy==1.24.*",)  # the lower bound in pyproject.toml, for Python 3.10
HERE = "not torch and not jax"  # what the environment of a checkout can run
FAST, MOST, ALL = ("-m", f"not slow and not long and {HERE}"), ("-m", f"not long and {HERE}"), ("-m", HERE)
PLAIN = ("-m", f"not slow and not long and not extras and {HERE}")  # where EXTRAS are not installed
EXTRAS = "dp-accounting,riskcal,pld-accounting"  # what the tests marked extras need
TORCH = "3.11"  # the Python that scripts/torch.txt is locked for
ENOUGH = 7 * 60.0  # seconds after which no time is left for PyTorch and JAX, unless they are asked for
BEGAN = time.perf_counter()


class Check:
    """Runs commands, goes on after a failure, and tells at the end."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.omitted: list[str] = []

    def run(self, name: str, *command: str) -> None:
        start = time.perf_counter()
        pipe = subprocess.PIPE
        done = subprocess.run(
            command, cwd=ROOT, check=False, stdout=pipe, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        ended = "passed" if done.returncode == 0 else "FAILED"
        print(f"-- {name}\n{done.stdout}-- {name}: {ended}, {time.perf_counter() - start:.0f} s\n", flush=True)
        if done.returncode != 0:
            self.failed.append(name)

    def close(self) -> int:
        for each in sorted(self.omitted):
            print(f"left out: {each}")
        print(f"FAILED: {', '.join(self.failed)}" if self.failed else "all checks passed")
        return 1 if self.failed else 0


def main() -> int:
    arguments = argparse.ArgumentParser(description="lint, types, tests and packaging, on every Python found")
    arguments.add_argument("--quick", action="store_true", help="one Python, no slow tests, no packaging")
    arguments.add_argument("--long", action="store_true", help="the tests that take minutes, too")
    arguments.add_argument("--torch", action="store_true", help="the tests that need PyTorch or JAX, too")
    given = arguments.parse_args()
    quick: bool = given.quick
    chosen = FAST if quick else ALL if given.long else MOST
    pythons, check = dict(available()), Check()
    if not pythons:
        print(f"needs one of Python {', '.join(SUPPORTED)}, with the venv module", file=sys.stderr)
        return 2
    (version, executable), *others = pythons.items()
    if not given.long:  # what works on the oldest and on the newest works between
        ends = (SUPPORTED[0], SUPPORTED[-1])
        check.omitted += [f"tests on Python {each} (--long)" for each, _ in others if each not in ends and not quick]
        others = [other for other in others if other[0] in ends]
    asked = given.torch or given.long
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        jobs = [pool.submit(_main_python, check, version, executable, quick, chosen)]
        if not quick:
            jobs += [pool.submit(_other_python, check, *other) for other in others]
        if asked or (os.environ.get("CI") and not quick):
            jobs.append(pool.submit(_torch, check, pythons, given.long, asked))
        else:
            check.omitted.append(f"{_NEEDING} (--torch)")
        for job in jobs:
            job.result()
    if quick:
        check.omitted.append("slow tests, packaging and the other Pythons (--quick)")
    else:
        if not given.long:
            check.omitted.append("tests that take minutes (--long)")
        check.omitted += [f"tests on Python {each}: not found" for each in SUPPORTED if each not in pythons]
    return check.close()


def _main_python(check: Check, version: str, executable: str, quick: bool, chosen: tuple[str, ...]) -> None:
    python = environment(version, executable, f".[dev,{EXTRAS}]")
    check.run("lint", python, "-m", "ruff", "check")
    for target in [version] if quick else sorted({version, SUPPORTED[0], SUPPORTED[-1]}):
        check.run(f"types for Python {target}", python, "-m", "mypy", "--python-version", target)
    check.run(f"tests on Python {version}", python, "-m", "pytest", "-q", *chosen)
    if not quick:
        check.run("packaging", python, "scripts/release.py")


def _other_python(check: Check, version: str, executable: str) -> None:
    oldest = OLDEST if version == SUPPORTED[0] else ()
    python = environment(version, executable, ".[test]", *oldest)
    name = " ".join((f"tests on Python {version}", *oldest))
    check.run(name, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLAIN)
    check.omitted.append(f"slow tests, and tests of extras, on Python {version}")


_NEEDING = "tests that need PyTorch or JAX"


def _torch(check: Check, pythons: dict[str, str], long: bool, asked: bool) -> None:
    if TORCH not in pythons:
        check.omitted.append(f"{_NEEDING}: Python {TORCH} not found")
        return
    if not asked and time.perf_counter() - BEGAN > ENOUGH:
        check.omitted.append(f"{_NEEDING}: no time left (--torch)")
        return
    locked = [line for line in (ROOT / "scripts" / "torch.txt").read_text().split("\n") if not line.startswith("#")]
    try:
        python = environment("torch", pythons[TORCH], ".[test]", *filter(None, locked))
    except subprocess.CalledProcessError:
        if asked:
            raise
        check.omitted.append(f"{_NEEDING}: they cannot be installed here")
        return
    chosen = "torch or jax" if long else "(torch or jax) and not long"
    check.run("tests with PyTorch and JAX", python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen)


if __name__ == "__main__":
    sys.exit(main())

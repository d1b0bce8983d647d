"""The peers and ourselves, on this machine: ``python bench/peers/run.py`` measures, and writes docs/benchmarks.md.

Makes the environments that it needs under .venv/, asks every question in a process of its own with a time limit, and
keeps each row of answers in results.json as soon as it has it: a run that was stopped goes on where it was. Unix only.

    python bench/peers/run.py --list             the rows, and how long they will take
    python bench/peers/run.py --only 'scale*'    (again) those whose names match
    python bench/peers/run.py --fresh            everything again
    python bench/peers/run.py --render           only the page and the plots, from results.json
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from rows import ROWS, Row  # noqa: E402

from pythons import available, environment  # noqa: E402

RESULTS = HERE / "results.json"
ENVIRONMENTS = {
    "peers": "requirements.txt",
    "peers-random-allocation": "requirements-random-allocation.txt",
    "peers-prv-0.1": "requirements-prv-0.1.txt",
}
ELSEWHERE = {"allocation": "peers-random-allocation", "prv_first": "peers-prv-0.1"}
LIBRARIES = {
    "peers": [
        *("privloss", "PLD-accounting", "dp-accounting", "prv-accountant", "riskcal"),
        *("numpy", "scipy", "numba", "matplotlib"),
    ],
    "peers-random-allocation": ["random-allocation", "dp-accounting", "numpy", "scipy", "pandas", "numba"],
    "peers-prv-0.1": ["prv-accountant", "numpy", "scipy"],
}

Record = dict[str, Any]


# ---------------------------------------------------------------- environments and the machine


def environments() -> dict[str, str]:
    """The Python of each: of the version that runs this if it is supported."""
    _, executable = next(available())
    pythons = {}
    for name, file in ENVIRONMENTS.items():
        lines = (HERE / file).read_text(encoding="utf-8").splitlines()
        wanted = [line for line in lines if line and not line.startswith("#")]
        pythons[name] = environment(name, executable, *wanted, *(["."] if name == "peers" else []))
    return pythons


def machine(pythons: dict[str, str]) -> Record:
    versions = {}
    for name, python in pythons.items():
        code = "import sys, json; from importlib.metadata import version as v; "
        code += "print(json.dumps({each: v(each) for each in sys.argv[1:]} | {'Python': sys.version.split()[0]}))"
        said = subprocess.run([python, "-c", code, *LIBRARIES[name]], check=True, capture_output=True, text=True)
        versions[name] = json.loads(said.stdout)
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.system(),
        "versions": versions,
    }


def processor() -> str:
    """Its name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# ---------------------------------------------------------------- asking


class Asker:
    """Asks one question in a new process, and prints one line."""

    def __init__(self, pythons: dict[str, str]) -> None:
        self.pythons = pythons

    def __call__(self, call: str, given: Record, limit: float, label: str = "", cold: bool = False) -> Record:
        python = self.pythons[ELSEWHERE.get(call, "peers")]
        question = {"call": call, "given": given, "limit": limit, "cold": cold}
        command = [python, str(HERE / "ask.py"), json.dumps(question)]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=HERE)
        assert process.stdout is not None
        said = process.stdout.read().decode().splitlines()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        unit = 1 if sys.platform == "darwin" else 1024
        answer: Record = {"call": call, "label": label, "given": given, "limit": limit, "wall": round(wall, 4)}
        answer["memory"] = used.ru_maxrss * unit
        for line in said:
            if line.startswith("{"):
                answer.update(json.loads(line))
        answer["outcome"] = outcome(answer, process.returncode)
        print(f"   {describe(answer)}", flush=True)
        return answer


def outcome(answer: Record, status: int) -> str:
    if "error" in answer:
        return "error"
    if "seconds" in answer:
        return "answer"
    return "no answer" if status == -signal.SIGALRM else "crash"


def describe(answer: Record) -> str:
    bounds = " ".join(f"{side} {answer[side]}" for side in ("lower", "upper") if side in answer)
    said = bounds or str(answer.get("error", answer["outcome"]))[:90]
    took = f"{answer['seconds']:.3f} s" if "seconds" in answer else f"{answer['wall']:.1f} s in all"
    return f"{answer['call']} {answer['label']}: {said}, {took}, {answer['memory'] / 2**20:.0f} MB"


# ---------------------------------------------------------------- results


def load() -> Record:
    if RESULTS.is_file():
        kept: Record = json.loads(RESULTS.read_text(encoding="utf-8"))
        return kept
    return {"machine": {}, "rows": {}}


def save(results: Record) -> None:
    order = {row.name: n for n, row in enumerate(ROWS)}
    results["rows"] = {name: results["rows"][name] for name in sorted(results["rows"], key=lambda n: order.get(n, -1))}
    beside = RESULTS.with_suffix(".new")
    beside.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    beside.replace(RESULTS)


def missing(results: Record, limit: float) -> list[Row]:
    """Rows not yet asked on this machine with these versions and that limit."""
    rows = results["rows"]
    return [row for row in ROWS if row.name not in rows or rows[row.name]["limit"] != limit]


def expected(row: Row, results: Record, limit: float) -> float:
    """What it took before with that limit, else an estimate."""
    kept = results["rows"].get(row.name)
    return float(kept["elapsed"]) if kept and kept["limit"] == limit else row.estimate(limit)


def measure(row: Row, ask: Asker, limit: float, results: Record) -> None:
    start = time.perf_counter()
    answers = row.ask(ask, limit)
    results["rows"][row.name] = {
        "title": row.title,
        "kind": row.kind,
        "given": row.given,
        "limit": limit,
        "elapsed": round(time.perf_counter() - start, 1),
        "answers": answers,
    }
    save(results)


def render(python: str) -> None:
    """The plots need matplotlib, which is in the peers' environment."""
    for script in ("plots.py", "page.py"):
        subprocess.run([python, str(HERE / script)], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="ask these rows (again); * stands for anything")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each question (60)")
    parser.add_argument("--fresh", action="store_true", help="forget what is in results.json")
    parser.add_argument("--render", action="store_true", help="ask nothing: write the page and the plots")
    parser.add_argument("--list", action="store_true", help="the rows and the time they are expected to take")
    given = parser.parse_args()
    results = {"machine": {}, "rows": {}} if given.fresh else load()
    if given.only:
        rows = [row for row in ROWS if fnmatch.fnmatch(row.name, given.only)]
        if not rows:
            print(f"no row is called {given.only!r}; --list shows them", file=sys.stderr)
            return 2
    else:
        rows = missing(results, given.limit)
    if given.list:
        for row in ROWS:
            print(f"{expected(row, results, given.limit):6.0f} s  {'to do' if row in rows else 'done '}  {row.name}")
    left = sum(expected(row, results, given.limit) for row in rows)
    if not given.render:
        print(f"{len(rows)} rows, about {left / 60:.0f} minutes", flush=True)
    if given.list:
        return 0
    pythons = environments()
    if not given.render:
        here = machine(pythons)
        if results["machine"] not in ({}, here):
            print("results.json is from another machine or other versions: begin anew with --fresh", file=sys.stderr)
            return 2
        results["machine"] = here
        ask = Asker(pythons)
        for row in rows:
            print(f"{row.name} (about {left / 60:.0f} minutes left)", flush=True)
            left -= expected(row, results, given.limit)
            measure(row, ask, given.limit, results)
    render(pythons["peers"])
    return 0


if __name__ == "__main__":
    sys.exit(main())

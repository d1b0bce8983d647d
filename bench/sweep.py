"""What sweeps promise, measured. Run: python bench/sweep.py [--points 2000] [--kills 20] [--seed 0]

* Points a second on two processes, and the overhead over bare calls: a plain loop in each of two processes, over every
  other point.
* How much the memory of all its processes grows, from a tenth of the points to the last.
* A sweep killed (-9) again and again: the table is that of an undisturbed one, and no point that was in the journal was
  begun again. Every point that any process begins is noted in a file, by a hook outside the package.
* A full disk, by a limit to the size of files and by a limit to the pages of the journal.
* Two sweeps at once with one journal.
* The same on a Dask cluster of two workers, one of which is killed on the way, where the extra is installed.

For Linux: memory is read from /proc. The tests run the same with fewer points.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Notes the points that any process begins and ends: imported by every Python that is started, before anything else.
HOOK = """
import os
try:
    import privloss.sweep._dask, privloss.sweep._workers
    real = privloss.sweep._workers.ask
    def noted(recipe, each):
        def note(word):
            line = f"{word} {each.source} {sorted(each.holes.items())} {sorted(each.given.items())}\\n"
            with open(os.environ["SWEEP_NOTES"], "ab", buffering=0) as file:
                file.write(line.encode())
        note("began")
        outcome = real(recipe, each)
        note("ended")
        return outcome
    privloss.sweep._dask.ask = privloss.sweep._workers.ask = noted
except ImportError:
    pass
"""

# Half of the points of a grid, one after the other, as anyone would write it.
BARE = """
import json, sys, time
import privloss as pl
points = json.loads(sys.stdin.read())
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin = open(0); began = time.perf_counter()
for kind, sigma, steps, delta in points:
    scheme = pl.Gaussian(sigma).allocate(steps)
    (scheme if kind == "allocation" else scheme.poisson()).epsilon(delta=delta, seconds=None)
print(time.perf_counter() - began)
"""


def grid(points: int) -> dict[str, Any]:
    """So many points, a multiple of 20."""
    return {
        "question": "epsilon",
        "scheme": {
            "allocation": "Gaussian({sigma}).allocate({steps})",
            "poisson": "Gaussian({sigma}).allocate({steps}).poisson()",
        },
        "delta": [1e-6, 1e-5],
        "seconds": "none",
        "parameters": {
            "sigma": {"from": 0.5, "to": 4.0, "points": points // 20, "scale": "log"},
            "steps": [10, 30, 100, 300, 1000],
        },
    }


def command(folder: Path, name: str, *more: str) -> list[str]:
    """A sweep of `folder/grid.json` in a process of its own, with the journal and the table of that name."""
    code = (
        "import json, sys; "
        "from privloss._cli import main; folder, name, *more = sys.argv[1:]; "
        "import privloss._cli._sweep, privloss.sweep._grid as g; "
        "tree = json.load(open(folder + '/grid.json')); g._toml = lambda path: tree; "
        "path = f'{folder}/{name}'; "
        "sys.exit(main(['sweep', 'grid.toml', '-o', path + '.csv', '--journal', path + '.sqlite', *more]))"
    )
    return [sys.executable, "-c", code, str(folder), name, *more]


def table(path: Path) -> list[list[str]]:
    """A CSV table without the column of seconds."""
    with path.open() as file:
        rows = list(csv.reader(file))
    place = rows[0].index("seconds")
    return [row[:place] + row[place + 1 :] for row in rows]


def recorded(path: Path) -> set[str]:
    """The points in a journal, in the words of the notes."""
    if not path.exists():
        return set()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
        if not file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'points'").fetchone()[0]:
            return set()
        rows = file.execute("SELECT scheme, asked FROM points").fetchall()
    return {_words(scheme, json.loads(asked)) for scheme, asked in rows}


def _words(scheme: str, asked: dict[str, Any]) -> str:
    return f"{int('poisson' in scheme)} {sorted(asked['holes'].items())} {sorted(asked['given'].items())}"


def notes(path: Path, word: str) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.partition(" ")[2] for line in lines if line.startswith(f"{word} ")]


class Place:
    """A folder with a grid and the hook, and the sweeps that are run there."""

    def __init__(self, folder: Path, points: int) -> None:
        self.folder, self.points = folder, points
        (folder / "grid.json").write_text(json.dumps(grid(points)))
        (folder / "hook").mkdir()
        (folder / "hook" / "sitecustomize.py").write_text(HOOK)

    def environment(self, name: str) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder / "hook"),
            "SWEEP_NOTES": str(self.folder / f"{name}.notes"),
        }

    def start(self, name: str, *more: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command(self.folder, name, *more),
            env=self.environment(name),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, name: str, *more: str, **options: Any) -> tuple[int, str]:
        process = self.start(name, *more, **options)
        said = process.communicate()[1]
        return process.returncode, said

    def path(self, name: str, kind: str) -> Path:
        return self.folder / f"{name}.{kind}"

    def table(self, name: str) -> list[list[str]]:
        return table(self.path(name, "csv"))


def undisturbed(place: Place, jobs: int = 2) -> float:
    """The table to compare with; the seconds that it took, workers started and table written."""
    began = time.perf_counter()
    status, said = place.run("calm", "--jobs", str(jobs))
    assert (status, said) == (0, ""), said
    assert len(place.table("calm")) == place.points + 1
    return time.perf_counter() - began


def killed(place: Place, kills: int, seconds: float, chance: random.Random, *more: str) -> dict[str, int]:
    """Kill a sweep so many times, at random, and let it finish."""
    name = "killed"
    lost = again = hit = 0
    while hit < kills:
        before, begun = recorded(place.path(name, "sqlite")), len(notes(place.path(name, "notes"), "began"))
        process = place.start(name, *more)
        time.sleep(chance.uniform(0.1, seconds / kills))
        if process.poll() is not None:  # over before it was killed as often
            process.communicate()
            break
        hit += 1
        process.send_signal(signal.SIGKILL)
        process.communicate()
        _settled(place.path(name, "notes"))
        again += len(before & set(notes(place.path(name, "notes"), "began")[begun:]))
        lost += len(set(notes(place.path(name, "notes"), "ended")) - recorded(place.path(name, "sqlite")))
    before, begun = recorded(place.path(name, "sqlite")), len(notes(place.path(name, "notes"), "began"))
    status, said = place.run(name, *more)
    assert (status, said) == (0, ""), said
    again += len(before & set(notes(place.path(name, "notes"), "began")[begun:]))
    assert place.table(name) == place.table("calm"), "the table is another"
    assert len(set(notes(place.path(name, "notes"), "ended"))) == place.points, "not every point was noted"
    assert again == 0, f"{again} points in the journal were computed again"
    return {
        "killed": hit,
        "in the journal before the last run": len(before),
        "of these computed again": again,
        "finished at a kill but not yet stored": lost,
    }


def _settled(path: Path) -> None:
    """Until the workers have noticed that their parent is gone."""
    size = -1
    while path.exists() and size != path.stat().st_size:
        size = path.stat().st_size
        time.sleep(0.3)


def full_disk(place: Place, size: int) -> str:
    """No file larger than `size` bytes; then again without that limit."""
    name = "full"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    status, said = place.run(name, "--jobs", "1", preexec_fn=limit)
    assert status == 2 and said.count("\n") == 1, (status, said)
    return _resumed(place, name, said)


def full_journal(place: Place, pages: int) -> str:
    """No more pages than that in the journal; then again without that limit."""
    name = "capped"
    cap = f"import privloss.sweep._journal as j; real = j._set_up; j._set_up = lambda f: (real(f), f.execute('PRAGMA max_page_count = {pages}'))[0]; "  # noqa: E501
    process = command(place.folder, name, "--jobs", "1")
    process[2] = cap + process[2]
    done = subprocess.run(process, env=place.environment(name), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
    return _resumed(place, name, done.stderr)


def _resumed(place: Place, name: str, said: str) -> str:
    journal = place.path(name, "sqlite")
    with closing(sqlite3.connect(journal)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    kept, begun = recorded(journal), len(notes(place.path(name, "notes"), "began"))
    assert not place.path(name, "csv").exists()
    status, later = place.run(name, "--jobs", "1")
    assert (status, later) == (0, ""), later
    assert place.table(name) == place.table("calm")
    assert not kept & set(notes(place.path(name, "notes"), "began")[begun:])
    return f"{len(kept)} points kept; said: {said.strip()}"


def together(place: Place) -> str:
    """Two sweeps of one grid at once, with one journal."""
    first = place.start("shared", "--jobs", "1")
    status, said = place.run("shared", "--jobs", "1")
    assert (status, said) == (0, ""), said
    assert first.communicate()[1] == "" and first.returncode == 0
    counts = Counter(notes(place.path("shared", "notes"), "began"))
    assert place.table("shared") == place.table("calm")
    assert len(counts) == place.points and set(counts.values()) == {1}, "a point was computed by both"
    return f"{place.points} points, each computed once"


def clustered(place: Place, after: float) -> str:
    """On a Dask cluster of two workers, one of which is killed after so many seconds."""
    code = """
import json, os, signal, sys, threading, time
import distributed
from privloss.sweep import save, sweep

def main():
    folder, after = sys.argv[1], float(sys.argv[2])
    grid = json.load(open(folder + "/grid.json"))
    one = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, **one) as cluster:
        with distributed.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
            threading.Timer(after, os.kill, (pids[0], signal.SIGKILL)).start()
            began = time.perf_counter()
            rows = sweep(grid, journal=folder + "/dask.sqlite", dask=client.scheduler.address, quiet=True)
            spent = time.perf_counter() - began
            assert spent > after, "it was over before a worker was killed"
            print(spent, pids[0] not in client.run(os.getpid).values())
    save(rows, folder + "/dask.csv")

if __name__ == "__main__":
    main()
"""
    script = place.folder / "clustered.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script), str(place.folder), str(after)],
        env=place.environment("dask"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seconds, replaced = done.stdout.split()
    assert replaced == "True", "the worker lives"
    assert place.table("dask") == place.table("calm")
    counts = Counter(notes(place.path("dask", "notes"), "began"))
    extra = sum(counts.values()) - len(counts)
    return f"{float(seconds):.1f} s with a worker killed after {after:.1f} s; {extra} points of its were begun again"


def bare(points: int, processes: int = 2) -> float:
    """Seconds of a plain loop in each process, both at once, interpreters started and warm."""
    from privloss.sweep import Grid

    every = Grid(grid(points))
    rows = [every.values(i) for i in range(len(every))]
    todo = [[row["scheme"], row["sigma"], row["steps"], row["delta"]] for row in rows]
    random.Random(0).shuffle(todo)  # so that the halves are alike
    running = [
        subprocess.Popen([sys.executable, "-c", BARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for number, process in enumerate(running):
        assert process.stdin is not None
        process.stdin.write(json.dumps(todo[number::processes]))
        process.stdin.close()
    spent = max(float(process.stdout.read().split()[-1]) for process in running if process.stdout)
    assert not any(process.wait() for process in running)
    return spent


class Memory:
    """Resident megabytes of a process and its children, watched from a thread."""

    def __init__(self, pid: int) -> None:
        self.pid, self.seen = pid, []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.seen.append(sum(map(_resident, [self.pid, *_children(self.pid)])))

    def close(self) -> list[float]:
        self._over.set()
        self._thread.join()
        return [each for each in self.seen if each]


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


class Speed:
    """The best of a few runs of bare calls and of the sweep, taken in turn; memory of the last.

    Where other programs use the cores, seconds on the clock say little: `processor` is the time of the cores alone, and
    `busy` the share of both processes' time, from start to table, that was spent inside the calls themselves.
    """

    def __init__(self, place: Place, runs: int) -> None:
        self.plain = self.whole = self.bare_processor = self.processor = float("inf")
        self.busy, self.memory = 0.0, []
        for run in range(runs):
            spent = _processor()
            self.plain = min(self.plain, bare(place.points))
            self.bare_processor = min(self.bare_processor, _processor() - spent)
            self._sweep(place, f"speed{run}")

    def _sweep(self, place: Place, name: str) -> None:
        spent, began = _processor(), time.perf_counter()
        clean = {key: value for key, value in place.environment("x").items() if key != "PYTHONPATH"}
        process = subprocess.Popen(command(place.folder, name, "--jobs", "2", "--quiet"), env=clean)
        memory = Memory(process.pid)
        assert process.wait() == 0
        whole = time.perf_counter() - began
        self.memory = memory.close()
        self.whole, self.processor = min(self.whole, whole), min(self.processor, _processor() - spent)
        with place.path(name, "csv").open() as file:
            self.busy = max(self.busy, sum(float(row["seconds"]) for row in csv.DictReader(file)) / (2 * whole))


def _processor() -> float:
    """Seconds of cores that processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(speed: Speed, points: int) -> None:
    more = 100 * (speed.whole / speed.plain - 1)
    most = 100 * (1 / speed.busy - 1)
    cores = 100 * (speed.processor / speed.bare_processor - 1)
    tenth = speed.memory[len(speed.memory) // 10]
    grown = max(speed.memory[len(speed.memory) // 10 :]) - tenth
    print(f"{points} points, 2 processes: {points / speed.whole:.1f} points a second, start to table")
    print(f"on the clock: bare calls {speed.plain:.2f} s, sweep {speed.whole:.2f} s: overhead {more:+.1f} %")
    print(f"of the processes' time outside the calls, in the same run: {most:+.1f} % (allowed 10)")
    print(f"of cores: bare {speed.bare_processor:.2f} s, sweep {speed.processor:.2f} s: {cores:+.1f} % (allowed 10)")
    print(f"memory of all processes: {tenth:.1f} MB after a tenth, then {grown:+.1f} MB at most (allowed 20)")


def main() -> None:
    arguments = argparse.ArgumentParser(description="what sweeps promise, measured")
    arguments.add_argument("--points", type=int, default=2000)
    arguments.add_argument("--kills", type=int, default=20, help="0 leaves out all but the speed")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), given.points)
        told(Speed(place, given.runs), given.points)
        if not given.kills:
            return
        seconds = undisturbed(place)
        found = killed(place, given.kills, seconds, random.Random(given.seed), "--jobs", "2")
        print("the same table;", *(f"{name}: {count};" for name, count in found.items()))
        print("full disk:", full_disk(place, 50_000 + 200 * given.points))
        print("full journal:", full_journal(place, 8 + given.points // 30))
        print("two sweeps, one journal:", together(place))
        if find_spec("distributed") is not None:
            print("Dask, two workers:", clustered(place, seconds / 3))
        else:
            print("Dask: left out, the extra dask is not installed")


if __name__ == "__main__":
    main()

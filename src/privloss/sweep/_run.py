"""Running a sweep: what the journal knows is taken from it, the rest goes to a crew, the longest first."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from privloss import Scheme, _check
from privloss.sweep import _methods
from privloss.sweep._grid import Grid, Source
from privloss.sweep._journal import Entry, Journal, located
from privloss.sweep._point import Outcome, cost, engine, gap, key, likes, sentence
from privloss.sweep._progress import Progress
from privloss.sweep._workers import Crew, Here, Processes, Report

CHUNK = 0.2  # seconds of work to hand out at a time
MANY = 256  # points at most in a chunk
GATHER = 0.05  # seconds at most between writes to the journal
SHARE = 4  # times as long as a write took, the next one waits for more to write
LOOK = 0.25  # seconds between looks at what other sweeps have done
DEATHS = 2  # workers that a point may end before it is given up
SHOWN = 1000  # characters of a scheme that the journal keeps, for those who read it

Row = dict[str, Any]


@dataclass
class Task:
    """Points with one key: most often one."""

    place: int  # of the first of them
    cost: float
    outcome: Outcome | None = None
    deaths: int = 0


@dataclass
class Plan:
    """Every point's key, and what is to be done for each key."""

    grid: Grid
    keys: list[bytes] = field(default_factory=list)
    tasks: dict[bytes, Task] = field(default_factory=dict)
    unbuilt: list[bytes] = field(default_factory=list)  # with a scheme that cannot be

    @classmethod
    def of(cls, grid: Grid, progress: Progress | None = None) -> Plan:
        plan, mine = cls(grid), engine()
        for place in range(len(grid)):
            plan._add(place, mine)
            if progress is not None and place % 1000 == 999:
                progress.prepare(place + 1)
        return plan

    def _add(self, place: int, mine: str) -> None:
        recipe, point = self.grid.recipe, self.grid.point(place)
        outcome: Outcome | None = None
        schemes: tuple[Scheme, ...] = ()
        try:
            schemes = likes(recipe, point)
        except (ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
            outcome = Outcome(error=sentence(error))
        name = key(recipe, point, schemes, mine)
        self.keys.append(name)
        if name not in self.tasks:
            self.tasks[name] = Task(place, cost(recipe, schemes), outcome)
            if outcome is not None:
                self.unbuilt.append(name)

    def rows(self, outcomes: dict[bytes, Outcome]) -> list[Row]:
        """The table, in the order of the grid; answers that there are not are empty."""
        return [
            row(self.grid.values(place), outcomes.get(name, Outcome(reason=None)), blank=name not in outcomes)
            for place, name in enumerate(self.keys)
        ]


def row(values: dict[str, Any], outcome: Outcome, *, blank: bool = False) -> Row:
    return {
        **values,
        "lower": outcome.lower,
        "upper": outcome.upper,
        "gap": gap(outcome.lower, outcome.upper),
        "seconds": None if blank else outcome.seconds,
        "reason": outcome.reason,
        "exact": outcome.exact,
        "error": outcome.error,
    }


def sweep(
    grid: Source | Grid,
    jobs: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    *,
    dask: Any = None,
    quiet: bool = False,
) -> list[Row]:
    """Answer every point of a grid; the rows, in its order, as dictionaries with one key a column.

    * ``grid``: the path of a TOML file, or the same as a mapping.
    * ``jobs``: processes on this machine; as many as it has cores by default, and 1 is this process itself.
    * ``journal``: the SQLite file that keeps the answers; one in the user's data folder by default.
    * ``dask``: a cluster to use instead: an address, a ``Client``, or ``"local"`` to start one of ``jobs`` workers.
    * ``quiet``: no progress, which otherwise is shown on a terminal.

    Stop it however you like: the next sweep goes on from what the journal has.
    """
    jobs = cores() if jobs is None else _check.count(jobs=jobs, most=1024)
    file = located(journal)
    if dask is not None:
        from privloss.sweep import _dask

        _dask.check()
    grid = grid if isinstance(grid, Grid) else Grid(grid)
    grid.check(jobs)
    progress = Progress(len(grid), quiet=quiet)
    try:
        plan = Plan.of(grid, progress)
        with Journal(file) as book:
            book.remember(grid.to_json())
            return _Sweep(plan, book, progress).run(jobs, dask)
    finally:
        progress.close()


def cores() -> int:
    """Those that this process may use."""
    try:
        return max(len(os.sched_getaffinity(0)), 1)
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


class _Sweep:
    """One run: the queue, what others are at, and what is known."""

    def __init__(self, plan: Plan, journal: Journal, progress: Progress) -> None:
        self._plan, self._journal, self._progress = plan, journal, progress
        self._tasks = plan.tasks
        self._outcomes: dict[bytes, Outcome] = {}
        self._names = list(plan.tasks)
        self._number = {name: number for number, name in enumerate(self._names)}
        self._sharing: dict[bytes, int] = {}
        for name in plan.keys:
            self._sharing[name] = self._sharing.get(name, 0) + 1
        self._queue: deque[bytes] = deque()
        self._singly: deque[bytes] = deque()  # lost with a worker that some point may have ended
        self._others: list[bytes] = []
        self._sent: set[bytes] = set()
        self._pending: list[tuple[bytes, Outcome]] = []
        self._done = self._failed = self._computed = 0
        self._spent = self._priced = self._left = 0.0
        self._looked = self._next = 0.0

    def run(self, jobs: int, dask: Any) -> list[Row]:
        known = self._journal.known(self._names)
        self._know({name: outcome for name, outcome in known.items() if outcome.final})
        fresh = [name for name in self._plan.unbuilt if name not in self._outcomes]
        if fresh:
            self._store([(name, outcome) for name in fresh if (outcome := self._tasks[name].outcome) is not None])
        todo = [name for name in self._names if name not in self._outcomes]
        todo.sort(key=lambda name: -self._tasks[name].cost)  # the longest first, so that none is left for the end
        self._queue.extend(todo)
        self._left = sum(self._tasks[name].cost for name in todo)
        if todo:
            self._work(min(jobs, len(todo)), dask)
        return self._plan.rows(self._outcomes)

    def _work(self, jobs: int, dask: Any) -> None:
        crew = self._crew(jobs, dask)
        self._progress.start()
        try:
            while self._queue or self._singly or self._sent or self._others:
                self._hand_out(crew)
                self._take_in(crew)
        except KeyboardInterrupt:
            self._take(crew.receive(0.0))
            whole = f"{self._done:,} of {len(self._plan.keys):,} points are in the journal"
            raise KeyboardInterrupt(f"interrupted; {whole}, and the next sweep goes on from there") from None
        finally:
            crew.close()

    def _crew(self, jobs: int, dask: Any) -> Crew:
        recipe = self._plan.grid.recipe
        if dask is not None:
            from privloss.sweep._dask import Cluster

            return Cluster(recipe, dask, jobs)
        return Here(recipe) if jobs == 1 else Processes(recipe, jobs)

    # Out.

    def _hand_out(self, crew: Crew) -> None:
        self._ask_others()
        while (self._queue or self._singly) and crew.wants():
            chunk = self._claimed(self._chunk(crew.size))
            if chunk:
                self._sent.update(chunk)
                grid = self._plan.grid
                crew.send([(self._number[name], grid.point(self._tasks[name].place)) for name in chunk])

    def _ask_others(self) -> None:
        """When nothing else is left: what other sweeps have done meanwhile, and what they will not do any more."""
        now = time.monotonic()
        if self._others and not self._queue and not self._singly and now - self._looked > LOOK:
            waited, self._others, self._looked = self._others, [], now
            self._queue.extend(self._claimed(waited))

    def _chunk(self, size: int) -> list[bytes]:
        """The next of the queue: enough to be worth a message, not so much that others wait for it at the end."""
        if self._singly:
            return [self._singly.popleft()]
        rate = self._spent / self._priced if self._priced > 0 else 1e-3  # seconds for a unit of predicted cost
        most = min(CHUNK, rate * self._left / (4 * size))
        chunk = [self._queue.popleft()]
        total = rate * self._tasks[chunk[0]].cost
        while self._queue and len(chunk) < MANY and total < most:
            chunk.append(self._queue.popleft())
            total += rate * self._tasks[chunk[-1]].cost
        return chunk

    def _claimed(self, chunk: Sequence[bytes]) -> list[bytes]:
        """Those of a chunk that no other sweep has done or is doing."""
        got = self._journal.claim(chunk)
        self._know(got.known)
        self._left -= sum(self._tasks[name].cost for name in got.known)
        self._others += got.others
        return got.mine

    # In.

    def _take_in(self, crew: Crew) -> None:
        if not self._sent:
            if self._others:
                time.sleep(LOOK)
        else:
            self._take(crew.receive(LOOK))
            rest = self._next - time.monotonic()
            if rest > 0 and self._sent and not isinstance(crew, Here):
                time.sleep(rest)
        share = 1 - self._left / (self._left + self._priced) if self._priced else 0.0
        self._progress.show(self._done, self._computed, self._failed, share)

    def _take(self, report: Report) -> None:
        done = self._pending  # an interrupt may come before they are stored
        done += [(self._names[number], outcome) for number, outcome in report.done]
        for number in report.lost:
            name = self._names[number]
            self._sent.discard(name)
            if number == report.blamed:
                self._tasks[name].deaths += 1
                if self._tasks[name].deaths >= DEATHS:
                    done.append((name, Outcome(error=report.why, final=False)))
                    continue
            self._singly.append(name)
        if done:
            began = time.monotonic()
            self._store(done)
            self._pending, now = [], time.monotonic()
            self._next = now + min(GATHER, SHARE * (now - began))

    def _store(self, done: Sequence[tuple[bytes, Outcome]]) -> None:
        """Into the journal first: what is counted as done is on the disk."""
        self._journal.store([self._entry(name, outcome) for name, outcome in done])
        for name, outcome in done:
            self._sent.discard(name)
            self._computed += self._sharing[name]
            self._left -= self._tasks[name].cost
            self._priced += self._tasks[name].cost
            self._spent += outcome.seconds
        self._know(dict(done))

    def _know(self, outcomes: dict[bytes, Outcome]) -> None:
        for name, outcome in outcomes.items():
            self._outcomes[name] = outcome
            self._done += self._sharing[name]
            self._failed += self._sharing[name] * (outcome.error is not None)

    def _entry(self, name: bytes, outcome: Outcome) -> Entry:
        grid = self._plan.grid
        point = grid.point(self._tasks[name].place)
        source = grid.recipe.sources[point.source]
        asked = {"given": point.given, **grid.recipe.options, "holes": point.holes, "engine": engine()}
        if grid.methods != (_methods.ENGINE,) or point.settings:
            asked |= {"method": point.method, **point.settings}
        return Entry(name, grid.question, str(source)[:SHOWN], json.dumps(asked), outcome)

"""Processes of this machine that answer points, and what any such crew looks like to the sweep.

A worker is a fresh interpreter that is sent chunks on its standard input and sends outcomes back on its standard
output: nothing of the caller's program is imported or forked, so it does not matter where `sweep` is called from.
It ends when its standard input does, which is also what the end of its parent looks like, however that came.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from privloss.sweep._point import Outcome, Point, Recipe, ask, lighten, sentence

HELD = 0.02  # seconds for which a worker may hold outcomes back, so that quick points do not cost a message each
STARTS = 3  # workers in a row that may end before they answer anything
AHEAD = 2  # chunks that a worker has: the one at work, and the next
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from privloss.sweep._workers import serve; serve()"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # every core has a worker already

Task = tuple[int, Point]


@dataclass
class Report:
    """Outcomes by task, tasks that were lost with their worker, and which of those ended it, if that is sure."""

    done: list[tuple[int, Outcome]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    blamed: int | None = None
    why: str = ""


class Crew(Protocol):
    """Those who answer points."""

    size: int

    def wants(self) -> bool:
        """Whether another chunk should be sent now."""

    def send(self, chunk: Sequence[Task]) -> None:
        """Have these answered some time."""

    def receive(self, timeout: float) -> Report:
        """What came in; waits for something, up to the timeout."""

    def close(self) -> None:
        """Stop at once."""


class Here:
    """This process itself, for a single job."""

    size = 1

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._tasks: deque[Task] = deque()
        self._done: list[tuple[int, Outcome]] = []

    def wants(self) -> bool:
        return not self._tasks

    def send(self, chunk: Sequence[Task]) -> None:
        self._tasks.extend(chunk)

    def receive(self, timeout: float) -> Report:
        until = time.perf_counter() + min(timeout, HELD)
        while self._tasks and timeout > 0:
            number, point = self._tasks.popleft()
            self._done.append((number, ask(self._recipe, point)))
            if time.perf_counter() > until:
                break
        done, self._done = self._done, []
        return Report(done)

    def close(self) -> None:
        self._tasks.clear()


class Processes:
    """Workers, each in a process that is started anew should it end."""

    def __init__(self, recipe: Recipe, size: int) -> None:
        self.size = size
        self._recipe = recipe
        self._said: queue.Queue[tuple[_Worker, Any]] = queue.Queue()
        self._unstarted = 0
        self._workers = [_Worker(recipe, self._said) for _ in range(size)]

    def wants(self) -> bool:
        return any(len(worker.chunks) < AHEAD for worker in self._workers)

    def send(self, chunk: Sequence[Task]) -> None:
        min(self._workers, key=lambda worker: len(worker.chunks)).send(chunk)

    def receive(self, timeout: float) -> Report:
        report = Report()
        wait = timeout
        with suppress(queue.Empty):
            while True:
                worker, message = self._said.get(timeout=wait) if wait > 0 else self._said.get_nowait()
                wait = 0.0
                if isinstance(message, list):
                    worker.finished(message)
                    report.done += message
                elif worker in self._workers:
                    self._replace(worker, str(message), report)
        return report

    def _replace(self, worker: _Worker, why: str, report: Report) -> None:
        """Another in place of one that ended, unless none even starts."""
        why = why or worker.ended()
        worker.kill()
        self._unstarted = 0 if worker.ready else self._unstarted + 1
        place = self._workers.index(worker)
        if self._unstarted >= STARTS:
            raise OSError(f"worker processes cannot start: {why}")
        lost = [number for chunk in worker.chunks for number in chunk]
        report.lost += lost
        if worker.ready and worker.chunks and len(worker.chunks[0]) == 1:
            report.blamed, report.why = worker.chunks[0][0], why
        self._workers[place] = _Worker(self._recipe, self._said)

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()


class _Worker:
    """One process, and a thread that listens to it."""

    def __init__(self, recipe: Recipe, said: queue.Queue[tuple[_Worker, Any]]) -> None:
        self.chunks: deque[list[int]] = deque()  # task numbers not yet answered
        self.ready = False
        apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C is for the parent alone
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**dict.fromkeys(_THREADS, "1"), **os.environ},
            **apart,
        )
        self._listener = threading.Thread(target=self._listen, args=(said,), daemon=True)
        self._listener.start()
        self._write(recipe)

    def send(self, chunk: Sequence[Task]) -> None:
        self.chunks.append([number for number, _ in chunk])
        self._write(list(chunk))

    def finished(self, outcomes: Sequence[tuple[int, Outcome]]) -> None:
        """In the order in which they were sent."""
        for number, _ in outcomes:
            self.chunks[0].remove(number)
            if not self.chunks[0]:
                self.chunks.popleft()

    def ended(self) -> str:
        return f"the process that computed it ended with exit status {self._process.wait()}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _write(self, message: object) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended: the listener says so
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def _listen(self, said: queue.Queue[tuple[_Worker, Any]]) -> None:
        """What it says goes into the queue; "" when it has ended, or why it could not go on."""
        assert self._process.stdout is not None
        try:
            while True:
                message = pickle.load(self._process.stdout)
                if message == "ready":
                    self.ready = True
                else:
                    said.put((self, message))
        except (EOFError, OSError, pickle.UnpicklingError):
            said.put((self, ""))


def serve() -> None:
    """What a worker does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that prints gets between the answers
    chunks: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, chunks), daemon=True).start()
    try:
        recipe = chunks.get()
        lighten()
        _send(answers, "ready")
        while True:
            _serve(recipe, chunks.get(), answers)
    except OSError:  # nobody listens any more
        os._exit(0)
    except Exception as error:
        with suppress(OSError):
            _send(answers, sentence(error))
        os._exit(1)


def _serve(recipe: Recipe, chunk: Sequence[Task], answers: BinaryIO) -> None:
    held: list[tuple[int, Outcome]] = []
    since = time.perf_counter()
    for number, point in chunk:
        held.append((number, ask(recipe, point)))
        if time.perf_counter() - since > HELD:
            _send(answers, held)
            held, since = [], time.perf_counter()
    if held:
        _send(answers, held)


def _send(answers: BinaryIO, message: object) -> None:
    pickle.dump(message, answers)
    answers.flush()


def _read(source: BinaryIO, chunks: queue.Queue[Any]) -> None:
    """Take in chunks while others are computed; end at once when nobody sends them any more."""
    try:
        while True:
            chunks.put(pickle.load(source))
    except BaseException:
        os._exit(0)

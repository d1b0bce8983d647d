"""A Dask cluster as the crew: it is sent the same chunks, and only this process opens the journal."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from privloss.sweep._point import Outcome, Recipe, ask, engine, lighten, sentence
from privloss.sweep._workers import AHEAD, Report, Task

LOCAL = "local"
PATIENCE = "30s"  # to find the scheduler
COUNTED = 2.0  # seconds between looks at how many workers there are

_alone = threading.Lock()  # a point's time is that of a core, whatever else a worker's threads do


class OtherEngine(Exception):
    """The cluster has another version of this package."""


def check() -> None:
    if find_spec("distributed") is None:
        raise ImportError("--dask needs the extra dask: pip install privloss[dask]")


def answers(recipe: Recipe, chunk: Sequence[Task], expected: str) -> list[tuple[int, Outcome]]:
    """What runs on the cluster: only with the engine that the journal will say it was."""
    if engine() != expected:
        raise OtherEngine(f"the cluster must run the same privloss, {expected}, got {engine()}")
    lighten()
    with _alone:
        return [(number, ask(recipe, point)) for number, point in chunk]


class Cluster:
    """Chunks as tasks; Dask gives those of a worker that ended to another, a few times."""

    def __init__(self, recipe: Recipe, address: Any, size: int) -> None:
        check()
        distributed: Any = import_module("distributed")
        self._recipe = recipe
        self._own = contextlib.ExitStack()
        self._ended: queue.Queue[Any] = queue.Queue()
        self._chunks: dict[Any, list[int]] = {}
        if isinstance(address, distributed.Client):
            self.client: Any = address
        else:
            self.client = self._own.enter_context(self._found(address, size))
        self._counted = -math.inf
        self.size = 1
        self.wants()

    def _found(self, address: str, size: int) -> Any:
        distributed: Any = import_module("distributed")
        try:
            if address == LOCAL:
                cluster = distributed.LocalCluster(
                    n_workers=size, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
                )
                address = self._own.enter_context(cluster)
            return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            self._own.close()
            said = " ".join(str(error).split())
            raise OSError(f"dask must be 'local' or the address of a scheduler, got {address!r}: {said}") from None

    def wants(self) -> bool:
        if time.monotonic() - self._counted > COUNTED:  # clusters grow and shrink
            self.size, self._counted = max(len(self.client.ncores()), 1), time.monotonic()
        return len(self._chunks) < AHEAD * self.size

    def send(self, chunk: Sequence[Task]) -> None:
        future = self.client.submit(answers, self._recipe, list(chunk), engine(), pure=False)
        self._chunks[future] = [number for number, _ in chunk]
        future.add_done_callback(self._ended.put)

    def receive(self, timeout: float) -> Report:
        report = Report()
        wait = timeout
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._ended.get(timeout=wait) if wait > 0 else self._ended.get_nowait()
                wait = 0.0
                self._take(future, report)
        return report

    def _take(self, future: Any, report: Report) -> None:
        killed = import_module("distributed.scheduler").KilledWorker
        numbers = self._chunks.pop(future)
        try:
            report.done += future.result()
        except killed:
            report.lost += numbers
            if len(numbers) == 1:
                report.blamed, report.why = numbers[0], "the workers that computed it ended"
        except OtherEngine as error:
            raise ValueError(str(error)) from None
        except Exception as error:  # a point's own errors are outcomes: this is the cluster's
            raise OSError(f"the Dask cluster failed: {sentence(error)}") from None
        future.release()

    def close(self) -> None:
        with contextlib.suppress(Exception):  # what cannot be cancelled any more ends with the cluster
            self.client.cancel(list(self._chunks))
        self._chunks.clear()
        self._own.close()

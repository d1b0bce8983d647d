"""Sweeps that are killed, that run out of disk, that run at once, that lose a worker of their cluster.

What bench/sweep.py measures, with few points.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench" / "sweep.py"
POINTS = 60


@pytest.fixture(scope="module")
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench_sweep", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def place(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """With the table of a sweep that nothing happened to."""
    found = bench.Place(tmp_path_factory.mktemp("sweep"), POINTS)
    found.seconds = bench.undisturbed(found)
    yield found


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(bench: Any, place: Any) -> None:
    assert bench.killed(place, 3, place.seconds, random.Random(1), "--jobs", "2")["killed"] > 0


@pytest.mark.slow
def test_a_full_disk_is_said_and_survived(bench: Any, place: Any) -> None:
    assert "cannot be written" in bench.full_disk(place, 60_000)


@pytest.mark.slow
def test_a_full_journal_is_said_and_survived(bench: Any, place: Any) -> None:
    assert "is full" in bench.full_journal(place, 9)


@pytest.mark.slow
def test_two_sweeps_at_once_share_the_work(bench: Any, place: Any) -> None:
    bench.together(place)


@pytest.mark.slow
@pytest.mark.extras
def test_a_cluster_that_loses_a_worker_goes_on(bench: Any, place: Any) -> None:
    bench.clustered(place, 1.0)

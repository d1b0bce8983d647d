"""Speed, gap and memory, against the targets set for the engine. Run: python bench/speed.py [--json FILE]

Warm, one process, one question after another with the cache of pairs emptied before each. Every answer is checked
against its reference interval before its time counts. Times are the best of a few runs: the machine may be shared.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

import privloss as pl
from privloss import _questions

COLD = "-m privloss epsilon --sigma 1 --steps 1000 --delta 1e-6 --quiet"

# sigma, steps, delta, remove, add
REFERENCE = [
    (1.0, 1_000, 1e-6, (0.1717282, 0.1717295), (0.1494299, 0.1494330)),
    (2.0, 100, 1e-6, (0.2049298, 0.2049317), (0.2006776, 0.2006819)),
    (0.5, 1_000, 1e-6, (4.1060099, 4.1060332), (0.5609803, 0.5610976)),
    (3.0, 1_000, 1e-10, (0.0577823, 0.0577844), (0.0576473, 0.0576493)),
    (0.4, 100, 1e-5, (8.6017235, 8.6017275), (2.0570100, 2.0570502)),
    (1.0, 100_000, 1e-6, (0.0130289, 0.0130292), (0.0129236, 0.0129239)),
    (0.3, 10, 1e-5, (16.8281827, 16.8281836), (7.9170026, 7.9170191)),
]


def timed(question: Callable[[], pl.Bracket], runs: int) -> tuple[pl.Bracket, float]:
    best = float("inf")
    for _ in range(runs):
        _questions.forget()
        start = time.perf_counter()
        answer = question()
        best = min(best, time.perf_counter() - start)
    return answer, best


def show(rows: list[dict[str, Any]], name: str, answer: pl.Bracket, seconds: float, target: float | None) -> None:
    gap = float(answer.gap) / float(answer.upper) if float(answer.upper) else 0.0
    verdict = "" if target is None else "  ok" if seconds <= target else "  OVER"
    limit = "" if target is None else f" (target {target:g})"
    print(f"{name:58s} {answer.lower:.9g} .. {answer.upper:.9g}  gap {gap:.1e}  {seconds:8.4f} s{limit}{verdict}")
    rows.append({"name": name, "lower": answer.lower, "upper": answer.upper, "seconds": seconds, "target": target})


def check(answer: pl.Bracket, interval: tuple[float, float]) -> None:
    assert answer.lower <= interval[1] and answer.upper >= interval[0], (answer, interval)


def table_of_values(rows: list[dict[str, Any]], runs: int) -> None:
    for title, options, most, middle in (
        ("default tolerance", {}, 0.1, 0.03),
        ("rtol=1e-5, atol=0", {"rtol": 1e-5, "atol": 0.0, "seconds": None}, 3.0, 0.5),
    ):
        print(f"\n1-out-of-t Gaussian, {title}")
        times = []
        for sigma, steps, delta, *intervals in REFERENCE:
            for direction, interval in zip(("remove", "add"), intervals, strict=True):
                scheme = pl.Gaussian(sigma).allocate(steps)
                ask = lambda: scheme.epsilon(delta, direction=direction, **options)  # noqa: B023,E731
                answer, seconds = timed(ask, runs)
                check(answer, interval)
                times.append(seconds)
                show(rows, f"sigma={sigma:g} steps={steps} delta={delta:g} {direction}", answer, seconds, most)
        median = statistics.median(times)
        print(f"median {median:.4f} s (target {middle:g}){'  ok' if median <= middle else '  OVER'}")
        rows.append({"name": f"median, {title}", "seconds": median, "target": middle})


def nested(rows: list[dict[str, Any]], runs: int) -> None:
    print("\nNested")
    gaussian = pl.Gaussian(1.0)
    poisson = gaussian.subsample(1e-5).repeat(100_000)
    preamble = gaussian.allocate(1024, picks=32).subsample(0.01).repeat(1000)
    for name, scheme, options, interval, target in (
        ("allocate(1000).repeat(100)", gaussian.allocate(1000).repeat(100), {}, (1.84387, 1.84509), 0.3),
        ("PREAMBLE, rtol 1e-3", preamble, {"rtol": 1e-3}, (4.24428, 4.24478), 1.0),
        ("PREAMBLE, rtol 1e-4", preamble, {"rtol": 1e-4, "seconds": None}, (4.24428, 4.24478), 10.0),
        ("subsample(1e-5).repeat(1e5)", poisson, {"rtol": 1e-3}, (0.013115, 0.013134), 0.5),
        ("allocate(1000).repeat(1e5)", gaussian.allocate(1000).repeat(100_000), {}, (147.003, 147.588), None),
    ):
        answer, seconds = timed(lambda: scheme.epsilon(1e-6, **options), runs)  # noqa: B023
        check(answer, interval)
        show(rows, name, answer, seconds, target)


def laws_of_cost(rows: list[dict[str, Any]], runs: int) -> None:
    print("\nCost against gap (both directions' worse; time ratio for each factor 10 of tolerance)")
    for sigma, steps in ((1.0, 1000), (0.5, 1000), (1.0, 100_000)):
        scheme, before = pl.Gaussian(sigma).allocate(steps), None
        for rtol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            ask = functools.partial(scheme.epsilon, 1e-6, direction="remove", rtol=rtol, seconds=None)
            answer, seconds = timed(ask, runs)
            grew = "" if before is None else f" x{seconds / before:.1f}"
            show(rows, f"sigma={sigma:g} steps={steps} rtol={rtol:g}{grew}", answer, seconds, None)
            before = seconds
    print("\nCost against steps, default tolerance, both directions")
    for sigma in (1.0, 0.5):
        times = []
        for power in range(2, 10):
            scheme = pl.Gaussian(sigma).allocate(10**power)
            answer, seconds = timed(lambda: scheme.epsilon(1e-6, rtol=1e-3), runs)  # noqa: B023
            times.append(seconds)
            show(rows, f"sigma={sigma:g} steps=1e{power}", answer, seconds, None)
        growth = times[-1] / times[0]
        print(f"growth from 1e2 to 1e9: x{growth:.1f} (target 10){'  ok' if growth <= 10 else '  OVER'}")
        rows.append({"name": f"growth sigma={sigma:g}", "ratio": growth, "target": 10})


def distinct(rows: list[dict[str, Any]]) -> None:
    print("\n10,000 distinct parts")
    scheme = pl.compose(*(pl.Gaussian(1.0 + n / 1e4).subsample(1e-3 + n * 1e-8) for n in range(10_000)))
    answer, seconds = timed(lambda: scheme.epsilon(1e-6, seconds=None), 1)
    show(rows, "compose of 10,000 subsampled Gaussians", answer, seconds, 10.0)


def cold(rows: list[dict[str, Any]], runs: int) -> None:
    command = [sys.executable, *COLD.split()]
    times = []
    for _ in range(max(runs, 3)):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    print(f"\ncold `privloss epsilon ...`: {min(times):.2f} s (target 0.8){'  ok' if min(times) <= 0.8 else '  OVER'}")
    rows.append({"name": "cold start", "seconds": min(times), "target": 0.8})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {numpy.__version__}, {platform.machine()}")
    pl.Gaussian(1.0).allocate(10).epsilon(1e-6)  # warm
    rows: list[dict[str, Any]] = []
    table_of_values(rows, given.runs)
    nested(rows, given.runs)
    laws_of_cost(rows, min(given.runs, 3))
    distinct(rows)
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)
    print(f"\npeak memory of all of the above: {peak:.0f} MB (target 400){'  ok' if peak <= 400 else '  OVER'}")
    rows.append({"name": "peak memory MB", "value": peak, "target": 400})
    cold(rows, given.runs)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()

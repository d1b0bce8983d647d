"""The figures of docs/bounds.md: `python bench/baselines/compare.py`, about a minute on one core.

Everything printed is a number of this package; seconds are of the machine it runs on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

import privloss as pl
from privloss import Scheme, baselines
from privloss._renyi import averaged
from privloss.baselines import _convert
from privloss.baselines._montecarlo import MonteCarlo

GRID = [(sigma, steps) for steps in (10, 100, 1000) for sigma in (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)]
DELTA = 1e-6


def figures() -> None:
    """One setting, every method."""
    epoch = pl.Gaussian(1.0).allocate(1000)
    ours = epoch.epsilon(DELTA)
    print("\nsigma=1, t=1000, delta=1e-6, both directions where a method has both")
    print(f"  {'this package':20} {ours.lower:.5f} {ours.upper:.5f}")
    for method in baselines.METHODS:
        if isinstance(method, MonteCarlo) or method.name == "shuffle_upper":
            continue
        ways = [way for way in ("remove", "add") if way in method.ways]
        start = time.perf_counter()
        found = [method.epsilon(epoch, DELTA, way) for way in ways]  # type: ignore[arg-type]
        spent = time.perf_counter() - start
        ends = max(float(b.lower) for b in found), max(float(b.upper) for b in found)
        numbers = [float(b.lower if method.kind == "lower" else b.upper) for b in found]
        split = " ".join(f"{way} {number:.4f}" for way, number in zip(ways, numbers, strict=True))
        print(f"  {method.name:20} {ends[0]:.5f} {ends[1]:.5f}  {1000 * spent:5.0f} ms  ({split})")


def against_poisson() -> None:
    """FS25 over the Poisson twin, and decomposition alone."""
    ratios, factors, ours = [], [], []
    for sigma, steps in GRID:
        scheme = pl.Gaussian(sigma).allocate(steps)
        twin = float(scheme.poisson().epsilon(DELTA).upper)
        ratios.append(float(baselines.fs25.epsilon(scheme, DELTA).upper) / twin)
        factors.append(float(baselines.fs25_decomposition.epsilon(scheme, DELTA).upper) / twin)
        ours.append(float(scheme.epsilon(DELTA).upper) / twin)
    within = sum(ratio <= 1.2 for ratio in ratios)
    print(f"\nepsilon over Poisson's, delta=1e-6, t in 10, 100, 1000, sigma from 1 to 4 ({len(GRID)} settings)")
    print(f"  fs25: {min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}, at most 1.2 in {within}")
    print(f"  fs25_decomposition: {min(factors):.2f} to {max(factors):.2f}")
    print(f"  this package: {min(ours):.3f} to {max(ours):.3f}")
    found = []
    for sigma in (1.0, 2.0, 4.0):
        scheme = pl.Gaussian(sigma).allocate(100_000)
        twin = float(scheme.poisson().epsilon(DELTA).upper)
        found.append(float(baselines.fs25_decomposition.epsilon(scheme, DELTA).upper) / twin)
    print(f"  fs25_decomposition, t=100000, sigma 1, 2, 4: {', '.join(f'{x:.2f}' for x in found)}; 1/(1 - 1/e) = 1.58")


def divergence(scheme: Scheme, order: float) -> float:
    """D_a of remove at any order, from the lower pair: about right, and no bound."""
    pair = scheme.pair(side="lower", rtol=1e-5)
    return math.log(float(pair.q @ np.exp(order * pair.loss))) / (order - 1)


def orders() -> None:
    """What conversions lose, and what of it for want of orders below 2."""
    print("\nremove: epsilon of rdp (whole orders from 2) over the true one, and with real orders above 1 as well")
    for sigma, steps, rounds, delta in (
        (1.0, 1000, 1, 1e-6), (1.0, 10, 1, 1e-6), (1.0, 1000, 10, 1e-6), (1.0, 1000, 100, 1e-6), (2.0, 100, 100, 1e-6),
        (1.0, 1000, 1000, 1e-5), (0.5, 1000, 1, 1e-5), (0.5, 1000, 10, 1e-3), (0.5, 100, 100, 1e-3),
    ):  # fmt: skip
        one = pl.Gaussian(sigma).allocate(steps)
        scheme = one.repeat(rounds)
        true = float(scheme.epsilon(delta, direction="remove").upper)
        whole = float(baselines.rdp.epsilon(scheme, delta, "remove").upper)
        between = 1.0 + np.geomspace(0.02, 12.0, 200)
        values = rounds * np.array([divergence(one, float(order)) for order in between])
        found = min(_convert.epsilon_from(between, values, delta), whole)
        print(
            f"  sigma={sigma}, t={steps}, rounds={rounds}, delta={delta:g}: true {true:.4g}, "
            f"{whole / true:.3f} times; with real orders {found / true:.3f} times"
        )


def partitions(most: int, largest: int) -> list[tuple[int, ...]]:
    if most == 0:
        return [()]
    return [(j, *rest) for j in range(min(most, largest), 0, -1) for rest in partitions(most - j, j)]


@lru_cache(maxsize=64)
def by_partitions(order: int, steps: int) -> float:
    """log E X^a of Gaussian(1), FS25's way: a sum over the partitions of the order."""
    total = []
    for parts in partitions(order, order):
        if len(parts) > steps:
            continue
        counts = [parts.count(j) for j in set(parts)]
        ways = math.lgamma(steps + 1) - math.lgamma(steps - len(parts) + 1) - sum(math.lgamma(n + 1) for n in counts)
        names = math.lgamma(order + 1) - sum(math.lgamma(j + 1) for j in parts)
        total.append(ways + names + sum(j * (j - 1) for j in parts) / 2)
    return max(total) + math.log(math.fsum(math.exp(x - max(total)) for x in total)) - order * math.log(steps)


def timed(function: Callable[[], object]) -> float:
    best = math.inf
    for _ in range(5):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def costs() -> None:
    print("\nlog E X^a of Gaussian(1).allocate(t): milliseconds for all orders to a, by recursion (sk26) and squaring")
    for steps in (1000, 10**6, 10**9):
        for order in (16, 64, 256):
            moments = np.array([0.5 * a * (a - 1) for a in range(order + 1)])
            spent = [timed(partial(averaged, moments, steps, "upper", how)) for how in ("recursion", "squaring")]
            print(f"  t={steps:>10}, a={order:>3}: {1000 * spent[0]:7.2f} {1000 * spent[1]:8.2f}")
    print("the last order alone, as a sum over partitions (FS25)")
    for order in (10, 20, 30):
        start = time.perf_counter()
        value = by_partitions(order, 1000)
        spent = time.perf_counter() - start
        moments = np.array([0.5 * a * (a - 1) for a in range(order + 1)])
        other = float(averaged(moments, 1000, "upper")[-1])
        print(f"  a={order}: {1000 * spent:8.2f} ms, differs by {abs(value - other):.1e}")
    print("dg26: microseconds a sample, remove, epsilon=1")
    for steps, picks in ((100, 1), (100, 5), (100, 20), (1000, 1), (1000, 20)):
        method = baselines.dg26.using(samples=4000)
        spent = timed(partial(method.delta, pl.Gaussian(2.0).allocate(steps, picks), 1.0, "remove"))
        print(f"  t={steps}, k={picks}: {1e6 * spent / 4000:.1f}")


def formulas() -> None:
    """Two published formulas for add against certified values."""
    print("\nD_2 of add, Gaussian(sigma).allocate(t): certified, and DCO25's formula")
    import importlib

    published = importlib.import_module("privloss.baselines.dco25").published_add
    for sigma, steps in ((1.0, 10), (1.0, 1000), (0.5, 100), (2.0, 100)):
        true = pl.Gaussian(sigma).allocate(steps).renyi(2, direction="add")
        print(f"  sigma={sigma}, t={steps}: [{true.lower:.6g}, {true.upper:.6g}] {published(sigma, steps, 1, 2):.6g}")
    from privloss.baselines._baseline import searched
    from privloss.baselines._normal import profile

    print("epsilon of add at delta=1e-3, Gaussian(1).allocate(2).repeat(50): certified; Jensen, one shift and fifty")
    scheme = pl.Gaussian(1.0).allocate(2).repeat(50)
    true = scheme.epsilon(1e-3, direction="add")
    once = searched(lambda e: profile(5.0, e - 0.25, "upper"), 1e-3, True)
    fifty = baselines.fs25_direct.epsilon(scheme, 1e-3, "add").upper
    print(f"  [{true.lower:.3f}, {true.upper:.3f}] {once:.3f} {fifty:.3f}")


if __name__ == "__main__":
    for part in (figures, against_poisson, orders, formulas, costs):
        part()

"""Mechanisms of three outcomes: allocation and composition by multinomial counts, and small nestings.

Counts with the same ratio are added up. In an allocation of up to 1,000 steps the ratio of the counts c is the sum
of c_i p_i/q_i over the number of steps: a whole number once the p_i/q_i are brought to one denominator, so the
half a million counts have few different ones. Everything is in whole numbers or fractions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import lcm

from truth import counts, nodes
from truth.counts import Finite
from truth.enumerate import Pair
from truth.nodes import Node
from truth.vectors import Vector, asked

METHOD = "multinomial counts, those of one ratio added up (whole numbers)"
DIGITS = 40
EVEN = nodes.outcomes([0.5, 0.25, 0.25], [0.25, 0.25, 0.5])
SKEW = nodes.outcomes([0.625, 0.25, 0.125], [0.1875, 0.75, 0.0625])
SEEN = nodes.outcomes([0.5, 0.375, 0.125], [0.625, 0.375, 0.0])  # an outcome that only the person causes
UNSEEN = nodes.outcomes([0.5, 0.5, 0.0], [0.25, 0.5, 0.25])


def vectors() -> Iterator[Vector]:
    for step in (EVEN, SKEW):
        for steps in (1, 2, 10, 100, 300, 1000):
            truth = allocated(counts.pair_of(step), steps)
            deltas = (1e-2, 1e-8, 1e-50, 1e-200)[: 3 if steps < 300 else 4]
            targets = (1e-5, 1e-100, 1e-200)[: 2 if steps < 300 else 3]
            yield from asked(nodes.allocate(step, steps), truth, DIGITS, deltas, targets, (0.0,))
        for rounds in (2, 10, 60, 120):
            truth = Finite.of(counts.composed(counts.pair_of(step), rounds))
            yield from asked(nodes.repeat(step, rounds), truth, DIGITS, (1e-2, 1e-100), (1e-6, 1e-60), (-0.3,))
    for scheme in nested():
        yield from asked(scheme, Finite.of(counts.pair_of(scheme)), DIGITS, (1e-2, 1e-12), (1e-4, 1e-30), (0.0,))


def allocated(pair: Pair, steps: int) -> Finite:
    """An allocation; all q are positive."""
    p, q, size = counts.whole(pair)
    unit = lcm(*q)
    ratios = [a * (unit // b) for a, b in zip(p, q, strict=True)]
    powers = [[b**n for n in range(steps + 1)] for b in q]
    choose = [1]
    for n in range(steps):
        choose.append(choose[-1] * (steps - n) // (n + 1))
    mass: defaultdict[int, int] = defaultdict(int)
    for first in range(steps + 1):
        front, left, ways = choose[first] * powers[0][first], steps - first, 1
        for second in range(left + 1):
            ratio = first * ratios[0] + second * ratios[1] + (left - second) * ratios[2]
            mass[ratio] += front * ways * powers[1][second] * powers[2][left - second]
            ways = ways * (left - second) // (second + 1)
    size = steps * unit * size**steps
    return Finite(((ratio * b, steps * unit * b) for ratio, b in mass.items()), size)


def nested() -> Iterator[Node]:
    for step in (EVEN, SKEW, SEEN, UNSEEN):
        yield nodes.allocate(step, 12)
        yield nodes.repeat(nodes.allocate(step, 5), 3)
        yield nodes.subsample(nodes.repeat(nodes.allocate(step, 4), 2), 0.125)
        yield nodes.allocate(nodes.repeat(nodes.subsample(step, 0.25), 2), 4)
        yield nodes.repeat(nodes.swap(nodes.allocate(nodes.subsample(step, 2.0**-10), 6)), 2)
    yield nodes.repeat(nodes.allocate(EVEN, 16), 2)
    yield nodes.repeat(nodes.subsample(EVEN, 0.01), 12)
    yield nodes.swap(nodes.subsample(nodes.allocate(SKEW, 60), 0.01))

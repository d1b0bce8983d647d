"""Mechanisms of two outcomes: allocation, composition, subsampling, and what nests them.

Where one count decides, `truth.binomial` sums its mass function over a tail. Laws that keep it at one count:

    subsampling a step, or its allocation       the mean of ratios 1 - rate + rate x is that of their mean
    an allocation of allocations                one of a*b steps
    a composition of compositions               a*b rounds
    swap                                        exchanges P and Q, of a step or of the whole

A composition that is subsampled as a whole goes through its curve (`truth.closed`). Repeated allocations, and
allocations of what is composed, are small and go by multinomial counts in exact fractions (`truth.counts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from truth import binomial, closed, counts, nodes
from truth.binomial import Counting
from truth.closed import Number
from truth.nodes import Node
from truth.vectors import Truth, Vector, asked

METHOD = (
    "sums of the binomial mass function over a tail (mpmath, 80 digits);"
    " nestings by multinomial counts (whole numbers)"
)
DIGITS = 40
OTHER = {"remove": "add", "add": "remove"}
RESPONSE, WEAK, RARE, SHARP = (0.75, 0.25), (0.515625, 0.484375), (2.0**-30, 2.0**-50), (1 - 2.0**-10, 2.0**-10)
ASYMMETRIC = (0.0625, 0.125)
FEW = (1, 2, 3, 17, 100, 1000)
MANY = (31_623, 1_000_000)


@dataclass(frozen=True)
class Counted:
    """One count, P and Q exchanged or not."""

    pair: Counting
    swapped: bool = False

    def _direction(self, direction: str) -> str:
        return OTHER[direction] if self.swapped else direction

    def delta(self, epsilon: Number, direction: str) -> Any:
        return binomial.delta(self.pair, epsilon, self._direction(direction))

    def epsilon(self, delta: Number, direction: str) -> Any:
        return binomial.epsilon(self.pair, delta, self._direction(direction))


def allocation(p: Number, q: Number, steps: int) -> Counted:
    return Counted(binomial.allocation(p, q, steps))


def composition(p: Number, q: Number, rounds: int) -> Counted:
    return Counted(binomial.composition(p, q, rounds))


def vectors() -> Iterator[Vector]:
    for scheme, truth in (*allocations(), *compositions()):
        yield from asked(scheme, truth, DIGITS, (1e-2, 1e-8, 1e-200), (1e-6, 1e-200))
    for scheme, truth in sampled():
        yield from asked(scheme, truth, DIGITS, (1e-5, 1e-100), (1e-60,), (-0.25, 0.0))
    for scheme, truth in nested():
        yield from asked(scheme, truth, DIGITS, (1e-3, 1e-50), (1e-10,), (0.0,))


def allocations() -> Iterator[tuple[Node, Truth]]:
    for p, q in (RESPONSE, ASYMMETRIC, SHARP):
        for steps in (*FEW, *MANY):
            yield nodes.allocate(nodes.two(p, q), steps), allocation(p, q, steps)
    for steps in (2, 1000, 1_000_000):
        yield nodes.allocate(nodes.two(*RARE), steps), allocation(*RARE, steps)
        yield nodes.allocate(nodes.pure(1.0), steps), allocation(*binomial.pure(1), steps)


def compositions() -> Iterator[tuple[Node, Truth]]:
    for rounds in (*FEW, 10_000):
        for p, q in (WEAK, ASYMMETRIC):
            yield nodes.repeat(nodes.two(p, q), rounds), composition(p, q, rounds)
    slight = (0.5 + 2.0**-11, 0.5 - 2.0**-11)
    for rounds in MANY:
        yield nodes.repeat(nodes.two(*slight), rounds), composition(*slight, rounds)
    yield nodes.repeat(nodes.pure(0.0625), 2000), composition(*binomial.pure(0.0625), 2000)


def sampled() -> Iterator[tuple[Node, Truth]]:
    for (p, q), rate in ((RESPONSE, 0.125), (SHARP, 0.01), (ASYMMETRIC, 1e-3)):
        step, (r, s) = nodes.two(p, q), binomial.subsampled(p, q, rate)
        for steps in (10, 1000, 100_000):
            yield nodes.allocate(nodes.subsample(step, rate), steps), allocation(r, s, steps)
            yield nodes.subsample(nodes.allocate(step, steps), rate), allocation(r, s, steps)
        for rounds in (10, 1000, 100_000):
            yield nodes.repeat(nodes.subsample(step, rate), rounds), composition(r, s, rounds)
    for (p, q), rate, rounds in ((WEAK, 0.125, 100), (ASYMMETRIC, 0.01, 30)):
        whole = nodes.subsample(nodes.repeat(nodes.two(p, q), rounds), rate)
        yield whole, profile(composition(p, q, rounds).pair).subsample(rate)


def profile(pair: Counting) -> closed.Profile:
    """Its curve, with the losses of the smallest and of the largest count."""
    with mpmath.workdps(binomial.DIGITS):
        ends = mpmath.log(pair.ratio(pair.steps)), -mpmath.log(pair.ratio(0))
    remove, add = (lambda k, d=direction: binomial.delta_at(pair, k, d) for direction in ("remove", "add"))
    return closed.Profile(remove, add, *ends)


def nested() -> Iterator[tuple[Node, Truth]]:
    step = nodes.two(*ASYMMETRIC)
    p, q = ASYMMETRIC
    yield nodes.swap(nodes.allocate(step, 300)), Counted(allocation(p, q, 300).pair, swapped=True)
    yield nodes.allocate(nodes.swap(step), 300), allocation(q, p, 300)
    yield nodes.repeat(nodes.swap(step), 300), composition(q, p, 300)
    yield nodes.allocate(nodes.allocate(step, 1000), 1000), allocation(p, q, 1_000_000)
    yield nodes.repeat(nodes.repeat(step, 20), 30), composition(p, q, 600)
    twice = Fraction(0.3) * Fraction(0.01)  # the doubles, multiplied exactly
    inner = nodes.subsample(nodes.subsample(step, 0.01), 0.3)
    yield nodes.allocate(inner, 500), allocation(*binomial.subsampled(p, q, twice), 500)
    response = nodes.two(*RESPONSE)
    for scheme in (
        nodes.repeat(nodes.allocate(response, 150), 2),
        nodes.repeat(nodes.allocate(step, 20), 3),
        nodes.repeat(nodes.allocate(response, 4), 12),
        nodes.allocate(nodes.repeat(response, 5), 6),
        nodes.allocate(nodes.repeat(nodes.two(*WEAK), 2), 40),
        nodes.repeat(nodes.subsample(nodes.allocate(response, 30), 0.0625), 3),
        nodes.subsample(nodes.repeat(nodes.allocate(step, 30), 3), 0.01),
        nodes.allocate(nodes.swap(nodes.subsample(nodes.repeat(response, 2), 0.25)), 30),
        nodes.swap(nodes.repeat(nodes.allocate(nodes.subsample(response, 0.01), 25), 3)),
    ):
        yield scheme, counts.Finite.of(counts.pair_of(scheme))

"""Where lattices go, and the sum of many independent terms by doubling.

Placing a lattice is a matter of taste, never of validity: a bad place costs a wide bracket, not a wrong one.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from privloss._arithmetic import Arithmetic, State
from privloss._ask import Ask
from privloss._graded import Layout, Piece, crossed, deposit, layout
from privloss._pair import FloatArray, U

MOST_RANGE = 1e15  # of losses in one lattice: what lies beyond its right end counts as infinite
MOST_POINTS = 60_000  # points in half a core: beyond, one convolution takes seconds


class Place(NamedTuple):
    """Where the core of a lattice goes: values (without their offset), and how fine."""

    mean: float
    sd: float
    lean: float  # how many standard deviations to the right the answer lies
    exact: int  # points that stay in the core while no two of them need to be merged


@dataclass(frozen=True)
class Shape:
    """What a lattice needs to know of one term: sample values and weights of the law that sums are seen under.

    Weights may be tilted towards small values (``lean_left``), when the answer lies where all terms are
    small. Only the body is measured: values that few sums contain are left to the graded tail.
    """

    values: FloatArray
    weights: FloatArray
    lean: float = 0.0  # how many standard deviations to the right of the mean the answer lies
    whole: float = 0.0  # the mean of a ratio, of which samples may miss a part that is rare and large
    least: float = 0.0  # for tilted weights: the least standard deviation to reckon with

    def lean_left(self, count: int, focus: float, *, ratios: bool = False) -> Shape:
        """Seen where the sum of ``count`` terms is as small as has log-probability ``focus``."""
        weights = tilted(self.values, self.weights, count, focus)
        # All the weight may end at one sample: then its distance to the next is all that is known of the width.
        i = int(np.argmax(weights))
        apart = float(self.values[min(i + 1, weights.size - 1)] - self.values[max(i - 1, 0)])
        rough = 1e-5 * Shape(self.values, weights).at(1)[1]
        if ratios and self.values[i] > 0:  # what a ratio tells is its size, however far the next one is
            apart = min(apart, 6.0 * float(self.values[i]))
            rough = min(rough, apart)
        return Shape(self.values, weights, least=max(rough, 0.05 * apart, 1e-300))

    def at(self, count: int) -> tuple[float, float]:
        """(mean, standard deviation) of the sum of ``count`` terms."""
        mean, sd = _moments(self.values, self.weights)
        rare = 0.3 if self.least > 0 else 0.005  # how many of the sums seen here may contain what is left out
        share = rare / count * float(self.weights.sum())
        body = np.cumsum(self.weights[::-1])[::-1] > share
        if not self.least > 0:
            body &= np.cumsum(self.weights) > share
        if body.any():
            inner_mean, inner = _moments(self.values[body], self.weights[body])
            sd = inner if inner > 0 else sd
            if self.least > 0:
                mean, sd = inner_mean, max(inner, self.least)
            if self.whole > 0:  # what the body lacks of the mean is as far as the answer is: never below the mean
                sd = max(sd, 0.25 * math.sqrt(count) * (self.whole - inner_mean))
        return count * mean, math.sqrt(count) * sd

    def place(self, count: int, total: int, offset: float, exact: int) -> Place:
        """For the sum of ``count`` out of ``total`` terms, less its ``offset``."""
        mean, sd = self.at(count)
        return Place(mean - offset, sd, self.lean * math.sqrt(count / total), exact)


def _moments(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    size = float(np.abs(values).max()) or 1.0  # squares of ratios may overflow
    scaled, total = values / size, float(weights.sum()) or 1.0
    mean = float(scaled @ weights) / total
    return mean * size, math.sqrt(float((scaled - mean) ** 2 @ weights) / total) * size


def tilted(values: FloatArray, weights: FloatArray, count: int, focus: float) -> FloatArray:
    """Weights times e^(-slope * value), the slope such that the sum of ``count`` is there with log-probability
    ``focus``."""
    weights = weights / (float(weights.sum()) or 1.0)
    sd = _moments(values, weights)[1] or float(np.ptp(values))
    start = values - values.min()
    if start.max() <= 0.0:
        return weights
    limit = 1e300
    log_weights = np.log(np.maximum(weights, 1e-320))

    def lean(slope: float) -> tuple[float, FloatArray]:
        with np.errstate(over="ignore"):
            logs = log_weights - slope * start
        top = float(logs.max())
        new = np.exp(logs - top)
        total = float(new.sum())
        log_m = top + math.log(total)
        new /= total
        return -slope * float(new @ start) - log_m, new

    lo, hi, factor = 0.0, min(math.sqrt(-2 * focus / count) / max(sd, 1e-290), limit), 4.0
    top = 1e3 / max(float(np.diff(values).min(initial=1.0)), 1e-290)  # beyond, all is at the smallest value
    while count * lean(hi)[0] < -focus and hi < min(top, limit):
        lo, hi, factor = hi, min(hi * factor, limit), min(factor * factor, 1e16)
    for _ in range(30):
        middle = math.sqrt(lo) * math.sqrt(hi) if lo else 0.5 * hi
        if count * lean(middle)[0] < -focus:
            lo = middle
        else:
            hi = middle
    return lean(hi)[1]


def slots_for(arithmetic: Arithmetic, place: Place, ask: Ask, lo: int, hi: int) -> Layout:
    """The layout that covers positions lo..hi. Positions in the core stay far below 2^53 spacings, so that they and the
    ratios at them are told apart."""
    unit = arithmetic.unit
    room = max(ask.spacing * place.sd, 64 * U * abs(place.mean)) / unit
    shift = max(0, math.floor(math.log2(room))) if room > 0 else 0
    spread = place.sd / math.ldexp(unit, shift)
    least = math.ceil(3.0 / ask.spacing)  # so that the tail has this relative resolution whatever the body
    half = min(max(math.ceil((4.0 + 0.5 * place.lean) * spread), least, 0 if shift else place.exact), MOST_POINTS)
    center = round((place.mean + 0.5 * place.lean * place.sd) / unit)
    return layout(center, half, lo, hi, shift)


@dataclass(frozen=True)
class Budget:
    """(q, p) mass that may be cut from the left and from the right of the whole law."""

    left: tuple[float, float]
    right: tuple[float, float]

    def part(self, share: float) -> Budget:
        (a, b), (c, d) = self.left, self.right
        return Budget((a * share, b * share), (c * share, d * share))


def settle(arithmetic: Arithmetic, pieces: list[Piece], bare: State, place: Place, ask: Ask) -> State:
    """The pieces of a sum on the layout that fits it."""
    lo = min(piece.start << piece.shift for piece in pieces)
    hi = max((piece.stop - 1) << piece.shift for piece in pieces)
    slots = slots_for(arithmetic, place, ask, lo, hi)
    blocks = arithmetic.clean(deposit(pieces, slots, arithmetic.channels))
    eta_q, eta_x = arithmetic.allowances(crossed(pieces, slots) * U)
    return arithmetic.centred(replace(bare, blocks=blocks, eta_q=bare.eta_q + eta_q, eta_x=bare.eta_x + eta_x))


def power(
    arithmetic: Arithmetic, one: State, total: int, shape: Shape, budget: Budget, ask: Ask, *, thin: bool, exact: int
) -> State:
    """The sum of ``total`` independent copies, from the top bit of ``total`` down: double, and add one where the
    bit is set.

    ``thin`` says that mass cut at m of n terms counts n/m times (composition) and not once (ratios).
    """
    acc = one
    steps = total.bit_length() + total.bit_count() - 2

    def done(a: State, b: State) -> State:
        ask.check_time()
        pieces, bare = arithmetic.add(a, b)
        state = settle(arithmetic, pieces, bare, shape.place(bare.count, total, bare.offset, exact), ask)
        part = budget.part((state.count / total if thin else 1.0) / steps)
        return arithmetic.trim(state, part.left, part.right)

    for bit in bin(total)[3:]:
        acc = done(acc, acc)
        if bit == "1":
            acc = done(acc, one)
    return acc


def join(arithmetic: Arithmetic, parts: list[tuple[State, Place]], budget: Budget, ask: Ask) -> State:
    """The sum of different measures, the two narrowest first."""
    heap = [(place.sd, n, state, place) for n, (state, place) in enumerate(parts)]
    heapq.heapify(heap)
    share = 1.0 / max(len(parts) - 1, 1)
    while len(heap) > 1:
        ask.check_time()
        _, n, a, one = heapq.heappop(heap)
        _, _, b, two = heapq.heappop(heap)
        sd = math.hypot(one.sd, two.sd)
        lean = math.hypot(one.lean * one.sd, two.lean * two.sd) / (sd or 1.0)
        place = Place(one.mean + two.mean, sd, lean, one.exact)
        pieces, bare = arithmetic.add(a, b)
        part = budget.part(share)
        state = arithmetic.trim(settle(arithmetic, pieces, bare, place, ask), part.left, part.right)
        place = place._replace(mean=place.mean + (bare.offset - state.offset))
        heapq.heappush(heap, (sd, n, state, place))
    return heap[0][2]

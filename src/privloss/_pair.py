"""The one object: a pair of measures (P, Q), as a list of outcomes and two atoms.

Legend: ``x = p/q`` is the likelihood ratio of an outcome and ``loss = log x``; ``q_only`` is Q-mass where P has none
(ratio 0), ``p_only`` is P-mass where Q has none (ratio infinity).

    remove:  delta(eps) = p_only + sum max(0, p - e^eps q)
    add:     delta(eps) = q_only + sum max(0, q - e^eps p)

Two roundings move outcomes, each with its side (docs/method.md has the proofs):

* ``hats`` (spread, up): an outcome between two points is replaced by two, exactly at the points, with the
  same total q and the same total p. Merging them gives the original back, so the result dominates it.
* ``cells`` (merge, down): the outcomes of a cell are replaced by one with the sum of their q and the sum of their p.
  That is a post-processing, so the original dominates the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privloss._ask import Side

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

U = 2.0**-53  # unit roundoff
EXP_ULPS = 4.0  # exp, expm1, log, log1p of NumPy are assumed within 4 u relative; tests/test_graded.py checks it


class Masses(NamedTuple):
    """What a law gives on a grid."""

    q: FloatArray
    p: FloatArray
    q_only: float
    p_only: float


class Law(Protocol):
    """A pair of measures that can be put on any grid of losses."""

    @property
    def eta_q(self) -> float:
        """Bound on the relative error of any mass it returns."""

    @property
    def eta_x(self) -> float:
        """Bound on the absolute error of a loss, that is the relative error of a ratio."""

    @property
    def low(self) -> float:
        """Infimum of the finite losses."""

    @property
    def high(self) -> float:
        """Supremum of the finite losses."""

    @property
    def atoms(self) -> FloatArray | None:
        """The losses, increasing, when the law is a short list of outcomes."""

    def window(self, left: float, right: float) -> tuple[float, float]:
        """Losses (lo, hi) with Q-mass below lo at most ``left`` and P-mass above hi at most ``right``. Where most of a
        measure is an atom, its complement counts as well."""

    def span(self, gauge: str, tail: float) -> tuple[float, float]:
        """Losses with at most ``tail`` of one measure, "p" or "q", beyond either end; wider ones will do."""
        return self.window(tail, tail)

    def hats(self, points: FloatArray) -> Masses:
        """Spread onto increasing finite losses."""

    def cells(self, cuts: FloatArray) -> Masses:
        """Merge into the ``len(cuts) + 1`` cells between increasing finite cuts."""

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        """About ``count`` losses that show the shape of the law."""
        lo, hi = self.window(left, right)
        return np.linspace(lo, max(hi, lo + 1e-12 * (1 + abs(lo))), count)


@dataclass(frozen=True, eq=False)
class Pair(Law):
    """Outcomes sorted by loss. p is accurate where loss >= 0 and q where loss < 0; the other may underflow."""

    loss: FloatArray
    q: FloatArray
    p: FloatArray
    q_only: float
    p_only: float
    side: Side
    eta_q: float = 0.0
    eta_x: float = 0.0
    given: bool = False  # whether the atoms are as the user gave them, to the last digit, and nothing underflowed

    @property
    def eta(self) -> float:
        """The larger of the two allowances."""
        return max(self.eta_q, self.eta_x)

    @property
    def low(self) -> float:
        return float(self.loss[0]) if self.loss.size else math.inf

    @property
    def high(self) -> float:
        return float(self.loss[-1]) if self.loss.size else -math.inf

    @property
    def atoms(self) -> FloatArray | None:
        return self.loss if self.loss.size <= 64 else None

    def window(self, left: float, right: float) -> tuple[float, float]:
        if not self.loss.size:
            return 0.0, 0.0
        below = np.maximum(np.cumsum(self.q), np.cumsum(self.p))  # of P too: nearly all of Q may be an atom
        above = np.maximum(np.cumsum(self.p[::-1]), np.cumsum(self.q[::-1]))
        first = int(np.searchsorted(below, left, side="right"))
        last = int(np.searchsorted(above, right, side="right"))
        first = min(first, self.loss.size - 1)
        last = max(self.loss.size - 1 - last, 0)
        return float(self.loss[min(first, last)]), float(self.loss[max(first, last)])

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        if not self.loss.size:
            return np.zeros(1)
        lo, hi = self.window(left, right)
        inside = self.loss[(self.loss >= lo) & (self.loss <= hi)]
        if inside.size > 4 * count:
            inside = inside[:: inside.size // (2 * count)]
        return inside

    def hats(self, points: FloatArray) -> Masses:
        """Shares of an outcome at l between a and b, with every exponent negative: ratio 0 and infinity included.

        to b: q (e^l - e^a)/(e^b - e^a), p (1 - e^(a-l))/(1 - e^(a-b)); to a: the rest.
        """
        n = points.size
        spot = np.searchsorted(points, self.loss, side="right")  # number of points at or below the loss
        edges = np.concatenate(([-np.inf], points, [np.inf]))
        a, b = edges[spot], edges[spot + 1]
        with np.errstate(invalid="ignore"):
            width = -np.expm1(a - b)
            right = -np.expm1(a - self.loss) / width
            left = -np.expm1(self.loss - b) / width
        q_right = right * np.exp(self.loss - b)
        p_left = left * np.exp(a - self.loss)
        q = _binned(spot, self.q * left, n + 2) + _binned(spot + 1, self.q * q_right, n + 2)
        p = _binned(spot, self.p * p_left, n + 2) + _binned(spot + 1, self.p * right, n + 2)
        return Masses(q[1:-1], p[1:-1], self.q_only + float(q[0]), self.p_only + float(p[-1]))

    def cells(self, cuts: FloatArray) -> Masses:
        spot = np.searchsorted(cuts, self.loss, side="left")
        count = cuts.size + 1
        return Masses(_binned(spot, self.q, count), _binned(spot, self.p, count), self.q_only, self.p_only)

    def swapped(self) -> Pair:
        """The dual: P and Q exchanged."""
        return replace(
            self, loss=-self.loss[::-1], q=self.p[::-1], p=self.q[::-1], q_only=self.p_only, p_only=self.q_only
        )


def _binned(spot: IntArray, weights: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(spot, weights, count), np.float64)


def from_outcomes(
    q: FloatArray,
    p: FloatArray,
    *,
    loss: FloatArray | None = None,
    q_only: float = 0.0,
    p_only: float = 0.0,
    side: Side,
    slack: float = 0.0,
    eta_q: float = 4 * U,
) -> Pair:
    """A pair from listed outcomes: sorted, with one-sided masses moved to the atoms and equal losses grouped.

    ``slack`` is how far the given masses may be from a probability; the upper side charges it to both atoms.
    """
    q, p = np.asarray(q, np.float64), np.asarray(p, np.float64)
    tiny = np.full(q.shape, False) if loss is not None else (q <= 0) | (p <= 0)
    q_only, p_only = q_only + float(q[tiny].sum()), p_only + float(p[tiny].sum())
    q, p = q[~tiny], p[~tiny]
    given = loss is not None
    loss = np.asarray(loss, np.float64)[~tiny] if loss is not None else _log_ratio(q, p)
    order = np.argsort(loss, kind="stable")
    loss, q, p = loss[order], q[order], p[order]
    most = 1
    if loss.size:
        starts = np.flatnonzero(np.concatenate(([True], loss[1:] > loss[:-1])))
        most = int(np.diff(np.append(starts, loss.size)).max())
        loss, q, p = loss[starts], np.add.reduceat(q, starts), np.add.reduceat(p, starts)
    charge = slack if side == "upper" else 0.0
    if given:  # losses as they are, and p and q each with its own error
        eta_x = 2 * eta_q
    else:  # of a quotient and its logarithm; of two logarithms where there is no quotient
        far = float(np.abs(loss).max(initial=0.0))
        eta_x = U * (4 + EXP_ULPS * (far if far < 600.0 else 2 * far + 1500.0))
    return Pair(loss, q, p, q_only + charge, p_only + charge, side, eta_q + most * U, eta_x)


def subsampled_loss(loss: FloatArray | float, rate: FloatArray | float) -> FloatArray:
    """log(1 - rate + rate e^loss): from its distance to 0 where that is small, else as a sum of two parts."""
    with np.errstate(over="ignore", divide="ignore"):
        excess = rate * np.expm1(loss)
        apart = np.logaddexp(np.log1p(-np.asarray(rate)), np.log(rate) + loss)
        value: FloatArray = np.where(np.abs(excess) < 0.5, np.log1p(np.clip(excess, -0.6, 1.0)), apart)
    return value


def nothing_hidden() -> Pair:
    """The pair that dominates all others: P and Q have nothing in common."""
    return Pair(np.zeros(0), np.zeros(0), np.zeros(0), 1.0, 1.0, "upper")


def nothing_shown() -> Pair:
    """The pair that all others dominate: P and Q are the same."""
    return Pair(np.zeros(1), np.ones(1), np.ones(1), 0.0, 0.0, "lower")


def _log_ratio(q: FloatArray, p: FloatArray) -> FloatArray:
    """log(p/q), with relative accuracy near 0 as far as p - q has it."""
    near = np.abs(p - q) < 0.5 * q
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        ratio = p / q
        plain = (ratio > 1e-300) & (ratio < 1e300)
        apart = np.where(plain, np.log(np.where(plain, ratio, 1.0)), np.log(p) - np.log(q))
        return np.where(near, np.log1p((p - q) / q), apart)

"""Certified answers from one pair: the allowances are applied here, once, on the side that keeps the bound.

For the remove direction of an upper pair (masses off by at most a factor 1 +- eta_q, ratios by 1 +- eta_x):

    delta(eps) <= (1 + eta_q) [ sum p (1 - e^(eps - eta_x - loss))_+ + p_only ] + floor

and with all signs reversed for a lower pair. The add direction is the remove direction of the dual. ``floor``
pays for what underflowed on the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from privloss._ask import Direction
from privloss._pair import EXP_ULPS, FloatArray, Pair, U

FLOOR = 1e-270


@dataclass(frozen=True)
class Curve:
    """The privacy profile of a pair, seen in one direction, as a bound of its side."""

    pair: Pair
    direction: Direction

    def bare(self) -> Curve:
        """The same without its allowances, which is no bound: to tell what they cost."""
        return Curve(replace(self.pair, eta_q=0.0, eta_x=0.0), self.direction)

    @cached_property
    def seen(self) -> Pair:
        return self.pair if self.direction == "remove" else self.pair.swapped()

    @cached_property
    def sign(self) -> float:
        return 1.0 if self.pair.side == "upper" else -1.0

    @cached_property
    def eta(self) -> float:
        """Of masses, and of the sums and exponentials below."""
        return self.pair.eta_q + self.pair.eta_x + (2 * EXP_ULPS + self.pair.loss.size) * U

    @cached_property
    def slip(self) -> float:
        return self.pair.eta_x + 4 * U

    def delta(self, epsilon: float) -> float:
        """A bound on delta at any real epsilon."""
        floor = max(0.0, -math.expm1(epsilon)) if epsilon < 0 else 0.0  # delta(eps) is at least 1 - e^eps
        if self.sign < 0:
            floor *= 1 - 4 * U
        if self.eta == math.inf:  # numbers beyond a double were met: nothing is known
            return 1.0 if self.sign > 0 else floor
        seen = self.seen
        if epsilon == math.inf:
            raw = seen.p_only
        elif epsilon == -math.inf:
            return 1.0
        else:
            level = epsilon - self.sign * (self.slip + 2 * U * abs(epsilon))
            first = int(np.searchsorted(seen.loss, level, side="right"))
            raw = float(seen.p[first:] @ -np.expm1(level - seen.loss[first:])) + seen.p_only
        bound = raw * (1.0 + self.sign * self.eta) + self.sign * FLOOR
        return min(max(bound, floor), 1.0)

    def epsilon(self, delta: float) -> float:
        """A bound on the smallest epsilon >= 0 with delta(epsilon) <= delta; inf when there is none."""
        seen = self.seen
        if self.delta(0.0) <= delta:
            return 0.0
        if delta <= 0.0:
            return math.inf if seen.p_only > 0 else self._largest()
        if seen.given and delta == seen.p_only:
            return self._largest()
        goal = (delta - self.sign * FLOOR) / (1.0 + self.sign * self.eta) * (1.0 - self.sign * 4 * U) - seen.p_only
        if goal <= 0.0:
            return math.inf
        points = seen.loss[seen.loss > 0]
        lo, hi = 0, points.size  # the answer lies between points[lo - 1] and points[lo] for the smallest such lo
        while lo < hi:
            middle = (lo + hi) // 2
            if self._raw(float(points[middle])) <= goal:
                hi = middle
            else:
                lo = middle + 1
        base = float(points[lo - 1]) if lo else 0.0
        above = seen.loss > base
        loss, p = seen.loss[above], seen.p[above]
        if not loss.size:  # only the allowances are above the goal
            return max(base + self.sign * self.slip, 0.0)
        # On this segment delta is A - e^epsilon B. Seen from its left end while that is near, else from its right end.
        near = float(loss[0]) - base < 1.0
        anchor = base if near else float(loss[0])
        scaled = float(p @ np.exp(anchor - loss))  # e^anchor B
        excess = float(p @ -np.expm1(anchor - loss)) - goal  # delta at the anchor, less the goal
        rounding = 8 * U * (seen.loss.size + 8) * (float(p.sum()) + goal)
        top = excess + self.sign * rounding
        found = anchor + math.log1p(top / scaled) if top > -scaled else base
        found = min(max(found, base), float(loss[0]))
        return max(found + self.sign * (self.slip + 8 * U * (1 + found)), 0.0)

    def _raw(self, level: float) -> float:
        first = int(np.searchsorted(self.seen.loss, level, side="right"))
        return float(self.seen.p[first:] @ -np.expm1(level - self.seen.loss[first:]))

    def _largest(self) -> float:
        """The smallest epsilon at which only what P alone has is left: the largest finite loss."""
        seen = self.seen
        top = seen.loss[seen.p > 0]
        return max(float(top[-1]) + self.sign * self.slip, 0.0) if top.size else 0.0

    def miss(self, fpr: float) -> float:
        """A bound on the smallest false negative rate at a false positive rate: from below for an upper pair.

        fnr = 1 - min over k >= 0 of [delta(k) + k fpr], with the certified delta, whose allowances scale fpr
        and the minimum. By the sum over what is accepted, not by 1 minus what is rejected, so small rates
        keep their accuracy.
        """
        seen, sign = self.seen, self.sign
        if fpr >= 1.0:
            return 0.0
        rate = fpr * (1 + sign * (self.slip + self.eta + 4 * U)) + min(sign, 0.0) * FLOOR
        q, p = seen.q[::-1], seen.p[::-1]
        taken = np.cumsum(q)
        # Outcomes rejected whole, from the highest ratio down. Those of a lower measure whose q underflowed cost FLOOR.
        n = int(np.searchsorted(taken, rate, side="right")) if rate >= 0 else 0
        if rate < 0:
            accepted = float(p.sum())
        elif n >= q.size:
            accepted = 0.0
        else:
            accepted = float(p[n + 1 :].sum()) + p[n] * min(max(float(taken[n]) - rate, 0.0) / q[n], 1.0)
        if sign < 0:  # outcomes that a lower measure has dropped are never rejected
            accepted += max(1.0 - float(p.sum()) - seen.p_only, 0.0)
        return min(max(accepted - sign * (self.eta + self.slip + FLOOR), 0.0), 1.0)


def masses(pair: Pair) -> tuple[float, float]:
    """Total (q, p) mass, atoms included: 1 each, to rounding."""
    return float(pair.q.sum()) + pair.q_only, float(pair.p.sum()) + pair.p_only


__all__ = ["Curve", "FloatArray", "masses"]

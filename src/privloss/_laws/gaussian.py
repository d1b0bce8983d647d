"""The Gaussian pair: N(a, 1) with the person against N(0, 1) without, where a = sensitivity / sigma.

Legend: z is the noise coordinate, the loss is l = a z - a^2/2, phi the standard normal density; a cell has
loss width h and noise width w = h / a. phi(z - a) = e^l phi(z).

Spread. On the cell to the right of a point at z the share that goes back to the point is, t being the
distance from it,

    V(t) = (e^h - e^(a t)) / (e^h - 1) = expm1(-a (w - t)) / expm1(-a w),

and seen from P the cell to the left is the mirror image of it. So with F(s, w) = integral_0^w e^(-s t -
t^2/2) V(t) dt a point holds

    q = phi(z) (F(z, w_right) + F(a - z, w_left)),    p = phi(z - a) (the same bracket).

Rounding, in units of u = 2^-53: z is held to two doubles, so phi costs 10 (exp 4); inside a panel the
exponent is at most 6.6 and is relatively accurate to 8 (53), its exp 4, V 16, node, weight and products 6,
the sum of 16 terms 16, the width 3, the pairwise sum over panels 25, the remainder of the rule 1. Together
134; ``eta_q`` is 140 u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privloss._laws.quadrature import (
    EDGE,
    RULES,
    WIDEST,
    BoolArray,
    decay,
    density,
    gather,
    quotient,
    tiers,
    tilted,
    two_product,
    two_sum,
)
from privloss._pair import FloatArray, IntArray, Law, Masses, U

VANISHED = 1e-300  # what may have underflowed, charged to both atoms on the upper side


@dataclass(frozen=True)
class Place:
    """Noise coordinates, each the sum of two doubles."""

    high: FloatArray
    low: FloatArray

    def at(self, index: IntArray | slice) -> Place:
        return Place(self.high[index], self.low[index])

    def shifted(self, distance: FloatArray) -> Place:
        high, rest = two_sum(self.high, distance)
        return Place(*two_sum(high, self.low + rest))  # low stays an ulp of high, however far it came

    def density(self) -> FloatArray:
        return density(self.high, self.low)

    def tilted(self, exponent: FloatArray) -> FloatArray:
        return tilted(self.high, self.low, exponent)


@dataclass(frozen=True)
class Panels:
    """Pieces of cells: where each starts, how wide it is, and how far the points of its cell are."""

    cell: IntArray
    start: Place
    width: FloatArray
    left: FloatArray  # from the point on the left to the start
    right: FloatArray  # from the end to the point on the right

    @property
    def offsets(self) -> FloatArray:
        value: FloatArray = self.width[:, None] * WIDEST.nodes
        return value

    def integrals(self, slope: FloatArray, share: FloatArray | float = 1.0) -> FloatArray:
        value: FloatArray = self.width * ((decay(slope, self.offsets) * share) @ WIDEST.weights)
        return value


def placed(a: FloatArray, rest: FloatArray | float, losses: FloatArray) -> Place:
    """z = l/a + a/2 by one step of Newton on a z - a^2/2 = l, the residual in exact products."""
    z = losses / a + 0.5 * a
    product, product_rest = two_product(a, z)
    half, half_rest = two_product(a, 0.5 * a)
    total, first = two_sum(losses, -product)
    total, second = two_sum(total, half)
    residual = total + (first + second + half_rest - product_rest - rest * (z - a))
    return Place(z, residual / a)


def recentred(place: Place, a: FloatArray, rest: FloatArray | float) -> Place:
    """z - a, where P is centred."""
    moved = place.shifted(-a)
    return Place(moved.high, moved.low - rest)


class GaussianLaw(Law):
    """Loss a z - a^2/2, z standard normal under Q and N(a, 1) under P."""

    eta_q: float = 140 * U
    eta_x: float = 0.0  # the points are exact, and so are the weights up to eta_q
    low: float = -math.inf
    high: float = math.inf
    atoms: FloatArray | None = None

    def __init__(self, sigma: float, sensitivity: float = 1.0) -> None:
        self.a, self._rest = quotient(sensitivity, sigma)

    def window(self, left: float, right: float) -> tuple[float, float]:
        """From the normal tails, on the safe side."""
        a = self.a
        lo, hi = -a * tail_place(left) - 0.5 * a * a, a * tail_place(right) + 0.5 * a * a
        margin = 1e-12 * (abs(lo) + abs(hi))
        return lo - margin, max(lo, hi) + margin

    def span(self, gauge: str, tail: float) -> tuple[float, float]:
        """The mean under P is a^2/2, under Q -a^2/2: far apart when a is large."""
        middle = math.copysign(0.5 * self.a * self.a, 1.0 if gauge == "p" else -1.0)
        reach = self.a * tail_place(tail) * (1 + 1e-12) + 1e-12 * abs(middle)
        return middle - reach, middle + reach

    def hats(self, points: FloatArray) -> Masses:
        """Spread onto the points; what underflows is charged to the atoms."""
        place, h = self._places(points), np.diff(points)
        q_first, p_first, q_only = self._beyond(self._mirror(place.at(slice(0, 1))), -points[:1])
        q_last, p_last, p_only = self._beyond(place.at(slice(-1, None)), points[-1:])
        bracket, wide = self._brackets(place, h)
        q = place.density() * bracket
        p = self._centred(place).density() * bracket
        q[0] += p_first
        p[0] += q_first
        q[-1] += q_last
        p[-1] += p_last
        if wide.any():
            self._spread_wide(points, place, wide, q, p)
        return Masses(q, p, q_only + VANISHED, p_only + VANISHED)

    def cells(self, cuts: FloatArray) -> Masses:
        """Merge between the cuts."""
        place, w = self._places(cuts), np.diff(cuts) / self.a
        p_first, q_first = self._tails(self._mirror(place.at(slice(0, 1))))
        q_last, p_last = self._tails(place.at(slice(-1, None)))
        q, p = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
        q[0], q[-1], p[0], p[-1] = q_first, q_last, p_first, p_last
        centred = self._centred(place)
        reach = np.maximum(_reach(place), _reach(centred))
        tier = tiers(w * (0.5 * reach + 1.0))
        for k, rule in enumerate(RULES):
            chosen = np.flatnonzero(tier == k)
            if chosen.size:
                offset = w[chosen, None] * rule.nodes
                for mass, origin in ((q, place.at(chosen)), (p, centred.at(chosen))):
                    shape = decay(origin.high, offset) @ rule.weights
                    mass[chosen + 1] = origin.density() * w[chosen] * shape
        wide = tier == len(RULES)
        if wide.any():
            self._merge_wide(place, wide, q, p)
        return Masses(q, p, 0.0, 0.0)

    def _places(self, losses: FloatArray) -> Place:
        return placed(np.asarray(self.a), self._rest, losses)

    def _centred(self, place: Place) -> Place:
        return recentred(place, np.asarray(self.a), self._rest)

    def _mirror(self, place: Place) -> Place:
        """a - z: the coordinate in which P and Q have changed places."""
        moved = self._centred(place)
        return Place(-moved.high, -moved.low)

    def _brackets(self, place: Place, h: FloatArray) -> tuple[FloatArray, BoolArray]:
        """F(z, w_right) + F(a - z, w_left) for every point, over the cells that need no cutting."""
        bracket = np.zeros(place.high.size)
        w = h / self.a
        rising, falling = place.high[:-1], self.a - place.high[1:]
        tier = tiers(0.5 * (np.maximum(np.abs(rising), np.abs(falling)) * w + h) + w)
        for k, rule in enumerate(RULES):
            chosen = np.flatnonzero(tier == k)
            if not chosen.size:
                continue
            width, gap = w[chosen], h[chosen]
            offset = width[:, None] * rule.nodes
            share = np.expm1(-gap[:, None] * rule.nodes[::-1]) / np.expm1(-gap)[:, None]
            bracket[chosen] += width * ((decay(rising[chosen], offset) * share) @ rule.weights)
            bracket[chosen + 1] += width * ((decay(falling[chosen], offset) * share) @ rule.weights)
        return bracket, tier == len(RULES)

    def _spread_wide(
        self, points: FloatArray, place: Place, wide: BoolArray, q: FloatArray, p: FloatArray
    ) -> None:
        a, panels = self.a, self._cut(place, wide)
        cell, start, centred = panels.cell, panels.start, self._centred(panels.start)
        whole = np.expm1(points[cell] - points[cell + 1])[:, None]
        offsets = panels.offsets
        to_left = np.expm1(-a * (panels.right[:, None] + offsets[:, ::-1])) / whole
        to_right = np.expm1(-a * (panels.left[:, None] + offsets)) / whole
        left = panels.integrals(start.high, to_left)
        right = panels.integrals(centred.high, to_right)
        gather(q, cell, start.density() * left)
        gather(p, cell, start.tilted(points[cell]) * left)
        gather(q, cell + 1, centred.tilted(-points[cell + 1]) * right)
        gather(p, cell + 1, centred.density() * right)

    def _merge_wide(self, place: Place, wide: BoolArray, q: FloatArray, p: FloatArray) -> None:
        panels = self._cut(place, wide)
        start, centred = panels.start, self._centred(panels.start)
        gather(q, panels.cell + 1, start.density() * panels.integrals(start.high))
        gather(p, panels.cell + 1, centred.density() * panels.integrals(centred.high))

    def _cut(self, place: Place, wide: BoolArray) -> Panels:
        """The wide cells, cut at a fixed grid; what lies where both densities vanish is left out."""
        step = WIDEST.limit / (self.a + EDGE / 2 + 2)
        span = np.arange(-EDGE, EDGE + step, step)
        grid = np.concatenate((span, span + self.a))
        cell = np.searchsorted(place.high, grid) - 1
        grid = grid[_inside(cell, wide)]
        high, low = np.concatenate((grid, place.high)), np.concatenate((np.zeros(grid.size), place.low))
        order = np.argsort(high, kind="stable")
        high, low = high[order], low[order]
        middle = 0.5 * (high[:-1] + high[1:])
        cell = np.searchsorted(place.high, middle) - 1
        kept = np.flatnonzero(_inside(cell, wide) & self._alive(middle))
        cell, high, low, high_end, low_end = cell[kept], high[kept], low[kept], high[kept + 1], low[kept + 1]
        before, after = place.at(cell), place.at(cell + 1)
        return Panels(
            cell.astype(np.int64),
            Place(high, low),
            np.maximum((high_end - high) + (low_end - low), 0.0),
            (high - before.high) + (low - before.low),
            (after.high - high_end) + (after.low - low_end),
        )

    def _alive(self, z: FloatArray) -> BoolArray:
        value: BoolArray = (np.abs(z) < EDGE + 1) | (np.abs(z - self.a) < EDGE + 1)
        return value

    def _above(self, place: Place) -> Panels:
        """Panels from one place upwards, until both densities have fallen by e^-50."""
        start, a = float(place.high[0]), self.a
        centred = start - a
        length = 100.0 / (math.sqrt(centred * centred + 100.0) + centred) if centred > 0 else 10.0 - centred
        skipped = max(0.0, -EDGE - start)
        ends = (start + skipped, start + length)
        reach = max(abs(z - shift) for z in ends for shift in (0.0, a)) if centred < EDGE else 0.0
        width = WIDEST.limit / (0.5 * (reach + a) + 1.0)
        count = max(0, math.ceil((length - skipped) / width)) if centred < EDGE else 0
        edges = skipped + width * np.arange(count + 1, dtype=np.float64)
        left, widths = edges[:-1], np.diff(edges)  # exact, so that rounded edges leave no gaps
        alive = self._alive(left + (start + 0.5 * width))
        left, widths = left[alive], widths[alive]
        none = np.full(left.size, np.inf)
        return Panels(np.zeros(left.size, np.int64), place.shifted(left), widths, left, none)

    def _beyond(self, place: Place, loss: FloatArray) -> tuple[float, float, float]:
        """Above the place: q and p that stay on it, and the p that goes on to ratio infinity."""
        panels = self._above(place)
        start, centred = panels.start, self._centred(panels.start)
        kept = panels.integrals(start.high)
        gone = panels.integrals(centred.high, -np.expm1(-self.a * (panels.left[:, None] + panels.offsets)))
        return (
            math.fsum(start.density() * kept),
            math.fsum(start.tilted(loss) * kept),
            math.fsum(centred.density() * gone),
        )

    def _tails(self, place: Place) -> tuple[float, float]:
        """Q- and P-mass above the place."""
        panels = self._above(place)
        start, centred = panels.start, self._centred(panels.start)
        q = math.fsum(start.density() * panels.integrals(start.high))
        return q, math.fsum(centred.density() * panels.integrals(centred.high))


def _inside(cell: IntArray, wide: BoolArray) -> BoolArray:
    """Which of these cells exist and are wide."""
    exists = (cell >= 0) & (cell < wide.size)
    return exists & wide[np.clip(cell, 0, wide.size - 1)]


def _reach(place: Place) -> FloatArray:
    """The larger distance from the mean at the two ends of each cell."""
    away = np.abs(place.high)
    return np.maximum(away[:-1], away[1:])


def tail_place(mass: float) -> float:
    """A z whose upper normal tail is at most ``mass``: by bisection, less than 1e-9 too large; at most 40."""
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if 0.5 * math.erfc(middle * math.sqrt(0.5)) * (1.0 + 1e-11) <= mass:
            high = middle
        else:
            low = middle
    return high

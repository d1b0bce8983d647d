"""The mixture pair: P = sum of w_j N(a_j, 1) against Q = N(0, 1), in units of sigma.

Legend: z is the noise coordinate, l(z) = log sum w_j e^(a_j z - a_j^2/2) the loss, convex in z: it falls to
the turning point and rises after it, either branch possibly empty; A is the largest |a_j|. The line is cut
where the loss meets a point or a cut, at the turning point, and often enough for the quadrature; each panel
then lies in one cell of losses.

What an inexact cut does: a panel that reaches over its cell by an ulp has its losses clipped to the cell,
which is the spread of a law whose losses are off by that ulp (``eta_x``, with the rounding of l), and a
merge whichever cell takes the ulp. The masses are as accurate as the Gaussian's, with the same count.

In units of u times the largest |a_j z| + a_j^2 + |log w_j|, ``eta_x`` counts 4 for l, 1 for the place of a
node, and for a cut 2 (one ulp of z) and 8 (l on both sides of it): 15, stated as 16.

Remainder: a panel of width v has size (|z| + 2 A) v/2 + v in the sense of the quadrature, raised by a third
here. The shares are constants times x_b - x and x - x_a with x a positive combination of e^(a_j t). x is
convex, so a share that starts at 0 with slope 0 still grows as t^2/2 times its second derivative, again
such a combination; with that in place of V, and at least six nodes, the bound is below 6e-17.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from privloss._ask import check_time
from privloss._laws.quadrature import (
    EDGE,
    RULES,
    WIDEST,
    BoolArray,
    Rule,
    decay,
    density,
    divide,
    gather,
    tiers,
    tilted,
    two_sum,
)
from privloss._pair import FloatArray, IntArray, Law, Masses, U

VANISHED = 1e-300  # what may have underflowed, charged to both atoms on the upper side
ZERO = np.zeros(())


@dataclass(frozen=True)
class _Panels:
    """Panels that share a rule: the cell of losses each lies in, its start, its width."""

    rule: Rule
    cell: IntArray
    start: FloatArray
    width: FloatArray

    @property
    def offsets(self) -> FloatArray:
        value: FloatArray = self.width[:, None] * self.rule.nodes
        return value

    def integrals(self, values: FloatArray) -> FloatArray:
        value: FloatArray = self.width * (values @ self.rule.weights)
        return value


class MixtureLaw(Law):
    """Loss log sum w_j e^(a_j z - a_j^2/2), z standard normal under Q, the mixture under P."""

    eta_q: float = 140 * U
    eta_x: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    atoms: FloatArray | None = None

    def __init__(
        self, sigma: float, sensitivities: Sequence[float], weights: Sequence[float], deadline: float = math.inf
    ) -> None:
        self.deadline = deadline
        s, w = np.asarray(sensitivities, np.float64), np.asarray(weights, np.float64)
        self.weights = w[w > 0]
        self.a, self._rest = divide(s[w > 0], sigma)
        self.reach = float(np.abs(self.a).max())
        self._shift = np.log(self.weights) - 0.5 * self.a * self.a
        self.turning = self._turning_point()
        terms = self.a * self.a + np.abs(self.a) * (EDGE + 1 + self.reach) + np.abs(np.log(self.weights))
        self.eta_x = U * (16 * float(terms.max()) + 10 + self.a.size)
        self._range()

    def window(self, left: float, right: float) -> tuple[float, float]:
        """From the tails of both branches, on the safe side."""
        if not self.reach:
            return 0.0, 0.0
        rises, falls = bool(self.a.max() > 0), bool(self.a.min() < 0)
        budget = 0.5 * right if rises and falls else right
        up = self._quantile(self.weights, self.a, budget) if rises else -math.inf
        down = -self._quantile(self.weights, -self.a, budget) if falls else math.inf
        hi = max(self._loss_at(z) for z in (up, down) if math.isfinite(z))
        below = self._quantile(np.ones(1), np.zeros(1), left)
        lo = self.low if rises and falls else max(self.low, self._loss_at(-below if rises else below))
        return lo - self.eta_x, max(lo, hi) + self.eta_x

    def hats(self, points: FloatArray) -> Masses:
        """Spread onto the points; what underflows is charged to the atoms."""
        edge = np.concatenate(([-np.inf], points, [np.inf]))
        q, p = np.zeros(edge.size), np.zeros(edge.size)
        for panels in self._panels(points, "right"):
            check_time(self.deadline)
            self._spread(panels, edge, q, p)
        return Masses(q[1:-1], p[1:-1], float(q[0]) + VANISHED, float(p[-1]) + VANISHED)

    def cells(self, cuts: FloatArray) -> Masses:
        """Merge between the cuts."""
        q, p = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
        for panels in self._panels(cuts, "left"):
            check_time(self.deadline)
            start, offsets = panels.start, panels.offsets
            _pile(q, panels.cell, density(start, ZERO) * panels.integrals(decay(start, offsets)))
            total = np.zeros(start.size)
            for weight, a, rest in zip(self.weights, self.a, self._rest, strict=True):
                high, low = two_sum(start, -a)
                total += weight * density(high, low - rest) * panels.integrals(decay(high, offsets))
            _pile(p, panels.cell, total)
        return Masses(q, p, 0.0, 0.0)

    def _spread(self, panels: _Panels, edge: FloatArray, q: FloatArray, p: FloatArray) -> None:
        """Shares of the points a and b of the cell; exponents are relative to the middle of the panel."""
        cell, start, offsets = panels.cell, panels.start, panels.offsets
        a, b = edge[cell], edge[cell + 1]
        loss = np.clip(self.loss(start[:, None] + offsets), a[:, None], b[:, None])
        middle = loss[:, loss.shape[1] // 2]
        shape = decay(start, offsets) / np.expm1(a - b)[:, None]
        left = panels.integrals(shape * np.expm1(loss - b[:, None]))
        relative = np.exp(loss - middle[:, None])
        right = panels.integrals(shape * relative * np.expm1(a[:, None] - loss))
        _pile(q, cell, density(start, ZERO) * left)
        _pile(p, cell, _finite(a, tilted(start, ZERO, _zeroed(a)) * left))
        _pile(q, cell + 1, _finite(b, tilted(start, ZERO, *two_sum(middle, -_zeroed(b))) * right))
        _pile(p, cell + 1, tilted(start, ZERO, middle) * right)

    def loss(self, z: FloatArray) -> FloatArray:
        """l(z), with the largest term taken out."""
        top = np.full(z.shape, -np.inf)
        for a, shift in zip(self.a, self._shift, strict=True):
            np.maximum(top, a * z + shift, out=top)
        total = np.zeros(z.shape)
        for a, shift in zip(self.a, self._shift, strict=True):
            total += np.exp(a * z + shift - top)
        value: FloatArray = top + np.log(total)
        return value

    def _slope(self, z: FloatArray, loss: FloatArray) -> FloatArray:
        slope = np.zeros(z.shape)
        for a, shift in zip(self.a, self._shift, strict=True):
            slope += a * np.exp(a * z + shift - loss)
        return slope

    def _loss_at(self, z: float) -> float:
        return float(self.loss(np.asarray(z)))

    def _turning_point(self) -> float:
        """Where the loss is least: minus or plus infinity when it only rises or only falls."""
        if self.a.min() >= 0:
            return -math.inf
        if self.a.max() <= 0:
            return math.inf
        low, high = -1.0, 1.0
        while self._slope_at(low) > 0:
            low *= 2
        while self._slope_at(high) < 0:
            high *= 2
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._slope_at(middle) < 0 else (low, middle)
        return high

    def _slope_at(self, z: float) -> float:
        at = np.asarray(z)
        return float(self._slope(at, self.loss(at)))

    def _range(self) -> None:
        if not self.reach:
            self.low = self.high = 0.0
            self.atoms = np.zeros(1)
        elif math.isfinite(self.turning):
            self.low = self._loss_at(self.turning) - self.eta_x
        elif (self.a == 0).any():
            self.low = math.log(math.fsum(self.weights[self.a == 0])) - self.eta_x

    def _quantile(self, weights: FloatArray, means: FloatArray, mass: float) -> float:
        """A z above which the normals with these weights and means have at most ``mass``."""
        low, high = float(means.min()) - 40.0, float(means.max()) + 40.0
        for _ in range(64):
            middle = 0.5 * (low + high)
            terms = (math.erfc((middle - m) * math.sqrt(0.5)) for m in means)
            above = 0.5 * math.fsum(w * t for w, t in zip(weights, terms, strict=True))
            low, high = (low, middle) if above * (1 + 1e-11) <= mass else (middle, high)
        return high

    def _panels(self, losses: FloatArray, side: Literal["left", "right"]) -> list[_Panels]:
        """The line, cut so that each panel lies in one cell and suits a rule."""
        check_time(self.deadline)
        step = 0.75 * WIDEST.limit / (0.5 * EDGE + 1.5 * self.reach + 2.0)
        first, last = min(0.0, self.a.min()) - EDGE, max(0.0, self.a.max()) + EDGE
        grid = np.arange(first, last + step, step)
        bends = [self.turning] if first < self.turning < last else []
        z = np.sort(np.concatenate((grid, bends, *self._preimages(losses, float(first), float(last)))))
        start, width = z[:-1], np.diff(z)
        kept = np.flatnonzero((width > 0) & self._alive(start))
        start, width = start[kept], width[kept]
        middle = self.loss(start + 0.5 * width)
        cell = np.searchsorted(losses, middle, side=side)
        growth = 0.5 * np.abs(start) + 0.5 * width + self.reach + 1.0
        tier = np.clip(tiers(4.0 / 3.0 * width * growth), 1, len(RULES) - 1)
        chosen = [(rule, np.flatnonzero(tier == k)) for k, rule in enumerate(RULES)]
        return [_Panels(rule, cell[i].astype(np.int64), start[i], width[i]) for rule, i in chosen if i.size]

    def _alive(self, z: FloatArray) -> BoolArray:
        """Where some density does not underflow."""
        alive: BoolArray = np.abs(z) < EDGE + 1
        for a in self.a:
            alive |= np.abs(z - a) < EDGE + 1
        return alive

    def _preimages(self, losses: FloatArray, first: float, last: float) -> list[FloatArray]:
        """Where each branch meets the losses."""
        branches = []
        if self.turning < last and self.a.max() > 0:
            branches.append(self._solve(losses, max(self.turning, first), last))
        if self.turning > first and self.a.min() < 0:
            branches.append(self._solve(losses, min(self.turning, last), first))
        return branches

    def _solve(self, losses: FloatArray, bottom: float, top: float) -> FloatArray:
        """Newton on the branch that rises from ``bottom`` to ``top``, bisecting every fourth time."""
        target = losses[(losses > self._loss_at(bottom)) & (losses < self._loss_at(top))]
        under, over = np.full(target.size, bottom), np.full(target.size, top)
        z: FloatArray = 0.5 * (under + over)
        for turn in range(240):
            check_time(self.deadline)
            loss = self.loss(z)
            above = loss > target
            under, over = np.where(above, under, z), np.where(above, z, over)
            done = (np.abs(loss - target) <= self.eta_x / 16) | (np.abs(over - under) <= 2 * U * np.abs(z))
            if done.all():
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                after = z + (target - loss) / self._slope(z, loss)
            inside = (after > np.minimum(under, over)) & (after < np.maximum(under, over)) & (turn % 4 < 3)
            z = np.where(done, z, np.where(inside, after, 0.5 * (under + over)))
        return z


def _pile(mass: FloatArray, cell: IntArray, values: FloatArray) -> None:
    """Add each value to its cell; on two branches the cells come in runs, falling and rising."""
    order = np.argsort(cell, kind="stable")
    gather(mass, cell[order], values[order])


def _zeroed(loss: FloatArray) -> FloatArray:
    value: FloatArray = np.where(np.isfinite(loss), loss, 0.0)
    return value


def _finite(loss: FloatArray, values: FloatArray) -> FloatArray:
    """Nothing where the loss is infinite."""
    value: FloatArray = np.where(np.isfinite(loss), values, 0.0)
    return value

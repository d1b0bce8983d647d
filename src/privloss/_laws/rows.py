"""Many laws at once, one a row, so that a composition of thousands of parts pays Python's overhead once a batch.

Each method is that of ``Law`` on arrays with one row a law: the same formulas, within the same allowances
(``eta_q`` and ``eta_x`` of each law). ``together`` chooses: kinds that have no batched form go through a
loop.

Legend: (r, n) points of losses, increasing in each row; an outcome is (row, loss, q, p).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from privloss._laws.gaussian import VANISHED, GaussianLaw, Panels, Place, placed, recentred
from privloss._laws.laplace import LaplaceLaw, finite
from privloss._laws.quadrature import EDGE, RULES, WIDEST, BoolArray, decay, exp_sum, gather, tiers
from privloss._pair import FloatArray, IntArray, Law, Pair, subsampled_loss

SAMPLES = 48  # losses at which each law is looked at
STEEPEST = 50.0  # sensitivity over sigma from which a Gaussian is served alone: its cells take many panels
NOWHERE = -900.0  # a loss whose ratio underflows


class MassRows(NamedTuple):
    """What laws give on grids: (rows, points), and an atom a row."""

    q: FloatArray
    p: FloatArray
    q_only: FloatArray
    p_only: FloatArray


class Rows(Protocol):
    """Several laws."""

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends with about these masses beyond: a place, not a bound."""

    def hats(self, points: FloatArray) -> MassRows:
        """Spread onto the points of each row."""

    def cells(self, cuts: FloatArray) -> MassRows:
        """Merge between the cuts of each row."""

    def sample(self, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(losses, q, p) that show the shapes, roughly."""
        lo, hi = self.window(tail, tail)
        loss = np.linspace(lo, np.maximum(hi, lo + 1e-12 * (1 + np.abs(lo))), SAMPLES, axis=1)
        got = self.cells(0.5 * (loss[:, :-1] + loss[:, 1:]))
        return loss, got.q, got.p


def together(laws: Sequence[Law]) -> Rows:
    """The laws as rows."""
    kinds: dict[Callable[[Sequence[Any]], Rows], list[int]] = {}
    for i, law in enumerate(laws):
        kinds.setdefault(_kind(law), []).append(i)
    if len(kinds) == 1:
        return next(iter(kinds))(laws)
    return Mixed(len(laws), [(np.array(at), kind([laws[i] for i in at])) for kind, at in kinds.items()])


def _kind(law: Law) -> Callable[[Sequence[Any]], Rows]:
    if isinstance(law, GaussianLaw) and law.a >= STEEPEST:
        return Alone
    return KINDS.get(type(law), Alone)


class GaussianRows(Rows):
    """Gaussians: docs and rounding as in ``GaussianLaw``."""

    def __init__(self, laws: Sequence[GaussianLaw]) -> None:
        self.a = np.array([[law.a] for law in laws])
        self._rest = np.array([[law._rest] for law in laws])

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        a = self.a[:, 0]
        return -a * _tail_place(left) - 0.5 * a * a, a * _tail_place(right) + 0.5 * a * a

    def sample(self, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        place, a = _tail_place(tail), self.a[:, 0]
        z = np.linspace(-place, a + place, SAMPLES, axis=1)
        step = z[:, 1:2] - z[:, :1]
        return self.a * (z - 0.5 * self.a), step * np.exp(-0.5 * z**2), step * np.exp(-0.5 * (z - self.a) ** 2)

    def hats(self, points: FloatArray) -> MassRows:
        place, h = placed(self.a, self._rest, points), np.diff(points)
        seen = recentred(place, self.a, self._rest)
        bracket, wide = self._brackets(place, h)
        q, p = place.density() * bracket, seen.density() * bracket
        p_more, q_more, q_only = self._beyond(_column(seen, 0, -1.0), -points[:, 0])
        q[:, 0] += q_more
        p[:, 0] += p_more
        q_more, p_more, p_only = self._beyond(_column(place, -1, 1.0), points[:, -1])
        q[:, -1] += q_more
        p[:, -1] += p_more
        if wide.any():
            self._spread_wide(points, place, wide, q, p)
        return MassRows(q, p, q_only + VANISHED, p_only + VANISHED)

    def cells(self, cuts: FloatArray) -> MassRows:
        place, w = placed(self.a, self._rest, cuts), np.diff(cuts) / self.a
        seen = recentred(place, self.a, self._rest)
        q, p = (np.zeros((cuts.shape[0], cuts.shape[1] + 1)) for _ in "qp")
        p[:, 0], q[:, 0] = self._tails(_column(seen, 0, -1.0))
        q[:, -1], p[:, -1] = self._tails(_column(place, -1, 1.0))
        tier = tiers(w * (0.5 * np.maximum(_reach(place), _reach(seen)) + 1.0))
        for k, rule in enumerate(RULES):
            row, cell = np.nonzero(tier == k)
            if row.size:
                width = w[row, cell]
                offset = width[:, None] * rule.nodes
                for mass, origin in ((q, place), (p, seen)):
                    start = Place(origin.high[row, cell], origin.low[row, cell])
                    mass[row, cell + 1] = start.density() * width * (decay(start.high, offset) @ rule.weights)
        wide = tier == len(RULES)
        if wide.any():
            row, panels = self._cut(place, wide)
            seen = recentred(panels.start, self.a[row, 0], self._rest[row, 0])
            into = panels.cell + row * cuts.shape[1] + row + 1  # a cell more than cuts in each row
            gather(q.reshape(-1), into, panels.start.density() * panels.integrals(panels.start.high))
            gather(p.reshape(-1), into, seen.density() * panels.integrals(seen.high))
        none = np.zeros(cuts.shape[0])
        return MassRows(q, p, none, none)

    def _brackets(self, place: Place, h: FloatArray) -> tuple[FloatArray, BoolArray]:
        bracket, w = np.zeros(place.high.shape), h / self.a
        rising, falling = place.high[:, :-1], self.a - place.high[:, 1:]
        tier = tiers(0.5 * (np.maximum(np.abs(rising), np.abs(falling)) * w + h) + w)
        for k, rule in enumerate(RULES):
            row, cell = np.nonzero(tier == k)
            if row.size:
                width, gap = w[row, cell], h[row, cell]
                offset = width[:, None] * rule.nodes
                share = np.expm1(-gap[:, None] * rule.nodes[::-1]) / np.expm1(-gap)[:, None]
                for slope, at in ((rising, cell), (falling, cell + 1)):
                    bracket[row, at] += width * ((decay(slope[row, cell], offset) * share) @ rule.weights)
        return bracket, tier == len(RULES)

    def _spread_wide(
        self, points: FloatArray, place: Place, wide: BoolArray, q: FloatArray, p: FloatArray
    ) -> None:
        row, panels = self._cut(place, wide)
        a, start, cell = self.a[row, 0], panels.start, panels.cell + row * points.shape[1]
        seen, loss = recentred(start, a, self._rest[row, 0]), points.reshape(-1)
        whole = np.expm1(loss[cell] - loss[cell + 1])[:, None]
        to_left = np.expm1(-a[:, None] * (panels.right[:, None] + panels.offsets[:, ::-1])) / whole
        to_right = np.expm1(-a[:, None] * (panels.left[:, None] + panels.offsets)) / whole
        left = panels.integrals(start.high, to_left)
        right = panels.integrals(seen.high, to_right)
        gather(q.reshape(-1), cell, start.density() * left)
        gather(p.reshape(-1), cell, start.tilted(loss[cell]) * left)
        gather(q.reshape(-1), cell + 1, seen.tilted(-loss[cell + 1]) * right)
        gather(p.reshape(-1), cell + 1, seen.density() * right)

    def _cut(self, place: Place, wide: BoolArray) -> tuple[IntArray, Panels]:
        """The wide cells, each cut evenly within what counts in it; and their rows."""
        row, cell = np.nonzero(wide)
        before = Place(place.high[row, cell], place.low[row, cell])
        after = Place(place.high[row, cell + 1], place.low[row, cell + 1])
        a = self.a[row, 0]
        first, last = np.maximum(before.high, -EDGE - 1), np.minimum(after.high, a + EDGE + 1)
        first, last = np.maximum(first, last - _length(-last)), np.minimum(last, first + _length(first - a))
        reach = np.maximum(np.maximum(np.abs(first), np.abs(last)), np.maximum(np.abs(first - a), np.abs(last - a)))
        count = np.maximum(np.ceil((last - first) * (0.5 * (reach + a) + 1.0) / WIDEST.limit * (1 + 1e-9)), 0)
        of, k = _expanded(count)
        step = ((last - first) / np.maximum(count, 1))[of]
        start = first[of] + step * k
        end = np.where(k + 1 == count[of], last[of], first[of] + step * (k + 1))
        before, after = before.at(of), after.at(of)
        start_low = np.where(start == before.high, before.low, 0.0)
        end_low = np.where(end == after.high, after.low, 0.0)
        return row[of], Panels(
            cell[of],
            Place(start, start_low),
            np.maximum((end - start) + (end_low - start_low), 0.0),
            (start - before.high) + (start_low - before.low),
            (after.high - end) + (after.low - end_low),
        )

    def _above(self, place: Place) -> Panels:
        """Panels from one place of each row upwards, the row as their cell: ``GaussianLaw._above``."""
        start, a = place.high, self.a[:, 0]
        seen = start - a
        length = np.where(seen > 0, 100.0 / (np.sqrt(seen * seen + 100.0) + seen), 10.0 - seen)
        skipped = np.maximum(0.0, -EDGE - start)
        ends = np.abs(np.stack((start + skipped, start + length, seen + skipped, seen + length)))
        width = WIDEST.limit / (0.5 * (ends.max(axis=0) + a) + 1.0)
        count = np.where(seen < EDGE, np.maximum(np.ceil((length - skipped) / width), 0), 0)
        row, k = _expanded(count)
        left, right = (skipped[row] + width[row] * i for i in (k, k + 1))
        return Panels(row, place.at(row).shifted(left), right - left, left, np.full(row.size, np.inf))

    def _beyond(self, place: Place, loss: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Above the place of each row: q and p that stay on it, and the p that goes on to ratio infinity."""
        panels = self._above(place)
        row, start = panels.cell, panels.start
        a = self.a[row, 0]
        seen = recentred(start, a, self._rest[row, 0])
        kept = panels.integrals(start.high)
        gone = panels.integrals(seen.high, -np.expm1(-a[:, None] * (panels.left[:, None] + panels.offsets)))
        q, p, p_only = np.zeros((3, loss.size))
        gather(q, row, start.density() * kept)
        gather(p, row, start.tilted(loss[row]) * kept)
        gather(p_only, row, seen.density() * gone)
        return q, p, p_only

    def _tails(self, place: Place) -> tuple[FloatArray, FloatArray]:
        """Q- and P-mass above the place of each row."""
        panels = self._above(place)
        row, start = panels.cell, panels.start
        seen = recentred(start, self.a[row, 0], self._rest[row, 0])
        q, p = np.zeros((2, place.high.size))
        gather(q, row, start.density() * panels.integrals(start.high))
        gather(p, row, seen.density() * panels.integrals(seen.high))
        return q, p


def _length(distance: FloatArray) -> FloatArray:
    """How far to go from this far out of both means until both densities have fallen by e^-80."""
    value: FloatArray = np.where(distance > 0, 160.0 / (np.sqrt(distance * distance + 160.0) + distance), np.inf)
    return value


def _column(place: Place, at: int, sign: float) -> Place:
    return Place(sign * place.high[:, at], sign * place.low[:, at])


def _reach(place: Place) -> FloatArray:
    away = np.abs(place.high)
    return np.maximum(away[:, :-1], away[:, 1:])


def _expanded(count: FloatArray) -> tuple[IntArray, FloatArray]:
    """Each index as often as it counts, and the number of its occurrence."""
    times = count.astype(np.int64)
    index: IntArray = np.repeat(np.arange(times.size, dtype=np.int64), times)
    occurrence = np.arange(index.size) - np.repeat(np.cumsum(times) - times, times)
    return index, occurrence.astype(np.float64)


def _tail_place(mass: FloatArray) -> FloatArray:
    """A z whose upper normal tail is at most ``mass``, since it is at most e^(-z^2/2) / 2."""
    value: FloatArray = np.sqrt(-2 * np.log(2 * np.clip(mass, 1e-305, 0.5)))
    return value


class LaplaceRows(Rows):
    """Laplace laws: formulas and rounding as in ``LaplaceLaw``."""

    def __init__(self, laws: Sequence[LaplaceLaw]) -> None:
        self.high = np.array([[law.high] for law in laws])

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -self.high[:, 0], self.high[:, 0]

    def hats(self, points: FloatArray) -> MassRows:
        edge = _edges(points)
        q, p = np.zeros(edge.shape), np.zeros(edge.shape)
        self._spread_density(edge, q, p)
        for sign in (-1.0, 1.0):
            self._spread_atom(sign * self.high[:, 0], edge, q, p)
        vanished = np.where(self.high[:, 0] > 1200.0, 1e-300, 0.0)
        return MassRows(q[:, 1:-1], p[:, 1:-1], q[:, 0] + vanished, p[:, -1] + vanished)

    def cells(self, cuts: FloatArray) -> MassRows:
        e = self.high
        edge = np.clip(_edges(cuts), -e, e)
        start, end = edge[:, :-1], edge[:, 1:]
        mass = -0.5 * np.expm1(-0.5 * (end - start))
        q = exp_sum(-0.5 * start, -0.5 * e) * mass
        p = exp_sum(0.5 * end, -0.5 * e) * mass
        rows = np.arange(cuts.shape[0])
        for loss in (-e, e):
            cell = (cuts < loss).sum(axis=1)
            q[rows, cell] += 0.5 * np.exp(np.minimum(0.0, -loss[:, 0]))
            p[rows, cell] += 0.5 * np.exp(np.minimum(0.0, loss[:, 0]))
        none = np.zeros(cuts.shape[0])
        return MassRows(q, p, none, none)

    def _spread_density(self, edge: FloatArray, q: FloatArray, p: FloatArray) -> None:
        start, end = np.maximum(edge[:, :-1], -self.high), np.minimum(edge[:, 1:], self.high)
        row, i = np.nonzero(end > start)
        start, end, a, b, half = start[row, i], end[row, i], edge[row, i], edge[row, i + 1], -0.5 * self.high[row, 0]
        mass = 0.5 * np.expm1(-0.5 * (end - start)) / np.expm1(a - b)
        left = -mass * np.expm1(-0.5 * ((b - start) + (b - end)))
        right = -mass * np.expm1(-0.5 * ((start - a) + (end - a)))
        q[row, i] += exp_sum(-0.5 * start, half) * left
        p[row, i] += exp_sum(finite(a), -0.5 * start, half) * left * np.isfinite(a)
        q[row, i + 1] += exp_sum(finite(-b), 0.5 * end, half) * right * np.isfinite(b)
        p[row, i + 1] += exp_sum(0.5 * end, half) * right

    def _spread_atom(self, loss: FloatArray, edge: FloatArray, q: FloatArray, p: FloatArray) -> None:
        row, i = np.arange(loss.size), (edge <= loss[:, None]).sum(axis=1) - 1
        a, b = edge[row, i], edge[row, i + 1]
        log_q, log_p = np.minimum(0.0, -loss), np.minimum(0.0, loss)
        left = 0.5 * np.expm1(loss - b) / np.expm1(a - b)
        right = 0.5 * np.expm1(a - loss) / np.expm1(a - b)
        q[row, i] += np.exp(log_q) * left
        p[row, i] += exp_sum(finite(a), log_q) * left * np.isfinite(a)
        q[row, i + 1] += exp_sum(finite(-b), log_p) * right * np.isfinite(b)
        p[row, i + 1] += np.exp(log_p) * right


def _edges(points: FloatArray) -> FloatArray:
    end = np.full((points.shape[0], 1), np.inf)
    return np.concatenate((-end, points, end), axis=1)


@dataclass(frozen=True)
class Listed(Rows):
    """Lists of outcomes, all rows in one: formulas as in ``Pair``. ``row`` does not decrease."""

    row: IntArray
    loss: FloatArray
    q: FloatArray
    p: FloatArray
    q_only: FloatArray
    p_only: FloatArray
    alone: Sequence[Pair] = ()

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        ends = [
            pair.window(a, b) if pair.loss.size > SAMPLES or not pair.loss.size else (pair.loss[0], pair.loss[-1])
            for pair, a, b in zip(self.alone, left.tolist(), right.tolist(), strict=True)
        ]
        return np.array([lo for lo, _ in ends]), np.array([hi for _, hi in ends])

    def _spots(self, points: FloatArray, side: Any) -> IntArray:
        """How many points of its row lie at or below (below, from the left) each outcome."""
        ends = np.searchsorted(self.row, np.arange(points.shape[0] + 1))
        spots = [
            np.searchsorted(of, self.loss[a:b], side) for of, a, b in zip(points, ends[:-1], ends[1:], strict=True)
        ]
        return np.concatenate(spots).astype(np.int64)

    def _piled(self, spot: IntArray, values: FloatArray, count: int) -> FloatArray:
        rows = self.q_only.size
        piled: FloatArray = np.bincount(self.row * count + spot, values, rows * count).astype(np.float64, copy=False)
        return piled.reshape(rows, count)

    def hats(self, points: FloatArray) -> MassRows:
        spot, edge, n = self._spots(points, "right"), _edges(points), points.shape[1] + 2
        a, b = edge[self.row, spot], edge[self.row, spot + 1]
        with np.errstate(invalid="ignore"):
            width = -np.expm1(a - b)
            right = -np.expm1(a - self.loss) / width
            left = -np.expm1(self.loss - b) / width
        q_right, p_left = right * np.exp(self.loss - b), left * np.exp(a - self.loss)
        q = self._piled(spot, self.q * left, n) + self._piled(spot + 1, self.q * q_right, n)
        p = self._piled(spot, self.p * p_left, n) + self._piled(spot + 1, self.p * right, n)
        return MassRows(q[:, 1:-1], p[:, 1:-1], self.q_only + q[:, 0], self.p_only + p[:, -1])

    def cells(self, cuts: FloatArray) -> MassRows:
        spot, n = self._spots(cuts, "left"), cuts.shape[1] + 1
        return MassRows(self._piled(spot, self.q, n), self._piled(spot, self.p, n), self.q_only, self.p_only)

    def sample(self, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The outcomes themselves, or about as many groups of them as samples."""
        picked = [_grouped(pair) for pair in self.alone]
        sizes = [loss.size for loss, _, _ in picked]
        row, at = _expanded(np.array(sizes, np.float64))
        shape = len(picked), max(sizes)
        loss, q, p = np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape)
        for whole, parts in zip((loss, q, p), zip(*picked, strict=True), strict=True):
            whole[row, at.astype(np.int64)] = np.concatenate(parts)
        return np.maximum.accumulate(loss, axis=1), q, p


def _grouped(pair: Pair) -> tuple[FloatArray, FloatArray, FloatArray]:
    if pair.loss.size <= SAMPLES:
        return (pair.loss, pair.q, pair.p) if pair.loss.size else (np.zeros(1), np.zeros(1), np.zeros(1))
    starts = np.arange(0, pair.loss.size, math.ceil(pair.loss.size / SAMPLES))
    return pair.loss[starts], np.add.reduceat(pair.q, starts), np.add.reduceat(pair.p, starts)


def listed(pairs: Sequence[Pair]) -> Listed:
    loss, q, p = (np.concatenate([getattr(pair, name) for pair in pairs]) for name in ("loss", "q", "p"))
    row = np.repeat(np.arange(len(pairs)), [pair.loss.size for pair in pairs])
    q_only, p_only = (np.array([getattr(pair, name) for pair in pairs]) for name in ("q_only", "p_only"))
    return Listed(row, loss, q, p, q_only, p_only, pairs)


class SubsampledRows(Rows):
    """Subsampled laws: points are pulled back to the laws inside, as in ``Subsampled``."""

    def __init__(self, laws: Sequence[Any]) -> None:
        self.of = together([law.of for law in laws])
        self.rate = np.array([[law.rate] for law in laws])
        self.low = np.array([[law.low] for law in laws])

    def _push(self, loss: FloatArray) -> FloatArray:
        return subsampled_loss(loss, self.rate)

    def _pull(self, loss: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The losses inside, and which cannot be reached: those lie at the left, where ratios underflow.

        What the law inside has there, it has to all digits at ratio 0 (``NOWHERE`` and below).
        """
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            excess = np.expm1(loss) / self.rate
            bottom = (1 - self.rate) / self.rate * np.expm1(loss - self.low)
            pulled = np.where(np.abs(excess) < 0.5, np.log1p(excess), np.log(bottom))
        pulled = np.where(loss < 600, pulled, loss - np.log(self.rate))
        missed = ~((loss > self.low) & (pulled > NOWHERE))
        count = missed.sum(axis=1, keepdims=True)
        losses = np.where(missed, NOWHERE - count + np.arange(loss.shape[1]), pulled)
        return np.maximum.accumulate(losses, axis=1), missed

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        rate = self.rate[:, 0]
        lo, hi = self.of.window(left, np.minimum(right / rate, 0.5))
        for _ in range(3):  # Q adds to the tail of P: (1 - rate) e^-loss of it
            budget = right / (rate + (1 - rate) * np.exp(-np.maximum(hi, 0.0)))
            hi = np.maximum(self.of.window(left, np.minimum(budget, 0.5))[1], lo)
        ends = self._push(np.stack((lo, hi), axis=1))
        return ends[:, 0], ends[:, 1]

    def sample(self, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        loss, q, p = self.of.sample(np.minimum(tail / self.rate[:, 0], 0.5))
        return self._push(loss), q, self.rate * p + (1 - self.rate) * q

    def hats(self, points: FloatArray) -> MassRows:
        inside, missed = self._pull(points)
        got = self.of.hats(inside)
        below = got.q_only + np.where(missed, got.q, 0.0).sum(axis=1)
        rows, low, none = np.arange(below.size), self.low[:, 0], np.zeros(below.size)
        rate, extra = self.rate, Listed(rows, low, below, (1 - self.rate[:, 0]) * below, none, none).hats(points)
        q = np.where(missed, 0.0, got.q) + extra.q
        p = np.where(missed, 0.0, rate * got.p + (1 - rate) * got.q) + extra.p
        return MassRows(q, p, extra.q_only, rate[:, 0] * got.p_only + extra.p_only)

    def cells(self, cuts: FloatArray) -> MassRows:
        got = self.of.cells(self._pull(cuts)[0])
        rate, rows, q = self.rate, np.arange(cuts.shape[0]), got.q
        cell = (cuts < self.low).sum(axis=1)
        bottom = got.q_only
        q[rows, cell] += bottom
        p = rate * got.p + (1 - rate) * q
        return MassRows(q, p, np.zeros(rows.size), rate[:, 0] * got.p_only)


class Alone(Rows):
    """Any laws, one by one."""

    def __init__(self, laws: Sequence[Law]) -> None:
        self.laws = laws

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        ends = [law.window(a, b) for law, a, b in zip(self.laws, left.tolist(), right.tolist(), strict=True)]
        return np.array([lo for lo, _ in ends]), np.array([hi for _, hi in ends])

    def hats(self, points: FloatArray) -> MassRows:
        return _stacked([law.hats(row) for law, row in zip(self.laws, points, strict=True)])

    def cells(self, cuts: FloatArray) -> MassRows:
        return _stacked([law.cells(row) for law, row in zip(self.laws, cuts, strict=True)])


def _stacked(got: Sequence[tuple[Any, ...]]) -> MassRows:
    q, p, q_only, p_only = (np.array(column) for column in zip(*got, strict=True))
    return MassRows(q, p, q_only, p_only)


class Mixed(Rows):
    """Rows of several kinds."""

    def __init__(self, rows: int, kinds: Sequence[tuple[IntArray, Rows]]) -> None:
        self.rows, self.kinds = rows, kinds

    def _scattered(self, got: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
        """The answers of all kinds, each row at its place."""
        out = []
        for parts in zip(*got, strict=True):
            whole = np.zeros((self.rows, *parts[0].shape[1:]))
            for (at, _), part in zip(self.kinds, parts, strict=True):
                whole[at] = part
            out.append(whole)
        return out

    def window(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        lo, hi = self._scattered([kind.window(left[at], right[at]) for at, kind in self.kinds])
        return lo, hi

    def hats(self, points: FloatArray) -> MassRows:
        return MassRows(*self._scattered([kind.hats(points[at]) for at, kind in self.kinds]))

    def cells(self, cuts: FloatArray) -> MassRows:
        return MassRows(*self._scattered([kind.cells(cuts[at]) for at, kind in self.kinds]))

    def sample(self, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        got = [kind.sample(tail[at]) for at, kind in self.kinds]
        longest = max(loss.shape[1] for loss, _, _ in got)
        loss, q, p = self._scattered([[_padded(x, longest, k) for k, x in enumerate(one)] for one in got])
        return loss, q, p


def _padded(values: FloatArray, count: int, kind: int) -> FloatArray:
    """Up to ``count`` samples: losses (kind 0) repeat their last, masses are 0."""
    missing = [(0, 0)] * (values.ndim - 1) + [(0, count - values.shape[-1])]
    return np.pad(values, missing, "edge") if kind == 0 else np.pad(values, missing)


# How laws of a type are served together; those of other types are served one by one.
KINDS: dict[type, Callable[[Sequence[Any]], Rows]] = {
    GaussianLaw: GaussianRows,
    LaplaceLaw: LaplaceRows,
    Pair: listed,
}

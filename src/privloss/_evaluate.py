"""One evaluator: what each operation does to a law. Every function returns a law for one side of the bound.

An operation is monotone in the order of design: applied to a law that dominates (is dominated), it gives one
that dominates (is dominated). So rounding may happen anywhere, at any depth; each node is told the budget it
may spend (``Ask``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from privloss._arithmetic import LossSum, RatioSum, State
from privloss._ask import Ask
from privloss._batch import Parts, look, sum_of_many
from privloss._largest import largest
from privloss._laws.rows import KINDS, SubsampledRows
from privloss._pair import (
    EXP_ULPS,
    FloatArray,
    IntArray,
    Law,
    Masses,
    Pair,
    U,
    from_outcomes,
    nothing_shown,
    subsampled_loss,
)
from privloss._power import MOST_RANGE, Budget, Place, Shape, join, power, slots_for

if TYPE_CHECKING:
    from privloss._scheme import Scheme

SAMPLES = 400  # losses at which a law is looked at to place its lattice
MANY = 24  # different parts from which a composition is added in batches
EXACT_CORE = 2048  # points kept apart when a law lives on a lattice of its own
RAREST = 1e-150  # rates below it are taken for it, or for nothing
WIDEST = 1300.0  # of losses in one sum of ratios


def allocate_law(of: Scheme, steps: int, ask: Ask) -> Law:
    """1-out-of-``steps`` allocation: the mean of ``steps`` independent ratios."""
    return allocation_law(((of, steps),), None, ask)


def allocation_law(parts: tuple[tuple[Scheme, int], ...], weights: tuple[float, ...] | None, ask: Ask) -> Law:
    """One step of all is chosen, in part j with probability ``weights[j]``, uniform inside: the weighted mean of
    ratios."""
    total = sum(steps for _, steps in parts)
    shares = [steps / total for _, steps in parts] if weights is None else list(weights)
    below = ask.per_step(total)
    laws = [of.law(below) for of, _ in parts]
    scales = [share * total / steps for share, (_, steps) in zip(shares, parts, strict=True)]
    if _too_wide(laws, ask):
        return _without_sums(laws, shares, [steps for _, steps in parts], ask)
    shapes = [_ratio_shape(law, steps, ask) for law, (_, steps) in zip(laws, parts, strict=True)]
    loose = ask.tail
    if ask.direction == "add":  # ratios cut at the top lower the mean ratio by their P-mass: relative, not absolute
        sd = math.hypot(*(s * x.at(n)[1] for s, x, (_, n) in zip(scales, shapes, parts, strict=True))) / total
        loose = max(ask.tail, 0.02 * ask.spacing**2 * min(sd, 1.0))
    budget = Budget((ask.tail, math.inf), (math.inf, loose))
    lattice = _lattice_of(_ratios(laws[0])) if len(parts) == 1 and laws[0].atoms is not None else None
    origin, unit = lattice or (0.0, _ratio_unit(shapes, scales, ask.spacing))
    arithmetic = RatioSum(unit, origin, ask.side, deadline=ask.deadline)
    done: list[tuple[State, Place]] = []
    for law, shape, scale, (_, steps) in zip(laws, shapes, scales, parts, strict=True):
        scaled = replace(shape, values=shape.values * scale, whole=shape.whole * scale)
        exact = EXACT_CORE if lattice else 0
        place = scaled.place(1, steps, origin, exact)
        lo, hi = law.window(ask.tail, loose)
        bottom = 0 if origin > 0 or lo < math.log(unit / scale) else _position(lo, scale, origin, unit)
        slots = slots_for(arithmetic, place, ask, bottom, _position(hi, scale, origin, unit) + 1)
        one = arithmetic.start(law, slots, scale)
        state = power(arithmetic, one, steps, scaled, budget.part(1 / len(parts)), ask, thin=False, exact=exact)
        done.append((state, scaled.place(steps, steps, state.offset, exact)))
    return arithmetic.finish(join(arithmetic, done, budget, ask))


def _ratio_unit(shapes: list[Shape], scales: list[float], spacing: float) -> float:
    """The finest spacing that a part needs."""
    widths = [scale * shape.at(1)[1] for scale, shape in zip(scales, shapes, strict=True)]
    return max(min((spacing * width for width in widths if width > 0), default=spacing), 1e-200 * max(widths), 1e-290)


def _too_wide(laws: list[Law], ask: Ask) -> bool:
    low, high = zip(*(law.window(ask.tail, ask.tail) for law in laws), strict=True)
    return float(max(high) - min(low)) > WIDEST


def _without_sums(laws: list[Law], shares: list[float], counts: list[int], ask: Ask) -> Law:
    """Bounds of an allocation whose ratios no double can hold together.

    Who is told which step was chosen sees the law of that step: an upper bound. Who sees one step only, sees
    its law subsampled by how often it is chosen: a lower bound. The largest ratio says more, but for the removed.
    """
    if len(laws) > 1:
        if ask.side == "upper":
            return Disjoint(tuple(laws), tuple(shares))
        rates = [share / steps for share, steps in zip(shares, counts, strict=True)]
        law, rate = max(zip(laws, rates, strict=True), key=lambda row: row[0].window(ask.tail, ask.tail)[1] * row[1])
        return _subsampled_pair(law, rate) if isinstance(law, Pair) else Subsampled(law, rate)
    law, steps = laws[0], counts[0]
    if steps > 1 and (ask.side == "lower" or ask.direction == "add"):
        bound = largest(law, steps, ask)
        if bound is not None:
            return bound
    if ask.side == "upper":
        return law
    return _subsampled_pair(law, 1 / steps) if isinstance(law, Pair) else Subsampled(law, 1 / steps)


def compose_law(parts: tuple[tuple[Scheme, int], ...], ask: Ask) -> Law:
    """Composition: losses add."""
    if len(parts) >= MANY:
        return _many(parts, ask)
    total = sum(rounds for _, rounds in parts)
    below = ask.per_round(total)
    laws = [of.law(below) for of, _ in parts]
    gauge = "p" if ask.direction == "remove" else "q"
    shapes = [_loss_shape(law, rounds, ask, gauge, len(parts)) for law, (_, rounds) in zip(laws, parts, strict=True)]
    lattice = _lattice_of(laws[0].atoms) if len(parts) == 1 else None
    windows = [law.window(below.tail, below.tail) for law in laws]
    if lattice:
        origins, unit = [lattice[0]], lattice[1] / math.ceil(min(lattice[1], 2000.0))
    else:
        origins = [law.low if math.isfinite(law.low) else 0.0 for law in laws]
        units = [ask.spacing * min(shape.at(1)[1], 10.0) for shape in shapes]
        farthest = max(abs(end) for ends in (*windows, origins) for end in ends)
        unit = max(min((u for u in units if u > 0), default=1.0), 64 * U * farthest, 1e-290)
        if len(parts) == 1:
            unit = fitted(unit, laws[0])
    budget = _loss_budget(ask, gauge)
    exact = EXACT_CORE if lattice else 0
    done = []
    for law, shape, origin, window, (_, rounds) in zip(laws, shapes, origins, windows, parts, strict=True):
        ask.check_time()
        arithmetic = LossSum(unit, origin, ask.side, gauge, ask.nested, deadline=ask.deadline)
        lo, hi = map(arithmetic.reached, window)
        hi = min(hi, lo + MOST_RANGE)
        bottom, top = math.floor((lo - origin) / unit), math.ceil((hi - origin) / unit) + 1
        if math.isfinite(law.low):
            bottom = max(bottom, 0)
        slots = slots_for(arithmetic, shape.place(1, rounds, origin, exact), ask, bottom, max(top, bottom + 1))
        one = arithmetic.start(law, slots)
        state = power(arithmetic, one, rounds, shape, budget.part(rounds / total), ask, thin=True, exact=exact)
        done.append((state, shape.place(rounds, rounds, state.offset, exact)))
    return arithmetic.finish(join(arithmetic, done, budget, ask))


def _loss_budget(ask: Ask, gauge: str) -> Budget:
    if ask.nested:
        return Budget((ask.tail, math.inf), (math.inf, ask.tail))
    if gauge == "p":
        return Budget((math.inf, ask.tail), (math.inf, ask.tail))
    return Budget((ask.tail, math.inf), (ask.tail, math.inf))


def _many(parts: tuple[tuple[Scheme, int], ...], ask: Ask) -> Law:
    """Composition of many different parts, in batches."""
    lowest = sum(rounds * of.support(ask.side)[0] for of, rounds in parts)
    # What underflows under P is below 1e-305 under Q when no loss is below -40, which answers allow for. Points may
    # lie beyond the lowest loss by as much again.
    both = both_ways(parts, replace(ask, direction="remove", nested=True)) if lowest > -20.0 else None
    if both is not None:
        return both
    gauge = "p" if ask.direction == "remove" else "q"
    lean = (0.0, _lean(ask)) if gauge == "p" else (_lean(ask), 0.0)
    return sum_of_many(_look(parts, ask, gauge), ask, gauge, lean, _loss_budget(ask, gauge))


@lru_cache(maxsize=2)  # an upper and a lower pair
def both_ways(parts: tuple[tuple[Scheme, int], ...], ask: Ask) -> Law | None:
    """The same for both directions at once, where both see the whole at about the same place and no part differs."""
    seen = _look(parts, ask, "pq")
    if seen.apart > 4 or any(type(law) is Pair and of._parts() for law, (of, _) in zip(seen.laws, parts, strict=True)):
        return None
    return sum_of_many(seen, ask, "p", (_lean(ask), _lean(ask)), _loss_budget(ask, "p"))


def _look(parts: tuple[tuple[Scheme, int], ...], ask: Ask, gauge: str) -> Parts:
    below = ask.per_round(sum(rounds for _, rounds in parts))
    laws = []
    for of, _ in parts:
        ask.check_time()
        laws.append(of.law(below))
    return look(laws, [rounds for _, rounds in parts], gauge, below.tail)


def _lean(ask: Ask) -> float:
    return min(math.sqrt(-2 * ask.focus), 40.0)


def subsample_law(of: Scheme, rate: float, ask: Ask) -> Law:
    """Poisson subsampling: p <- rate p + (1 - rate) q. A small rate is dominated by a larger one."""
    if rate < RAREST:
        if ask.side == "lower":
            return nothing_shown()
        rate = RAREST
    law = of.law(replace(ask.per_rate(math.log(rate)), nested=True))
    return _subsampled_pair(law, rate) if isinstance(law, Pair) else Subsampled(law, rate)


def swap_law(of: Scheme, ask: Ask) -> Law:
    """The dual: P and Q exchanged."""
    return dual(of.law(replace(ask, direction="add" if ask.direction == "remove" else "remove")))


def dual(law: Law) -> Law:
    """The law with P and Q exchanged."""
    return law.swapped() if isinstance(law, Pair) else Swapped(law)


def as_pair(law: Law, ask: Ask) -> Pair:
    """A law as a list of outcomes: as it is, or on a lattice of its own."""
    if isinstance(law, Pair):
        return law
    gauge = "p" if ask.direction == "remove" else "q"
    lo, hi = law.window(ask.tail, ask.tail) if ask.nested else law.span(gauge, ask.tail)
    hi = min(hi, lo + MOST_RANGE)
    loss = law.grid(SAMPLES, ask.tail, ask.tail)
    if not ask.nested and not (loss[0] >= lo and loss[-1] <= hi):
        loss = np.linspace(lo, hi, SAMPLES)
    shape = _shape_of(loss, law.cells(0.5 * (loss[:-1] + loss[1:])), 1, ask, gauge)
    origin = law.low if math.isfinite(law.low) else 0.0
    widest = max(3.0, 1e-3 * max(abs(lo), abs(hi)))  # an answer moves by a spacing at most
    unit = max(ask.spacing * min(shape.at(1)[1], widest) or 1.0, 64 * U * max(abs(lo), abs(hi)), 1e-290)
    unit = fitted(unit, law)
    arithmetic = LossSum(unit, origin, ask.side, gauge, ask.nested, deadline=ask.deadline)
    lo, hi = map(arithmetic.reached, (lo, hi))
    bottom, top = math.floor((lo - origin) / unit), math.ceil((hi - origin) / unit) + 1
    place = shape.place(1, 1, origin, 0)
    state = arithmetic.start(law, slots_for(arithmetic, place, ask, bottom, max(top, bottom + 1)))
    return arithmetic.finish(state)


def fitted(unit: float, law: Law) -> float:
    """About that unit, and a whole fraction of the range where it is finite: the largest loss is a point then, to
    rounding, and so are its multiples. Laws whose largest loss has a mass of its own are seen next to it."""
    width = law.high - law.low
    if not 0 < width < MOST_RANGE * unit:
        return unit
    return width / math.ceil(width / unit) * (1 + 4 * U)


def _position(loss: float, scale: float, origin: float, unit: float) -> int:
    """Position of a ratio, which may be far beyond the largest double."""
    binary = (loss + math.log(scale) - math.log(unit)) / math.log(2.0)
    if loss < 600 and binary < 1000:
        return math.floor((scale * math.exp(loss) - scale * origin) / unit)
    return int(2.0 ** (binary % 1.0 + 52)) << (math.floor(binary) - 52)


def _samples(law: Law, ask: Ask) -> tuple[FloatArray, Masses]:
    """Losses within the window and the masses about them."""
    loss = law.grid(SAMPLES, ask.tail, ask.tail)
    return loss, law.cells(0.5 * (loss[:-1] + loss[1:]))


def _ratios(law: Law) -> FloatArray | None:
    if law.atoms is None or law.high > 500:
        return None
    zero = [0.0] if isinstance(law, Pair) and law.q_only > 0 else []
    return np.unique(np.concatenate((zero, np.exp(law.atoms))))


def _ratio_shape(law: Law, steps: int, ask: Ask) -> Shape:
    loss, got = _samples(law, ask)
    values, weights = np.exp(np.minimum(loss, 700.0)), got.q
    if got.q_only > 0:
        values, weights = np.concatenate(([0.0], values)), np.concatenate(([got.q_only], weights))
    if ask.direction == "add":
        shape = Shape(values, weights).lean_left(steps, ask.focus, ratios=True)
        mean, sd = shape.at(steps)
        if ask.deep < 1.5 * ask.focus and sd > 0.25 * mean:
            # One of many rounds may be as small as all of them together, and here that is octaves below the rest.
            low = Shape(values, weights).lean_left(steps, math.log(ask.tail), ratios=True)
            return low if low.at(steps)[0] < 3 * ask.spacing * sd else shape
        return shape
    return Shape(values, weights, lean=min(math.sqrt(-2 * ask.focus), 12.0), whole=1.0)


def _loss_shape(law: Law, rounds: int, ask: Ask, gauge: str, parts: int) -> Shape:
    loss, got = _samples(law, ask)
    return _shape_of(loss, got, rounds if parts == 1 else 0, ask, gauge)


def _shape_of(loss: FloatArray, got: Masses, rounds: int, ask: Ask, gauge: str) -> Shape:
    if gauge == "p":
        return Shape(loss, got.p, lean=min(math.sqrt(-2 * ask.focus), 40.0))
    shape = Shape(loss, got.q)
    return shape.lean_left(rounds, ask.focus) if rounds else shape


def _lattice_of(values: FloatArray | None) -> tuple[float, float] | None:
    """(origin, unit) when the values are all on one arithmetic lattice, to rounding."""
    if values is None or values.size < 2:
        return None
    origin = float(values[0])
    unit = float(np.diff(values).min())
    if unit <= 0 or float(values[-1]) - origin > 1.001 * EXACT_CORE * unit:
        return None
    steps = (values - origin) / unit
    close = np.abs(steps - np.round(steps)).max() <= 4 * U * max(float(np.abs(values).max()) / unit, 1.0)
    return (origin, unit) if close and steps[-1] <= EXACT_CORE else None


def _subsampled_pair(pair: Pair, rate: float) -> Pair:
    """Exact, outcome by outcome; what was only possible under Q becomes an outcome of ratio 1 - rate."""
    loss = subsampled_loss(pair.loss, rate)
    p = rate * pair.p + (1 - rate) * pair.q
    if pair.q_only > 0:
        loss = np.concatenate(([math.log1p(-rate)], loss))
        p = np.concatenate(([(1 - rate) * pair.q_only], p))
    q = np.concatenate(([pair.q_only], pair.q)) if pair.q_only > 0 else pair.q
    eta_q, eta_x = subsampling_error(rate)
    eta_x += EXP_ULPS * U * float(np.abs(loss).max(initial=0.0))
    return Pair(loss, q, p, 0.0, rate * pair.p_only, pair.side, pair.eta_q + eta_q, pair.eta_x + eta_x)


def subsampling_error(rate: float) -> tuple[float, float]:
    """(eta_q, eta_x) of mixing by a rate that may be the rounded product of dozens, and of the losses that gives."""
    return 72 * U, U * (72 + EXP_ULPS * (4 - math.log1p(-rate) if rate < 1 else 4))


@dataclass(frozen=True)
class Subsampled(Law):
    """A subsampled law that is not a list: points are pulled back to the law inside."""

    of: Law
    rate: float

    @property
    def low(self) -> float:
        return math.log1p(-self.rate)

    @property
    def high(self) -> float:
        return self._push(np.array([self.of.high]))[0] if math.isfinite(self.of.high) else math.inf

    @property
    def atoms(self) -> FloatArray | None:
        return None

    @property
    def eta_q(self) -> float:
        return self.of.eta_q + subsampling_error(self.rate)[0]

    @property
    def eta_x(self) -> float:
        return self.of.eta_x + subsampling_error(self.rate)[1]

    def _push(self, loss: FloatArray) -> FloatArray:
        return subsampled_loss(loss, self.rate)

    def _pull(self, loss: FloatArray) -> FloatArray:
        """The loss inside, for losses above log(1 - rate)."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            excess = np.expm1(loss) / self.rate
            bottom = (1 - self.rate) / self.rate * np.expm1(loss - self.low)
            pulled = np.where(np.abs(excess) < 0.5, np.log1p(excess), np.log(bottom))
        return np.where(loss < 600, pulled, loss - math.log(self.rate))

    def window(self, left: float, right: float) -> tuple[float, float]:
        if isinstance(self.of, Subsampled | Swapped):  # wide enough, and asked once: there may be many levels
            lo, hi = self._push(np.array(self.of.window(left, min(right, 0.5))))
            return float(lo), float(hi)
        budget = right / self.rate
        lo, hi = self.of.window(left, min(budget, 0.5))
        for _ in range(3):  # Q adds to the tail of P: (1 - rate) e^-loss of it
            budget = right / (self.rate + (1 - self.rate) * math.exp(-max(hi, 0.0)))
            hi = max(self.of.window(left, min(budget, 0.5))[1], lo)
        lo, hi = self._push(np.array([lo, hi]))
        return float(lo), float(hi)

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        lo, hi = self.window(left, right)
        inside = self._pull(np.array([max(lo, self.low * (1 - 1e-9)), hi]))
        inside[0] = max(inside[0], self.of.window(left, min(right / self.rate, 0.5))[0])
        return self._push(np.linspace(inside[0], max(inside[1], inside[0] + 1e-9), count))

    def _split(self, loss: FloatArray) -> tuple[FloatArray, IntArray]:
        """The losses pulled back, strictly increasing, and which ones: the rest cannot be reached or told apart."""
        pulled = self._pull(loss)
        usable = np.flatnonzero((loss > self.low) & np.isfinite(pulled))
        if not usable.size:
            return pulled[:0], usable
        inside, which = np.unique(np.maximum.accumulate(pulled[usable]), return_index=True)
        return inside, usable[which]

    def hats(self, points: FloatArray) -> Masses:
        inside, which = self._split(points)
        q, p = np.zeros(points.size), np.zeros(points.size)
        if not inside.size:  # everything is above the last point
            q[-1], p[-1] = 1.0, math.exp(points[-1])
            return Masses(q, p, 0.0, 1.0)
        got = self.of.hats(inside)
        q[which], p[which] = got.q, self.rate * got.p + (1 - self.rate) * got.q
        extra = self._bottom(got.q_only).hats(points)
        return Masses(q + extra.q, p + extra.p, extra.q_only, self.rate * got.p_only + extra.p_only)

    def cells(self, cuts: FloatArray) -> Masses:
        inside, which = self._split(cuts)
        q, p = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
        if inside.size:
            got = self.of.cells(inside)
            cell = np.concatenate((which, [which[-1] + 1]))  # to the left of each cut, and after the last
            q[cell], p[cell] = got.q, self.rate * got.p + (1 - self.rate) * got.q
        else:
            got = self.of.cells(np.zeros(1))
            q[-1], p[-1] = got.q.sum(), (self.rate * got.p + (1 - self.rate) * got.q).sum()
        extra = self._bottom(got.q_only).cells(cuts)
        return Masses(q + extra.q, p + extra.p, 0.0, self.rate * got.p_only)

    def _bottom(self, q_only: float) -> Pair:
        """What was only possible under Q: ratio 1 - rate."""
        keep = 1 if q_only > 0 else 0
        q = np.array([q_only][:keep])
        return Pair(np.array([self.low][:keep]), q, (1 - self.rate) * q, 0.0, 0.0, "upper")


KINDS[Subsampled] = SubsampledRows


@dataclass(frozen=True)
class Swapped(Law):
    """The dual of a law that is not a list."""

    of: Law

    @property
    def low(self) -> float:
        return -self.of.high

    @property
    def high(self) -> float:
        return -self.of.low

    @property
    def atoms(self) -> FloatArray | None:
        return None if self.of.atoms is None else -self.of.atoms[::-1]

    @property
    def eta_q(self) -> float:
        return self.of.eta_q

    @property
    def eta_x(self) -> float:
        return self.of.eta_x

    def window(self, left: float, right: float) -> tuple[float, float]:
        lo, hi = self._both(left, right)
        return -hi, -lo

    def _both(self, left: float, right: float) -> tuple[float, float]:
        """A window of the law inside by its Q on the right and its P on the left: one wide enough for both."""
        small = min(left, right)
        return self.of.window(small, small)

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        small = min(left, right)
        return -self.of.grid(count, small, small)[::-1]

    def hats(self, points: FloatArray) -> Masses:
        got = self.of.hats(-points[::-1])
        return Masses(got.p[::-1], got.q[::-1], got.p_only, got.q_only)

    def cells(self, cuts: FloatArray) -> Masses:
        got = self.of.cells(-cuts[::-1])
        return Masses(got.p[::-1], got.q[::-1], got.p_only, got.q_only)



@dataclass(frozen=True)
class Disjoint(Law):
    """One of several laws, chosen with the probabilities ``weights``, and told which."""

    laws: tuple[Law, ...]
    weights: tuple[float, ...]

    @property
    def low(self) -> float:
        return min(law.low for law in self.laws)

    @property
    def high(self) -> float:
        return max(law.high for law in self.laws)

    @property
    def atoms(self) -> FloatArray | None:
        return None

    @property
    def eta_q(self) -> float:
        return max(_listing(law) + law.eta_q for law in self.laws) + 8 * U

    @property
    def eta_x(self) -> float:
        return max(2 * _listing(law) + law.eta_x for law in self.laws)

    def window(self, left: float, right: float) -> tuple[float, float]:
        low, high = zip(*(law.window(left, right) for law in self.laws), strict=True)
        return min(low), max(high)

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        return np.unique(np.concatenate([law.grid(count, left, right) for law in self.laws]))

    def hats(self, points: FloatArray) -> Masses:
        return self._summed([law.hats(points) for law in self.laws])

    def cells(self, cuts: FloatArray) -> Masses:
        return self._summed([law.cells(cuts) for law in self.laws])

    def _summed(self, got: list[Masses]) -> Masses:
        columns = zip(*got, strict=True)
        return Masses(*(sum(w * x for w, x in zip(self.weights, column, strict=True)) for column in columns))


def _listing(law: Law) -> float:
    """What summing a list into points or cells may err by."""
    return law.loss.size * U if isinstance(law, Pair) else 0.0


__all__ = ["allocate_law", "allocation_law", "as_pair", "compose_law", "from_outcomes", "subsample_law", "swap_law"]

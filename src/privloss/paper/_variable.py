"""Random variables over [-inf, inf], known by the masses of cells: what every algorithm of the paper starts from.

A variable answers ``cells(points, side)``: the masses of (-inf, x_0], (x_0, x_1], ..., (x_n, inf) with the
infinities apart. Rounding is charged in two ways, both to the safe side:

* in place: where masses come from a cdf or sf, the side says whether P(X > x) is overstated (upper) or understated
  (lower), by the relative error of those functions, in whichever tail is the smaller. The masses returned are then
  those of a law that is stochastically above (below) the true one;
* as ``eta``, a bound on the relative error of each mass, charged when the question is answered. ``slip``, what the
  losses may be off by, is charged to the grid that they are put on (``disc_dist``).

Both keep relative accuracy in both tails, so a delta of 1e-30 is no harder than one of 1e-6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from privloss._ask import Side
from privloss._pair import EXP_ULPS, FloatArray, U, subsampled_loss

if TYPE_CHECKING:
    from privloss._pair import Law

HUGE = 1e300


class Cells(NamedTuple):
    """Masses: at -inf, of the finite cells, at inf."""

    bottom: float
    mass: FloatArray
    top: float


class Variable(ABC):
    """A random variable over [-inf, inf]."""

    eta: float = 0.0
    slip: float = 0.0

    @abstractmethod
    def cells(self, points: FloatArray, side: Side) -> Cells:
        """Masses of the cells that end at increasing finite points, each closed at its upper end."""

    @abstractmethod
    def reach(self, tail: float) -> tuple[float, float]:
        """Losses (lo, hi) with finite mass below lo, and above hi, at most ``tail`` each."""

    def negated(self) -> Variable:
        """-X."""
        return Negated(self)

    def sf(self, point: float) -> float:
        """P(X > x), the CCDF; summed from the small end."""
        got = self.cells(np.array([point], np.float64), "upper")
        return float(got.mass[1]) + got.top

    def cdf(self, point: float) -> float:
        """P(X <= x)."""
        got = self.cells(np.array([point], np.float64), "lower")
        return got.bottom + float(got.mass[0])

    def quantile(self, tail: float) -> float:
        """q(tail) = inf{x : F(x) >= tail}, to within the reach of doubles; by bisection on the cdf."""
        if not 0.0 < tail < 1.0:
            raise ValueError(f"tail must be above 0 and below 1, got {tail!r}")
        lo, hi = -1.0, 1.0
        while lo > -HUGE and self.cdf(lo) >= tail:
            lo *= 2.0
        while hi < HUGE and self.cdf(hi) < tail:
            hi *= 2.0
        if lo <= -HUGE or hi >= HUGE:
            return -math.inf if lo <= -HUGE else math.inf
        return _bisect(lambda x: self.cdf(x) >= tail, lo, hi)


def _bisect(true_above: Callable[[float], bool], lo: float, hi: float) -> float:
    """The smallest double in (lo, hi] at which a monotone statement is true."""
    while True:
        middle = 0.5 * (lo + hi)
        if not lo < middle < hi:
            return hi
        lo, hi = (lo, middle) if true_above(middle) else (middle, hi)


def before(points: FloatArray) -> FloatArray:
    """The doubles just below: cells that end there are closed at the lower end of ``points`` instead."""
    value: FloatArray = np.nextafter(points, -np.inf)
    return value


@dataclass(frozen=True, eq=False)
class Negated(Variable):
    """-X: what is above is below."""

    of: Variable

    @property
    def eta(self) -> float:  # type: ignore[override]
        return self.of.eta

    @property
    def slip(self) -> float:  # type: ignore[override]
        return self.of.slip

    def cells(self, points: FloatArray, side: Side) -> Cells:
        got = self.of.cells(before(-points[::-1]), "lower" if side == "upper" else "upper")
        return Cells(got.top, got.mass[::-1], got.bottom)

    def reach(self, tail: float) -> tuple[float, float]:
        lo, hi = self.of.reach(tail)
        return -hi, -lo

    def negated(self) -> Variable:
        return self.of


@dataclass(frozen=True, eq=False)
class Listed(Variable):
    """Finitely many losses, increasing, with their masses; ``slack`` is the absolute error of the two atoms.

    The atom at the safe end is overstated by it, the other understated. ``eta`` includes it: an increasing f >= 0 has
    f(-inf) <= E[f(X)], so a mass s that lacks at -inf is a share s of the expectation at most.
    """

    losses: FloatArray
    mass: FloatArray
    bottom: float = 0.0
    top: float = 0.0
    eta: float = 0.0
    slack: float = 0.0
    slip: float = 0.0

    def cells(self, points: FloatArray, side: Side) -> Cells:
        spot = np.searchsorted(points, self.losses, side="left")
        mass = np.zeros(points.size + 1)
        if self.losses.size:  # consecutive losses of one cell: reduceat adds them pairwise
            starts = np.flatnonzero(np.concatenate(([True], spot[1:] > spot[:-1])))
            mass[spot[starts]] = np.add.reduceat(self.mass, starts)
        shift = self.slack if side == "upper" else -self.slack
        return Cells(max(self.bottom - shift, 0.0), mass, max(self.top + shift, 0.0))

    def reach(self, tail: float) -> tuple[float, float]:
        if not self.losses.size:
            return 0.0, 0.0
        last = self.losses.size - 1
        first = int(np.searchsorted(np.cumsum(self.mass), tail, side="right"))
        final = last - int(np.searchsorted(np.cumsum(self.mass[::-1]), tail, side="right"))
        first, final = min(first, last), max(final, 0)
        return float(self.losses[min(first, final)]), float(self.losses[max(first, final)])


class Tailed(Variable):
    """A variable known by its two tails, each with the relative error ``error``."""

    error: float

    @abstractmethod
    def tails(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(X <= x) and P(X > x), infinities included."""

    @abstractmethod
    def atoms(self) -> tuple[float, float]:
        """Masses at -inf and at inf."""

    def cells(self, points: FloatArray, side: Side) -> Cells:
        """Differences of the smaller tail, after both were moved to the safe side and made monotone."""
        below, above = self.tails(points)
        raised = 1.0 + self.error if side == "upper" else 1.0 - self.error
        below = np.maximum.accumulate(np.clip(below * (2.0 - raised), 0.0, 1.0))
        above = np.maximum.accumulate(np.clip(above * raised, 0.0, 1.0)[::-1])[::-1]
        left = below < above
        bottom, top = self.atoms()
        lower = np.concatenate(([bottom], below))
        upper = np.concatenate((above, [top]))
        by_cdf = np.diff(np.concatenate((lower, [1.0 - top])))
        by_sf = -np.diff(np.concatenate(([1.0 - bottom], upper)))
        started = np.concatenate(([True], left))  # whether the lower end of the cell counts from below
        ended = np.concatenate((left, [False]))
        across = 1.0 - lower - upper + (4 * U if side == "upper" else -4 * U)  # the only mass that is not a tail's
        mass = np.where(ended, by_cdf, np.where(started, across, by_sf))
        return Cells(bottom, np.maximum(mass, 0.0), top)

    def sf(self, point: float) -> float:
        return float(self.tails(np.array([point], np.float64))[1][0])

    def cdf(self, point: float) -> float:
        return float(self.tails(np.array([point], np.float64))[0][0])

    def reach(self, tail: float) -> tuple[float, float]:
        """By bisection on the logarithm of either tail, which loses nothing at 1e-30."""
        if tail <= 0.0:
            raise ValueError(f"beta must be above 0 for a law without a smallest and a largest loss, got {tail!r}")
        bottom, top = self.atoms()
        lo = -_outer(lambda x: self.cdf(-x) - bottom <= tail)
        hi = _outer(lambda x: self.sf(x) - top <= tail)
        return min(lo, hi), max(lo, hi)


def _outer(small: Callable[[float], bool]) -> float:
    """About the smallest x with ``small(x)``, and not below it."""
    hi, lo = 1.0, -1.0
    while not small(hi):
        lo, hi = hi, 2.0 * hi + 1.0
        if hi > HUGE:
            raise ValueError("the law's tails must vanish within the range of a float, got one that does not")
    while small(lo) and lo > -HUGE:
        lo, hi = 2.0 * lo - 1.0, lo
    for _ in range(200):
        middle = 0.5 * (lo + hi)
        if hi - lo <= 1e-9 * (1.0 + abs(hi)):
            break
        lo, hi = (lo, middle) if small(middle) else (middle, hi)
    return hi


ROOT_HALF = math.sqrt(0.5)


def normal_sf(z: float) -> float:
    """P(N(0, 1) > z); down to the smallest double."""
    return 0.5 * math.erfc(z * ROOT_HALF)


def normal_log_sf(z: float) -> float:
    """log P(N(0, 1) > z), far beyond what a double holds: by the continued fraction of Mills' ratio."""
    if z < 20.0:
        return math.log(normal_sf(z))
    ratio = z
    for k in range(40, 0, -1):
        ratio = z + k / ratio
    return -0.5 * z * z - math.log(ratio) - 0.5 * math.log(2.0 * math.pi)


def normal_place(tail: float) -> float:
    """The z whose upper tail is ``tail``, rounded outwards; by bisection on the logarithm of the tail."""
    goal = math.log(tail)
    lo, hi = -40.0, 40.0
    while hi - lo > 1e-12 * max(abs(lo), 1.0):
        middle = 0.5 * (lo + hi)
        lo, hi = (lo, middle) if normal_log_sf(middle) <= goal else (middle, hi)
        if middle in (lo, hi) and not lo < 0.5 * (lo + hi) < hi:
            break
    return hi + 1e-10


@dataclass(frozen=True, eq=False)
class Normal(Tailed):
    """N(mean, sd^2), by erfc of the C library: its relative error at z is that of z^2, plus a few ulps.

    Legend: z = (x - mean)/sd has the absolute error 4 u (|x| + |mean|)/sd + 4 u |z|, which moves a tail by that times
    (|z| + 1), and erfc itself is within 8 u.
    """

    mean: float
    sd: float

    def tails(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = (points - self.mean) / self.sd
        small = np.array([normal_sf(v) for v in np.abs(z).tolist()])
        large = 1.0 - small
        return np.where(z < 0.0, small, large), np.where(z < 0.0, large, small)

    def atoms(self) -> tuple[float, float]:
        return 0.0, 0.0

    def cells(self, points: FloatArray, side: Side) -> Cells:
        far = float(max(abs(points[0] - self.mean), abs(points[-1] - self.mean))) / self.sd
        shift = 4 * U * (float(np.abs(points).max()) + abs(self.mean)) / self.sd + 8 * U * far
        # Beyond z = 40 tails are 0 and 1, and up to there the error is far below 1.
        return _Charged(self, min((far + 2.0) * shift + 16 * U, 1.0)).cells(points, side)

    def reach(self, tail: float) -> tuple[float, float]:
        if not tail > 0.0:
            raise ValueError(f"beta must be above 0 for Gaussian noise, got {tail!r}")
        z = normal_place(tail)
        return self.mean - self.sd * z, self.mean + self.sd * z


@dataclass(frozen=True, eq=False)
class _Charged(Tailed):
    """The same tails with a relative error that depends on where they are looked at."""

    of: Tailed
    error: float

    def tails(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.of.tails(points)

    def atoms(self) -> tuple[float, float]:
        return self.of.atoms()


@dataclass(frozen=True, eq=False)
class Functions(Tailed):
    """A variable given by its cdf and its sf, which work on arrays and have the relative error ``error``."""

    below: Callable[[FloatArray], FloatArray]
    above: Callable[[FloatArray], FloatArray]
    error: float = 1e-12

    def tails(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        below = np.asarray(self.below(points), np.float64)
        above = np.asarray(self.above(points), np.float64)
        if not (np.all((below >= 0) & (below <= 1)) and np.all((above >= 0) & (above <= 1))):
            raise ValueError("the cdf and the sf must be probabilities, got values outside [0, 1]")
        if np.any(np.abs(below + above - 1.0) > 1e-9):
            raise ValueError("the cdf and the sf must sum to 1 within 1e-9, got a pair that does not")
        return below, above

    def atoms(self) -> tuple[float, float]:
        below, above = self.tails(np.array([-HUGE, HUGE]))
        return float(below[0]), float(above[1])


@dataclass(frozen=True, eq=False)
class Seen(Variable):
    """The loss of one of this package's laws under P or under Q: any mechanism of the front door."""

    law: Law
    measure: str

    @property
    def eta(self) -> float:  # type: ignore[override]
        return self.law.eta_q

    @property
    def slip(self) -> float:  # type: ignore[override]
        return self.law.eta_x

    def cells(self, points: FloatArray, side: Side) -> Cells:
        got = self.law.cells(points)
        if self.measure == "p":
            return Cells(0.0, got.p, got.p_only)
        return Cells(got.q_only, got.q, 0.0)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.law.span(self.measure, tail)


@dataclass(frozen=True, eq=False)
class Pushed(Variable):
    """subsam-core (Algorithm alg:subsam_core): log(1 + rate (e^X - 1)), with -inf sent to log(1 - rate).

    Cells are pulled back by phi of Theorem thm:PLD_subsam. That is rounded, as if the points had been off by less than
    ``slip`` and what points are charged with anyway (``rounding``): phi is at least as steep as the identity.
    """

    of: Variable
    rate: float

    @property
    def eta(self) -> float:  # type: ignore[override]
        return self.of.eta

    @property
    def slip(self) -> float:  # type: ignore[override]
        return self.of.slip + rounding(np.array([self.floor]))  # losses are pulled back by their distance to the floor

    @cached_property
    def floor(self) -> float:
        return math.log1p(-self.rate)

    def pulled(self, loss: FloatArray) -> FloatArray:
        """phi(l) = log(1 + (e^l - 1)/rate), for l > log(1 - rate)."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            excess = np.expm1(loss) / self.rate
            apart = math.log((1.0 - self.rate) / self.rate) + np.log(np.expm1(loss - self.floor))
            inner = np.where(np.abs(excess) < 0.5, np.log1p(excess), apart)
        value: FloatArray = np.where(loss < 600.0, inner, loss - math.log(self.rate))
        return value

    def cells(self, points: FloatArray, side: Side) -> Cells:
        pulled = self.pulled(points)
        usable = np.flatnonzero((points > self.floor) & np.isfinite(pulled))
        mass = np.zeros(points.size + 1)
        if usable.size:
            inside, first = np.unique(np.maximum.accumulate(pulled[usable]), return_index=True)
            spot = usable[first]
            got = self.of.cells(inside, side)
            mass[np.concatenate((spot, [points.size]))] = got.mass
        else:
            got = self.of.cells(np.zeros(1), side)
            mass[-1] = got.mass.sum()
        mass[int(np.searchsorted(points, self.floor, side="left"))] += got.bottom
        return Cells(0.0, mass, got.top)

    def reach(self, tail: float) -> tuple[float, float]:
        ends = subsampled_loss(np.array(self.of.reach(tail)), self.rate)
        margin = 2 * rounding(np.append(ends, self.floor))  # beyond: an atom there must not fall off the grid
        bottom = self.of.cells(np.zeros(1), "upper").bottom
        lo = self.floor if bottom > tail else max(float(ends[0]) - margin, self.floor)
        return lo, float(ends[1]) + margin


@dataclass(frozen=True, eq=False)
class Mixture(Variable):
    """w X_1 + (1 - w) X_2 as the paper writes it: the law that is X_1 with probability w, else X_2."""

    weights: Sequence[float]
    of: Sequence[Variable]

    @property
    def eta(self) -> float:  # type: ignore[override]
        return max(each.eta for each in self.of) + 4 * U

    @property
    def slip(self) -> float:  # type: ignore[override]
        return max(each.slip for each in self.of)

    def cells(self, points: FloatArray, side: Side) -> Cells:
        got = [each.cells(points, side) for each in self.of]
        columns = zip(*got, strict=True)
        return Cells(*(sum(w * x for w, x in zip(self.weights, column, strict=True)) for column in columns))

    def reach(self, tail: float) -> tuple[float, float]:
        tails = [min(0.5 * tail / weight, 0.25) for weight in self.weights]
        lows, highs = zip(*(each.reach(part) for part, each in zip(tails, self.of, strict=True)), strict=True)
        return min(lows), max(highs)


def rounding(points: FloatArray) -> float:
    """What grid points, and their images under subsampling, may be off by."""
    return 8 * EXP_ULPS * U * (1.0 + float(np.abs(points).max(initial=0.0)))

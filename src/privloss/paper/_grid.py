"""disc-dist and range-renorm: the grids of the method."""

from __future__ import annotations

import math

import numpy as np

from privloss._ask import Side
from privloss._check import instance, nonnegative, positive
from privloss._pair import FloatArray, U
from privloss.paper._lattice import Lattice, gridded, moved
from privloss.paper._variable import Variable, before, rounding

MOST_POINTS = 4_000_000  # 32 MB a grid: beyond, the answer would take hours


def disc_dist(variable: Variable, alpha: float, beta: float, side: Side = "upper") -> Lattice:
    """disc-dist (Algorithm alg:disc_dist): the variable on an even grid of width ``alpha`` between its quantiles.

    The grid runs from q(beta) to q(1 - beta). Upper: masses are rounded up to the next point, those above the last to
    inf. Lower (the remark after Algorithm alg:main_alg_add): rounded down, those below the first to -inf. The result
    (alpha, beta)-tightly stochastically dominates the variable, or is dominated by it.

    One thing is added to the paper: a mass at -inf, or at inf, of more than ``beta`` has no finite quantile. It stays
    where it is, and the quantiles are those of the finite part. (Where there is mass at -inf, half of ``beta`` is for
    it, and half for the finite part.)

    Rounding: points x_i are the doubles nearest to origin + alpha i, and the grid returned lies beyond them, by what
    they may be off by: a mass rounded to x_i is then on the safe side of its point.
    """
    instance(Variable, "a random variable, such as the loss of a Realization", variable=variable)
    alpha, beta = positive(alpha=alpha), nonnegative(beta=beta)
    if not beta < 1:
        raise ValueError(f"beta must be at least 0 and below 1, got {beta!r}")
    atom = variable.cells(np.zeros(1), side).bottom > 0.0
    cut = 0.5 * beta if atom else beta  # the other half is for the atom, if that is as small
    lo, hi = variable.reach(cut)
    if not (hi - lo) / alpha < MOST_POINTS - 1:
        least = (hi - lo) / MOST_POINTS
        raise ValueError(f"alpha must be at least {least:.3g} a grid step for losses {lo:g} to {hi:g}, got {alpha!r}")
    count = math.ceil((hi - lo) / alpha) + 1
    points: FloatArray = lo + alpha * np.arange(count, dtype=np.float64)
    points[-1] = max(points[-1], hi)  # an ulp below, for which an atom there would go to inf
    margin = rounding(points) + 2 * variable.slip
    if not alpha > 64 * margin:
        raise ValueError(f"alpha must be at least {64 * margin:.3g} a grid step, as doubles are spaced, got {alpha!r}")
    origin = moved(lo, margin, side)
    eta = variable.eta + 2 * U
    if side == "upper":
        cells = variable.cells(points, side)
        got = gridded(cells, origin, alpha, side, eta)
        if 0 < got.bottom <= cut:  # F_U[1] = F_X(l[1]): the paper's rounding up includes -inf
            mass = got.mass.copy()
            mass[0] += got.bottom
            return Lattice(origin, alpha, mass, 0.0, got.top, side, got.eta)
        return got
    return gridded(variable.cells(before(points), side), origin, alpha, side, eta)


def range_renorm(one: Lattice, two: Lattice, tail: float = 0.0) -> tuple[float, int]:
    """range-renorm (Algorithm alg:range_renorm): origin and size of the grid of e^X + e^Y, whose ratio stays e^step.

    From l[1] + l'[1] to l[-2] + l'[-2]: with grids of n points each that is n points again, since (a r^n + b r^n)/(a
    + b) is r^n. Grids of different sizes, which the truncation leaves, are covered in the same way.

    One thing is added to the paper: where more than ``tail`` of a variable is at 0, sums as small as the other one
    alone occur that often, and the grid is prolonged down to them by whole steps.

    Rounding: the origin is beyond log(l[1] + l'[1]) on the side of the bound, by more than the offsets of ``conv``
    may be off by, so that what is exactly on a grid point is rounded to it.
    """
    step, side = one.step, one.side
    margin = 2 * slack(one, two)
    origin = moved(log_add(one.origin, two.origin), margin, side)
    last = log_add(one.origin + step * (one.mass.size - 1), two.origin + step * (two.mass.size - 1))
    lowest = log_add(one.origin, two.origin)
    if one.bottom > tail:
        lowest = min(lowest, two.origin)
    if two.bottom > tail:
        lowest = min(lowest, one.origin)
    below = max(math.ceil((origin - lowest - 4 * margin) / step), 0)
    if below:
        origin = moved(origin - step * below, margin, side)
    return origin, max(int(rounded((last - origin) / step, 0.5 * margin / step, side)), 0) + 1


def rounded(position: float, error: float, side: Side) -> float:
    """The point that a position, in steps and off by at most ``error``, is rounded to on that side."""
    return math.ceil(position + error) if side == "upper" else math.floor(position - error)


def slack(one: Lattice, two: Lattice) -> float:
    """What ``log(e^x + e^y)`` less a grid's origin may be off by on these two; exp and log are within 4 ulps."""
    far = one.far + two.far + 2.0
    return 16 * U * far


def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))

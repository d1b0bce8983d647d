"""Random allocation by FFT: the same sums on an evenly spaced grid of the exp-losses (Section sec:numRes, "FFT
convolution").

The values h, 2h, 3h, ... of e^L are fine where losses are large and coarse where they are small: a grid for the
remove direction. All t - 1 sums are one power of one transform, so that nothing is rounded but once, onto the grid.
Validity is that of ``rand_alloc_remove`` and ``rand_alloc_add``; the paper gives no guarantee of tightness, and
neither is one given here. The window of the sum is shrunk by Chernoff's bound, and what is folded in and what the
transforms err by is charged as in ``_compose``; that error is absolute, and so no delta below about 1e-11 is told by
this grid.

Rounding: log(h i), where the masses are cut, is off by less than what h is then raised (upper) or lowered (lower) by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privloss._ask import Side
from privloss._check import count
from privloss._pair import FloatArray, U
from privloss.paper._allocate import bounding, tail
from privloss.paper._compose import charged, chernoff, powered, shrunk
from privloss.paper._grid import disc_dist
from privloss.paper._lattice import Bound
from privloss.paper._realization import Realization
from privloss.paper._variable import Variable, before

COARSE = 400  # points that place the window
FARTHEST = 600.0  # losses beyond have no value in a double


def fft_alloc_remove(realization: Realization, steps: int, bins: int, beta: float, side: Side = "upper") -> Bound:
    """log((e^L + sum of t - 1 copies of e^-D) / t) by FFT on about ``bins`` evenly spaced values of the sum."""
    steps, bins, beta, side = _checked(realization, steps, bins, beta, side)
    summands = [(realization.loss, 1)] + ([(realization.other, steps - 1)] if steps > 1 else [])
    return _summed(summands, steps, bins, beta, side)


def fft_alloc_add(realization: Realization, steps: int, bins: int, beta: float, side: Side = "upper") -> Bound:
    """-log((sum of t copies of e^-L) / t) by FFT; ``realization`` is L_{Q,P}, as in ``rand_alloc_add``."""
    steps, bins, beta, side = _checked(realization, steps, bins, beta, side)
    other: Side = "lower" if side == "upper" else "upper"
    got = _summed([(realization.loss.negated(), steps)], steps, bins, beta, other)
    return Bound(-got.losses[::-1], got.mass[::-1], got.top, got.bottom, side, got.eta, got.blur)


def _checked(
    realization: Realization, steps: int, bins: int, beta: float, side: Side
) -> tuple[int, int, float, Side]:
    return count(steps=steps), count(bins=bins, least=16, most=2**24), tail(beta), bounding(realization, side)


def _summed(summands: Sequence[tuple[Variable, int]], steps: int, bins: int, beta: float, side: Side) -> Bound:
    """The sum of independent exponentials of variables, over ``steps``, as losses again."""
    cut = 0.5 * beta / steps
    spacing = _spacing(summands, bins, cut, 0.25 * beta)
    margin = 64 * U * (1.0 + abs(math.log(spacing)) + math.log(bins)) + 2 * max(each.slip for each, _ in summands)
    factors, tops = [], []
    for each, times in summands:
        mass, top = _values(each, spacing, cut, side)
        factors.append((mass, times))
        tops.append((top, times))
    window = shrunk(factors, 0.25 * beta)
    infinite = -math.expm1(sum(times * (math.log1p(-top) if top < 1 else -math.inf) for top, times in tops))
    mass, infinite, nothing = charged(powered(factors, window), window, infinite, 0.0, side)
    spacing *= 1 + margin if side == "upper" else 1 - margin
    places = np.arange(window.low, window.low + mass.size)
    if window.low == 0:
        nothing, mass, places = nothing + float(mass[0]), mass[1:], places[1:]
    losses = np.log(places) + (math.log(spacing) - math.log(steps))
    eta = sum(times * (each.eta + 4 * U) for each, times in summands)
    far = float(np.abs(losses).max(initial=0.0)) + abs(math.log(spacing)) + math.log(steps) + math.log(bins) + 1
    return Bound(losses, mass, nothing, infinite, side, eta, 16 * U * far)


def _spacing(summands: Sequence[tuple[Variable, int]], bins: int, cut: float, share: float) -> float:
    """The spacing at which the window of the sum has about ``bins`` values: from a coarse geometric grid."""
    rough = []
    for each, times in summands:
        lo, hi = each.reach(cut)
        if hi > FARTHEST:
            raise ValueError(f"losses must be below {FARTHEST:g} for an evenly spaced grid, got up to {hi:g}")
        grid = disc_dist(each, max((hi - lo) / COARSE, 1e-6), cut, "upper")
        rough.append((np.concatenate(([grid.bottom], grid.mass)), np.concatenate(([0.0], np.exp(grid.losses))), times))
    high, _ = chernoff(rough, share)
    low, _ = chernoff([(mass[::-1], -value[::-1], times) for mass, value, times in rough], share)
    largest = max(float(value[-1]) for _, value, _ in rough)
    return max(high + low, 1e-3 * largest, 1e-9 * high) / bins


def _values(variable: Variable, spacing: float, cut: float, side: Side) -> tuple[FloatArray, float]:
    """Masses at 0, h, 2h, ... and at inf: e^X rounded up, or down, onto the even grid."""
    last = math.ceil(math.exp(min(variable.reach(cut)[1], FARTHEST)) / spacing) + 1  # not an ulp below the last atom
    points = np.log(spacing) + np.log(np.arange(1, last + 1))
    if side == "upper":
        bottom, mass, top = variable.cells(points, side)
        return np.concatenate(([bottom], mass[:-1])), top + float(mass[-1])
    bottom, mass, top = variable.cells(before(points), side)
    return np.concatenate(([bottom + float(mass[0])], mass[1:])), top

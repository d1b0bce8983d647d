"""conv and self-conv: sums of independent exp-PLDs, on grids of one ratio.

The paper's conv looks at all n^2 pairs. Here they are taken by runs, with the same result. Points j of X and k of Y
with d = k - j have

    log(e^(a + step j) + e^(b + step k)) = a + step j + log(1 + e^(b - a + step d)),

so the output point, counted from j, depends on d alone: M(d). While Y's point is the smaller of the two, M takes at
most about log(2)/step values, and over a run of d with one M all pairs of a j land on the same point: one
sliding-window sum over Y serves all j. Where Y's point is the larger, count from k instead. That is at most
2 n log(2)/step sums of windows in place of n^2 products.

Rounding. M(d) is computed in doubles, off by at most ``slack`` (in losses), and rounded up (down) only after that much
is added (subtracted): a pair is never put on the wrong side of its sum. The origin of the output grid is beyond its
nominal place by twice as much, so a sum that is exactly on a grid point stays there. All terms are non-negative, and
sums are pairwise: windows from sums of 1, 2, 4, ... neighbours, runs added by blocks. So both tails keep their relative
accuracy, and the relative error of a mass is that of X, plus that of Y, plus ``_Sums.rounding``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from privloss._check import count, instance
from privloss._pair import FloatArray, IntArray, U
from privloss.paper._grid import range_renorm, rounded, slack
from privloss.paper._lattice import Lattice, truncate

BLOCK = 32  # runs that are added before they are added to the rest

Convolver = Callable[[Lattice, Lattice], Lattice]


class Run(NamedTuple):
    """Offsets first..last (of k against j) whose pairs all land ``shift`` after j."""

    shift: int
    first: int
    last: int


def conv(one: Lattice, two: Lattice, tail: float = 0.0) -> Lattice:
    """conv (Algorithm alg:conv): the exp-PLD e^X + e^Y on its geometric grid, rounded to the side that X and Y bound.

    Upper: a sum in (l[i-1], l[i]] has its mass on l[i]; lower: one in [l[i], l[i+1]) on l[i]. Masses at 0 and at inf
    are exact: 0 + y = y and inf + y = inf. By Lemma lem:mult_tight the result bounds e^X + e^Y within one step,
    whatever the tails. ``tail`` is how much at 0 may be rounded as the paper does (``range_renorm``).

    >>> from privloss import paper
    >>> one = paper.Lattice(0.0, 0.5, [0.25, 0.75], 0.0, 0.0, "upper")
    >>> paper.conv(one, one).mass.round(6).tolist()
    [0.0625, 0.9375]
    """
    one, two = _checked(one), _checked(two)
    if one.step != two.step or one.side != two.side:
        raise ValueError(
            f"both must have one step and bound one side, got {one.step!r}, {one.side} and {two.step!r}, {two.side}"
        )
    origin, size = range_renorm(one, two, tail)
    sums = _Sums(size)
    split = math.floor((one.origin - two.origin) / one.step)  # the largest d for which Y's point is the smaller summand
    if one is two:  # pairs (j, k) and (k, j) are alike
        sums.run(one.mass, one.mass, _offset(one, one, origin, 0))
        _add_runs(sums, one, replace(two, mass=2 * two.mass), origin, -1)
    else:
        _add_runs(sums, one, two, origin, split)
        _add_runs(sums, two, one, origin, -1 - split)
    for x, y in ((one, two), (two, one)):
        if y.bottom > 0.0:  # x + 0
            sums.run(x.mass, np.full(x.mass.size, y.bottom), _lone(x, y, origin))
    before, mass, after = sums.total()
    nothing = one.bottom * two.bottom
    everything = math.fsum(two.mass.tolist()) + two.bottom + two.top
    top = one.top * everything + (math.fsum(one.mass.tolist()) + one.bottom) * two.top
    if one.side == "upper":  # what is before the first point goes to it, what is after the last to inf
        mass[0] += before
        top += after
    else:  # to 0, and back to the last
        nothing += before
        mass[-1] += after
    return Lattice(origin, one.step, mass, nothing, top, one.side, one.eta + two.eta + sums.rounding())


def self_conv(bound: Lattice, times: int, tail: float = 0.0, convolve: Convolver | None = None) -> Lattice:
    """self-conv (Algorithm alg:self_conv): the sum of ``times`` copies, by squaring; ``convolutions(times)`` convs.

    With ``tail`` each square is truncated to all but that much at either end (Section sec:PLDconv, "Additional
    truncation"), on the side that the bound bounds.
    """
    times = count(times=times)
    convolve = convolve or (lambda one, two: conv(one, two, tail))
    base, total = bound, None
    while True:
        if times % 2:
            total = base if total is None else convolve(base, total)
        times //= 2
        if times == 0:
            return total if total is not None else base
        base = truncate(convolve(base, base), tail)


def convolutions(times: int) -> int:
    """Pairwise convolutions of a ``times``-fold sum by squaring: floor(log2 t) + popcount(t) - 1.

    >>> from privloss import paper
    >>> paper.convolutions(13)
    5
    """
    times = count(times=times)
    return times.bit_length() - 1 + times.bit_count() - 1


def offsets(one: Lattice, two: Lattice, origin: float, d: IntArray) -> IntArray:
    """M(d): the output point of the pair (j, j + d), counted from j, rounded on the safe side."""
    step = one.step
    with np.errstate(over="ignore", under="ignore"):
        value = (one.origin - origin + np.log1p(np.exp(two.origin - one.origin + step * d))) / step
    error = slack(one, two) / step
    exact = np.ceil(value + error) if one.side == "upper" else np.floor(value - error)
    return np.asarray(exact, np.int64)


def _offset(one: Lattice, two: Lattice, origin: float, d: int) -> int:
    return int(offsets(one, two, origin, np.array([d]))[0])


def _lone(one: Lattice, two: Lattice, origin: float) -> int:
    """The output point of j + 0, counted from j."""
    return int(rounded((one.origin - origin) / one.step, slack(one, two) / one.step, one.side))


def _add_runs(sums: _Sums, one: Lattice, two: Lattice, origin: float, nearest: int) -> None:
    """All pairs with k - j <= nearest, counted from j."""
    nearest, farthest = min(nearest, two.mass.size - 1), 1 - one.mass.size
    if nearest < farthest:
        return
    d = np.arange(nearest, farthest - 1, -1)
    shift = np.minimum.accumulate(offsets(one, two, origin, d))
    starts = np.flatnonzero(np.concatenate(([True], shift[1:] != shift[:-1])))
    firsts, lasts = nearest - np.append(starts[1:] - 1, d.size - 1), nearest - starts
    runs = [Run(*each) for each in zip(shift[starts].tolist(), firsts.tolist(), lasts.tolist(), strict=True)]
    windows = _Windows(two.mass, max((run.last - run.first + 1 for run in runs[:-1]), default=1))
    size = one.mass.size
    for run in runs[:-1]:
        lo, hi = max(0, -run.last), min(size, two.mass.size - run.first)
        sums.run(one.mass[lo:hi], windows.sums(run, lo, hi), run.shift + lo)
    last = runs[-1]  # reaches back to the first point for all j
    lo = max(0, -last.last)
    whole = prefix_sums(two.mass)
    sums.run(one.mass[lo:], whole[np.minimum(np.arange(lo, size) + last.last, whole.size - 1)], last.shift + lo)


def prefix_sums(mass: FloatArray) -> FloatArray:
    """Running sums, each of them pairwise: a relative error of log2(n) u."""
    total: FloatArray = mass.copy()
    reach = 1
    while reach < total.size:
        total[reach:] += total[:-reach].copy()
        reach *= 2
    return total


class _Windows:
    """Sums over windows of up to ``widest`` neighbours, from sums of 1, 2, 4, ... neighbours."""

    def __init__(self, mass: FloatArray, widest: int) -> None:
        self._pad = widest
        zeros = np.zeros(widest)
        self._sums = [np.concatenate((zeros, mass, zeros))]
        reach = 1
        while 2 * reach <= widest:
            finer = self._sums[-1]
            self._sums.append(finer[:-reach] + finer[reach:])
            reach *= 2

    def sums(self, run: Run, lo: int, hi: int) -> FloatArray:
        """Over first..last from j, for lo <= j < hi."""
        width, start, total = run.last - run.first + 1, lo + run.first + self._pad, None
        for power in range(width.bit_length()):
            if width >> power & 1:
                part = self._sums[power][start : start + hi - lo]
                total = part if total is None else total + part
                start += 1 << power
        assert total is not None
        return total


class _Sums:
    """Sums onto the points 0..size-1, and before and after them; runs are added by blocks."""

    def __init__(self, size: int) -> None:
        self._size, self._runs = size, 0
        self._total, self._block = np.zeros(size), np.zeros(size)
        self._product = np.zeros(0)
        self._before: list[float] = []
        self._after: list[float] = []

    def run(self, mass: FloatArray, window: FloatArray, start: int) -> None:
        if self._product.size < mass.size:
            self._product = np.zeros(mass.size)
        product = np.multiply(mass, window, out=self._product[: mass.size])
        if start < 0 or start + mass.size > self._size:
            inside = product[max(-start, 0) : max(self._size - start, 0)]
            self._before.append(math.fsum(product[: max(-start, 0)].tolist()))
            self._after.append(math.fsum(product[max(self._size - start, 0) :].tolist()))
            product, start = inside, max(start, 0)
        place = self._block[start : start + product.size]
        np.add(place, product, out=place)
        self._runs += 1
        if self._runs % BLOCK == 0:
            self._total += self._block
            self._block[:] = 0.0

    def total(self) -> tuple[float, FloatArray, float]:
        return math.fsum(self._before), self._total + self._block, math.fsum(self._after)

    def rounding(self) -> float:
        """Of a window (2 log2 n), its product, its block, the blocks, and what is moved in at the ends."""
        return U * (2 * self._size.bit_length() + BLOCK + self._runs // BLOCK + 8)


def _checked(bound: Lattice) -> Lattice:
    instance(Lattice, "a lattice, such as disc_dist gives", bound=bound)
    return bound if isinstance(bound.mass, np.ndarray) else replace(bound, mass=np.array(bound.mass, np.float64))

"""Discrete bounds: evenly spaced losses (``Lattice``), or any losses (``Bound``), with the side that they bound.

A lattice holds the values origin + step*i, i = 0, 1, ..., as real numbers: origin and step are doubles, and the
points are never rounded but when an answer is read off. The exponential of a lattice is a geometric grid of ratio
e^step, with the same masses: the paper's exp-PLD. ``bottom`` is the mass at -inf (the value 0 of the exp-PLD),
``top`` that at inf. """

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privloss._ask import Side
from privloss._check import instance
from privloss._curve import Curve
from privloss._pair import EXP_ULPS, FloatArray, Pair, U
from privloss.paper._variable import Cells, Listed


class Discrete:
    """What bounds of either kind can be asked.

    Rounding: every mass is within a factor 1 +- ``eta`` of that of a law which bounds the true one from ``side``, and
    every loss within ``blur`` of where it belongs. Answers are widened by both (``privloss._curve``).
    """

    mass: FloatArray
    bottom: float
    top: float
    side: Side
    eta: float

    @property
    def losses(self) -> FloatArray:
        raise NotImplementedError

    @property
    def blur(self) -> float:
        """What ``losses`` are rounded by."""
        return 0.0

    @property
    def total(self) -> float:
        """All of the mass: 1, to rounding."""
        return math.fsum([*self.mass.tolist(), self.bottom, self.top])

    def curve(self) -> Curve:
        """The hockey-stick curve E[(1 - e^(eps - L))_+] that bounds the privacy profile (Claim clm:stochDomImpDom)."""
        none = np.zeros(self.mass.size)
        pair = Pair(self.losses, none, self.mass, 0.0, self.top, self.side, self.eta, self.blur)
        return Curve(pair, "remove")

    def delta(self, epsilon: float) -> float:
        """A bound on delta at any real epsilon, rounding included."""
        return self.curve().delta(float(epsilon))

    def epsilon(self, delta: float) -> float:
        """A bound on the smallest epsilon >= 0 with delta(epsilon) <= delta, rounding included."""
        return self.curve().epsilon(float(delta))

    def ccdf(self, points: FloatArray) -> FloatArray:
        """P(X > x) of the masses as they are, summed from the far end."""
        beyond = np.concatenate((np.cumsum(self.mass[::-1])[::-1], [0.0])) + self.top
        value: FloatArray = beyond[np.searchsorted(self.losses, points, side="right")]
        return value


@dataclass(frozen=True, eq=False)
class Bound(Discrete):
    """A bound with any increasing finite losses."""

    losses_: FloatArray
    mass: FloatArray
    bottom: float
    top: float
    side: Side
    eta: float = 0.0
    blur_: float = 0.0

    @property
    def losses(self) -> FloatArray:
        return self.losses_

    @property
    def blur(self) -> float:
        return self.blur_


@dataclass(frozen=True, eq=False)
class Lattice(Discrete):
    """A bound whose finite losses are origin + step*i."""

    origin: float
    step: float
    mass: FloatArray
    bottom: float
    top: float
    side: Side
    eta: float = 0.0

    @property
    def losses(self) -> FloatArray:
        value: FloatArray = self.origin + self.step * np.arange(self.mass.size, dtype=np.float64)
        return value

    @property
    def blur(self) -> float:
        return 2 * U * self.far

    @property
    def far(self) -> float:
        """The largest of the losses, in absolute value."""
        return max(abs(self.origin), abs(self.origin + self.step * self.mass.size))

    def negated(self) -> Lattice:
        """-X, which bounds from the other side."""
        last = self.origin + self.step * (self.mass.size - 1)
        side: Side = "lower" if self.side == "upper" else "upper"
        origin = moved(-last, 2 * self.blur, side)
        return Lattice(origin, self.step, self.mass[::-1], self.top, self.bottom, side, self.eta)

    def divided(self, steps: int) -> Lattice:
        """log(e^X / steps)."""
        shift = math.log(steps)
        return replace(self, origin=moved(self.origin - shift, 8 * U * (shift + abs(self.origin)), self.side))

    def listed(self) -> Listed:
        """As a random variable to discretise again."""
        return Listed(self.losses, self.mass, self.bottom, self.top, self.eta + self.mass.size * U, slip=self.blur)


def moved(value: float, margin: float, side: Side) -> float:
    """A value that was rounded, moved to the safe side by more than that."""
    return value + margin if side == "upper" else value - margin


def truncate(bound: Lattice, tail: float) -> Lattice:
    """At most ``tail`` cut at each end (Section sec:PLDconv, "Additional truncation"), on the side of the bound.

    Upper: what is below the smallest kept point moves up to it, what is above the largest moves to inf. Lower: to -inf,
    and down to the largest. Either way the result bounds X from the same side, and all but ``tail`` of X stays.
    """
    instance(Lattice, "a lattice, such as disc_dist gives", bound=bound)
    mass = bound.mass
    if not tail > 0.0 or mass.size < 2:
        return bound
    below, above = np.cumsum(mass), np.cumsum(mass[::-1])
    first = int(np.searchsorted(below, tail * (1 - 1e-9), side="right"))
    last = mass.size - int(np.searchsorted(above, tail * (1 - 1e-9), side="right"))
    if first == 0 and last == mass.size:
        return bound
    first = min(first, mass.size - 1)
    last = max(last, first + 1)
    low, high = math.fsum(mass[:first].tolist()), math.fsum(mass[last:].tolist())
    kept = mass[first:last].copy()
    margin = 4 * U * bound.far
    origin = moved(bound.origin + bound.step * first, margin if first else 0.0, bound.side)
    eta = bound.eta + 4 * U
    if bound.side == "upper":
        kept[0] += low
        return replace(bound, origin=origin, mass=kept, top=bound.top + high, eta=eta)
    kept[-1] += high
    return replace(bound, origin=origin, mass=kept, bottom=bound.bottom + low, eta=eta)


def gridded(cells: Cells, origin: float, step: float, side: Side, eta: float) -> Lattice:
    """Cells (.., x_0], (x_0, x_1], ..., (x_n, ..) rounded up to the points, or [x_0, x_1), ... rounded down."""
    bottom, mass, top = cells
    if side == "upper":
        return Lattice(origin, step, mass[:-1], bottom, top + float(mass[-1]), side, eta + U)
    return Lattice(origin, step, mass[1:], bottom + float(mass[0]), top, side, eta + U)


__all__ = ["EXP_ULPS", "Bound", "Discrete", "Lattice", "gridded", "moved", "truncate"]

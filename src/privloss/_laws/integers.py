"""Mechanisms on the integers: the outcome k has a mass and a loss in closed form.

Exponents are held to two doubles, so a mass far out is as accurate as one at the mean; a loss is rounded
once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privloss._ask import Ask
from privloss._laws.quadrature import divide, two_product
from privloss._pair import FloatArray, Law, Masses, Pair, U, from_outcomes

MOST = 2_000_000  # integers in a list
MOST_SIGMA, QUIET = 1e4, 0.02  # of a discrete Gaussian: listed up to here; below, all of it is at one integer
REACHED = 750.0  # scales of a discrete Laplace, beyond which masses are below 1e-325
REACH = 38.7  # standard deviations: the mass beyond is below 1e-325
VANISHED = 1e-300  # charged to both atoms on the upper side for what was left out


def discrete_gaussian(sigma: float, sensitivity: int, ask: Ask) -> Pair:
    """Mass proportional to exp(-k^2 / (2 sigma^2)), moved by s under P; the loss is linear in k."""
    if sigma < QUIET:
        return _one_point(sigma, sensitivity, ask)
    square, rest = two_product(np.asarray(sigma), np.asarray(sigma))
    variance, more = float(square), float(rest)
    k = _near_either_mean(math.ceil(REACH * sigma), sensitivity)
    total = _normaliser(sigma, variance)
    q, p = _bell(k, variance, more) / total, _bell(k - sensitivity, variance, more) / total
    loss, _ = _over(0.5 * sensitivity * (2.0 * k - sensitivity), variance, more)
    return _pair(q, p, loss, ask, VANISHED)


def discrete_laplace(scale: float, sensitivity: int, ask: Ask) -> Pair:
    """Mass proportional to exp(-|k| / scale), moved by s under P; all k <= 0 share a loss, and all k >= s."""
    reach = math.ceil(REACHED * scale)
    whole = sensitivity <= MOST or sensitivity <= 2 * reach
    k = np.arange(0.0, sensitivity + 1) if whole else _both_ends(reach, sensitivity)
    rise, rest = divide(k, scale)
    q = np.exp(-rise) * (1.0 - rest)
    tail = 1.0 / (1.0 + math.exp(-1.0 / scale))  # of k <= 0 under Q, one of 1/(1 - r) times the mass at 0
    q *= math.tanh(0.5 / scale)
    q[-1] = tail * math.exp(-rise[-1]) * (1.0 - rest[-1])
    q[0] = tail
    loss, _ = divide(2.0 * k - sensitivity, scale)
    return _pair(q, q[::-1].copy(), loss, ask, 0.0 if whole else VANISHED)


def _both_ends(reach: int, sensitivity: int) -> FloatArray:
    near = np.arange(0.0, reach + 1)
    return np.concatenate((near, sensitivity - near[::-1]))


def _one_point(sigma: float, sensitivity: int, ask: Ask) -> Pair:
    """A sigma so small that masses off the mean are below e^-1250: charged to the atoms, or dropped."""
    upper = ask.side == "upper"
    loss = min(0.5 * (sensitivity / sigma) ** 2 if sensitivity / sigma < 1e140 else 1e280, 1e280)
    atom = 1.0 if upper and loss >= 1e280 else VANISHED if upper else 0.0
    none = np.array([1.0, 0.0])
    return Pair(np.array([-loss, loss]), none, none[::-1].copy(), atom, atom, ask.side, 8 * U, 8 * U * loss)


@dataclass(frozen=True)
class Difference:
    """How the masses of a law on the integers, and the ratios, differ from those of a smooth one on unit cells."""

    mass: float
    ratio: float
    cell: float  # half the range of the loss within a cell


def bell_error(sigma: float, sensitivity: int) -> Difference:
    """About k, a unit cell of the bell has e^(-1/8 sigma^2) to e^((k/2 sigma^2)^2/6) times the mass at k."""
    furthest = sensitivity / sigma + REACH + 1.0
    mass = (furthest**2 / 24.0 + 0.125) / sigma**2 * 1.01
    return Difference(mass, 2 * mass, 0.51 * sensitivity / sigma**2)


def slope_error(scale: float) -> Difference:
    """Within, a unit cell has sinh(1/2b) where the integer has tanh(1/2b); the ends have 1 - e^(-1/2b)/2 for
    (1 + tanh(1/2b))/2. Both differ by less than 1/(4 b^2), relatively, for b >= 100."""
    return Difference(0.25 / scale**2, 0.5 / scale**2, 1.01 / scale)


def smooth(law: Law, error: Difference, ask: Ask) -> Law:
    """A smooth law as a bound of the one on the integers, which is its merge over unit cells, up to the errors. No loss
    moves by more than half the range of its cell."""
    eta_x = error.ratio + (error.cell if ask.side == "lower" else 0.0)
    if isinstance(law, Pair):
        return replace(law, eta_q=law.eta_q + error.mass, eta_x=law.eta_x + eta_x)
    return Widened(law, error.mass, eta_x)


@dataclass(frozen=True)
class Widened(Law):
    """A law with more allowance."""

    of: Law
    more_q: float
    more_x: float

    @property
    def low(self) -> float:
        return self.of.low

    @property
    def high(self) -> float:
        return self.of.high

    @property
    def atoms(self) -> FloatArray | None:
        return self.of.atoms

    @property
    def eta_q(self) -> float:
        return self.of.eta_q + self.more_q

    @property
    def eta_x(self) -> float:
        return self.of.eta_x + self.more_x

    def window(self, left: float, right: float) -> tuple[float, float]:
        return self.of.window(left, right)

    def span(self, gauge: str, tail: float) -> tuple[float, float]:
        return self.of.span(gauge, tail)

    def grid(self, count: int, left: float, right: float) -> FloatArray:
        return self.of.grid(count, left, right)

    def hats(self, points: FloatArray) -> Masses:
        return self.of.hats(points)

    def cells(self, cuts: FloatArray) -> Masses:
        return self.of.cells(cuts)


def _pair(q: FloatArray, p: FloatArray, loss: FloatArray, ask: Ask, dropped: float) -> Pair:
    charge = dropped if ask.side == "upper" else 0.0
    pair = from_outcomes(q, p, loss=loss, q_only=charge, p_only=charge, side=ask.side, eta_q=24 * U)
    return replace(pair, eta_x=3 * U * float(np.abs(loss).max()))


def _normaliser(sigma: float, variance: float) -> float:
    """Sum of exp(-k^2 / (2 sigma^2)): itself when sigma is small, else by Poisson summation."""
    if sigma >= 1.0:
        return math.sqrt(2.0 * math.pi) * sigma * (1.0 + 2.0 * math.exp(-2.0 * math.pi**2 * variance))
    return 1.0 + 2.0 * math.fsum(math.exp(-0.5 * k * k / variance) for k in range(1, 41))


def _near_either_mean(reach: int, sensitivity: int) -> FloatArray:
    """The integers within reach of 0 or of the sensitivity."""
    if sensitivity <= 2 * reach:
        return np.arange(-reach, sensitivity + reach + 1, dtype=np.float64)
    near = np.arange(-reach, reach + 1, dtype=np.float64)
    return np.concatenate((near, near + sensitivity))


def _over(numerator: FloatArray, high: float, low: float) -> tuple[FloatArray, FloatArray]:
    """numerator / (high + low) as a double and its rounding."""
    value, rest = divide(numerator, high)
    return value, rest - value * (low / high)


def _bell(k: FloatArray, variance: float, rest: float) -> FloatArray:
    value, under = _over(0.5 * k * k, variance, rest)
    bell: FloatArray = np.exp(-value) * (1.0 - under)
    return bell

"""Mechanisms on the integers: the outcome k has a mass and a loss in closed form.

Exponents are held to two doubles, so a mass far out is as accurate as one at the mean; a loss is rounded
once.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from privloss._ask import Ask
from privloss._laws.quadrature import divide, two_product
from privloss._pair import FloatArray, Pair, U, from_outcomes

REACH = 38.7  # standard deviations: the mass beyond is below 1e-325
VANISHED = 1e-300  # charged to both atoms on the upper side for what was left out


def discrete_gaussian(sigma: float, sensitivity: int, ask: Ask) -> Pair:
    """Mass proportional to exp(-k^2 / (2 sigma^2)), moved by s under P; the loss is linear in k."""
    square, rest = two_product(np.asarray(sigma), np.asarray(sigma))
    variance, more = float(square), float(rest)
    k = _near_either_mean(math.ceil(REACH * sigma), sensitivity)
    total = _normaliser(sigma, variance)
    q, p = _bell(k, variance, more) / total, _bell(k - sensitivity, variance, more) / total
    loss, _ = _over(0.5 * sensitivity * (2.0 * k - sensitivity), variance, more)
    return _pair(q, p, loss, ask, VANISHED)


def discrete_laplace(scale: float, sensitivity: int, ask: Ask) -> Pair:
    """Mass proportional to exp(-|k| / scale), moved by s under P; all k <= 0 share a loss, and all k >= s."""
    k = np.arange(0.0, sensitivity + 1)
    rise, rest = divide(k, scale)
    q = np.exp(-rise) * (1.0 - rest)
    tail = 1.0 / (1.0 + math.exp(-1.0 / scale))  # of k <= 0 under Q, one of 1/(1 - r) times the mass at 0
    q *= math.tanh(0.5 / scale)
    q[-1] = tail * math.exp(-rise[-1]) * (1.0 - rest[-1])
    q[0] = tail
    loss, _ = divide(2.0 * k - sensitivity, scale)
    return _pair(q, q[::-1].copy(), loss, ask, 0.0)


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

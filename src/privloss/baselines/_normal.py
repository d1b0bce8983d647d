"""Normal tails and the profile of a Gaussian, rounded to a side.

``math.erfc`` is taken to be right to 16 units of rounding, as the tests check it against mpmath.
"""

from __future__ import annotations

import math

from privloss._pair import U

ERFC = 16 * U


def above(z: float) -> float:
    """The mass of a normal above z; relatively accurate in both tails, to ``ERFC`` and what rounding z does."""
    return 0.5 * math.erfc(z * math.sqrt(0.5))


def log_below(z: float) -> float:
    """The logarithm of the mass below z."""
    return math.log1p(-above(z)) if z > 0 else math.log(max(above(-z), 5e-324))


def profile(mu: float, epsilon: float, side: str) -> float:
    """delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) [Balle and Wang 2018], to a side.

    The error of each term is relative: a point z off by 2 units of its own size moves a tail by z^2 such units.
    """
    if mu <= 0:
        return max(0.0, -math.expm1(min(epsilon, 0.0)))
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = above(near)
    second = math.exp(min(epsilon, 700.0)) * above(far) if epsilon < 600 else 0.0
    if epsilon >= 600:  # e^epsilon overflows: e^epsilon phi(far) = phi(near), and the ratio is below 1/far
        second = 0.0 if side == "upper" else first
    error = (ERFC + 8 * U * (1 + abs(near) * (abs(epsilon) / mu + mu))) * first
    error += (ERFC + 8 * U * (1 + abs(far) * (abs(epsilon) / mu + mu) + abs(epsilon))) * second
    value = first - second + (error + 1e-300 if side == "upper" else -error - 1e-300)
    return min(max(value, 0.0), 1.0)

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
    near, far, size = epsilon / mu - mu / 2, epsilon / mu + mu / 2, abs(epsilon) / mu + mu
    first, error = _tail(near, size)
    if epsilon < 600 and far < 37:
        second, slip = (math.exp(epsilon) * part for part in _tail(far, size))
        error += slip + 8 * U * abs(epsilon) * second
    else:  # no doubles: e^epsilon phi(far) = phi(near), and the tail over phi is between (1 - 1/far^2)/far and 1/far
        second = math.exp(-near * near / 2) / math.sqrt(2 * math.pi) / far
        error += (ERFC + 8 * U * (1 + abs(near) * size)) * second if second > 0 else 0.0
        second *= 1 - 1 / far / far if side == "upper" else 1.0
    value = first - second + (error + 1e-300 if side == "upper" else -error - 1e-300)
    return min(max(value, 0.0), 1.0)


def _tail(z: float, size: float) -> tuple[float, float]:
    """The mass above z and its error, z being off by 4 units of ``size``; beyond 40 it is 0 or 1 for a double."""
    if abs(z) > 40:
        return (0.0, 0.0) if z > 0 else (1.0, U)
    mass = above(z)
    return mass, (ERFC + 8 * U * (1 + abs(z) * size)) * mass

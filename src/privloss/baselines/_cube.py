"""The event that the largest of t normals is above a level, with one of them shifted."""

from __future__ import annotations

import math

import numpy as np

from privloss._pair import U
from privloss.baselines._normal import ERFC, log_below

LEVELS = 240
VANISHED = 1e-300


def outside(level: float, shift: float, steps: int) -> float:
    """P(max > level), with one of ``steps`` normals shifted."""
    return -math.expm1(log_below(level - shift) + (steps - 1) * log_below(level))


def inside(level: float, shift: float, steps: int) -> float:
    """P(max <= level)."""
    return math.exp(log_below(level - shift) + (steps - 1) * log_below(level))


def gap(level: float, shifts: tuple[float, float], steps: int, epsilon: float, way: str) -> float:
    """P(event) - e^epsilon Q(event), rounded down: {max > level} for remove, its opposite and its roles for add.

    The exponents are sums of logarithms, each relatively accurate to what its point's rounding does to a normal tail.
    Below ``VANISHED`` they are not, and there Q's probability counts as that much.
    """
    if epsilon > 700.0:  # e^epsilon has no double
        return 0.0
    top, bottom = shifts
    error = ERFC + 16 * U * (4 + level * level + max(shifts) ** 2 + max(shifts) * abs(level))
    if way == "remove":
        first, second = outside(level, top, steps), outside(level, bottom, steps)
        size = 1.0  # 1 - e^x is relatively as accurate as x
    else:
        first, second = inside(level, bottom, steps), inside(level, top, steps)
        size = 1.0 + abs(math.log(max(second, VANISHED)))
    second, factor = max(second, VANISHED), math.exp(epsilon)
    rounding = error * size * (first + factor * second) + U * 8 * (1 + epsilon) * factor * second + VANISHED
    return first - factor * second - rounding


def best(shifts: tuple[float, float], steps: int, epsilon: float, way: str) -> float:
    """The largest over levels: each is a valid test, so a coarse search and a fine one lose nothing but sharpness."""
    levels = np.linspace(-8.0, 8.0 + max(shifts) + (epsilon / max(shifts[0] - shifts[1], 0.1)), LEVELS)
    levels = np.minimum(levels, 37.0 + max(shifts))
    values = [gap(float(level), shifts, steps, epsilon, way) for level in levels]
    at = int(np.argmax(values))
    low, high = float(levels[max(at - 1, 0)]), float(levels[min(at + 1, LEVELS - 1)])
    found = values[at]
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(40):
        a, b = high - golden * (high - low), low + golden * (high - low)
        fa, fb = (gap(x, shifts, steps, epsilon, way) for x in (a, b))
        found = max(found, fa, fb)
        low, high = (low, b) if fa >= fb else (a, high)
    return max(found, 0.0)

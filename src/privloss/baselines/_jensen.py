"""Add for Gaussian steps, by Jensen's inequality."""

from __future__ import annotations

from privloss._pair import U
from privloss.baselines._normal import profile


def jensen(mu: float, steps: int, groups: int, epsilon: float) -> float:
    """delta at epsilon for add, of ``groups`` allocations of one of ``steps`` Gaussian steps, mu = sensitivity/sigma.

    A mean of ratios is at least their geometric mean, so the loss of one group is at most -(1/t) sum of (mu y_i -
    mu^2/2): that of the Gaussian mu/sqrt(t), plus (1 - 1/t) mu^2/2. Groups add: means, variances and shifts.
    """
    shift = groups * (1 - 1 / steps) * mu * mu / 2 * (1 + 8 * U)
    return profile((groups / steps) ** 0.5 * mu * (1 + 4 * U), epsilon - shift * (1 + 4 * U), "upper")

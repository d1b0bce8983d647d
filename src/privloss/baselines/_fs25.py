"""What the methods of FS25 share."""

from __future__ import annotations

import math

from privloss._scheme import operand
from privloss.baselines import _poisson
from privloss.baselines._baseline import Way

REFERENCE = "V. Feldman, M. Shenfeld, Privacy Amplification by Random Allocation, 2025"


def share(steps: int) -> float:
    """The probability that Poisson subsampling at rate 1/steps chooses any step at all."""
    return -math.expm1(steps * math.log1p(-1 / steps)) if steps > 1 else 1.0


def decomposed(step: object, steps: int, epsilon: float, way: Way) -> float:
    """delta by conditioning Poisson subsampling on some step being chosen.

    That happens with probability L, and the rest is Q, so with the same test P_some - e^e Q = (P - e^e' Q)/L, where
    e^e' = 1 - L + L e^e; and Q - e^e P_some = (Q - e^e'' P)/c, where e^-e'' = 1 - L + L e^-e and c = e^e'' L e^-e.
    """
    chosen = share(steps)
    twin = operand(step=step).subsample(1 / steps).repeat(steps)
    if way == "remove":
        moved = math.log1p(chosen * math.expm1(epsilon)) if epsilon < 30 else epsilon + math.log(chosen)
        return min(_poisson.delta(twin, moved * (1 - 1e-14), way) / chosen * (1 + 1e-14), 1.0)
    epsilon = min(epsilon, 700.0)  # delta falls with it
    moved = -math.log1p(chosen * math.expm1(-epsilon)) if chosen < 1 else epsilon
    kept = chosen / (chosen + math.exp(epsilon) * (1 - chosen)) if chosen < 1 else 1.0
    return min(_poisson.delta(twin, moved * (1 - 1e-14), way) / kept * (1 + 1e-13), 1.0)

"""Poisson subsampling at a rate a little above 1/t bounds the allocation, but for outputs that tell much.

With a step (e0, d0)-private, cosh(e0) sqrt(2 log(1/d)/t) = g < 1 and the rate 1/(t (1-g)), delta of the allocation is
at most that of Poisson subsampling, plus t d0 + d (FS25; composition and several picks by blocks).
Of delta 99 % go to the d0, and half a percent each to d and to Poisson, as in the authors' own implementation.
"""

import math

from privloss.baselines import _poisson
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._fs25 import REFERENCE

LOCAL = 0.99


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    groups = setting.picks * setting.rounds
    rest = delta * (1 - LOCAL) / 2
    local = float(setting.step.epsilon(delta * LOCAL / (setting.block * groups), direction=way, rtol=1e-4).upper)
    if local > 350:
        return math.inf
    reach = math.cosh(local) * math.sqrt(2 * math.log(groups / rest) / setting.block)
    rate = 1 / (setting.block * (1 - reach)) if reach < 1 else math.inf
    if not rate <= 1:
        return math.inf
    twin = setting.step.subsample(rate * (1 + 1e-14) if rate < 0.5 else 1.0).repeat(setting.block * groups)
    return _poisson.epsilon(twin, rest * (1 - 1e-14), way)


METHOD = Bound(
    name="fs25_analytic",
    year=2025,
    reference=REFERENCE,
    kind="upper",
    covers="an allocation of steps of one mechanism, perhaps repeated",
    assumptions="helps where steps are many and one of them tells little",
    cost="one Poisson curve",
    read=reading(picks=True, rounds=True, fewest=2),
    inverse=_inverse,
)

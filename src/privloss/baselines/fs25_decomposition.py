"""Poisson subsampling conditioned on some step being chosen tells at least as much as exactly one step.

The conditional curve follows exactly from that of Poisson subsampling (``_fs25.decomposed``). For large t the
probability of some step being chosen tends to 1 - 1/e, hence the factor 1/(1 - 1/e) = 1.58 on small epsilons.
"""

import math

from privloss.baselines import _poisson
from privloss.baselines._baseline import Bound, Shape, Way, reading, searched
from privloss.baselines._fs25 import REFERENCE, decomposed, share


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    return decomposed(setting.step, setting.steps, epsilon, way)


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    if way == "add":
        return searched(lambda epsilon: _curve(setting, epsilon, way), delta, True)
    chosen = share(setting.steps)
    twin = setting.step.subsample(1 / setting.steps).repeat(setting.steps)
    found = _poisson.epsilon(twin, delta * chosen * (1 - 1e-14), way)
    grown = math.log1p(math.expm1(found) / chosen) if found < 30 else found - math.log(chosen)
    return grown * (1 + 1e-14)


METHOD = Bound(
    name="fs25_decomposition",
    year=2025,
    reference=REFERENCE,
    kind="upper",
    covers="an allocation of one of several steps of one mechanism, once",
    assumptions="none; one pick, one round",
    cost="one Poisson curve",
    read=reading(),
    curve=_curve,
    inverse=_inverse,
)

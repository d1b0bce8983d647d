"""The least of the bounds of FS25 in each direction, and of what holds when the steps chosen are known."""

import math

from privloss._mechanisms import Gaussian
from privloss.baselines import _poisson
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._fs25 import REFERENCE
from privloss.baselines.fs25_analytic import METHOD as ANALYTIC
from privloss.baselines.fs25_decomposition import METHOD as DECOMPOSITION
from privloss.baselines.fs25_direct import METHOD as DIRECT
from privloss.baselines.fs25_recursive import METHOD as RECURSIVE


def _least(given: str, setting: Shape, value: float, way: Way) -> float:
    ask = _poisson.delta if given == "epsilon" else _poisson.epsilon
    found = [ask(setting.step.repeat(setting.picks * setting.rounds), value, way)]
    found.append(DIRECT.one(given, value, setting, way))
    if setting.block > 1:
        found += [method.one(given, value, setting, way) for method in (ANALYTIC, RECURSIVE)]
    if setting.picks * setting.rounds == 1:
        found.append(DECOMPOSITION.one(given, value, setting, way))
    return min(found, default=math.inf)


METHOD = Bound(
    name="fs25",
    year=2025,
    reference=REFERENCE,
    kind="upper",
    covers="an allocation of Gaussian steps, perhaps repeated",
    assumptions="those of fs25_analytic, fs25_decomposition, fs25_recursive and fs25_direct, each where it holds",
    cost="five Poisson curves",
    read=reading(Gaussian, picks=True, rounds=True),
    curve=lambda setting, epsilon, way: _least("epsilon", setting, epsilon, way),
    inverse=lambda setting, delta, way: _least("delta", setting, delta, way),
)

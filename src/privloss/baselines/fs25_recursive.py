"""Given the earlier outputs, the next step is the chosen one with a probability of at most e^(2g)/t, but for rare ones.

So delta is at most that of Poisson subsampling at that rate, plus the mass of the rare outputs, which the add direction
of the allocation itself bounds: delta_add(g) e^-g/(e^g - 1) for remove and delta_add(g) e^g/(e^g - 1) for add, times
the number of groups (FS25). delta_add is the smaller of the decomposition's and, for Gaussians, Jensen's.
Half of delta goes to the rare outputs, as in the authors' own implementation.
"""

import math

from privloss._mechanisms import Gaussian
from privloss._scheme import Scheme
from privloss.baselines import _poisson
from privloss.baselines._baseline import Bound, Shape, Way, reading, searched
from privloss.baselines._fs25 import REFERENCE, decomposed
from privloss.baselines._jensen import jensen


def _rare(setting: Shape, g: float, way: Way) -> float:
    """The mass of the outputs after which the next step is the chosen one with more than e^(2g)/t."""
    if g <= 0:
        return math.inf
    seen = decomposed(setting.step, setting.block, g, "add")
    if type(setting.step) is Gaussian:
        seen = min(seen, jensen(setting.step.sensitivity / setting.step.sigma, setting.block, 1, g))
    weight = 1 / -math.expm1(-g) if way == "add" else math.exp(-2 * min(g, 300.0)) / -math.expm1(-g)
    return setting.picks * setting.rounds * seen * weight * (1 + 1e-13)


def _twin(setting: Shape, g: float) -> Scheme:
    rate = min(math.exp(min(2 * g, 300.0)) * (1 + 1e-14) / setting.block, 1.0)
    twin: Scheme = setting.step.subsample(rate).repeat(setting.block * setting.picks * setting.rounds)
    return twin


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    g = min(epsilon / 2, math.log(max(2.0, setting.block)) / 4)
    if g <= 0:
        return 1.0
    return min(_poisson.delta(_twin(setting, g), epsilon, way) + _rare(setting, g, way), 1.0)


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    g = searched(lambda g: _rare(setting, g, way), delta / 2, True)
    if not g < 0.5 * math.log(setting.block):
        return math.inf
    return _poisson.epsilon(_twin(setting, g), delta / 2, way)


METHOD = Bound(
    name="fs25_recursive",
    year=2025,
    reference=REFERENCE,
    kind="upper",
    covers="an allocation of steps of one mechanism, perhaps repeated",
    assumptions="helps where steps are many",
    cost="two Poisson curves",
    read=reading(picks=True, rounds=True, fewest=2),
    curve=_curve,
    inverse=_inverse,
)

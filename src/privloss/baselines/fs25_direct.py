"""The divergence of the dominating pair itself: remove by Renyi moments at whole orders, add by Jensen's inequality.

FS25 sums over the partitions of each order; the power of a series (``privloss._renyi``) has the same value. Several
picks are as many groups of floor(steps/picks).
"""

import math

from privloss._mechanisms import Gaussian
from privloss._scheme import Scheme
from privloss.baselines._baseline import Bound, Shape, Way, reading, searched
from privloss.baselines._fs25 import REFERENCE
from privloss.baselines._jensen import jensen
from privloss.baselines._rdp import best, divergences


def _scheme(setting: Shape) -> Scheme:
    whole: Scheme = setting.step.allocate(setting.block).repeat(setting.picks * setting.rounds)
    return whole


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    if way == "add":
        mu = setting.step.sensitivity / setting.step.sigma
        return jensen(mu, setting.block, setting.picks * setting.rounds, epsilon)
    whole = _scheme(setting)
    return best(divergences(whole, way), lambda: divergences(whole, way, True), lambda seen: seen.delta(epsilon))


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    if way == "add":
        found = searched(lambda epsilon: _curve(setting, epsilon, way), delta, True)
        return found if math.isfinite(found) else math.inf
    whole = _scheme(setting)
    return best(divergences(whole, way), lambda: divergences(whole, way, True), lambda seen: seen.epsilon(delta))


METHOD = Bound(
    name="fs25_direct",
    year=2025,
    reference=REFERENCE,
    kind="upper",
    covers="an allocation of Gaussian steps, perhaps repeated",
    assumptions="whole orders from 2 to 1024; add: the loss of the geometric mean",
    cost="order^2 for all orders at once",
    read=reading(Gaussian, picks=True, rounds=True),
    curve=_curve,
    inverse=_inverse,
)

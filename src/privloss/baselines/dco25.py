"""Renyi divergences of k-out-of-t Gaussian steps without the reduction to one pick.

Remove, whole orders a >= 2: D_a <= log E exp(a |S & S'| mu^2/2) over independent sets S, S' of k of t steps. Proof:
E X^a is the mean over S_1..S_a of exp(mu^2 sum over pairs of |S_i & S_j|), and that sum is half the sum over i of the
sum over j of |S_i & S_j|; by Hölder's inequality the mean is at most that for one i, a times as large, and given S_i
the others are independent. At order 2 it is an equality.

Add: D_a <= (a-1) k^2 mu^2/(2t) + k mu^2/2 and a k mu^2/2, by Jensen's inequality for the logarithm and for the power.
``published_add`` is the formula of the authors' implementations, an approximation: it lies below the divergence where
steps tell much, as at sigma = 1, t = 10, order 2, and so is not used as a bound here.
"""

import math
from functools import lru_cache

import numpy as np

from privloss._mechanisms import Gaussian
from privloss._pair import FloatArray, U
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._rdp import LARGE, Divergences


def remove(mu: float, steps: int, picks: int, order: int) -> float:
    """log E exp(order mu^2/2 times the number of steps that two sets share), hypergeometric; rounded up."""
    shared, ways = hypergeometric(steps, picks)
    terms = ways + shared * (order * mu * mu / 2)
    total = _log_sum(terms) - _log_sum(ways)
    size = float(np.max(np.abs(terms)) + np.max(np.abs(ways)))
    return total + U * (64 + 16 * shared.size) * (1 + size + abs(total))


@lru_cache(maxsize=8)
def hypergeometric(steps: int, picks: int) -> tuple[FloatArray, FloatArray]:
    """How many steps two sets share, and log C(k, i) C(t-k, k-i) up to a constant: sums of logarithms of ratios."""
    shared = np.arange(max(0, 2 * picks - steps), picks + 1, dtype=np.float64)
    i = shared[:-1]
    ratios = (picks - i) / (i + 1) * ((picks - i) / (steps - 2 * picks + i + 1))
    return shared, np.concatenate(([0.0], np.cumsum(np.log(ratios))))


def _log_sum(terms: FloatArray) -> float:
    top = float(np.max(terms))
    return top + math.log(float(np.exp(terms - top).sum()))


def add(mu: float, steps: int, picks: int, order: float) -> float:
    """By Jensen's inequality, rounded up."""
    geometric = (order - 1) * picks * picks / steps + picks
    return min(geometric, order * picks) * mu * mu / 2 * (1 + 16 * U)


def published_add(sigma: float, steps: int, picks: int, order: float) -> float:
    """The authors' formula for add. It is the divergence of Q^t from a Gaussian with the mean of the chosen steps and
    their variance k (t-k)/t^2 turned into noise, and no upper bound."""
    x = picks * (steps - picks) / (sigma * steps) ** 2
    spread = order * picks * (steps - picks) / (2 * sigma**2 * steps * (order - 1))
    mean = order * picks * picks / (2 * sigma**2 * steps)
    return mean + spread - steps * math.log1p(order * math.expm1(x)) / (2 * (order - 1))


def _divergences(setting: Shape, way: Way) -> Divergences:
    mu, orders = setting.step.sensitivity / setting.step.sigma, np.array(LARGE, np.float64)
    bound = remove if way == "remove" else add
    values = np.array([bound(mu, setting.steps, setting.picks, order) for order in LARGE])
    return Divergences(orders, setting.rounds * values * (1 + 4 * U))


METHOD = Bound(
    name="dco25",
    year=2025,
    reference="A. Dong, W.-N. Chen, A. Ozgur, Leveraging Randomness in Model and Data Partitioning for Privacy "
    "Amplification, ICML 2025",
    kind="upper",
    covers="an allocation of Gaussian steps, perhaps repeated",
    assumptions="whole orders from 2 to 1024; exact at order 2 for remove, add by Jensen's inequality",
    cost="picks for each order",
    read=reading(Gaussian, picks=True, rounds=True),
    curve=lambda setting, epsilon, way: _divergences(setting, way).delta(epsilon),
    inverse=lambda setting, delta, way: _divergences(setting, way).epsilon(delta),
)

"""From Renyi divergences to (epsilon, delta), and what is known by such a curve alone.

With E_Q[X^a] = e^((a-1) D) two conversions hold at every order a > 1, and the better is taken:

* epsilon = D + log(1 - 1/a) - log(a delta)/(a - 1) [Canonne, Kamath and Steinke 2020, Proposition 12; the same as
  Asoodeh et al. 2021, Theorem 3];
* epsilon = log(1 + (e^((a-1) D) - 1)/(a delta)) / (a - 1) [Asoodeh et al. 2021]. Proof: g(x) = x^a - 1 - a (x - 1) is
  convex and at least 0, so with k = e^epsilon it is at least g'(k) (x - k)_+; its mean is E X^a - 1 and its slope at k
  is a (k^(a-1) - 1), hence delta a (k^(a-1) - 1) <= E X^a - 1.

An epsilon below 0 is rounded to 0: delta falls with epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privloss import _check
from privloss._bracket import Bracket
from privloss._mechanisms import Gaussian
from privloss._pair import FloatArray, U
from privloss._scheme import Scheme


def epsilon_from(orders: FloatArray, divergences: FloatArray, delta: float) -> float:
    """The smallest epsilon that the divergences at these orders give."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_delta, less = math.log(delta), orders - 1.0
        first = divergences + np.log1p(-1.0 / orders) - (np.log(orders) + log_delta) / less
        moments = less * divergences
        grown = np.where(moments < 30, np.log(np.expm1(np.minimum(moments, 30.0))), moments)
        second = np.logaddexp(0.0, grown - np.log(orders) - log_delta) / less
        best = np.minimum(first, second)
        size = np.abs(divergences) + (np.abs(log_delta) + np.log(orders) + 4.0) / less + 1.0
        found = best + 64 * U * size
    found = found[~np.isnan(found)]
    return max(float(np.min(found, initial=math.inf)), 0.0)


def delta_from(orders: FloatArray, divergences: FloatArray, epsilon: float) -> float:
    """The smallest delta that they give: the same two, solved for delta."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        less = orders - 1.0
        moments = less * divergences
        first = moments - less * epsilon + less * np.log1p(-1.0 / orders) - np.log(orders)
        grown = np.where(moments < 30, np.log(np.expm1(np.minimum(moments, 30.0))), moments)
        steep = less * epsilon
        shrunk = np.where(steep < 30, np.log(np.expm1(np.minimum(steep, 30.0))), steep)
        second = grown - np.log(orders) - shrunk
        size = np.abs(moments) + np.abs(steep) + less / orders + np.log(orders) + 4.0
        found = np.exp(np.minimum(np.fmin(first, second) + 64 * U * size, 0.0))
    found = found[~np.isnan(found)]
    return min(float(np.min(found, initial=1.0)), 1.0)


@dataclass(frozen=True)
class RenyiCurve:
    """A guarantee known by its Renyi divergences alone: ``divergence(order)`` for all orders above 1.

    There need not be one pair that has them all, so it is no scheme: its answers are upper bounds, by conversion.
    """

    divergence: Callable[[float], float]
    orders: tuple[float, ...]

    def _values(self) -> tuple[FloatArray, FloatArray]:
        return np.array(self.orders), np.array([self.divergence(order) for order in self.orders])

    def repeat(self, rounds: int) -> RenyiCurve:
        """Composition: divergences add."""
        rounds = _check.count(rounds=rounds)
        return RenyiCurve(lambda order: rounds * self.divergence(order) * (1 + 2 * U), self.orders)

    def epsilon(self, delta: float) -> Bracket:
        delta = _check.probability(delta=delta)
        known = {0.0: math.inf, 1.0: 0.0}.get(delta)
        upper = epsilon_from(*self._values(), delta) if known is None else known
        return Bracket(0.0, upper, reason="upper bound of rdp, on any mechanism with these divergences")

    def delta(self, epsilon: float) -> Bracket:
        upper = delta_from(*self._values(), _check.nonnegative(epsilon=epsilon))
        return Bracket(0.0, upper, reason="upper bound of rdp, on any mechanism with these divergences")


def zcdp(rho: float) -> RenyiCurve:
    """rho-zCDP: divergences of at most rho * order at every order above 1 [Bun and Steinke 2016].

    >>> zcdp(0.5).epsilon(1e-6).upper < 5.7
    True
    """
    rho = _check.positive(rho=rho)
    near, far = np.geomspace(1e-3, 1.0, 60, endpoint=False), np.geomspace(1.0, 1e6, 400)
    return RenyiCurve(lambda order: rho * order * (1 + 4 * U), tuple((1.0 + np.concatenate((near, far))).tolist()))


def gdp(mu: float) -> Scheme:
    """mu-GDP: what N(mu, 1) against N(0, 1) dominates, so that pair itself.

    >>> gdp(0.5)
    Gaussian(sigma=2.0)
    """
    return Gaussian(1.0 / _check.positive(mu=mu))

"""What an attack on one person's membership can do: the bracket of delta or of the trade-off, read as an attacker does.

The smallest Gaussian that dominates. With f the trade-off curve, that is the least mu for which, at every false
positive rate, f(fpr) >= Phi(z(fpr) - mu), z(x) the point with x of a normal above it. Where f is piecewise linear
it is enough to look at its corners, since the Gaussian's curve is convex:

    mu = max over corners of z(fpr) + z(fnr).

* From below, first: a lower pair's corners are points that tests reach, so each is a lower bound on mu.
* From below, second: where Gaussian steps are chosen with any probability r at all, P is at least r times the Gaussian
  N(m, 1), m the root of the sum of their squares. The test z > c has z(fpr) = c, and z(fnr) is m - c up to log(1/r)/c,
  so mu is at least m: subsampling and allocation do not lower it. For that Q must be one Gaussian where the test
  looks. Under ``swap`` it is Q that is the mixture, so either side has its own m, and the larger one counts.
* From above, first: an upper pair's corners, moved down and left by its allowances. Tails that were cut would make its
  curve start at 1 - p_only; with a largest loss L and a smallest one l, f is also above 1 - e^L fpr and e^l (1 - fpr).
* From above, second: noise by noise. Gaussian noise is its own; a pair of losses within [-e, e] is a post-processing
  of PureDP(e), one corner; composition adds squares; choosing steps at random never tells more than being told them.
"""

from __future__ import annotations

import math
from functools import singledispatch
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from privloss import _check, _questions
from privloss._bracket import ATOMS, MET, TAIL, Bracket
from privloss._curve import FLOOR
from privloss._mechanisms import Gaussian, GaussianMixture
from privloss._operations import Allocate, Allocation, Compose, Repeat, Subsample, Swap
from privloss._pair import FloatArray, Pair, U
from privloss._rewrite import simplify
from privloss._scheme import Scheme

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Either = Literal["remove", "add", "both"]
QUANTILE = 1e-13  # relative error of the normal quantiles of ``statistics`` that is allowed for
ROUNDED = 1e-12  # of a root of a sum of squares, at any depth
_NORMAL = NormalDist()


def power(
    scheme: Scheme,
    fpr: ArrayLike,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    miss = _questions.tradeoff(scheme, fpr, direction=direction, rtol=rtol, atol=atol, seconds=seconds)
    with np.errstate(under="ignore"):
        lower, upper = np.nextafter(1.0 - np.asarray(miss.upper), -1.0), np.nextafter(1.0 - np.asarray(miss.lower), 2.0)
    lower, upper = np.maximum(lower, np.asarray(fpr, np.float64)), np.minimum(upper, 1.0)
    if not isinstance(miss.upper, np.ndarray):
        return Bracket(float(lower), float(upper), "upper", miss.exact, miss.reason, miss.work)
    return Bracket(lower, upper, "upper", miss.exact, miss.reason, miss.work)


def bayes_risk(
    scheme: Scheme,
    prior: ArrayLike,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    values, shape = _questions.values_of("prior", prior, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        odds = np.log1p(-values) - np.log(values)
    bound = _questions.delta(scheme, odds.reshape(shape), direction=direction, rtol=rtol, atol=atol, seconds=seconds)
    # log odds are off by some units: delta falls by at most e^epsilon per unit of epsilon, so the risk moves by that
    # many units of (1 - prior).
    slip = 8 * U * (1.0 - values) * (1.0 + np.where(np.isfinite(odds), np.abs(odds), 0.0))
    low = values * (1.0 - np.atleast_1d(bound.upper).ravel()) * (1 - 4 * U) - slip
    high = values * (1.0 - np.atleast_1d(bound.lower).ravel()) * (1 + 4 * U) + slip
    low, high = np.maximum(low, 0.0), np.minimum(high, np.minimum(values, 1.0 - values))
    if shape == ():
        return Bracket(float(low[0]), float(high[0]), "lower", bound.exact, bound.reason, bound.work)
    return Bracket(low.reshape(shape), high.reshape(shape), "lower", bound.exact, bound.reason, bound.work)


def gdp(scheme: Scheme, *, rtol: float = 1e-3, seconds: float | None = 5.0) -> Bracket:
    _check.nonnegative(rtol=rtol)
    if seconds is not None:
        _check.positive(seconds=seconds)
    fine = max(rtol / 10, 1e-6)
    try:
        lower, upper = max(_in_the_tails(scheme)) * (1 - ROUNDED), _dominated(scheme) * (1 + ROUNDED)
        if upper > lower * (1 + rtol):
            found = _by_corners(scheme, fine, seconds)
            lower, upper = max(lower, found[0]), min(upper, found[1])
    except RecursionError:
        raise _questions.too_deep(scheme) from None
    if lower == math.inf:
        reason = ATOMS
    else:
        reason = MET if upper < math.inf and upper - lower <= rtol * upper else TAIL
    return Bracket(lower, upper, "upper", scheme.exact, reason)


def _by_corners(scheme: Scheme, rtol: float, seconds: float | None) -> tuple[float, float]:
    try:
        with np.errstate(all="ignore"):
            ends = [_questions.pair(scheme, side=side, rtol=rtol, seconds=seconds) for side in ("lower", "upper")]
            return _shown(ends[0]), _covered(ends[1], *simplify(scheme).support("upper"))
    except (ArithmeticError, ValueError, TimeoutError):  # numbers that no double holds, or no time: nothing is known
        return 0.0, math.inf


def quantile(mass: float, rest: float) -> float:
    """z with ``mass`` of a normal above it and ``rest`` below: from the smaller, so that tails keep their digits."""
    if mass <= 0 or rest <= 0:
        return math.inf if mass <= 0 else -math.inf
    return -_NORMAL.inv_cdf(mass) if mass < rest else _NORMAL.inv_cdf(rest)


def _corners(pair: Pair) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """fpr, 1 - fpr, fnr, 1 - fnr of the tests that reject the outcomes of highest ratio, from none to all."""
    q, p = pair.q[::-1], pair.p[::-1]
    zero = np.zeros(1)
    fpr, power = np.concatenate((zero, np.cumsum(q))), pair.p_only + np.concatenate((zero, np.cumsum(p)))
    fnr = np.concatenate((np.cumsum(p[::-1])[::-1], zero))
    rest = pair.q_only + np.concatenate((np.cumsum(q[::-1])[::-1], zero))
    return fpr, rest, fnr, power


def _shown(pair: Pair) -> float:
    """The largest mu that a test of a lower pair shows."""
    if pair.p_only > 0 or pair.q_only > 0:
        return math.inf
    fpr, rest, fnr, power = _corners(pair)
    eta = pair.eta_q + pair.eta_x + (fpr.size + 8) * U
    lost_q, lost_p = max(1.0 - rest[0], 0.0), max(1.0 - power[-1], 0.0)
    best = 0.0
    # What was lost is accepted by the tests that reject little, so missed, and rejected by the others.
    wrong = (fpr * (1 + eta) + lost_q * (fpr > 0.5) + FLOOR, fnr * (1 + eta) + lost_p * (fpr <= 0.5) + FLOOR)
    right = (np.maximum(rest * (1 - eta), 0.0), np.maximum(power * (1 - eta), 0.0))
    for a, a_rest, b, b_rest in zip(wrong[0], right[0], wrong[1], right[1], strict=True):
        if a < 1 and b < 1 and a_rest > 0 and b_rest > 0:
            za, zb = quantile(float(a), float(min(a_rest, 1 - FLOOR))), quantile(float(b), float(b_rest))
            best = max(best, za + zb - QUANTILE * (abs(za) + abs(zb)))
    return best


def _covered(pair: Pair, lowest: float, highest: float) -> float:
    """A mu whose curve lies below that of an upper pair, and below the lines that the extreme losses give."""
    fpr, rest, fnr, power = _corners(pair)
    eta = pair.eta_q + pair.eta_x + (fpr.size + 8) * U
    if eta >= 0.5:
        return math.inf
    fpr, fnr, rest, power = fpr * (1 - eta), fnr * (1 - eta), rest * (1 + eta), power * (1 + eta)
    steep = math.exp(min(highest, 700.0)) if highest < math.inf else math.inf
    flat = math.exp(min(-lowest, 700.0)) if lowest > -math.inf else math.inf
    low = (highest < 700 and lowest > -700) or (pair.p_only == 0 and pair.q_only == 0)
    if not low:
        return math.inf
    best = 0.0
    last = fpr.size - 1
    for i in range(last + 1):
        # A corner that a line is above is not one of the curve; where the line meets the next edge is.
        under = power[i] > steep * fpr[i] * (1 + 8 * U) or rest[i] > flat * fnr[i] * (1 + 8 * U)
        if not under and fpr[i] + fnr[i] > 0:
            best = max(best, _needed(fpr[i], rest[i], fnr[i], power[i]))
    for line, gains, costs in ((steep, power, fpr), (flat, rest[::-1], fnr[::-1])):
        if line == math.inf:
            continue
        excess = gains - line * costs
        if excess[last] > 0:  # a line so near the diagonal that the allowances take every corner beyond it
            return math.inf
        over = np.flatnonzero(excess > 0)
        for i in over[over < last].tolist():
            if excess[i + 1] <= 0:  # the edge from i to i + 1 meets the line
                share = excess[i] / (excess[i] - excess[i + 1])
                cost = (costs[i] + share * (costs[i + 1] - costs[i])) * (1 - 64 * U)
                gain = line * cost * (1 + 64 * U) if cost > 0 else gains[i]
                best = max(best, _needed(cost, max(1 - cost, U), max(1 - gain, 0.0), min(gain, 1.0)))
    return best


def _needed(fpr: float, rest: float, fnr: float, power: float) -> float:
    za, zb = quantile(float(fpr), float(min(rest, 1.0))), quantile(float(fnr), float(min(power, 1.0)))
    if math.isinf(za) and math.isinf(zb) and za != zb:
        return 0.0  # the ends (0, 1) and (1, 0), on every curve
    return (za + zb) * (1 + 4 * U) + QUANTILE * (abs(za) + abs(zb))


# A mu that dominates, noise by noise.


@singledispatch
def _dominated(node: Scheme) -> float:
    """Of a mechanism whose losses are bounded."""
    lowest, highest = node.support("upper")
    loss = max(-lowest, highest)
    if not loss < 700:
        return math.inf
    small = 1 / (1 + math.exp(loss))
    return 2 * quantile(small * (1 - 8 * U), 1 - small) * (1 + QUANTILE)


@_dominated.register
def _(node: Gaussian) -> float:
    return node.sensitivity / node.sigma


@_dominated.register
def _(node: GaussianMixture) -> float:
    return max(_reaches(node))


@_dominated.register
def _(node: Repeat) -> float:
    return math.sqrt(node.rounds) * _dominated(node.of)


@_dominated.register
def _(node: Compose) -> float:
    return math.hypot(*(_dominated(part) for part in node.parts))


@_dominated.register(Subsample)
@_dominated.register(Swap)
def _(node: Subsample | Swap) -> float:
    return _dominated(node.of)


@_dominated.register
def _(node: Allocate) -> float:
    return math.sqrt(node.picks) * _dominated(node.of)


@_dominated.register
def _(node: Allocation) -> float:
    return max(_dominated(of) for (of, _), share in zip(node.parts, node.shares(), strict=True) if share > 0)


def _reaches(node: GaussianMixture) -> list[float]:
    return [float(s) / node.sigma for s, w in zip(node.sensitivities, node.weights, strict=True) if w > 0]


# What the tails of P against Q, and of Q against P, need: of Gaussians alone, the others being looked away from.

Tails = tuple[float, float]


@singledispatch
def _in_the_tails(node: Scheme) -> Tails:
    return 0.0, 0.0


@_in_the_tails.register
def _(node: Gaussian) -> Tails:
    return node.sensitivity / node.sigma, node.sensitivity / node.sigma


@_in_the_tails.register
def _(node: GaussianMixture) -> Tails:
    """In the other tail, P is nowhere above its part that is nearest to Q."""
    return max(_reaches(node)), min(_reaches(node))


@_in_the_tails.register
def _(node: Repeat) -> Tails:
    p, q = _in_the_tails(node.of)
    return math.sqrt(node.rounds) * p, math.sqrt(node.rounds) * q


@_in_the_tails.register
def _(node: Compose) -> Tails:
    p, q = zip(*(_in_the_tails(part) for part in node.parts), strict=True)
    return math.hypot(*p), math.hypot(*q)


@_in_the_tails.register
def _(node: Swap) -> Tails:
    p, q = _in_the_tails(node.of)
    return q, p


@_in_the_tails.register
def _(node: Subsample) -> Tails:
    p, q = _in_the_tails(node.of)
    return p, q if node.rate == 1 else 0.0


@_in_the_tails.register
def _(node: Allocate) -> Tails:
    p, q = _in_the_tails(node.of)
    return math.sqrt(node.picks) * p, math.sqrt(node.picks) * q if node.picks == node.steps else 0.0


@_in_the_tails.register
def _(node: Allocation) -> Tails:
    rows = zip(node.parts, node.shares(), strict=True)
    return max(_in_the_tails(of)[0] for (of, _), share in rows if share > 0), 0.0

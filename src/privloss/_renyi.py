"""Renyi divergences: D_a = log E_Q[X^a] / (a - 1) for "remove" and log E_Q[X^(1-a)] / (a - 1) for "add", X = P/Q.

Everything is a logarithm of a moment, rounded to the side asked for. Whole orders follow a scheme exactly:

* composition: logarithms add;
* subsampling: E (1-r + r X)^a = 1 + sum over j >= 2 of C(a, j) (1-r)^(a-j) r^j (E X^j - 1), non-negative terms;
* 1-out-of-t, remove: E (sum of t X)^a = a! [z^a] b(z)^t with b_j = E X^j / j!, a power of a series [FS25]. Powers are
  by J. C. P. Miller's recursion, n c_n = sum over k of (k (t+1) - n) b_k c_(n-k), which has no negative term while
  n <= t + 1 and so costs a^2 whatever t is, and errs by n roundings; else by repeated squaring;
* negative moments of a mean or a mixture, for add: E X^-s = integral of u^(s-1) e^-u g(u) du / (s-1)!, where
  g(u) = E e^(-u (X-1)) is convex, and g of a mean of t is g(u/t)^t, of a mixture g(r u). Between points g is at most
  its chord, and its mean over a cell is at least its value at the cell's centre of mass. One step's g is that of its
  pair from either side, convex functions of the ratio being raised by a spread and lowered by a merge. What is beyond
  the last point U is at most E X^-r (r/e)^r U^(s-r) / (r-s), for any r > s.

Between whole orders log E X^a is convex in a: chords are above it, and the extensions of neighbouring chords below.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import lru_cache, singledispatch
from typing import TYPE_CHECKING, Literal

import numpy as np

from privloss import _check
from privloss._ask import Ask, Side
from privloss._bracket import MET, ORDERS, Bracket
from privloss._mechanisms import DiscreteGaussian, Gaussian, Laplace
from privloss._operations import Allocate, Allocation, Compose, Repeat, Subsample, Swap
from privloss._pair import FloatArray, IntArray, Pair, U
from privloss._questions import largest_loss, too_deep, values_of
from privloss._rewrite import allocate, simplify
from privloss._scheme import Mechanism, Scheme

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Either = Literal["remove", "add", "both"]
MOST_ORDER = 2000
CELL = 1.02  # ratio of neighbouring points of u
SPACING, TAIL, POINTS, VANISHED = 0.01, 1e-200, 4000, 1e-280  # of the pair of one step, for its g
FARTHEST = 1e30  # of u


def renyi(scheme: Scheme, order: ArrayLike, *, direction: Either = "both") -> Bracket:
    """What ``Scheme.renyi`` answers."""
    _check.choice(direction=direction, among=("remove", "add", "both"))
    values, shape = values_of("order", order, -math.inf, math.inf)
    ends = [_ends(scheme, float(value), direction) for value in values]
    lower, upper = (np.array([end[i] for end in ends]).reshape(shape) for i in (0, 1))
    finite = np.isfinite(upper)
    reason = ORDERS if np.any(upper[finite] - lower[finite] > 1e-3 * upper[finite]) else MET
    if shape == ():
        return Bracket(float(lower), float(upper), "upper", scheme.exact, reason)
    return Bracket(lower, upper, "upper", scheme.exact, reason)


def _ends(scheme: Scheme, order: float, direction: Either) -> tuple[float, float]:
    if not order > 1:
        raise ValueError(f"order must be above 1, got {order!r}")
    if order == math.inf:
        return largest_loss(scheme, direction)
    if order > MOST_ORDER:
        raise ValueError(f"order must be at most {MOST_ORDER}, or inf, got {order!r}")
    ways = ("remove", "add") if direction == "both" else (direction,)
    found = [_between(scheme, order, way) for way in ways]
    return max(low for low, _ in found), max(high for _, high in found)


def _between(scheme: Scheme, order: float, way: str) -> tuple[float, float]:
    below = math.floor(order)
    if below == order:
        wanted = [below]
    else:
        wanted = sorted({max(below - 1, 1), below, below + 1, below + 2})
    low, high = (
        dict(zip(wanted, logs(scheme, wanted, way, side).tolist(), strict=True)) for side in ("lower", "upper")
    )
    if below == order:
        return max(low[below] / (order - 1), 0.0), high[below] / (order - 1)
    share = order - below
    upper = (1 - share) * high[below] + share * high[below + 1]
    slopes = [low[below] + share * (low[below] - high[below - 1])] if below > 1 else [0.0]
    slopes.append(low[below + 1] - (1 - share) * (high[below + 2] - low[below + 1]))
    if low[below + 1] == math.inf:  # mass of one side alone: so it is at every order above 1
        return math.inf, math.inf
    lower = max([0.0, *(each for each in slopes if math.isfinite(each))])
    rounding = 16 * U * (1 + upper + lower) if upper < math.inf else 0.0
    return max(lower - rounding, 0.0) / (order - 1), (upper + rounding) / (order - 1)


def logs(scheme: Scheme, orders: Sequence[int], way: str, side: Side) -> FloatArray:
    """log E_Q[X^a], or log E_Q[X^(1-a)] for "add", at whole orders a >= 1, rounded to ``side``; divide by a - 1.

    >>> from privloss import Gaussian
    >>> logs(Gaussian(1.0), [2, 3], "remove", "upper").round(9).tolist()
    [1.0, 3.0]
    """
    try:
        if _alone(scheme)[0 if way == "remove" else 1]:
            return np.where(np.asarray(orders) == 1, 0.0, np.inf)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            if way == "remove":
                found = _remove(scheme, max(orders), side)[np.asarray(orders)]
            else:
                found = _add(scheme, [a - 1 for a in orders], side)
            most = sys.float_info.max if side == "lower" else math.inf  # beyond all doubles is not infinite
            return np.asarray(np.clip(found, 0.0, most))
    except RecursionError:
        raise too_deep(scheme) from None


# Whether P and Q have mass of their own, which makes moments infinite; noise has none.


@singledispatch
def _alone(node: Scheme) -> tuple[bool, bool]:
    """(p, q): of a mechanism."""
    law = node.law(Ask("lower", "remove", 0.1, 0.0, -1.0, -1.0))
    return (law.p_only > 0, law.q_only > 0) if isinstance(law, Pair) else (False, False)


@_alone.register(Repeat)
@_alone.register(Allocate)
def _(node: Repeat | Allocate) -> tuple[bool, bool]:
    return _alone(node.of)


@_alone.register
def _(node: Compose) -> tuple[bool, bool]:
    p, q = zip(*(_alone(part) for part in node.parts), strict=True)
    return any(p), any(q)


@_alone.register
def _(node: Swap) -> tuple[bool, bool]:
    p, q = _alone(node.of)
    return q, p


@_alone.register
def _(node: Subsample) -> tuple[bool, bool]:
    p, q = _alone(node.of)
    return p, q and node.rate == 1


@_alone.register
def _(node: Allocation) -> tuple[bool, bool]:
    rows = zip(node.parts, node.shares(), strict=True)
    p, q = zip(*(_alone(of) for (of, _), share in rows if share > 0), strict=True)
    return any(p), all(q)


# Rounding.


def out(values: FloatArray, side: Side, ulps: FloatArray | float) -> FloatArray:
    """Moved away from the true value by so many units, of 1 and of the values themselves."""
    finite = np.where(np.isfinite(values), values, 0.0)
    error = U * np.asarray(ulps) * (1.0 + np.abs(finite))
    moved: FloatArray = values + error if side == "upper" else values - error
    return moved


def _log_sum(values: FloatArray) -> FloatArray:
    """Over the last axis. With shifts at most 0 it errs by n + 16 units of 1 (|d| e^-|d| < 1) and its own rounding."""
    top = np.max(values, axis=-1, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0.0)
    total = safe + np.log(np.exp(values - safe[..., None]).sum(axis=-1))
    return np.asarray(np.where(np.isfinite(top), total, top))


@lru_cache(maxsize=8)
def factorials(most: int) -> FloatArray:
    """log j! for j up to ``most``, each within 4 units of itself."""
    terms = np.log(np.maximum(np.arange(most + 1, dtype=np.float64), 1.0)).tolist()
    found: FloatArray = np.array([math.fsum(terms[: j + 1]) for j in range(most + 1)])
    found.setflags(write=False)
    return found


# Positive moments, E_Q[X^a] for a = 0..most.


@singledispatch
def _remove(node: Scheme, most: int, side: Side) -> FloatArray:
    return _leaf(node, np.arange(most + 1, dtype=np.float64), side)


@_remove.register
def _(node: Repeat, most: int, side: Side) -> FloatArray:
    return out(node.rounds * _remove(node.of, most, side), side, 2)


@_remove.register
def _(node: Compose, most: int, side: Side) -> FloatArray:
    counted = [_remove(part, most, side) for part in node.parts]
    return out(np.sum(counted, axis=0), side, 2 * len(counted))


@_remove.register
def _(node: Swap, most: int, side: Side) -> FloatArray:
    if most < 2:
        return np.zeros(most + 1)
    return np.concatenate(([0.0], _add(node.of, range(most), side)))


@_remove.register
def _(node: Subsample, most: int, side: Side) -> FloatArray:
    return subsampled(_remove(node.of, most, side), node.rate, side)


@_remove.register
def _(node: Allocate, most: int, side: Side) -> FloatArray:
    if node.picks > 1:
        return _remove(allocate(node.of, node.steps, node.picks), most, side)
    return averaged(_remove(node.of, most, side), node.steps, side)


@_remove.register
def _(node: Allocation, most: int, side: Side) -> FloatArray:
    orders, product = np.arange(most + 1), None
    for (of, steps), share in zip(node.parts, node.shares(), strict=True):
        if share == 0:
            continue
        scale = orders * (math.log(share) - math.log(steps))
        series = out(_remove(of, most, side) - factorials(most) + scale, side, 8)
        power = series_power(series, steps, side)
        product = power if product is None else series_product(product, power, side)
    assert product is not None
    return _pinned(out(product + factorials(most), side, 8))


def _pinned(moments: FloatArray) -> FloatArray:
    """E X^0 = E X = 1, whatever rounding says (where P has mass of its own, higher moments are infinite)."""
    moments = moments.copy()
    moments[:2] = 0.0
    return moments


def subsampled(moments: FloatArray, rate: float, side: Side) -> FloatArray:
    """log E (1 - rate + rate X)^a from log E X^a."""
    if rate == 1:
        return moments
    most = moments.size - 1
    whole, orders = factorials(most), np.arange(most + 1)
    found, skip = np.zeros(most + 1), math.log1p(-rate)
    with np.errstate(divide="ignore"):
        gains = np.log(np.expm1(np.clip(moments, 0.0, 40.0)))  # log(E X^j - 1), and for large moments themselves
    gains = np.where(moments > 36, moments, gains)
    for a in range(2, most + 1):
        j = orders[2 : a + 1]
        terms = whole[a] - whole[j] - whole[a - j] + (a - j) * skip + j * math.log(rate) + gains[j]
        size = float(np.max(np.abs(terms[np.isfinite(terms)]), initial=0.0) + whole[a])
        total = float(_log_sum(terms)) + (1 if side == "upper" else -1) * U * (a + 64 + 32 * size + 8 * a * (1 - skip))
        found[a] = total + math.log1p(math.exp(-total)) if total > 0 else math.log1p(math.exp(total))
    return out(found, side, 8)


def averaged(moments: FloatArray, steps: int, side: Side, how: str = "") -> FloatArray:
    """log E (mean of ``steps`` ratios)^a from log E X^a."""
    if steps == 1:
        return moments
    most = moments.size - 1
    series = series_power(out(moments - factorials(most), side, 8), steps, side, how)
    return _pinned(out(series + factorials(most) - np.arange(most + 1) * math.log(steps), side, 8 + 2 * most))


def series_power(series: FloatArray, power: int, side: Side, how: str = "") -> FloatArray:
    """Logarithms of the coefficients of b(z)^power, of a series with b_0 = 1: by "recursion" or by "squaring"."""
    if how == "squaring" or (how == "" and power + 1 < series.size - 1):
        return _squared(series, power, side)
    return _recursion(series, power, side)


def _recursion(b: FloatArray, t: int, side: Side) -> FloatArray:
    if b.size - 1 > t + 1:
        raise ValueError(f"order must be at most steps + 1 = {t + 1} for the recursion, got {b.size - 1}")
    c = np.zeros(b.size)
    for n in range(1, b.size):
        k = np.arange(1, n + 1, dtype=np.float64)
        factors = (k * (t + 1.0) - n) / n
        with np.errstate(divide="ignore", invalid="ignore"):  # n = t + 1: no term k = 1, were it infinite
            terms = np.where(factors > 0, np.log(factors) + b[1 : n + 1] + c[n - 1 :: -1], -np.inf)
        size = float(np.max(np.abs(terms[np.isfinite(terms)]), initial=0.0))
        size += float(np.max(np.abs(b[1 : n + 1][np.isfinite(b[1 : n + 1])]), initial=0.0))
        c[n] = float(_log_sum(terms)) + (1 if side == "upper" else -1) * U * (n + 32 + 8 * size)
    return c


def _squared(b: FloatArray, t: int, side: Side) -> FloatArray:
    found: FloatArray | None = None
    while True:
        if t & 1:
            found = b if found is None else series_product(found, b, side)
        t >>= 1
        if not t:
            assert found is not None
            return found
        b = series_product(b, b, side)


def series_product(x: FloatArray, y: FloatArray, side: Side) -> FloatArray:
    n = x.size
    table = np.full((n, n), -np.inf)
    for k in range(n):
        table[k:, k] = x[k] + y[: n - k]
    size = np.max(np.abs(np.where(np.isfinite(table), table, 0.0)), axis=1)
    for each in (x, y):
        size += float(np.max(np.abs(np.where(np.isfinite(each), each, 0.0))))
    error = U * (n + 32 + 4 * size)
    return np.asarray(_log_sum(table) + (error if side == "upper" else -error))


# Negative moments, E_Q[X^-s].


@singledispatch
def _add(node: Scheme, orders: Sequence[int], side: Side) -> FloatArray:
    return _leaf(node, -np.asarray(orders, np.float64), side)


@_add.register
def _(node: Repeat, orders: Sequence[int], side: Side) -> FloatArray:
    return out(node.rounds * _add(node.of, orders, side), side, 2)


@_add.register
def _(node: Compose, orders: Sequence[int], side: Side) -> FloatArray:
    counted = [_add(part, orders, side) for part in node.parts]
    return out(np.sum(counted, axis=0), side, 2 * len(counted))


@_add.register
def _(node: Swap, orders: Sequence[int], side: Side) -> FloatArray:
    return np.asarray(_remove(node.of, max(orders) + 1, side)[np.asarray(orders) + 1])


@_add.register
def _(node: Subsample, orders: Sequence[int], side: Side) -> FloatArray:
    if node.rate == 1:
        return _add(node.of, orders, side)
    return _integrals(node, orders, side)


@_add.register
def _(node: Allocate, orders: Sequence[int], side: Side) -> FloatArray:
    if node.picks > 1:
        return _add(allocate(node.of, node.steps, node.picks), orders, side)
    if node.steps == 1:
        return _add(node.of, orders, side)
    return _integrals(node, orders, side)


@_add.register
def _(node: Allocation, orders: Sequence[int], side: Side) -> FloatArray:
    return _integrals(node, orders, side)


def _integrals(node: Scheme, orders: Sequence[int], side: Side) -> FloatArray:
    """log E X^-s for whole s, as an integral over u: of e^-u g(u) while u is moderate, of E e^(-u X) itself beyond."""
    wanted = np.asarray(orders)
    most = int(wanted.max())
    if most == 0:
        return np.zeros(wanted.size)
    if side == "upper" and worst(node, float(most)) == math.inf:
        return np.where(wanted == 0, 0.0, np.inf)
    last = math.ceil(math.log(4.0 * most + 64.0) / math.log(CELL))
    near: FloatArray = np.concatenate(([0.0], CELL ** np.arange(-150, last + 1)))
    found = _summed(node, near, wanted, side, 1.0)
    tails = _beyond(node, wanted, float(near[-1]))
    while not np.all(tails <= found - 30.0) and CELL**last < FARTHEST:
        far: FloatArray = np.asarray(CELL ** np.arange(last, last + 250), np.float64)
        last += 249
        found = np.logaddexp(found, _summed(node, far, wanted, side, 0.0))
        tails = _beyond(node, wanted, float(far[-1]))
    if side == "upper":
        found = np.logaddexp(found, tails)
    return np.where(wanted == 0, 0.0, out(found, side, 64 + 8 * most * (1 + last * math.log(CELL))))


@lru_cache(maxsize=16)
def rule(most: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on (0, 1), enough of them for u^(most-1) e^-u on one cell."""
    nodes, weights = np.polynomial.legendre.leggauss(16 if most <= 256 else 48)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def _summed(node: Scheme, points: FloatArray, orders: IntArray, side: Side, shift: float) -> FloatArray:
    """The integral from the first to the last point, cell by cell, with e^(-u shift) taken out of g."""
    left, width = points[:-1, None], np.diff(points)[:, None]
    nodes, parts = rule(int(orders.max()))
    u = left + width * nodes
    shares = np.log(width) + np.log(parts) - u * shift
    found, remainder = np.zeros(orders.size), 1e-13  # more than that of these nodes on u^(s-1) e^-u
    if side == "upper":
        g = _log_g(node, points, side, shift)
        chord = np.logaddexp(np.log1p(-nodes) + g[:-1, None], np.log(nodes) + g[1:, None])
    for i, s in enumerate(orders.tolist()):
        weights = (s - 1) * np.log(u) + shares - math.lgamma(max(s, 1))
        if side == "upper":
            found[i] = float(_log_sum((weights + chord).ravel())) + remainder
        else:
            cells = _log_sum(weights)
            centres = (np.exp(weights - cells[:, None]) * u).sum(axis=1)
            found[i] = float(_log_sum(cells + _log_g(node, centres, side, shift))) - remainder
    return found


def _beyond(node: Scheme, orders: IntArray, end: float) -> FloatArray:
    """log of what the integral has beyond ``end``, at most."""
    found = np.full(orders.size, math.inf)
    for i, s in enumerate(orders.tolist()):
        for more in 2.0 ** np.arange(13):
            r = s + 0.5 * more
            bound = worst(node, r) + r * (math.log(r) - 1) + (s - r) * math.log(end) - math.log(r - s)
            found[i] = min(found[i], bound - math.lgamma(max(s, 1)))
    return found


# An upper bound on log E X^-r at any real r: of a mean by Jensen's inequality, in two ways.


@lru_cache(maxsize=10_000)
def worst(node: Scheme, r: float) -> float:
    """Kept, since a mean of means asks the same of its parts along many ways."""
    return _worst(node, r)


@singledispatch
def _worst(node: Scheme, r: float) -> float:
    """Of a mechanism."""
    return float(_leaf(node, np.array([-r]), "upper")[0])


@_worst.register
def _(node: Repeat, r: float) -> float:
    return node.rounds * worst(node.of, r)


@_worst.register
def _(node: Compose, r: float) -> float:
    return math.fsum(worst(part, r) for part in node.parts)


@_worst.register
def _(node: Swap, r: float) -> float:
    order = math.ceil(r) + 1
    return float(_column(node.of, min(1 << (order - 1).bit_length(), -(-order // 512) * 512))[order])


@lru_cache(maxsize=16)
def _column(node: Scheme, most: int) -> FloatArray:
    """Moments up to one of a few orders, since tails are asked for at hundreds."""
    return _remove(node, most, "upper")


@_worst.register
def _(node: Subsample, r: float) -> float:
    return min(worst(node.of, r), -r * math.log1p(-node.rate) if node.rate < 1 else math.inf)


@_worst.register
def _(node: Allocate, r: float) -> float:
    if node.picks > 1:
        return worst(allocate(node.of, node.steps, node.picks), r)
    return min(worst(node.of, r), node.steps * worst(node.of, r / node.steps))


@_worst.register
def _(node: Allocation, r: float) -> float:
    """By Jensen's inequality, or with one part alone, since the others are at least 0."""
    each = [(worst(of, r), share) for (of, _), share in zip(node.parts, node.shares(), strict=True) if share > 0]
    return min(max(bound for bound, _ in each), *(bound - r * math.log(share) for bound, share in each))


# log E e^(-u (X - shift)), with shift 1 or 0.


@singledispatch
def _log_g(node: Scheme, u: FloatArray, side: Side, shift: float) -> FloatArray:
    """From the pair of a scheme."""
    return pair_g(_fine(simplify(node), side), u, side, shift)


@_log_g.register
def _(node: Subsample, u: FloatArray, side: Side, shift: float) -> FloatArray:
    return _log_g(node.of, node.rate * u, side, shift) - u * ((1 - node.rate) * (1 - shift))


@_log_g.register
def _(node: Allocate, u: FloatArray, side: Side, shift: float) -> FloatArray:
    if node.picks > 1:
        return _log_g(allocate(node.of, node.steps, node.picks), u, side, shift)
    return node.steps * _log_g(node.of, u / node.steps, side, shift)


@_log_g.register
def _(node: Allocation, u: FloatArray, side: Side, shift: float) -> FloatArray:
    rows = zip(node.parts, node.shares(), strict=True)
    return np.asarray(np.sum([n * _log_g(of, u * (share / n), side, shift) for (of, n), share in rows], axis=0))


@lru_cache(maxsize=16)
def _fine(plain: Scheme, side: Side) -> Pair:
    """A pair on even points from tail to tail: high orders look far out, where lattices for answers are coarse."""
    law = plain.law(Ask(side, "remove", SPACING, TAIL, -20.0, -20.0, nested=True))
    if isinstance(law, Pair):
        return law
    low, high = law.window(TAIL, TAIL)
    points = np.linspace(low, high, POINTS)
    if side == "upper":
        got = law.hats(points)
        return Pair(points, got.q, got.p, got.q_only, got.p_only, side, law.eta_q, law.eta_x)
    got = law.cells(points)
    kept = (got.q > VANISHED) & (got.p > VANISHED)  # a lower measure may lose mass
    q, p = got.q[kept], got.p[kept]
    return Pair(np.log(p / q), q, p, 0.0, 0.0, side, law.eta_q, law.eta_x + 2 * law.eta_q + 32 * U)


def pair_g(pair: Pair, u: FloatArray, side: Side, shift: float) -> FloatArray:
    """Near 0, 1 + u p_only + E[h(u (X - 1))] with h(y) = e^-y - 1 + y; beyond, the sum as it is.

    Allowances: (1 + eta_q) on masses; ratios off by eta_x move h by at most |1 - e^-y| u x eta_x, doubled for the
    second order.
    """
    sign = 1.0 if side == "upper" else -1.0
    x = np.concatenate(([0.0], np.exp(np.minimum(pair.loss, 700.0))))
    q = np.concatenate(([pair.q_only], pair.q))
    eta = 1.0 + sign * (pair.eta_q + (x.size + 64) * U)
    outer, logs_q = x * (1.0 - sign * (pair.eta_x + 4 * U)), np.log(q)
    found, rows = np.zeros(u.size), max(2**13 // x.size, 1)
    for chosen in (np.flatnonzero(u > 0.5), np.flatnonzero(u <= 0.5)):
        for start in range(0, chosen.size, rows):
            part = chosen[start : start + rows]
            v = u[part]
            if v[0] > 0.5:
                total = _log_sum(logs_q - v[:, None] * outer)
                found[part] = total + v * shift + math.log(eta) + sign * 16 * U * (1 + v * shift)
            else:
                y = np.minimum(v[:, None] * (x - 1.0), 1e280)
                slope = np.abs(np.expm1(-y)) * np.minimum(v[:, None] * x, 1e280)
                slip = 2 * (pair.eta_x + 8 * U) * (slope @ q)
                total = (_bend(y) @ q + v * pair.p_only) * (1.0 + sign * 1e-11) * eta + sign * slip
                grown = np.log1p(np.maximum(total, 0.0)) * (1.0 + sign * 4 * U)
                found[part] = grown - v * (1.0 - shift) * (1.0 - sign * 4 * U)
    return found


def _bend(y: FloatArray) -> FloatArray:
    """e^-y - 1 + y, to 1e-11 of itself: by its series where |y| < 0.03."""
    z = np.where(np.abs(y) < 0.03, y, 0.0)
    series = z * z / 2 * (1 - z / 3 * (1 - z / 4 * (1 - z / 5 * (1 - z / 6 * (1 - z / 7)))))
    return np.where(np.abs(y) < 0.03, series, np.expm1(-y) + y)


# One step.


def _leaf(node: Scheme, orders: FloatArray, side: Side) -> FloatArray:
    """log E_Q[X^a] of a mechanism, at real orders a <= 0 or a >= 1."""
    return np.where((orders == 0) | (orders == 1), 0.0, out(_moments(node, orders, side), side, 64))


@singledispatch
def _moments(node: Scheme, orders: FloatArray, side: Side) -> FloatArray:
    """From its list of outcomes."""
    law = node.law(Ask(side, "remove", 0.1, 0.0, -1.0, -1.0)) if isinstance(node, Mechanism) else None
    if not isinstance(law, Pair):
        raise ValueError(
            "scheme must be built from Gaussian, Laplace or discrete Gaussian noise, or from a list of outcomes, for a "
            f"Renyi divergence, got {_check.show(node)}"
        )
    values = np.log(law.q) + orders[:, None] * law.loss
    sign = 1.0 if side == "upper" else -1.0
    found = _log_sum(values) + sign * (law.eta_q + np.abs(orders) * (law.eta_x + 8 * U) + (law.loss.size + 64) * U)
    found = np.where((orders > 1) & (law.p_only > 0), np.inf, found)
    return np.where((orders < 0) & (law.q_only > 0), np.inf, found)


@_moments.register(Gaussian)
@_moments.register(DiscreteGaussian)
def _(node: Gaussian | DiscreteGaussian, a: FloatArray, side: Side) -> FloatArray:
    """a (a-1)/2 (sensitivity/sigma)^2; on the integers too at whole orders, and at most that between [CKS20]."""
    mu = node.sensitivity / node.sigma
    return a * (a - 1) / 2 * mu * mu


@_moments.register
def _(node: Laplace, a: FloatArray, side: Side) -> FloatArray:
    """a/(2a-1) e^((a-1) r) + (a-1)/(2a-1) e^(-a r), r = sensitivity/scale [Mironov 2017, Table II]; alike at 1 - a."""
    r = node.sensitivity / node.scale
    a = np.where(a < 0.5, 1 - a, a)
    rest = np.where(a == 1, -np.inf, np.log(np.maximum(a - 1, 1e-300) / a) - (2 * a - 1) * r)
    return np.log(a / (2 * a - 1)) + (a - 1) * r + np.log1p(np.exp(rest))

"""Gauss-Legendre panels, and exponents carried as an unevaluated sum of two doubles.

A positive integral over a panel is a positive combination of values at the nodes, so its relative error is
that of one value, plus the remainder of the rule, plus a sum of at most 16 terms. Two things would spoil
that in a tail, and both are avoided here: an argument of exp of size 700 rounded to one double (relative
error 8e-14), and a rule too short for the growth of the integrand over the panel.

Remainder: with f analytic and at most M in the Bernstein ellipse of parameter rho, the N-point rule on [-1,
1] errs by at most 64 M rho^(-2N) / (15 (1 - rho^-2)). For f = e^(-s t - t^2/2) V(t) on [0, w], where V is 1
or (1 - e^(at - h)) / (1 - e^-h) with a w <= h, put size = |s| w/2 + h/2 + w. Minimised over rho, the bound
is below 2e-17 of the integral for every size up to the rule's ``limit`` (a test recomputes it).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privloss._pair import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

ROOT = 1.0 / math.sqrt(2.0 * math.pi)
EDGE = 39.0  # standard deviations: the density there is below 1e-330
SPLITTER = 134217729.0  # 2^27 + 1


class Rule(NamedTuple):
    """Nodes and weights on [0, 1]; ``nodes[::-1]`` is ``1 - nodes``, to full relative accuracy."""

    limit: float
    nodes: FloatArray
    weights: FloatArray


def _rule(limit: float, half: tuple[tuple[float, float, float], ...]) -> Rule:
    low, high, weight = (np.array(column) for column in zip(*half, strict=True))
    return Rule(limit, np.concatenate((low, high[::-1])), np.concatenate((weight, weight[::-1])))


RULES = (
    _rule(
        0.017,
        (
            (0.06943184420297371, 0.9305681557970263, 0.17392742256872692),
            (0.33000947820757187, 0.6699905217924281, 0.32607257743127305),
        ),
    ),
    _rule(
        0.24,
        (
            (0.03376524289842399, 0.966234757101576, 0.08566224618958518),
            (0.16939530676686773, 0.8306046932331322, 0.1803807865240693),
            (0.38069040695840156, 0.6193095930415985, 0.23395696728634552),
        ),
    ),
    _rule(
        0.7,
        (
            (0.019855071751231884, 0.9801449282487681, 0.05061426814518813),
            (0.10166676129318664, 0.8983332387068134, 0.11119051722668724),
            (0.2372337950418355, 0.7627662049581645, 0.15685332293894363),
            (0.4082826787521751, 0.591717321247825, 0.181341891689181),
        ),
    ),
    _rule(
        2.0,
        (
            (0.009219682876640375, 0.9907803171233597, 0.023587668193255914),
            (0.04794137181476257, 0.9520586281852375, 0.05346966299765921),
            (0.11504866290284765, 0.8849513370971523, 0.08003916427167311),
            (0.2063410228566913, 0.7936589771433087, 0.10158371336153296),
            (0.3160842505009099, 0.6839157494990901, 0.1167462682691774),
            (0.43738329574426554, 0.5626167042557345, 0.12457352290670139),
        ),
    ),
    _rule(
        3.3,
        (
            (0.005299532504175033, 0.994700467495825, 0.013576229705877048),
            (0.02771248846338371, 0.9722875115366163, 0.031126761969323947),
            (0.06718439880608412, 0.9328156011939158, 0.04757925584124639),
            (0.12229779582249849, 0.8777022041775016, 0.06231448562776694),
            (0.19106187779867811, 0.8089381222013219, 0.07479799440828837),
            (0.2709916111713863, 0.7290083888286137, 0.08457825969750127),
            (0.35919822461037054, 0.6408017753896295, 0.09130170752246179),
            (0.4524937450811813, 0.5475062549188188, 0.09472530522753425),
        ),
    ),
)
LIMITS = np.array([rule.limit for rule in RULES])
WIDEST = RULES[-1]


def tiers(size: FloatArray) -> IntArray:
    """Which rule serves a panel of this size; ``len(RULES)`` when it must be cut first."""
    return np.searchsorted(LIMITS, size).astype(np.int64)


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b without error, as a double and its rounding (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a * b without error, as a double and its rounding (Dekker, Veltkamp)."""
    product = a * b
    scaled_a, scaled_b = SPLITTER * a, SPLITTER * b
    high_a, high_b = scaled_a - (scaled_a - a), scaled_b - (scaled_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def divide(a: FloatArray, b: float) -> tuple[FloatArray, FloatArray]:
    """a / b as a double and its rounding."""
    b, exponent = math.frexp(b)  # by a number near 1, so that no product overflows
    a = np.ldexp(a, -exponent)
    high = a / b
    product, rest = two_product(high, np.asarray(b))
    return high, ((a - product) - rest) / b


def quotient(a: float, b: float) -> tuple[float, float]:
    """a / b as a double and its rounding."""
    high, low = divide(np.asarray(a, np.float64), b)
    return float(high), float(low)


def exp_sum(*terms: FloatArray) -> FloatArray:
    """e to the sum of the terms, the sum rounded only after exp; -inf gives 0."""
    total, rest = np.asarray(terms[0]), np.zeros(())
    for term in terms[1:]:
        total, more = two_sum(total, term)
        rest = rest + more
    value: FloatArray = np.where(np.isneginf(total), 0.0, np.exp(total) * (1.0 + rest))
    return value


def density(high: FloatArray, low: FloatArray) -> FloatArray:
    """Standard normal density at high + low, to a few ulps at any distance."""
    square, rest = two_product(high, high)
    value: FloatArray = ROOT * (np.exp(-0.5 * square) * (1.0 - (0.5 * rest + high * low)))
    return value


def tilted(
    high: FloatArray, low: FloatArray, exponent: FloatArray, rest: FloatArray | float = 0.0
) -> FloatArray:
    """Standard normal density at high + low, times e^(exponent + rest), as one exponent."""
    square, under = two_product(high, high)
    total, last = two_sum(-0.5 * square, exponent)
    value: FloatArray = ROOT * (np.exp(total) * (1.0 + (last + rest - 0.5 * under - high * low)))
    return value


def gather(mass: FloatArray, cell: IntArray, values: FloatArray) -> None:
    """Add each value to its cell; the cells are non-decreasing, and each is summed pairwise."""
    if cell.size:
        starts = np.flatnonzero(np.diff(cell, prepend=cell[0] - 1))
        mass[cell[starts]] += np.add.reduceat(values, starts)


def decay(slope: FloatArray, offset: FloatArray) -> FloatArray:
    """e^(-slope t - t^2/2) at the nodes t = ``offset`` (panels by nodes)."""
    # Beyond e^700 the density it multiplies has vanished.
    value: FloatArray = np.exp(np.minimum(-offset * (slope[:, None] + 0.5 * offset), 700.0))
    return value

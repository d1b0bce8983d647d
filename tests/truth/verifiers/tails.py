"""Binomial tails by the continued fraction of the regularised incomplete beta function (DLMF 8.17.22)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
from mpmath import mp, mpf


def above(n: int, q: Any, m: int) -> Any:
    """P(Bin(n, q) >= m) = I_q(m, n - m + 1)."""
    if m <= 0:
        return mpf(1)
    if m > n or q == 0:
        return mpf(0)
    if q == 1:
        return mpf(1)
    return _beta(q, m, n - m + 1)


def below(n: int, q: Any, m: int) -> Any:
    """P(Bin(n, q) < m), not by subtraction where it is small."""
    return above(n, 1 - q, n - m + 1)


def _beta(x: Any, a: int, b: int) -> Any:
    """I_x(a, b); the fraction is quick for x below the mean of the beta law, else the other tail is taken."""
    if x * (a + b + 2) > a + 1:
        return 1 - _beta_tail(1 - x, b, a)
    return _beta_tail(x, a, b)


def _beta_tail(x: Any, a: int, b: int) -> Any:
    front = mpmath.exp(a * mpmath.log(x) + b * mpmath.log1p(-x)) / (a * mpmath.beta(a, b))
    return front / _fraction(_terms(x, a, b))


def _terms(x: Any, a: int, b: int) -> Iterator[Any]:
    m = 0
    while True:
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        m += 1
        yield m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def _fraction(terms: Iterator[Any]) -> Any:
    """1 + d_1/(1 + d_2/(1 + ...)), by the method of Lentz."""
    value = c = mpf(1)
    d = mpf(0)
    for term in terms:
        d = 1 / (1 + term * d)
        c = 1 + term / c
        value *= c * d
        if abs(c * d - 1) < mpf(10) ** (3 - mp.dps):
            return value
    raise AssertionError("endless")

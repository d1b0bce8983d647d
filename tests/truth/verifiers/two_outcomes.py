"""Two outcomes by tails of binomial laws, each from the continued fraction of an incomplete beta function.

Let n count the first outcome in t steps, A its law without the person, Bin(t, q), and B its law with:

    composition   B(n >= m) = P(Bin(t, p) >= m)
    allocation    B(n >= m) = p P(Bin(t-1, q) >= m - 1) + (1 - p) P(Bin(t-1, q) >= m)

Subsampling and swapping outside take P and Q to combinations of A and B, so p - k q is u A + v B for two
numbers u and v, and is positive in one tail of n: delta is u A(tail) + v B(tail). What has no such form is
enumerated: step by step, in fractions (`truth.enumerate`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mpmath
from mpmath import mpf

from truth import enumerate as enumeration
from truth.closed import exactly
from truth.nodes import Node
from truth.verifiers import pairs, tails

METHOD = (
    "binomial tails by the continued fraction of the incomplete beta function (mpmath, 120 digits);"
    " nestings by convolution step by step (fractions)"
)


@dataclass(frozen=True)
class Count:
    """P = of_p[0] A + of_p[1] B, and so for Q; steps = 0 for a mechanism, of which only p and q are known."""

    p: Any
    q: Any
    steps: int = 0
    composed: bool = False
    of_p: tuple[Any, Any] = (0, 1)
    of_q: tuple[Any, Any] = (1, 0)

    @property
    def plain(self) -> bool:
        return self.of_p == (0, 1) and self.of_q == (1, 0)

    def ratio(self, n: int) -> Any:
        first, second = self.p / self.q, (1 - self.p) / (1 - self.q)
        if self.composed:
            return mpmath.exp(n * mpmath.log(first) + (self.steps - n) * mpmath.log(second))
        return second + n * (first - second) / self.steps

    def least(self, level: Any) -> int:
        """The smallest n with a ratio above the level (p > q), or steps + 1."""
        low, high = 0, self.steps + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.ratio(middle) > level else (middle + 1, high)
        return low

    def tail(self, m: int, upper: bool) -> tuple[Any, Any]:
        """A and B of n >= m, or of n < m."""
        side = tails.above if upper else tails.below
        t, p, q = self.steps, self.p, self.q
        if self.composed:
            return side(t, q, m), side(t, p, m)
        return side(t, q, m), p * side(t - 1, q, m - 1) + (1 - p) * side(t - 1, q, m)

    def curve(self, k: Any, direction: str) -> tuple[Any, Any]:
        of_p, of_q = (self.of_p, self.of_q) if direction == "remove" else (self.of_q, self.of_p)
        u, v = (a - k * b for a, b in zip(of_p, of_q, strict=True))
        if u <= 0 and v <= 0:
            return mpf(0), mpf(0)
        if u > 0 and v > 0:
            a, b = mpf(1), mpf(1)
        else:
            a, b = self.tail(self.least(-u / v), upper=v > 0)
        return u * a + v * b, of_q[0] * a + of_q[1] * b


def curve(scheme: Node, k: Any, direction: str) -> tuple[Any, Any]:
    try:
        count = counted(scheme)
    except NotImplementedError:
        return pairs.curve(_enumerated(repr(scheme), scheme), k, direction)
    return count.curve(k, direction)


def counted(node: Node) -> Count:
    """The count that decides, with p > q; NotImplementedError if there are several."""
    count = _counted(node)
    count = count if count.steps else replace(count, steps=1)
    return count if count.p > count.q else replace(count, p=1 - count.p, q=1 - count.q)


def _counted(node: Node) -> Count:
    kind = node["kind"]
    if kind == "Outcomes":
        return Count(exactly(node["p"][0]), exactly(node["q"][0]))
    if kind == "PureDP":
        e = mpmath.exp(exactly(node["epsilon"]))
        return Count(e / (1 + e), 1 / (1 + e))
    count = _counted(node["of"])
    if kind == "subsample":
        return _subsampled(count, exactly(node["rate"]))
    if kind == "swap":
        if count.steps:
            return replace(count, of_p=count.of_q, of_q=count.of_p)
        return replace(count, p=count.q, q=count.p)
    composed = kind == "repeat"
    steps = node["rounds" if composed else "steps"]
    if count.steps and (composed != count.composed or not count.plain):
        raise NotImplementedError
    return replace(count, steps=steps * max(count.steps, 1), composed=composed)


def _subsampled(count: Count, rate: Any) -> Count:
    def mixed(a: Any, b: Any) -> Any:
        return rate * a + (1 - rate) * b

    if not count.steps:
        return replace(count, p=mixed(count.p, count.q))
    first, second = (mixed(a, b) for a, b in zip(count.of_p, count.of_q, strict=True))
    return replace(count, of_p=(first, second))


_PAIRS: dict[str, enumeration.Pair] = {}


def _enumerated(text: str, scheme: Node) -> enumeration.Pair:
    if text not in _PAIRS:
        _PAIRS[text] = enumeration.pair_of(scheme)
    return _PAIRS[text]

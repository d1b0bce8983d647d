"""Small nested schemes by counting: how often each outcome came, with its multinomial coefficient.

Of n independent outcomes only the counts c_1..c_m matter. With masses p_i and q_i, the counts have

    without the person            n!/(c_1!..c_m!) prod q_i^c_i
    with, n-fold composition      n!/(c_1!..c_m!) prod p_i^c_i
    with, 1-out-of-n allocation   1/n sum over i of  n!/(c_1!..c_m!) c_i p_i q_i^(c_i - 1) prod of the other q_j^c_j

in exact fractions, zeros allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cmp_to_key
from math import factorial, lcm, prod
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth import enumerate as enumeration
from truth.closed import DIGITS, Number, exactly
from truth.enumerate import Pair
from truth.nodes import Node


class Finite:
    """Finitely many outcomes, whole numbers (p, q) over one denominator `size`, asked for delta and epsilon."""

    def __init__(self, outcomes: Iterable[tuple[int, int]], size: int) -> None:
        falling = sorted(((p, q) for p, q in outcomes if p or q), key=cmp_to_key(_rises))
        self.outcomes = {"remove": falling, "add": [(q, p) for p, q in reversed(falling)]}
        self.size = size

    @classmethod
    def of(cls, pair: Pair) -> Finite:
        p, q, size = whole(pair)
        return cls(zip(p, q, strict=True), size)

    def delta(self, epsilon: Number, direction: str) -> Fraction:
        """sum (p - k q)_+, k = e^epsilon to 100 digits."""
        k = enumeration.exp(epsilon)
        excess = (a * k.denominator - k.numerator * b for a, b in self.outcomes[direction])
        return Fraction(sum(x for x in excess if x > 0), k.denominator * self.size)

    def epsilon(self, delta: Number, direction: str) -> Any:
        """Down the kinks: between two of them delta is a - k b, the sums of p and q of the outcomes passed."""
        target = Fraction(delta) * self.size
        top, unit = target.numerator, target.denominator
        a = b = 0
        for p, q in self.outcomes[direction]:
            if (a * q - p * b) * unit > top * q:
                break
            a, b = a + p, b + q
        if a <= target:
            return mpf(0)
        with mp.workdps(DIGITS):
            return max(mpf(0), mpmath.log(exactly((a - target) / b))) if b else mpmath.inf


def _rises(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Negative if the ratio p/q of the first is the larger."""
    return other[0] * one[1] - one[0] * other[1]


def pair_of(node: Node) -> Pair:
    """The outcomes of a scheme over `Outcomes` with subsampling, swaps, repetition and 1-out-of-t allocation."""
    kind = node["kind"]
    if kind == "Outcomes":
        return [(Fraction(p), Fraction(q)) for p, q in zip(node["p"], node["q"], strict=True)]
    return of(node, pair_of(node["of"]))


def of(node: Node, inner: Pair) -> Pair:
    """One operation, on the outcomes of what is inside."""
    kind = node["kind"]
    if kind == "subsample":
        rate = Fraction(node["rate"])
        return [(rate * p + (1 - rate) * q, q) for p, q in inner]
    if kind == "swap":
        return [(q, p) for p, q in inner]
    if kind == "repeat":
        return composed(inner, node["rounds"])
    if kind == "allocate" and node["picks"] == 1:
        return allocated(inner, node["steps"])
    raise ValueError(f"not counted here: {kind}")


def vectors(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All counts of `parts` outcomes that sum to `total`."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in vectors(total - first, parts - 1):
            yield (first, *rest)


def whole(pair: Pair) -> tuple[list[int], list[int], int]:
    """The masses as whole numbers over one denominator."""
    size = lcm(*(mass.denominator for outcome in pair for mass in outcome))
    return [int(p * size) for p, _ in pair], [int(q * size) for _, q in pair], size


def composed(pair: Pair, rounds: int) -> Pair:
    p, q, size = whole(pair)
    factorials = [factorial(n) for n in range(rounds + 1)]
    found = []
    for counts in vectors(rounds, len(pair)):
        ways = factorials[-1] // prod(factorials[c] for c in counts)
        a = ways * prod(x**c for x, c in zip(p, counts, strict=True))
        b = ways * prod(x**c for x, c in zip(q, counts, strict=True))
        found.append((a, b))
    return [(Fraction(a, size**rounds), Fraction(b, size**rounds)) for a, b in found if a or b]


def allocated(pair: Pair, steps: int) -> Pair:
    p, q, size = whole(pair)
    factorials = [factorial(n) for n in range(steps + 1)]
    found = []
    for counts in vectors(steps, len(pair)):
        ways = factorials[-1] // prod(factorials[c] for c in counts)
        b = ways * prod(x**c for x, c in zip(q, counts, strict=True))
        a = 0
        for i, c in enumerate(counts):
            if c:
                rest = prod(x ** (d - (j == i)) for j, (x, d) in enumerate(zip(q, counts, strict=True)))
                a += ways * c * p[i] * rest
        found.append((a, b * steps))
    return [(Fraction(a, steps * size**steps), Fraction(b, steps * size**steps)) for a, b in found if a or b]

"""k-out-of-t allocation by Cauchy's formula: the polynomial of a string of outcomes from its values on a circle.

The coefficient of z^k in f(z) = prod_i (q_i + p_i z)^c_i is the mean of f(z) z^-k over t + 1 points of a circle
|z| = r, for any r. The ways to see the counts c are a product of binomial coefficients, and nestings
are convolved string by string. The reduction is enumerated step by step, in fractions (`truth.enumerate`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import comb, prod
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth import enumerate as enumeration
from truth.closed import exactly
from truth.nodes import Node
from truth.verifiers import pairs

METHOD = (
    "polynomials from their values on a circle (mpmath, 200 digits);"
    " the reduction by convolution step by step (fractions)"
)
Pair = list[tuple[Any, Any]]
_PAIRS: dict[str, Pair] = {}
_REDUCED: dict[str, enumeration.Pair] = {}


def curve(scheme: Node, k: Any, direction: str) -> tuple[Any, Any]:
    text = repr(scheme)
    if text not in _PAIRS:
        with mp.workdps(200):
            _PAIRS[text] = pair_of(scheme)
    return pairs.curve(_PAIRS[text], k, direction)


def reduced(scheme: Node, k: Any, direction: str) -> tuple[Any, Any]:
    text = repr(scheme)
    if text not in _REDUCED:
        _REDUCED[text] = enumeration.pair_of(scheme, reduced=True)
    return pairs.curve(_REDUCED[text], k, direction)


def pair_of(node: Node) -> Pair:
    kind = node["kind"]
    if kind == "Outcomes":
        return [(exactly(p), exactly(q)) for p, q in zip(node["p"], node["q"], strict=True)]
    inner = pair_of(node["of"])
    if kind == "allocate":
        return allocated(inner, node["steps"], node["picks"])
    if kind == "repeat":
        strings = product(inner, repeat=node["rounds"])
        return [(mpmath.fprod(p for p, _ in string), mpmath.fprod(q for _, q in string)) for string in strings]
    if kind == "subsample":
        rate = exactly(node["rate"])
        return [(rate * p + (1 - rate) * q, q) for p, q in inner]
    if kind == "swap":
        return [(q, p) for p, q in inner]
    raise ValueError(f"unknown: {kind}")


def allocated(pair: Pair, steps: int, picks: int) -> Pair:
    radius = mpf(picks) / max(steps - picks, 1)
    circle = [radius * mpmath.expjpi(mpf(2) * i / (steps + 1)) for i in range(steps + 1)]
    factors = [[q + p * z for z in circle] for p, q in pair]
    powers = [[[x**n for x in values] for n in range(steps + 1)] for values in factors]
    shares = [z**-picks for z in circle]
    found = []
    for seen in counts(steps, len(pair)):
        values = zip(*(powers[i][c] for i, c in enumerate(seen)), strict=True)
        mean = mpmath.fsum(share * mpmath.fprod(value) for share, value in zip(shares, values, strict=True))
        ways = prod(comb(sum(seen[i:]), c) for i, c in enumerate(seen))
        q = ways * mpmath.fprod(q**c for (_, q), c in zip(pair, seen, strict=True))
        found.append((ways * mean.real / (steps + 1) / comb(steps, picks), q))
    return found


def counts(total: int, parts: int) -> Iterable[tuple[int, ...]]:
    """All counts, by where the bars stand between the stars."""
    if parts == 1:
        return [(total,)]
    return [(*rest, total - sum(rest)) for rest in product(range(total + 1), repeat=parts - 1) if sum(rest) <= total]

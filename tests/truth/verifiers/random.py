"""Every string of outcomes of a scheme, one by one, without merging: the definitions, written out.

A string of an allocation has, with the person, the mean over its places of: the mass with the person at that
place times the masses without at all others. Masses are whole numbers over a common denominator.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any

from truth.nodes import Node
from truth.verifiers import pairs

METHOD = "all strings of outcomes, unmerged, by the definitions (whole numbers)"
Whole = tuple[list[tuple[int, int]], int]  # outcomes (p, q), and the denominator of them all
_KNOWN: dict[str, Whole] = {}


def curve(scheme: Node, k: Any, direction: str) -> tuple[Any, Any]:
    text = repr(scheme)
    if text not in _KNOWN:
        _KNOWN.clear()  # questions about a scheme come one after another
        _KNOWN[text] = strings(scheme)
    outcomes, size = _KNOWN[text]
    delta, slope = pairs.curve(outcomes, k, direction)
    return delta / size, slope / size


def strings(node: Node) -> Whole:
    kind = node["kind"]
    if kind == "Outcomes":
        return whole([(Fraction(p), Fraction(q)) for p, q in zip(node["p"], node["q"], strict=True)])
    if kind == "compose":
        return composed([strings(part) for part in node["parts"]])
    if kind == "allocate" and "parts" in node:
        parts = [strings(part["of"]) for part in node["parts"] for _ in range(part["steps"])]
        rows = zip(node["parts"], node["weights"], strict=True)
        shares = [Fraction(weight) / part["steps"] for part, weight in rows for _ in range(part["steps"])]
        return allocated(parts, shares)
    inner = strings(node["of"])
    if kind == "repeat":
        return composed([inner] * node["rounds"])
    if kind == "allocate":
        if node["picks"] != 1:
            raise ValueError("several picks are another set")
        return allocated([inner] * node["steps"], [Fraction(1, node["steps"])] * node["steps"])
    outcomes, size = inner
    if kind == "subsample":
        rate = Fraction(node["rate"])
        r, s = rate.numerator, rate.denominator
        return [(r * p + (s - r) * q, s * q) for p, q in outcomes], s * size
    if kind == "swap":
        return [(q, p) for p, q in outcomes], size
    raise ValueError(f"unknown: {kind}")


def whole(pair: list[tuple[Fraction, Fraction]]) -> Whole:
    size = lcm(*(mass.denominator for outcome in pair for mass in outcome))
    return [(int(p * size), int(q * size)) for p, q in pair], size


def composed(parts: list[Whole]) -> Whole:
    seen = product(*(outcomes for outcomes, _ in parts))
    masses = [(prod(p for p, _ in string), prod(q for _, q in string)) for string in seen]
    return masses, prod(size for _, size in parts)


def allocated(parts: list[Whole], shares: list[Fraction]) -> Whole:
    scale = lcm(*(share.denominator for share in shares))
    weights = [int(share * scale) for share in shares]
    masses = []
    for string in product(*(outcomes for outcomes, _ in parts)):
        chosen = 0
        for place, weight in enumerate(weights):
            chosen += weight * prod(p if i == place else q for i, (p, q) in enumerate(string))
        masses.append((chosen, scale * prod(q for _, q in string)))
    return masses, scale * prod(size for _, size in parts)

"""Any small nested scheme by full enumeration, in exact fractions.

A pair is a list of outcomes (p, q): the masses with and without the person, zeros allowed. It is built from a
scheme's JSON alone, so nothing of the package but its data format is used:

* allocate: every set of `picks` of the `steps` steps is equally likely to be the person's. What the outcomes
  o_1..o_t have with the person is the mean over those sets S of  prod_{S} p(o_i) * prod_{not S} q(o_i).
  It is accumulated step by step as the vector of its sums over sets of 0, 1, ..., picks steps so far.
  This is the scheme itself, for any picks; `reduced=True` analyses the blocks of the lemma instead.
* allocate with weights: exactly one step is the person's; part i has it with weight w_i, its steps equally.
* subsample, repeat, compose, swap: by their definitions.

Outcomes whose vectors are proportional are merged on the way: everything that follows is linear in the
vector, so they stay proportional, and no divergence sees a difference.

A float is the fraction that it holds. exp() has no exact fraction: it is taken to 100 digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb
from typing import Any, TypeVar, cast

import mpmath
from mpmath import mp

Pair = list[tuple[Fraction, Fraction]]
Vector = tuple[Fraction, ...]
V = TypeVar("V", bound=Vector)


def exp(x: float | Fraction) -> Fraction:
    """e^x to 100 digits."""
    with mp.workdps(110):
        exact = Fraction(x)
        value = mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)
        sign, mantissa, exponent, _ = value._mpf_
        whole = -int(mantissa) if sign else int(mantissa)
        return Fraction(whole * 2**exponent if exponent >= 0 else Fraction(whole, 2**-exponent))


def merged(vectors: Iterable[V]) -> list[V]:
    """The same vectors, those that are proportional added up, zero ones dropped."""
    found: dict[Vector, list[Fraction]] = {}
    for vector in vectors:
        size = sum(vector)
        if size == 0:
            continue
        key = tuple(entry / size for entry in vector)
        if key in found:
            found[key] = [a + b for a, b in zip(found[key], vector, strict=True)]
        else:
            found[key] = list(vector)
    return cast(list[V], [tuple(total) for total in found.values()])


def pair_of(scheme: Any, reduced: bool = False) -> Pair:
    """The outcomes of a scheme (anything with `to_json()`, or that JSON as text or as a dictionary)."""
    data = scheme.to_json() if hasattr(scheme, "to_json") else scheme
    data = json.loads(data) if isinstance(data, str) else data
    return _pair(data.get("scheme", data), reduced)


def _pair(node: dict[str, Any], reduced: bool) -> Pair:
    kind = node["kind"]
    if kind in _MECHANISMS:
        return merged(_MECHANISMS[kind](node))
    if kind == "compose":
        return composed([_pair(part, reduced) for part in node["parts"]])
    if kind == "allocate" and "parts" in node:
        return _weighted(node, reduced)
    inner = _pair(node["of"], reduced)
    if kind == "swap":
        return [(q, p) for p, q in inner]
    if kind == "subsample":
        return subsampled(inner, Fraction(node["rate"]))
    if kind == "repeat":
        return composed([inner] * node["rounds"])
    if kind == "allocate":
        return (blocks if reduced else allocated)(inner, node["steps"], node["picks"])
    raise ValueError(f"kind {kind!r} cannot be enumerated")


def subsampled(pair: Pair, rate: Fraction) -> Pair:
    return merged((rate * p + (1 - rate) * q, q) for p, q in pair)


def composed(pairs: Sequence[Pair]) -> Pair:
    total: Pair = [(Fraction(1), Fraction(1))]
    for pair in pairs:
        total = merged((a * p, b * q) for a, b in total for p, q in pair)
    return total


def allocated(pair: Pair, steps: int, picks: int = 1) -> Pair:
    """The person in a uniform set of `picks` of `steps` steps, without any reduction."""
    states: list[Vector] = [(Fraction(1), *[Fraction(0)] * picks)]
    for _ in range(steps):
        states = merged(
            tuple(state[j] * q + (state[j - 1] * p if j else 0) for j in range(picks + 1))
            for state in states
            for p, q in pair
        )
    return merged((state[picks] / comb(steps, picks), state[0]) for state in states)


def blocks(pair: Pair, steps: int, picks: int) -> Pair:
    """The reduction of the lemma: one allocation in each of `picks` blocks of nearly equal size."""
    size, more = divmod(steps, picks)
    return composed([allocated(pair, size + 1)] * more + [allocated(pair, size)] * (picks - more))


def chosen(parts: Sequence[tuple[Pair, int]], weights: Sequence[Fraction]) -> Pair:
    """Exactly one step is the person's: in part i with its weight, uniformly inside it."""
    states: list[Vector] = [(Fraction(1), Fraction(0))]
    for (pair, count), weight in zip(parts, weights, strict=True):
        each = weight / count
        for _ in range(count):
            states = merged((a * q, b * q + each * a * p) for a, b in states for p, q in pair)
    return merged((b, a) for a, b in states)


def _weighted(node: dict[str, Any], reduced: bool) -> Pair:
    parts = [(_pair(part["of"], reduced), part["steps"]) for part in node["parts"]]
    return chosen(parts, [Fraction(weight) for weight in node["weights"]])


def _number(value: float | int | str) -> float | int:
    return float(value) if isinstance(value, str) else value


def _outcomes(node: dict[str, Any]) -> Pair:
    return [(Fraction(p), Fraction(q)) for p, q in zip(node["p"], node["q"], strict=True)]


def _privacy_loss(node: dict[str, Any]) -> Pair:
    outcomes: Pair = []
    for loss, mass in zip(map(_number, node["losses"]), node["masses"], strict=True):
        share = Fraction(0) if loss == float("inf") else exp(-loss)
        outcomes.append((Fraction(mass), Fraction(mass) * share))
    rest = 1 - sum((q for _, q in outcomes), Fraction(0))
    return [*outcomes, (Fraction(0), max(Fraction(0), rest))]


def _randomized_response(node: dict[str, Any]) -> Pair:
    truth, values = Fraction(node["probability"]), node["values"]
    other = (1 - truth) / (values - 1)
    return [(truth, other), (other, truth), ((values - 2) * other, (values - 2) * other)]


def _approximate(node: dict[str, Any]) -> Pair:
    e, atom = exp(node["epsilon"]), Fraction(node.get("delta", 0))
    high, low = (1 - atom) * e / (1 + e), (1 - atom) / (1 + e)
    return [(high, low), (low, high), (atom, Fraction(0)), (Fraction(0), atom)]


def _discrete_laplace(node: dict[str, Any]) -> Pair:
    shift = node["sensitivity"]
    a = exp(-1 / Fraction(node["scale"]))
    inside = [(1 - a) / (1 + a) * a**i for i in range(1, shift)]
    q = [1 / (1 + a), *inside, a**shift / (1 + a)]
    return list(zip(q[::-1], q, strict=True))


_MECHANISMS = {
    "Outcomes": _outcomes,
    "PrivacyLoss": _privacy_loss,
    "RandomizedResponse": _randomized_response,
    "PureDP": _approximate,
    "ApproximateDP": _approximate,
    "DiscreteLaplace": _discrete_laplace,
}


def delta(pair: Pair, k: Fraction, direction: str) -> Fraction:
    """delta at e^epsilon = k, exactly."""
    if direction == "both":
        return max(delta(pair, k, "remove"), delta(pair, k, "add"))
    if direction == "add":
        pair = [(q, p) for p, q in pair]
    return sum((max(Fraction(0), p - k * q) for p, q in pair), Fraction(0))


def ratio(pair: Pair, delta: Fraction, direction: str) -> Fraction | float:
    """The smallest k = e^epsilon >= 1 with delta at k at most `delta`, exactly; inf if there is none."""
    if direction == "both":
        return max(ratio(pair, delta, "remove"), ratio(pair, delta, "add"))
    if direction == "add":
        pair = [(q, p) for p, q in pair]
    above = sum((p for p, q in pair if q == 0), Fraction(0)) - delta
    below = Fraction(0)
    if above > 0:
        return float("inf")
    # Down the kinks; on each piece delta is sum p - k sum q over the outcomes with larger ratio.
    for p, q in sorted(((p, q) for p, q in pair if q), key=lambda o: o[0] / o[1], reverse=True):
        if above - p / q * below > 0:
            break
        above, below = above + p, below + q
    return max(Fraction(1), above / below)


def tradeoff(pair: Pair, fpr: Fraction, direction: str) -> Fraction:
    """The smallest false negative rate at a false positive rate of at most `fpr`, exactly."""
    if direction == "both":
        return min(tradeoff(pair, fpr, "remove"), tradeoff(pair, fpr, "add"))
    if direction == "add":
        pair = [(q, p) for p, q in pair]
    missed, left = sum((p for p, _ in pair), Fraction(0)), fpr
    for p, q in sorted(pair, key=lambda o: o[1] / (o[0] + o[1])):
        share = Fraction(1) if q <= left else left / q
        missed, left = missed - share * p, left - share * q
    return missed

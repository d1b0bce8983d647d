"""k-out-of-t allocation as it is, without the reduction to blocks: elementary symmetric polynomials over counts.

With the person in a uniform set S of k of the t steps, an outcome has the mean over S of the product over S of the
p and over the others of the q: 1/C(t, k) times the coefficient of z^k in prod_i (q_i + p_i z)^c_i, where c_i steps
showed outcome i, and n!/(c_1!..c_m!) ways to do so. Each factor is expanded by the binomial theorem.

`reduction` is the answer for what bounds it: k independent allocations over blocks of floor(t/k) and ceil(t/k)
steps, again by counts: a block has counts, and of equal blocks only how many had which matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import comb, factorial, prod

from truth import counts, nodes
from truth.counts import Finite
from truth.enumerate import Pair
from truth.nodes import Node
from truth.vectors import Vector, asked

METHOD = "elementary symmetric polynomials over counts; the reduction by counts of counts (whole numbers)"
DIGITS = 40
RESPONSE = nodes.two(0.75, 0.25)
WEAK = nodes.two(0.5625, 0.4375)
RARE = nodes.two(0.0625, 0.0078125)
THREE = nodes.outcomes([0.5, 0.25, 0.25], [0.25, 0.25, 0.5])
SEEN = nodes.outcomes([0.5, 0.375, 0.125], [0.625, 0.375, 0.0])
SIZES = (
    *((4, 2), (5, 2), (5, 3), (5, 4), (12, 3), (25, 4), (50, 5), (64, 8)),
    *((100, 2), (100, 4), (40, 20), (100, 50), (200, 100)),
)
SMALL = ((4, 2), (5, 3), (6, 4), (12, 2), (18, 6))
GIVEN = (0.0, 0.5)  # epsilons


def vectors() -> Iterator[Vector]:
    for scheme in schemes():
        # Of the same questions, since the places asked at are those of the scheme itself.
        whole, reduced = (Finite.of(pair_of(scheme, reduction)) for reduction in (False, True))
        for vector in asked(scheme, whole, DIGITS, (1e-2, 1e-6, 1e-30), (1e-3, 1e-12), GIVEN):
            (other,) = again(vector, reduced)
            yield replace(vector, reduction=other.value)


def again(vector: Vector, truth: Finite) -> Iterator[Vector]:
    """The same question, of the reduction."""
    deltas, epsilons = ([vector.at], []) if vector.question == "epsilon" else ([], [vector.at])
    return asked(vector.scheme, truth, DIGITS, deltas, (), epsilons, [vector.direction])


def schemes() -> Iterator[Node]:
    for step in (RESPONSE, WEAK):
        for steps, picks in SIZES:
            yield nodes.allocate(step, steps, picks)
    for step in (RARE, THREE, SEEN):
        for steps, picks in SMALL:
            yield nodes.allocate(step, steps, picks)
    for picks in (1, 6):  # exact: nothing is reduced
        yield nodes.allocate(THREE, 6, picks)
    yield nodes.repeat(nodes.allocate(RESPONSE, 6, 2), 3)
    yield nodes.repeat(nodes.allocate(THREE, 4, 2), 2)
    yield nodes.subsample(nodes.allocate(WEAK, 20, 5), 0.125)
    yield nodes.allocate(nodes.subsample(RESPONSE, 0.25), 9, 3)
    yield nodes.swap(nodes.allocate(nodes.repeat(RESPONSE, 2), 5, 2))


def pair_of(node: Node, reduction: bool = False) -> Pair:
    kind = node["kind"]
    if kind == "Outcomes":
        return counts.pair_of(node)
    inner = pair_of(node["of"], reduction)
    if kind == "allocate":
        return (blocks if reduction else allocated)(inner, node["steps"], node["picks"])
    if kind == "repeat":
        return counts.composed(inner, node["rounds"])
    return counts.of(node, inner)


def allocated(pair: Pair, steps: int, picks: int) -> Pair:
    p, q, size = counts.whole(pair)
    found = []
    for seen in counts.vectors(steps, len(pair)):
        ways = factorial(steps) // prod(map(factorial, seen))
        factors = (expanded(a, b, c, picks) for a, b, c in zip(p, q, seen, strict=True))
        symmetric = reduce(lambda left, right: times(left, right, picks), factors)
        found.append((ways * symmetric[picks], ways * symmetric[0]))
    total = size**steps
    return [(Fraction(a, total * comb(steps, picks)), Fraction(b, total)) for a, b in found if a or b]


def expanded(p: int, q: int, count: int, picks: int) -> list[int]:
    """(q + p z)^count, up to z^picks."""
    return [comb(count, j) * p**j * q ** (count - j) if j <= count else 0 for j in range(picks + 1)]


def times(a: list[int], b: list[int], picks: int) -> list[int]:
    return [sum(a[i] * b[j - i] for i in range(j + 1) if a[i]) for j in range(picks + 1)]


def blocks(pair: Pair, steps: int, picks: int) -> Pair:
    size, more = divmod(steps, picks)
    larger = counts.composed(counts.allocated(pair, size + 1), more) if more else [(Fraction(1), Fraction(1))]
    smaller = counts.composed(counts.allocated(pair, size), picks - more)
    return [(a * c, b * d) for a, b in larger for c, d in smaller]

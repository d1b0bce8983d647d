"""Random schemes over small random `Outcomes`, by full enumeration in fractions (`truth.enumerate`).

Masses are sixteenths, rates and weights binary fractions, so the doubles are the fractions. Each scheme nests
two to four operations; those that enumerate to too many outcomes, and those without privacy loss, are drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from random import Random

from truth import enumerate as enumeration
from truth import nodes
from truth.counts import Finite
from truth.nodes import Node
from truth.vectors import Vector, asked, short

METHOD = "enumeration, step by step, proportional outcomes merged (fractions)"
DIGITS = 40
SCHEMES = 300
STRINGS = 6000
DELTAS = (0.25, 0.01, 1e-3, 1e-6, 1e-12, 1e-40)
KINDS = [*["allocate"] * 4, *["subsample", "repeat"] * 2, "compose", "weighted", "swap"]
EPSILONS = (-0.5, 0.0, 0.1, 0.3, 1.0, 2.5)


def vectors() -> Iterator[Vector]:
    generator = Random(3)
    for i in range(SCHEMES):
        scheme, truth = drawn(generator, 2 + i % 3)
        direction = generator.choice(["remove", "add"])
        found = {delta: truth.epsilon(delta, direction) for delta in DELTAS}
        telling = [delta for delta, epsilon in found.items() if 0 < epsilon < inf] or [*DELTAS]
        yield from asked(scheme, truth, DIGITS, [generator.choice(telling)], directions=[direction])
        places = [*EPSILONS, *(short(found[delta]) for delta in telling if found[delta] < inf)]
        telling = [place for place in places if truth.delta(place, direction) > 0] or places
        epsilons = [generator.choice(telling)]
        yield from asked(scheme, truth, DIGITS, [], epsilons=epsilons, directions=[direction])


def drawn(generator: Random, depth: int) -> tuple[Node, Finite]:
    while True:
        scheme = nested(generator, depth)
        if strings(scheme) <= STRINGS:
            pair = enumeration.pair_of(scheme)
            if any(p != q for p, q in pair):
                return scheme, Finite.of(pair)


def nested(generator: Random, depth: int) -> Node:
    if depth == 0:
        return mechanism(generator)
    inner = nested(generator, depth - 1)
    kind = generator.choice(KINDS)
    if kind == "subsample":
        return nodes.subsample(inner, generator.choice([0.5, 0.25, 0.0625, 2.0**-20]))
    if kind == "allocate":
        return nodes.allocate(inner, generator.choice([2, 3, 4, 5]))
    if kind == "repeat":
        return nodes.repeat(inner, generator.choice([2, 3, 4]))
    if kind == "compose":
        return nodes.compose(*shuffled(generator, inner, mechanism(generator)))
    if kind == "weighted":
        parts = [(part, generator.choice([1, 2])) for part in shuffled(generator, inner, mechanism(generator))]
        first = generator.choice([0.25, 0.625, 2.0**-10])
        return nodes.weighted(parts, [first, 1 - first])
    return nodes.swap(inner)


def shuffled(generator: Random, *parts: Node) -> list[Node]:
    return generator.sample(parts, len(parts))


def mechanism(generator: Random) -> Node:
    size = generator.choice([2, 2, 3, 4])
    zeros = generator.random() < 0.25
    return nodes.outcomes(masses(generator, size, zeros), masses(generator, size, zeros))


def masses(generator: Random, size: int, zeros: bool) -> list[float]:
    """Sixteenths that sum to 1."""
    while True:
        cuts = sorted(generator.randint(0, 16) for _ in range(size - 1))
        found = [b - a for a, b in zip([0, *cuts], [*cuts, 16], strict=True)]
        if zeros or all(found):
            return [part / 16 for part in found]


def strings(node: Node) -> int:
    """How many strings of outcomes the scheme has."""
    if node["kind"] == "compose":
        parts = [(part, 1) for part in node["parts"]]
    elif "parts" in node:
        parts = [(part["of"], part["steps"]) for part in node["parts"]]
    elif "of" in node:
        times = {"repeat": "rounds", "allocate": "steps"}.get(node["kind"], "")
        parts = [(node["of"], node[times] if times else 1)]
    else:
        return len(node["p"])
    total = 1
    for part, count in parts:
        total = min(total * strings(part) ** count, 10**9)
    return total

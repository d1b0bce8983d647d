"""Exact rewrites: what is cheaper to evaluate and gives the same answers.

The normal form is a composition of repeats of schemes that are neither, the parts in a fixed order. Each
builder below takes schemes already in that form and returns one in that form; ``simplify`` applies them from
the leaves up.

Sections: ``repeat``, ``compose``, ``subsample``, ``allocate``, ``allocation``, ``swap``, then the walk and
``poisson``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from privloss._check import COUNTABLE
from privloss._mechanisms import Gaussian, Outcomes
from privloss._mechanisms.gaussian import Gaussians
from privloss._operations import Allocate, Allocation, Compose, Repeat, Subsample, Swap
from privloss._operations.allocate import proportional
from privloss._operations.compose import grouped
from privloss._scheme import Scheme, walk

Counted = tuple[Scheme, int]
NEARLY = 0.9  # rates above it lack little of 1
TINY = 1e-300  # below, a product of rates or weights would lose digits: left as it is


def simplify(scheme: Scheme) -> Scheme:
    """The normal form, with the same answers (for 1 < picks < steps: of the reduction that bounds it)."""
    done: dict[int, Scheme] = {}
    for node in walk(scheme):
        done[id(node)] = _build(node, [done[id(part)] for part in node._parts()])
    return done[id(scheme)]


def _build(node: Scheme, parts: Sequence[Scheme]) -> Scheme:
    if isinstance(node, Repeat):
        return repeat(parts[0], node.rounds)
    if isinstance(node, Compose):
        return compose((part, 1) for part in parts)
    if isinstance(node, Subsample):
        return subsample(parts[0], node.rate)
    if isinstance(node, Allocate):
        return allocate(parts[0], node.steps, node.picks)
    if isinstance(node, Allocation):
        return allocation([(part, n) for part, (_, n) in zip(parts, node.parts, strict=True)], node.shares())
    if isinstance(node, Swap):
        return swap(parts[0])
    return node


def repeat(of: Scheme, rounds: int) -> Scheme:
    # (A + B) * n is A*n + B*n, and (A * m) * n is A * mn: the same product measure. A * 1 is A.
    return compose([(of, rounds)])


def compose(counted: Iterable[Counted]) -> Scheme:
    parts = [(part, n) for scheme, times in counted for part, n in _factors(scheme, times)]
    # The order of a product measure is irrelevant: equal parts are counted together, in a fixed order.
    parts = _gaussians(_grouped(parts))
    if len(parts) > 1:
        parts.sort(key=lambda item: (item[0]._digest(), item[1]))
    pieces = [_power(part, n) for part, n in parts]
    return pieces[0] if len(pieces) == 1 else Compose(tuple(pieces))


def _factors(scheme: Scheme, times: int) -> list[Counted]:
    """A scheme in normal form as counted parts that are neither compositions nor repeats."""
    if isinstance(scheme, Compose | Repeat):
        pieces = scheme.parts if isinstance(scheme, Compose) else (scheme,)
        found = grouped(pieces)
        if all(n * times <= COUNTABLE for _, n in found):
            return [(part, n * times) for part, n in found]
    return [(scheme, times)]


def _grouped(parts: Iterable[Counted]) -> list[Counted]:
    counts: dict[Scheme, int] = {}
    full: list[Counted] = []
    for part, n in parts:
        if counts.get(part, 0) + n > COUNTABLE:
            full.append((part, n))
        else:
            counts[part] = counts.get(part, 0) + n
    return [*counts.items(), *full]


def _power(part: Scheme, n: int) -> Scheme:
    return part if n == 1 else Repeat(part, n)


def _gaussians(parts: list[Counted]) -> list[Counted]:
    """A product of Gaussians is one along the line of centres: 1/sigma^2 = sum of n (sensitivity/sigma)^2."""
    gaussians = [(part, n) for part, n in parts if isinstance(part, Gaussian)]
    if sum(n for _, n in gaussians) <= 1:
        return parts
    shift = math.hypot(*(part.sensitivity / part.sigma * math.sqrt(n) for part, n in gaussians))
    if not TINY < shift < 1 / TINY:
        return parts
    return [item for item in parts if not isinstance(item[0], Gaussian)] + [(Gaussians(1 / shift), 1)]


def subsample(of: Scheme, rate: float) -> Scheme:
    # Included twice independently is included with the product; certain inclusion is none. The product is rounded,
    # which near 1 would be much of what it lacks.
    if isinstance(of, Subsample) and TINY < of.rate * rate < NEARLY:
        return subsample(of.of, of.rate * rate)
    return of if rate == 1 else Subsample(of, rate)


def allocate(of: Scheme, steps: int, picks: int = 1) -> Scheme:
    if picks == steps:
        return repeat(of, steps)  # every step is chosen
    if picks > 1:
        return compose(_blocks(of, steps, picks))
    # One of a blocks and one of its b steps is one of a*b steps; a skewed step is skewed after the choice as
    # well.
    if isinstance(of, Allocate) and of.steps * steps <= COUNTABLE:
        return Allocate(of.of, of.steps * steps)
    if isinstance(of, Allocation) and all(n * steps <= COUNTABLE for _, n in of.parts):
        return allocation([(part, n * steps) for part, n in of.parts], of.shares())
    if isinstance(of, Subsample):
        return subsample(allocate(of.of, steps), of.rate)
    return Allocate(of, steps)


def _blocks(of: Scheme, steps: int, picks: int) -> list[Counted]:
    """The lemma: m_f blocks of floor(t/k) and m_c of ceil(t/k) steps, m_f + m_c = k, with one pick in each.

    Not an equality but an upper bound: choosing one step in each block of a random split is choosing k of t.
    """
    size, larger = divmod(steps, picks)
    blocks = [(allocate(of, size), picks - larger)]
    return [*blocks, (allocate(of, size + 1), larger)] if larger else blocks


def allocation(parts: Sequence[Counted], weights: Sequence[float]) -> Scheme:
    # Steps that are never chosen look the same with and without the person.
    rows = [(of, n, w) for (of, n), w in zip(parts, weights, strict=True) if w > 0]
    rows = [row for of, n, w in rows for row in _inner(of, n, w)]
    # Chosen with w and then included with r: included in all with R = sum w*r, and chosen with w*r/R if
    # included.
    rated = [(of.of, n, w * of.rate) if isinstance(of, Subsample) else (of, n, w) for of, n, w in rows]
    rate = math.fsum(w for _, _, w in rated)
    if rated != rows and rate < NEARLY and all(w > TINY for _, _, w in rated):
        inner = allocation([(of, n) for of, n, _ in rated], [w / rate for _, _, w in rated])
        return subsample(inner, min(rate, 1.0))
    return _allocation(rows)


def _inner(of: Scheme, steps: int, weight: float) -> list[tuple[Scheme, int, float]]:
    """An allocation inside an allocation is the allocation over its steps, for one pick each."""
    if isinstance(of, Allocate) and of.steps * steps <= COUNTABLE:
        return [(of.of, of.steps * steps, weight)]
    if isinstance(of, Allocation) and all(n * steps <= COUNTABLE for _, n in of.parts):
        inner = zip(of.parts, of.shares(), strict=True)
        return [(part, n * steps, weight * share) for (part, n), share in inner]
    return [(of, steps, weight)]


def _allocation(rows: Sequence[tuple[Scheme, int, float]]) -> Scheme:
    steps, weights = [n for _, n, _ in rows], tuple(w for _, _, w in rows)
    alike = len({of for of, _, _ in rows}) == 1 and sum(steps) <= COUNTABLE
    if len(rows) == 1 or (alike and weights == proportional(steps)):
        return allocate(rows[0][0], sum(steps))  # one kind of step, chosen uniformly
    return Allocation(tuple((of, n) for of, n, _ in rows), weights)


def swap(of: Scheme) -> Scheme:
    if isinstance(of, Swap):
        return of.of  # exchanged twice
    if of.symmetric:
        return of  # P and Q exchanged give the same curve
    if isinstance(of, Outcomes):
        return Outcomes(of.q, of.p)
    if isinstance(of, Repeat | Compose):
        # The swap of a product is the product of the swaps.
        return compose((swap(part), n) for part, n in grouped(of.parts if isinstance(of, Compose) else (of,)))
    return Swap(of)


def poisson(scheme: Scheme) -> Scheme:
    """Every allocation replaced by Poisson subsampling with the same expected number of chosen steps."""
    done: dict[int, Scheme] = {}
    for node in walk(scheme):
        done[id(node)] = _twin(node, [done[id(part)] for part in node._parts()])
    return done[id(scheme)]


def _twin(node: Scheme, parts: Sequence[Scheme]) -> Scheme:
    if isinstance(node, Allocate):
        return parts[0].subsample(node.picks / node.steps).repeat(node.steps)
    if isinstance(node, Allocation):
        rows = zip(parts, node.parts, node.shares(), strict=True)
        return Compose(tuple(of.subsample(min(w / n, 1.0)).repeat(n) for of, (_, n), w in rows if w > 0))
    return node._with(parts)

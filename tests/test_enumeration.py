"""Answers for small nested schemes against full enumeration in exact fractions."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from math import inf
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

import privloss as pl
from privloss import Scheme
from truth import closed, montecarlo
from truth import enumerate as enumeration

DIRECTIONS: list[Any] = ["remove", "add", "both"]
EPSILONS = [-0.4, 0.0, 0.125, 0.5, 1.25, 3.0]
DELTAS = [0.25, 0.01, 1e-5, 1e-12]
RATES = [0.01, 0.25, 0.75]
THREE = pl.Outcomes([0.5, 0.25, 0.25], [0.25, 0.25, 0.5])
LARGEST = 1500  # outcomes


def masses(generator: random.Random, outcomes: int, zeros: bool) -> list[float]:
    """Sixteenths that sum to 1, so that the floats are the fractions."""
    while True:
        cuts = sorted(generator.randint(0, 16) for _ in range(outcomes - 1))
        found = [b - a for a, b in zip([0, *cuts], [*cuts, 16], strict=True)]
        if zeros or all(found):
            return [part / 16 for part in found]


def mechanism(generator: random.Random) -> Scheme:
    kind = generator.randrange(6)
    if kind == 0:
        return pl.RandomizedResponse(generator.choice([0.625, 0.75]), values=generator.choice([2, 3]))
    if kind == 1:
        return pl.PureDP(generator.choice([0.25, 1.0]))
    if kind == 2:
        return pl.DiscreteLaplace(generator.choice([1.0, 2.5]), sensitivity=2)
    outcomes, zeros = generator.choice([2, 3]), generator.random() < 0.3
    return pl.Outcomes(masses(generator, outcomes, zeros), masses(generator, outcomes, zeros))


def nested(generator: random.Random, depth: int) -> Scheme:
    if depth == 0:
        return mechanism(generator)
    inner = nested(generator, depth - 1)
    kind = generator.randrange(7)
    if kind == 0:
        return inner.subsample(generator.choice([0.125, 0.5, 0.75]))
    if kind == 1:
        return inner.repeat(generator.choice([2, 3]))
    if kind == 2:
        return inner.swap()
    if kind == 3:
        return pl.compose(inner, mechanism(generator))
    if kind == 4:
        return pl.allocate([(inner, 2), (mechanism(generator), 1)], weights=[0.625, 0.375])
    return inner.allocate(generator.choice([2, 3, 4]))


def small(scheme: Scheme) -> bool:
    """Whether the enumeration stays quick."""

    def size(node: dict[str, Any]) -> float:
        if "parts" in node:
            parts = [(part.get("of", part), part.get("steps", 1)) for part in node["parts"]]
            total = 1.0
            for part, steps in parts:
                total *= size(part) ** steps
            return total
        if "of" in node:
            return float(size(node["of"]) ** node.get("steps", node.get("rounds", 1)))
        return float(len(node.get("p", [0] * 3)))

    return size(json.loads(scheme.to_json())["scheme"]) <= LARGEST


def drawn(count: int) -> list[Scheme]:
    generator = random.Random(20240)
    found: list[Scheme] = []
    while len(found) < count:
        scheme = nested(generator, 1 + len(found) % 4)
        if small(scheme):
            found.append(scheme)
    return found


def inside(lower: float, truth: Any, upper: float) -> bool:
    """Comparing a Fraction or an mpf with a float is exact; 1e-90 is the rounding of exp() in the truth."""
    if truth == inf:
        return upper == inf
    with mp.workdps(120):
        value = closed.exactly(truth) if isinstance(truth, Fraction) else mpf(truth)
        return bool(mpf(lower) <= value + mpf(10) ** -90 and value - mpf(10) ** -90 <= mpf(upper))


def check(scheme: Scheme, pair: enumeration.Pair, direction: Any, exact: bool = True) -> None:
    """Both bounds, or the upper one alone where the scheme is only bounded from above."""
    given = scheme.delta(EPSILONS, direction=direction)
    for epsilon, low, high in zip(EPSILONS, given.lower, given.upper, strict=True):  # type: ignore[arg-type]
        truth = enumeration.delta(pair, enumeration.exp(epsilon), direction)
        assert inside(low if exact else 0.0, truth, high), f"delta({epsilon}, {direction}) of {scheme}"
    for delta in DELTAS:
        answer = scheme.epsilon(delta, direction=direction)
        ratio = enumeration.ratio(pair, Fraction(delta), direction)
        with mp.workdps(120):
            true = inf if ratio == inf else mpmath.log(closed.exactly(ratio))
        low = float(answer.lower) if exact else 0.0
        assert inside(low, true, float(answer.upper)), f"epsilon({delta}, {direction}) of {scheme}: {answer}"
    curve = scheme.tradeoff(RATES, direction=direction, atol=1e-5)
    for rate, low, high in zip(RATES, curve.lower, curve.upper, strict=True):  # type: ignore[arg-type]
        truth = enumeration.tradeoff(pair, Fraction(rate), direction)
        assert inside(low, truth, high if exact else 1.0), f"tradeoff({rate}, {direction}) of {scheme}"


@pytest.mark.parametrize("scheme", drawn(36), ids=repr)
def test_nested_schemes(scheme: Scheme) -> None:
    pair = enumeration.pair_of(scheme)
    for direction in DIRECTIONS:
        check(scheme, pair, direction)
    advantage = scheme.advantage()
    truth = enumeration.delta(pair, Fraction(1), "both")
    assert inside(float(advantage.lower), truth, float(advantage.upper))


@pytest.mark.parametrize(("steps", "picks"), [(4, 2), (5, 2), (5, 3), (5, 4)])
@pytest.mark.parametrize("step", [pl.RandomizedResponse(0.75), THREE])
def test_several_picks_are_bounded_from_above(step: Scheme, steps: int, picks: int) -> None:
    scheme = step.allocate(steps, picks=picks)
    assert not scheme.exact
    reduced = enumeration.pair_of(scheme, reduced=True)
    for direction in DIRECTIONS:
        check(scheme, enumeration.pair_of(scheme), direction, exact=False)
        check(scheme, reduced, direction)


def test_all_picks_and_one_pick_are_exact() -> None:
    for picks in (1, 4):
        scheme = THREE.allocate(4, picks=picks)
        assert scheme.exact
        check(scheme, enumeration.pair_of(scheme), "both")


def test_subsampling_does_not_pass_through_two_picks() -> None:
    """Two outcomes 3/4 and 1/4, rate 1/2, both of two steps, e^epsilon = 2: delta 1/8 against 3/16."""
    step = pl.Outcomes([0.75, 0.25], [0.25, 0.75])
    inside_, outside = step.subsample(0.5).allocate(2, picks=2), step.allocate(2, picks=2).subsample(0.5)
    assert enumeration.delta(enumeration.pair_of(inside_), Fraction(2), "remove") == Fraction(1, 8)
    assert enumeration.delta(enumeration.pair_of(outside), Fraction(2), "remove") == Fraction(3, 16)
    for scheme, value in ((inside_, 1 / 8), (outside, 3 / 16)):
        answer = scheme.delta(float(mpmath.log(2)), direction="remove", rtol=1e-9)
        assert float(answer.lower) == pytest.approx(value, rel=1e-8)
        assert float(answer.upper) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("picks", [2, 3])
def test_several_picks_of_a_gaussian_are_below_the_answer(picks: int) -> None:
    """The upper bound of the answer bounds what sampling of the scheme itself shows."""
    answer = pl.Gaussian(1.0).allocate(5, picks=picks).delta(1.0, direction="remove")
    low, _ = montecarlo.delta(1.0, 5, 1.0, "remove", picks=picks, samples=10**5)
    assert low <= float(answer.upper)

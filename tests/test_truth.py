"""The sources of truth agree with each other, and with the definitions they are meant to compute."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import exp, inf, log, prod
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from truth import binomial, closed, montecarlo
from truth import enumerate as enumeration

VECTORS = Path(__file__).parent / "vectors"
F = Fraction
BOTH = ["remove", "add"]
RATIOS = [F(1, 8), F(2, 3), F(1), F(9, 8), F(5, 4), F(3, 2), F(2), F(5)]
TWO = [
    (F(3, 4), F(1, 4)),
    (F(5, 8), F(1, 2)),
    (F(1, 8), F(1, 16)),
    (F(1, 3), F(3, 5)),
    (F(0), F(1, 4)),
    (F(1), F(7, 8)),
]


def close(a: Any, b: Any, digits: int = 45) -> bool:
    with mp.workdps(100):
        a, b = closed.exactly(a), closed.exactly(b)
        return bool(abs(a - b) <= mpf(10) ** -digits * max(abs(a), abs(b), mpf(10) ** -60))


def outcomes(*pairs: tuple[Fraction, Fraction]) -> dict[str, Any]:
    return {"kind": "Outcomes", "p": [p for p, _ in pairs], "q": [q for _, q in pairs]}


def two(p: Fraction, q: Fraction) -> dict[str, Any]:
    return outcomes((p, q), (1 - p, 1 - q))


THREE = outcomes((F(1, 2), F(1, 4)), (F(1, 4), F(1, 4)), (F(1, 4), F(1, 2)))
ATOMS = outcomes((F(1, 2), F(3, 8)), (F(3, 8), F(1, 2)), (F(1, 8), F(0)), (F(0), F(1, 8)))


# ---------------------------------------------------------------- enumeration, against its definitions


@pytest.mark.parametrize("node", [two(F(3, 4), F(1, 4)), THREE, ATOMS])
@pytest.mark.parametrize(("steps", "picks"), [(1, 1), (3, 1), (4, 1), (3, 2), (4, 2), (4, 3), (3, 3)])
def test_allocation_is_a_mean_over_sets(node: dict[str, Any], steps: int, picks: int) -> None:
    pair = enumeration.pair_of(node)
    literal = []
    sets = list(combinations(range(steps), picks))
    for seen in product(pair, repeat=steps):
        masses = [
            prod((seen[i][0] if i in chosen else seen[i][1] for i in range(steps)), start=F(1)) for chosen in sets
        ]
        literal.append((sum(masses, F(0)) / len(sets), prod((q for _, q in seen), start=F(1))))
    found = enumeration.pair_of({"kind": "allocate", "steps": steps, "picks": picks, "of": node})
    assert sum(p for p, _ in found) == sum(q for _, q in found) == 1
    for k, direction in product(RATIOS, BOTH):
        assert enumeration.delta(found, k, direction) == enumeration.delta(literal, k, direction)


def test_weighted_allocation_is_a_mixture_over_steps() -> None:
    a, b = (enumeration.pair_of(node) for node in (THREE, ATOMS))
    weights = [F(1, 4), F(3, 4)]
    literal = []
    for x, y, z in product(a, a, b):
        p = weights[0] / 2 * (x[0] * y[1] + x[1] * y[0]) * z[1] + weights[1] * x[1] * y[1] * z[0]
        literal.append((p, x[1] * y[1] * z[1]))
    found = enumeration.chosen([(a, 2), (b, 1)], weights)
    parts = [{"steps": 2, "of": THREE}, {"steps": 1, "of": ATOMS}]
    assert found == enumeration.pair_of({"kind": "allocate", "parts": parts, "weights": [0.25, 0.75]})
    for k, direction in product(RATIOS, BOTH):
        assert enumeration.delta(found, k, direction) == enumeration.delta(literal, k, direction)


def test_subsampling_before_and_inside_an_allocation_of_two_picks() -> None:
    """For picks = 1 they are the same; for picks = 2 they are not."""
    node = two(F(3, 4), F(1, 4))

    def both(picks: int, steps: int) -> tuple[Fraction, Fraction]:
        half: dict[str, Any] = {"kind": "subsample", "rate": 0.5, "of": node}
        inside = {"kind": "allocate", "steps": steps, "picks": picks, "of": half}
        outside = {"kind": "subsample", "rate": 0.5, "of": {**inside, "of": node}}
        first, second = (enumeration.delta(enumeration.pair_of(x), F(2), "remove") for x in (inside, outside))
        return first, second

    assert both(2, 2) == (F(1, 8), F(3, 16))
    assert both(1, 3)[0] == both(1, 3)[1]


@pytest.mark.parametrize("node", [THREE, ATOMS])
@pytest.mark.parametrize(("steps", "picks"), [(4, 2), (5, 2), (5, 3)])
def test_blocks_dominate_the_allocation(node: dict[str, Any], steps: int, picks: int) -> None:
    whole = {"kind": "allocate", "steps": steps, "picks": picks, "of": node}
    for k, direction in product(RATIOS, BOTH):
        true = enumeration.delta(enumeration.pair_of(whole), k, direction)
        assert true <= enumeration.delta(enumeration.pair_of(whole, reduced=True), k, direction)


@pytest.mark.parametrize("node", [THREE, ATOMS])
def test_epsilon_and_tradeoff_invert_the_curve(node: dict[str, Any]) -> None:
    pair = enumeration.pair_of({"kind": "allocate", "steps": 4, "picks": 1, "of": node})
    for direction, target in product(BOTH, [F(1, 3), F(1, 7), F(1, 20), F(1, 1000)]):
        k = enumeration.ratio(pair, target, direction)
        if k == inf:
            assert enumeration.delta(pair, F(10) ** 9, direction) > target
        elif k > 1:
            assert isinstance(k, Fraction)
            assert enumeration.delta(pair, k, direction) == target
        else:
            assert enumeration.delta(pair, F(1), direction) <= target
        # The convex dual of the curve: fnr >= 1 - delta - k fpr for every k, with equality for some.
        fnr = enumeration.tradeoff(pair, target, direction)
        kinks = [p / q if direction == "remove" else q / p for p, q in pair if p and q] + [F(0), F(10) ** 9]
        lines = [1 - enumeration.delta(pair, k, direction) - k * target for k in kinks]
        assert fnr == pytest.approx(float(max(lines)), abs=1e-6)
        assert fnr >= max(lines)


# ---------------------------------------------------------------- binomial counts, against enumeration


@pytest.mark.parametrize(("p", "q"), TWO)
@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("kind", ["allocate", "repeat"])
def test_counts_are_the_enumeration(p: Fraction, q: Fraction, steps: int, kind: str) -> None:
    node: dict[str, Any] = {"kind": kind, "steps": steps, "picks": 1, "rounds": steps, "of": two(p, q)}
    pair = enumeration.pair_of(node)
    counts = (binomial.allocation if kind == "allocate" else binomial.composition)(p, q, steps)
    for direction in BOTH:
        for k in RATIOS:
            assert close(binomial.delta_at(counts, k, direction), enumeration.delta(pair, k, direction))
        for target in [F(1, 3), F(1, 50), F(1, 10**9)]:
            k_true = enumeration.ratio(pair, target, direction)
            found = binomial.epsilon(counts, target, direction)
            if k_true == inf:
                assert found == inf
            else:
                with mp.workdps(80):
                    assert close(mpmath.exp(found), k_true)


@pytest.mark.parametrize("target", ["1e-6", "1e-100"])
@pytest.mark.parametrize("direction", BOTH)
def test_counts_of_many_steps_invert(target: str, direction: str) -> None:
    for counts in (binomial.allocation(0.75, 0.25, 10**5), binomial.composition(*binomial.pure(0.01), 10**4)):
        delta = float(target)
        assert close(binomial.delta(counts, binomial.epsilon(counts, delta, direction), direction), delta)


def test_counts_of_many_steps_are_the_normal_limit() -> None:
    """At a million steps the ratio is nearly normal about 1: a check of the size, not of the digits."""
    counts, steps = binomial.allocation(0.75, 0.25, 10**6), 10**6
    deviation = float(mpmath.sqrt(mpf(4) / 3 / steps))
    for direction in BOTH:
        reach = (exp(1e-3) - 1) / deviation
        normal = deviation * float(mpmath.npdf(reach) - reach * mpmath.erfc(reach / mpmath.sqrt(2)) / 2)
        assert float(binomial.delta(counts, 1e-3, direction)) == pytest.approx(normal, rel=0.02)


def test_the_other_form_of_the_curve() -> None:
    """delta(k) of the pair against 1 - k + k delta'(1/k) of its dual: both tails of one law."""
    counts = binomial.allocation(0.625, 0.25, 1000)
    for k in [F(9, 10), F(19, 20), F(21, 20), F(11, 10)]:
        with mp.workdps(80):
            k_mp = closed.exactly(k)
            left = binomial.delta_at(counts, k, "remove")
            right = 1 - k_mp + k_mp * binomial.delta_at(counts, 1 / k_mp, "add")
        assert close(left, right, 40)


# ---------------------------------------------------------------- closed forms, against sums and integrals

CLOSED: list[tuple[closed.Profile, dict[str, Any]]] = [
    (closed.randomized_response(0.75), {"kind": "RandomizedResponse", "probability": 0.75, "values": 2}),
    (closed.randomized_response(0.5, 5), {"kind": "RandomizedResponse", "probability": 0.5, "values": 5}),
    (closed.pure_dp(0.3, 4), {"kind": "repeat", "rounds": 4, "of": {"kind": "PureDP", "epsilon": 0.3}}),
    (
        closed.approximate_dp(0.5, 0.125, 3),
        {"kind": "repeat", "rounds": 3, "of": {"kind": "ApproximateDP", "epsilon": 0.5, "delta": 0.125}},
    ),
    (closed.discrete_laplace(1.5, 1), {"kind": "DiscreteLaplace", "scale": 1.5, "sensitivity": 1}),
    (closed.discrete_laplace(2.0, 4), {"kind": "DiscreteLaplace", "scale": 2.0, "sensitivity": 4}),
    (
        closed.approximate_dp(0.5, 0.125).subsample(0.25),
        {"kind": "subsample", "rate": 0.25, "of": {"kind": "ApproximateDP", "epsilon": 0.5, "delta": 0.125}},
    ),
    (
        closed.discrete_laplace(1.0, 2).subsample(0.375),
        {
            "kind": "subsample",
            "rate": 0.375,
            "of": {"kind": "DiscreteLaplace", "scale": 1.0, "sensitivity": 2},
        },
    ),
]


@pytest.mark.parametrize(("profile", "node"), CLOSED)
@pytest.mark.parametrize("direction", BOTH)
def test_closed_forms_are_the_enumeration(profile: closed.Profile, node: dict[str, Any], direction: str) -> None:
    pair = enumeration.pair_of(node)
    for k in RATIOS:
        with mp.workdps(90):
            epsilon = mpmath.log(closed.exactly(k))
        assert abs(profile.delta(epsilon, direction) - closed.exactly(enumeration.delta(pair, k, direction))) < 1e-60
    for target in [F(1, 4), F(1, 100), F(1, 10**12)]:
        k_true = enumeration.ratio(pair, target, direction)
        found = profile.epsilon(target, direction)
        assert found == inf if k_true == inf else close(mpmath.exp(found), k_true, 14)


def test_discrete_laplace_by_summing_the_integers() -> None:
    with mp.workdps(50):
        a = mpmath.exp(mpf(-1) / 2)
        for epsilon, direction in product([-0.7, 0.0, 0.4, 1.2], BOTH):
            shift = 3 if direction == "remove" else -3
            terms = (
                max(mpf(0), a ** abs(i - shift) - mpmath.exp(mpf(epsilon)) * a ** abs(i)) for i in range(-300, 300)
            )
            assert close(
                closed.discrete_laplace(2.0, 3).delta(epsilon, direction),
                (1 - a) / (1 + a) * mpmath.fsum(terms),
            )


def by_integral(kind: str, noise: float, rate: float, epsilon: float, direction: str) -> mpf:
    """delta by numerical integration of the densities, for sensitivity 1."""
    noise, rate, k = mpf(noise), mpf(rate), mpmath.exp(mpf(epsilon))

    def density(x: mpf) -> mpf:
        return mpmath.exp(-x * x / (2 * noise**2)) if kind == "gaussian" else mpmath.exp(-abs(x) / noise)

    def gain(x: mpf) -> mpf:
        p, q = rate * density(x - 1) + (1 - rate) * density(x), density(x)
        return p - k * q if direction == "remove" else q - k * p

    total = noise * mpmath.sqrt(2 * mpmath.pi) if kind == "gaussian" else 2 * noise
    grid = sorted({mpf(0), mpf(1), *mpmath.linspace(-40 * noise, 1 + 40 * noise, 121)})
    answer = mpf(0)
    for a, b in pairwise(grid):
        at_a, at_b = gain(a), gain(b)
        if at_a > 0 and at_b > 0:
            answer += mpmath.quad(gain, [a, b])
        elif (at_a > 0) != (at_b > 0):
            zero = mpmath.findroot(gain, (a, b), solver="anderson", tol=1e-40)
            answer += mpmath.quad(gain, [a, zero] if at_a > 0 else [zero, b])
    return answer / total


@pytest.mark.parametrize("epsilon", [-0.45, 0.1, 1.5])
@pytest.mark.parametrize("rate", [1.0, 0.25])
@pytest.mark.parametrize("direction", BOTH)
def test_continuous_profiles_are_their_integrals(epsilon: float, rate: float, direction: str) -> None:
    with mp.workdps(25):
        for kind, base in (("gaussian", closed.gaussian(0.75)), ("laplace", closed.laplace(0.5))):
            profile = base.subsample(rate)
            true = by_integral(kind, 0.75 if kind == "gaussian" else 0.5, rate, epsilon, direction)
            assert abs(profile.delta(epsilon, direction) - true) < 1e-12


def test_known_values() -> None:
    # sigma = 1, epsilon = 1: F(-1/2) - e F(-3/2); and the textbook Laplace curve.
    assert float(closed.gaussian(1.0).delta(1.0, "both")) == pytest.approx(0.126936737507, abs=1e-11)
    assert float(closed.laplace(1.0).delta(0.0, "both")) == pytest.approx(1 - exp(-0.5), abs=1e-15)
    assert 1.99 < closed.laplace(0.5).epsilon(1e-30, "remove") < 2
    assert close(closed.gaussian(2.0, rounds=9).delta(0.7, "add"), closed.gaussian(2.0, 3).delta(0.7, "remove"))


@pytest.mark.parametrize("profile", [closed.gaussian(0.05), closed.gaussian(1.0).subsample(1e-9), closed.laplace(0.3)])
@pytest.mark.parametrize("target", [0.3, 1e-6, 1e-30])
@pytest.mark.parametrize("direction", BOTH)
def test_profiles_invert(profile: closed.Profile, target: float, direction: str) -> None:
    epsilon = profile.epsilon(target, direction)
    if epsilon:
        assert close(profile.delta(epsilon, direction), target, 25)
    else:
        assert profile.delta(0, direction) <= target


# ---------------------------------------------------------------- sampling and transforms


@pytest.mark.parametrize("direction", BOTH)
def test_sampling_covers_the_closed_form(direction: str) -> None:
    true = float(closed.gaussian(0.8).delta(0.5, direction))
    low, high = montecarlo.delta(0.8, 1, 0.5, direction, samples=10**5)
    assert low <= true <= high
    assert high - low < 0.02


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.37, 100, 0.1), (0.6, 20, 0.8)])
def test_sampling_covers_the_transform(sigma: float, steps: int, epsilon: float, direction: str) -> None:
    wide = {"window": 40.0 * steps, "cut": 20.0 * steps}
    true = float(montecarlo.extrapolated(sigma, steps, np.array([epsilon]), direction, points=2**16, **wide)[0])
    low, high = montecarlo.delta(sigma, steps, epsilon, direction, samples=10**5)
    assert low <= true <= high


def test_a_transform_of_one_step_is_the_closed_form() -> None:
    for direction, epsilon in product(BOTH, [0.25, 1.0]):
        found = montecarlo.extrapolated(1.0, 1, np.array([epsilon]), direction, points=2**16, window=64.0, cut=32.0)
        assert float(found[0]) == pytest.approx(float(closed.gaussian(1.0).delta(epsilon, direction)), rel=1e-6)


def test_the_transform_repeats_a_value_found_elsewhere() -> None:
    """sigma = 1.37, 100 steps, epsilon = 0.2, add: 2.21949e-4, inside [2.21898e-4, 2.22047e-4]."""
    found = montecarlo.extrapolated(1.37, 100, np.array([0.2]), "add", points=2**16, window=600.0, cut=150.0)
    assert float(found[0]) == pytest.approx(2.21949e-4, rel=3e-6)


def test_two_of_four_is_well_below_its_two_blocks() -> None:
    """sigma = 1, 4 steps, 2 picks, epsilon = 1, remove: 0.1524 for the scheme, 0.1621 for the reduction."""
    low, high = montecarlo.delta(1.0, 4, 1.0, "remove", picks=2, samples=4 * 10**5, confidence=1 - 1e-6)
    assert low <= 0.1524 <= high < 0.1621
    z = np.random.default_rng(1).standard_normal((4 * 10**5, 4)) + np.array([1.0, 0.0, 1.0, 0.0])
    z = np.exp(z - 0.5)
    x = (z[:, 0] + z[:, 1]) * (z[:, 2] + z[:, 3]) / 4
    low, high = montecarlo.chernoff(np.maximum(0.0, 1 - exp(1.0) / x), 1 - 1e-6)
    assert 0.1524 < low <= 0.1621 <= high


# (sigma, steps) -> direction -> window, cut and tilt of the sums
GRIDS: dict[tuple[float, int], dict[str, tuple[float, float, float]]] = {
    (1.0, 1000): {"remove": (3200.0, 1780.0, 0.0), "add": (3550.0, 887.0, -0.0079)},
    (2.0, 100): {"remove": (330.0, 184.0, 0.0), "add": (337.0, 84.0, -0.083)},
    (0.5, 1000): {"remove": (1.64e5, 9.1e4, 0.0), "add": (2350.0, 588.0, -0.0119)},
    (3.0, 1000): {"remove": (2860.0, 61.0, 0.49), "add": (1500.0, 60.0, -0.49)},
    (0.4, 100): {"remove": (1.46e6, 8.16e5, 0.0), "add": (52.6, 13.17, -0.53)},
    (0.3, 10): {"remove": (5.49e8, 3.05e8, 0.0), "add": (0.015, 0.00375, -1866.0)},
}


@pytest.mark.parametrize(("case", "direction"), list(product(GRIDS, BOTH)))
def test_reference_intervals_hold_the_values_of_the_transform(case: tuple[float, int], direction: str) -> None:
    with open(VECTORS / "reference_intervals.csv", newline="") as file:
        rows = [
            r
            for r in csv.DictReader(file)
            if (float(r["sigma"]), int(r["steps"]), r["direction"]) == (*case, direction)
        ]
    (row,) = rows
    window, cut, tilt = GRIDS[case][direction]
    value = montecarlo.transform_epsilon(
        *case,
        float(row["delta"]),
        direction,
        float(row["value"]),
        points=2**18,
        window=window,
        cut=cut,
        tilt=tilt,
    )
    assert value == pytest.approx(float(row["value"]), rel=1e-6)
    assert float(row["lower"]) <= value <= float(row["upper"])
    assert log(float(row["upper"]) / float(row["lower"])) < 3e-4

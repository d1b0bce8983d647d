"""Answers against values known from elsewhere: reference intervals, the paper's tables, and closed forms."""

from __future__ import annotations

import csv
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import privloss as pl
from privloss import Bracket, Scheme
from truth import binomial, closed

VECTORS = Path(__file__).parent / "vectors"
BOTH = ["remove", "add"]
Array = NDArray[np.float64]
MET = "tolerance met"


def rows(name: str) -> list[dict[str, str]]:
    with open(VECTORS / name, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def check(bracket: Bracket, rtol: float, atol: float) -> None:
    """In order, and as narrow as it says."""
    lower, upper = float(bracket.lower), float(bracket.upper)
    assert 0 <= lower <= upper
    if bracket.reason == MET and upper < inf:
        assert upper - lower <= max(atol, rtol * upper)


def holds(bracket: Bracket, truth: object) -> None:
    """The truth is an mpf: compared as it is, without slack."""
    assert bracket.lower <= truth <= bracket.upper, f"{truth} is not in {bracket!r}"  # type: ignore[operator]


# ---------------------------------------------------------------- 1-out-of-t Gaussian

REFERENCE = rows("reference_intervals.csv")


def name(row: dict[str, str]) -> str:
    return "-".join(list(row.values())[:4])


def against_reference(row: dict[str, str], **tolerance: float) -> Bracket:
    scheme = pl.Gaussian(float(row["sigma"])).allocate(int(row["steps"]))
    direction = row["direction"]
    bracket = scheme.epsilon(float(row["delta"]), direction=direction, **tolerance)  # type: ignore[arg-type]
    assert bracket.exact
    assert bracket.lower <= float(row["upper"])
    assert float(row["lower"]) <= bracket.upper
    # Sharper than the interval: the value of the transform, right to its last digit but one.
    last = 2 * 10.0 ** int(Decimal(row["value"]).as_tuple().exponent)
    assert bracket.lower - last <= float(row["value"]) <= bracket.upper + last
    return bracket


@pytest.mark.parametrize("row", REFERENCE, ids=name)
def test_reference_intervals_at_the_default_tolerance(row: dict[str, str]) -> None:
    check(against_reference(row), 1e-3, 1e-6)


@pytest.mark.parametrize("row", REFERENCE, ids=name)
def test_reference_intervals_at_a_small_tolerance(row: dict[str, str]) -> None:
    check(against_reference(row, rtol=1e-5), 1e-5, 0.0)


@pytest.mark.parametrize("row", rows("paper_tables.csv"), ids=lambda row: f"{row['table']}-{row['point']}")
def test_paper_tables(row: dict[str, str]) -> None:
    scheme = pl.Gaussian(float(row["sigma"])).allocate(int(row["steps"]), picks=int(row["picks"]))
    bracket = scheme.epsilon(float(row["delta"]))
    check(bracket, 1e-3, 1e-6)
    assert bracket.exact == (row["picks"] == "1")
    low, high = Decimal(row["epsilon_lower"]), Decimal(row["epsilon_upper"])
    assert low - half_digit(low) <= Decimal(float(bracket.lower))
    assert Decimal(float(bracket.upper)) <= high + half_digit(high)


def half_digit(printed: Decimal) -> Decimal:
    return Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)


def test_known_brackets() -> None:
    """Values found with other programs: a certified bracket must meet each."""
    epsilon = pl.Gaussian(1.0).subsample(1e-5).repeat(100_000).epsilon(1e-6)
    assert epsilon.lower <= 0.013134
    assert epsilon.upper >= 0.013115
    delta = pl.Gaussian(1.37).allocate(100).delta(0.2, direction="add", rtol=1e-5)
    assert delta.lower <= 2.21950e-4
    assert delta.upper >= 2.21948e-4


# ---------------------------------------------------------------- two outcomes: counts are binomial

# Masses that doubles hold exactly, so that the mechanism asked about is the mechanism of the closed form.
TWO = [(0.75, 0.25), (0.625, 0.5), (0.0625, 0.125)]


@pytest.mark.parametrize(("p", "q"), TWO)
@pytest.mark.parametrize("steps", [2, 13, 100, 10_000])
@pytest.mark.parametrize("direction", BOTH)
def test_two_outcomes_allocated(p: float, q: float, steps: int, direction: str) -> None:
    scheme = pl.Outcomes([p, 1 - p], [q, 1 - q]).allocate(steps)
    counts = binomial.allocation(p, q, steps)
    for delta in (0.01, 1e-6, 1e-30, 1e-100):
        against_epsilon(scheme, counts, delta, direction)
    epsilons = np.linspace(0.0, float(binomial.epsilon(counts, 1e-12, direction)), 4)
    against_deltas(scheme, counts, epsilons, direction)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("delta", [1e-6, 1e-100])
def test_two_outcomes_allocated_to_a_million_steps(delta: float, direction: str) -> None:
    scheme = pl.RandomizedResponse(0.75).allocate(1_000_000)
    counts = binomial.allocation(0.75, 0.25, 1_000_000)
    against_epsilon(scheme, counts, delta, direction)
    against_deltas(scheme, counts, np.array([0.001, 0.01]), direction)


@pytest.mark.parametrize("direction", BOTH)
def test_two_outcomes_sampled_then_allocated(direction: str) -> None:
    step = pl.Outcomes([0.75, 0.25], [0.25, 0.75])
    scheme = step.subsample(0.125)
    counts = binomial.allocation(*binomial.subsampled(0.75, 0.25, 0.125), 1000)
    for delta in (1e-4, 1e-60):
        against_epsilon(scheme.allocate(1000), counts, delta, direction)
        against_epsilon(step.allocate(1000).subsample(0.125), counts, delta, direction)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("rounds", [1, 7, 1000])
def test_two_outcomes_composed(rounds: int, direction: str) -> None:
    scheme = pl.Outcomes([0.53125, 0.46875], [0.46875, 0.53125])
    counts = binomial.composition(0.53125, 0.46875, rounds)
    sampled = binomial.composition(*binomial.subsampled(0.53125, 0.46875, 0.25), rounds)
    for delta in (1e-2, 1e-6, 1e-60):
        against_epsilon(scheme.repeat(rounds), counts, delta, direction)
        against_epsilon(scheme.subsample(0.25).repeat(rounds), sampled, delta, direction)
    against_deltas(scheme.repeat(rounds), counts, np.array([-0.5, 0.0, 0.1, 1.0]), direction)


def against_epsilon(scheme: Scheme, counts: binomial.Counting, delta: float, direction: str) -> None:
    bracket = scheme.epsilon(delta, direction=direction)  # type: ignore[arg-type]
    check(bracket, 1e-3, 1e-6)
    holds(bracket, binomial.epsilon(counts, delta, direction))


def against_deltas(scheme: Scheme, counts: binomial.Counting, epsilons: Array, direction: str) -> None:
    bracket = scheme.delta(epsilons, direction=direction)  # type: ignore[arg-type]
    for epsilon, low, high in zip(epsilons, bracket.lower, bracket.upper, strict=True):  # type: ignore[arg-type]
        truth = binomial.delta(counts, float(epsilon), direction)
        assert low <= truth <= high, f"delta({epsilon}) = {truth} is not in [{low}, {high}]"


# ---------------------------------------------------------------- closed forms

PROFILES: list[tuple[str, Scheme, closed.Profile]] = [
    ("gaussian", pl.Gaussian(1.0), closed.gaussian(1.0)),
    ("gaussian, loud", pl.Gaussian(100.0), closed.gaussian(100.0)),
    ("gaussian, quiet", pl.Gaussian(0.05), closed.gaussian(0.05)),
    ("gaussian, sensitivity", pl.Gaussian(3.0, sensitivity=2.0), closed.gaussian(3.0, 2)),
    ("gaussians", pl.Gaussian(4.0).repeat(9), closed.gaussian(4.0, rounds=9)),
    ("many gaussians", pl.Gaussian(100.0).repeat(10_000), closed.gaussian(100.0, rounds=10_000)),
    ("different gaussians", pl.Gaussian(3.0) + pl.Gaussian(4.0), closed.gaussian(2.4)),
    ("sampled gaussian", pl.Gaussian(1.0).subsample(0.125), closed.gaussian(1.0).subsample(0.125)),
    ("seldom sampled gaussian", pl.Gaussian(0.5).subsample(1e-6), closed.gaussian(0.5).subsample(1e-6)),
    ("laplace", pl.Laplace(1.0), closed.laplace(1.0)),
    ("laplace, loud", pl.Laplace(50.0, sensitivity=3.0), closed.laplace(50.0, 3)),
    ("sampled laplace", pl.Laplace(0.5).subsample(0.25), closed.laplace(0.5).subsample(0.25)),
    ("discrete laplace", pl.DiscreteLaplace(2.0), closed.discrete_laplace(2.0)),
    ("discrete laplace, shifted", pl.DiscreteLaplace(1.5, sensitivity=4), closed.discrete_laplace(1.5, 4)),
    ("response", pl.RandomizedResponse(0.75), closed.randomized_response(0.75)),
    ("response of five", pl.RandomizedResponse(0.5, values=5), closed.randomized_response(0.5, 5)),
    ("pure", pl.PureDP(0.5), closed.pure_dp(0.5)),
    ("pure, composed", pl.PureDP(0.125).repeat(100), closed.pure_dp(0.125, 100)),
    ("approximate", pl.ApproximateDP(0.5, 2.0**-20), closed.approximate_dp(0.5, 2.0**-20)),
    (
        "approximate, composed",
        pl.ApproximateDP(0.25, 2.0**-30).repeat(30),
        closed.approximate_dp(0.25, 2.0**-30, 30),
    ),
]
LABELS = [label for label, _, _ in PROFILES]
EPSILONS = [-2.0, -0.3, 0.0, 0.01, 0.3, 1.0, 4.0]


@pytest.mark.parametrize(("label", "scheme", "profile"), PROFILES, ids=LABELS)
@pytest.mark.parametrize("direction", BOTH)
def test_closed_forms(label: str, scheme: Scheme, profile: closed.Profile, direction: str) -> None:
    bracket = scheme.delta(EPSILONS, direction=direction)  # type: ignore[arg-type]
    for epsilon, low, high in zip(EPSILONS, bracket.lower, bracket.upper, strict=True):  # type: ignore[arg-type]
        truth = profile.delta(epsilon, direction)
        assert low <= truth <= high, f"delta({epsilon}) = {truth} is not in [{low}, {high}]"
    for delta in (0.3, 1e-3, 1e-8, 1e-40):
        answer = scheme.epsilon(delta, direction=direction)  # type: ignore[arg-type]
        check(answer, 1e-3, 1e-6)
        holds(answer, profile.epsilon(delta, direction))


@pytest.mark.parametrize(("label", "scheme", "profile"), PROFILES[:12], ids=LABELS[:12])
def test_advantage_and_largest_loss(label: str, scheme: Scheme, profile: closed.Profile) -> None:
    holds(scheme.advantage(), profile.delta(0, "both"))
    for direction, largest in (("remove", profile.largest_remove), ("add", profile.largest_add)):
        holds(scheme.epsilon(0.0, direction=direction), largest)  # type: ignore[arg-type]


def test_tradeoff_of_a_gaussian() -> None:
    """fnr = F(F^-1(1 - fpr) - mu), in both directions."""
    rates = [0.001, 0.01, 0.1, 0.5, 0.9]
    directions: list[Any] = ["remove", "add", "both"]
    for direction in directions:
        bracket = pl.Gaussian(0.5).tradeoff(rates, direction=direction)
        for rate, low, high in zip(rates, bracket.lower, bracket.upper, strict=True):  # type: ignore[arg-type]
            with mpmath.workdps(50):
                place = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(rate))
                assert low <= mpmath.ncdf(place - 2) <= high

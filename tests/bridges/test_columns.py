"""Columns, what is handed to dp-accounting, against exact curves; no library is needed for that."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Literal, cast

import hypothesis.strategies as st
import mpmath
import numpy as np
import pytest
from hypothesis import given
from mpmath import mp, mpf

import privloss as pl
from privloss.bridges.dp_accounting.pld import Column, columns, from_column
from truth import closed

Side = Literal["upper", "lower"]
SIDES: tuple[Side, ...] = ("upper", "lower")
INF = math.inf

P, Q = [0.5, 0.25, 0.125, 0.125, 0.0], [0.125, 0.25, 0.5, 0.0, 0.125]

KNOWN: list[tuple[pl.Scheme, closed.Profile]] = [
    (pl.Gaussian(1.0), closed.gaussian(1.0)),
    (pl.Gaussian(0.5, 2.0), closed.gaussian(0.5, 2.0)),
    (pl.Gaussian(2.0).repeat(3), closed.gaussian(2.0, 1, 3)),
    (pl.Gaussian(1.0).subsample(0.1), closed.gaussian(1.0).subsample(0.1)),
    (pl.Laplace(2.0), closed.laplace(2.0)),
    (pl.Laplace(0.7).subsample(0.25), closed.laplace(0.7).subsample(0.25)),
    (pl.DiscreteLaplace(2.0, 3), closed.discrete_laplace(2.0, 3)),
    (pl.RandomizedResponse(0.75), closed.randomized_response(0.75)),
    (pl.RandomizedResponse(0.5, 4).subsample(0.5), closed.randomized_response(0.5, 4).subsample(0.5)),
    (pl.PureDP(1.0), closed.pure_dp(1.0)),  # on the grid
    (pl.PureDP(0.3).repeat(7), closed.pure_dp(0.3, 7)),
    (pl.PureDP(0.0), closed.pure_dp(0.0)),
    (pl.ApproximateDP(0.5, 1e-6).repeat(3), closed.approximate_dp(0.5, 1e-6, 3)),
    (pl.ApproximateDP(0.0, 1.0), closed.approximate_dp(0.0, 1.0)),
    (pl.Outcomes(P, Q), closed.finite(P, Q)),
]


def outcomes(column: Column, step: float) -> list[tuple[mpf, mpf]]:
    """(ratio, mass) of what has mass, the losses as the doubles that dp-accounting makes of them."""
    kept = np.flatnonzero(column.masses)
    losses = (kept + column.first) * step
    return [(mpmath.exp(mpf(float(loss))), mpf(float(m))) for loss, m in zip(losses, column.masses[kept], strict=True)]


def curve(parts: list[tuple[mpf, mpf]], infinity: Any, k: mpf) -> mpf:
    return mpf(infinity) + sum(mass * (1 - k / ratio) for ratio, mass in parts if ratio > k)


def both(scheme: pl.Scheme, step: float, side: Side) -> Iterator[tuple[str, Column]]:
    remove, add = columns(scheme, step, side=side, seconds=None)
    yield "remove", remove
    yield "add", remove if add is None else add


def bounds(side: Side, got: mpf, true: mpf) -> bool:
    return bool(got >= true if side == "upper" else got <= true)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("step", [0.25, 0.1])
@pytest.mark.parametrize(("scheme", "truth"), KNOWN, ids=[repr(scheme) for scheme, _ in KNOWN])
def test_a_column_bounds_the_exact_curve(scheme: pl.Scheme, truth: closed.Profile, step: float, side: Side) -> None:
    with mp.workdps(40):
        for direction, column in both(scheme, step, side):
            parts = outcomes(column, step)
            for epsilon in [*np.linspace(-4.03, 4.03, 15), *(step * np.arange(-5, 6)), -30.0, 0.3, 1.0, 9.0, 40.0]:
                true = truth.delta(float(epsilon), direction)
                got = curve(parts, column.infinity, mpmath.exp(mpf(float(epsilon))))
                assert bounds(side, got, true), (direction, epsilon, got, true)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("scheme", "truth"), KNOWN, ids=[repr(scheme) for scheme, _ in KNOWN])
def test_a_column_sums_to_one(scheme: pl.Scheme, truth: closed.Profile, side: Side) -> None:
    for _, column in both(scheme, 0.1, side):
        assert column.masses.min() >= 0
        assert math.fsum([column.infinity, *column.masses.tolist()]) == pytest.approx(1, abs=1e-15)


MASSES = st.lists(st.integers(0, 6), min_size=2, max_size=6).filter(any)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    q = draw(MASSES)
    p = draw(st.lists(st.integers(0, 6), min_size=len(q), max_size=len(q)).filter(any))
    return [n / sum(p) for n in p], [n / sum(q) for n in q]


@given(pairs(), st.sampled_from([0.07, 0.5, 3.0]), st.sampled_from(SIDES))
def test_at_every_corner(given_pair: tuple[list[float], list[float]], step: float, side: Side) -> None:
    """Both curves are straight between their corners, so what holds at all of these holds everywhere."""
    p, q = given_pair
    with mp.workdps(40):
        true = closed.finite(p, q)
        for direction, column in both(pl.Outcomes(p, q), step, side):
            parts = outcomes(column, step)
            ratios = [(mpf(a) / mpf(b)) for a, b in zip(p, q, strict=True) if a and b]
            own = ratios if direction == "remove" else [1 / ratio for ratio in ratios]
            for k in [*own, *(ratio for ratio, _ in parts), mpf(0), mpf(10) ** 9]:
                exact = true.remove(k) if direction == "remove" else true.add(k)
                slack = mpf(2) ** -52  # the masses themselves are rounded, and need not sum to 1
                got = curve(parts, column.infinity, k) + (slack if side == "upper" else -slack)
                assert bounds(side, got, exact), (direction, k)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("scheme", "truth"),
    [
        (pl.ApproximateDP(0.42, 0.1), closed.approximate_dp(0.42, 0.1, 2)),
        (pl.PureDP(0.42), closed.pure_dp(0.42, 2)),
        (pl.Gaussian(1.0), closed.gaussian(1.0, 1, 2)),
    ],
    ids=["a guarantee", "a pure one", "Gaussian"],
)
def test_composed_columns_stay_bounds(scheme: pl.Scheme, truth: closed.Profile, side: Side) -> None:
    """As dp-accounting composes: masses convolved, infinity a + b - ab."""
    with mp.workdps(40):
        (_, column), _ = both(scheme, 0.5, side)
        parts = outcomes(column, 0.5)
        twice = [(r1 * r2, m1 * m2) for r1, m1 in parts for r2, m2 in parts]
        infinity = 2 * mpf(column.infinity) - mpf(column.infinity) ** 2
        for epsilon in (-3.1, -0.84, 0.0, 0.1, 0.5, 0.84, 1.3, 3.0):
            got = curve(twice, infinity, mpmath.exp(mpf(epsilon)))
            assert bounds(side, got, truth.delta(epsilon, "remove")), (epsilon, got)


def test_an_upper_column_is_second_order() -> None:
    truth = closed.gaussian(1.0)
    gaps = []
    for step in (0.2, 0.1, 0.05):
        remove, _ = columns(pl.Gaussian(1.0), step, side="upper")
        middle = 1.0 + step / 2
        got = curve(outcomes(remove, step), remove.infinity, mpmath.exp(middle))
        gaps.append(float(got - truth.delta(middle, "remove")))
    assert all(3.5 < a / b < 4.5 for a, b in itertools.pairwise(gaps))


def test_an_upper_column_is_exact_on_the_grid() -> None:
    remove, _ = columns(pl.Gaussian(1.0), 0.125, side="upper")
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        got = curve(outcomes(remove, 0.125), remove.infinity, mpmath.exp(mpf(epsilon)))
        assert float(got) == pytest.approx(float(closed.gaussian(1.0).delta(epsilon, "remove")), rel=1e-12)


def test_directions_that_are_the_same_come_once() -> None:
    assert columns(pl.Laplace(1.0).repeat(3), 0.1, side="upper")[1] is None
    assert columns(pl.Gaussian(1.0).subsample(0.1), 0.1, side="upper")[1] is not None


def test_a_column_read_back_is_the_scheme() -> None:
    remove, _ = columns(pl.Gaussian(1.0).subsample(0.3), 0.05, side="upper")
    losses = np.arange(remove.first, remove.first + remove.masses.size, dtype=np.float64) * np.float64(0.05)
    back = from_column(losses, remove.masses, remove.infinity)
    for epsilon in (0.0, 0.3, 2.0):
        exact = float(curve(outcomes(remove, 0.05), remove.infinity, mpmath.exp(mpf(epsilon))))
        answer = back.delta(epsilon, direction="remove")
        assert answer.lower <= exact <= answer.upper
        assert answer.gap <= 1e-9 * answer.upper


def test_noise_at_low_losses_changes_nothing_from_zero_on() -> None:
    """Rounding noise at a loss of -50 is e^50 times as much under Q: dp-accounting's own columns have such."""
    losses, masses = np.array([-50.0, -40.0, -1.0, 1.0]), np.array([1e-14, 1e-13, 0.27, 0.73])
    back = from_column(losses, masses, 0.0)
    answer = back.delta([0.0, 0.5], direction="remove")
    exact = 0.73 * -np.expm1(np.array([0.0, 0.5]) - 1)
    assert (answer.lower <= exact).all()
    assert (exact <= answer.upper).all()
    assert (np.asarray(answer.gap) < 1e-12).all()


def test_an_upper_column_read_back_is_not_lowered_left_of_zero() -> None:
    """Masses that sum to more than 1 lose from the lowest; what is left of these is no lower than the last of them."""
    losses, masses = np.array([-3.0, -2.0, -1.0, 1.0]), np.array([1e-4, 2e-4, 0.2686, 0.7313])
    upper, lower = (from_column(losses, masses, 0.0, side=side) for side in SIDES)
    assert upper.losses[0] == -2.0
    assert lower.losses[0] < -2.0
    assert math.fsum(upper.masses) == math.fsum(lower.masses) == 1


def test_negative_noise_counts_as_nothing() -> None:
    back = from_column(np.array([-1.0, 0.5, 1.0]), np.array([0.27, -1e-15, 0.73]), 0.0)
    assert 0.5 not in back.losses


def test_what_lacks_under_p_goes_below_the_rest() -> None:
    """An optimistic column may have dropped mass of low loss."""
    back = from_column(np.array([0.5]), np.array([0.9999]), 0.0)
    answer = back.delta(0.0, direction="remove")
    assert answer.lower <= 0.9999 * -math.expm1(-0.5) <= answer.upper
    assert math.fsum(back.masses) == 1


@pytest.mark.parametrize(
    ("masses", "infinity", "message"),
    [
        ([0.5, 0.6], 0.0, "must sum to 1 within"),
        ([0.5, 0.4], -0.1, "at least 0"),
        ([1.5, -0.5], 0.0, "at least 0"),
        ([math.nan, 0.5], 0.5, "at least 0"),
    ],
)
def test_what_is_no_distribution_is_refused(masses: list[float], infinity: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_column(np.array([-0.1, 0.1]), np.array(masses), infinity)


@pytest.mark.parametrize(
    ("scheme", "step", "side", "message"),
    [
        (pl.Gaussian(1.0), 0.0, "upper", "step must be positive"),
        (pl.Gaussian(1.0), 1e3, "upper", "step must be at most 100"),
        (pl.Gaussian(1.0), 1e-9, "upper", "step must be at least"),
        (pl.Gaussian(1e-3), 1e-4, "lower", "step must be at least"),
        (pl.Laplace(1e-150), 1.0, "lower", "step must be at least"),
        (pl.Gaussian(1.0), 0.1, "middle", "side must be one of"),
    ],
)
def test_arguments_are_checked(scheme: pl.Scheme, step: float, side: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns(scheme, step, side=cast("Any", side))


def test_time_is_watched() -> None:
    with pytest.raises(TimeoutError, match="seconds"):
        columns(pl.Gaussian(1.0).allocate(10**6).repeat(1000), 0.1, side="upper", seconds=1e-9)


@pytest.mark.parametrize("scheme", [pl.Gaussian(1e-200), pl.Gaussian(1e200), pl.Laplace(1e150), pl.PureDP(800.0)])
def test_extremes_give_columns(scheme: pl.Scheme) -> None:
    for side in SIDES:
        for _, column in both(scheme, 1.0, side):
            assert math.fsum([column.infinity, *column.masses.tolist()]) == pytest.approx(1, abs=1e-15)


def test_what_a_lower_column_fills_up_says_nothing() -> None:
    """It is so low that the curve there is at most 1 - x, which every scheme has, though Q has mass of its own."""
    remove, _ = columns(pl.ApproximateDP(0.42, 0.5), 0.1, side="lower")
    with mp.workdps(40):
        parts = outcomes(remove, 0.1)
        lowest = min(ratio for ratio, _ in parts)
        assert curve(parts, remove.infinity, lowest) <= 1 - lowest


def test_a_lower_column_drops_no_mass_to_infinity() -> None:
    remove, _ = columns(pl.Gaussian(1.0), 0.1, side="lower")
    assert remove.infinity == 0.0
    assert INF not in remove.masses

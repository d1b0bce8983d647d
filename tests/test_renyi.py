"""Renyi divergences against exact sums, quadrature and the sums over partitions of another implementation."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb, exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import privloss as pl
from privloss import Scheme
from privloss._renyi import CELL, _column, averaged, logs, pair_g, rule, series_power, worst

VECTORS = Path(__file__).parent / "vectors" / "random_allocation.json"
ROWS: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["rows"]
P, Q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
STEP = pl.Outcomes([0.75, 0.25], [0.25, 0.75])
WAYS: tuple[Any, Any] = ("remove", "add")
SIDES: tuple[Any, Any] = ("upper", "lower")


def inside(scheme: Scheme, order: float, way: Any, true: float, width: float = 1e-9, error: float = 1e-13) -> None:
    found = scheme.renyi(order, direction=way)
    assert found.lower <= true * (1 + error) + 1e-15
    assert true * (1 - error) <= found.upper
    assert found.gap <= width * true + 1e-12


def exact(counts: dict[Fraction, Fraction], order: int, way: str) -> float:
    """From the ratios of a scheme and their masses under Q, in fractions."""
    power = order if way == "remove" else 1 - order
    total = sum(mass * ratio**power for ratio, mass in counts.items())
    return float(mp.log(mp.mpf(total.numerator) / total.denominator)) / (order - 1)


def allocated(steps: int) -> dict[Fraction, Fraction]:
    """The mean of ``steps`` ratios, 3 or 1/3 each, by the number of threes."""
    found = {}
    for ones in range(steps + 1):
        ratio = (ones * Fraction(3) + (steps - ones) * Fraction(1, 3)) / steps
        found[ratio] = comb(steps, ones) * Q[0] ** ones * Q[1] ** (steps - ones)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [2, 7, 40])
@pytest.mark.parametrize("steps", [1, 2, 30])
def test_allocations_of_two_outcomes(steps: int, order: int, way: Any) -> None:
    wide = 2e-2 if way == "add" and steps > 1 else 1e-9
    inside(STEP.allocate(steps), order, way, exact(allocated(steps), order, way), wide)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [2, 5, 20])
def test_subsampling_composition_and_swaps(order: int, way: Any) -> None:
    rate = Fraction(1, 8)
    mixed = {1 - rate + rate * ratio: mass for ratio, mass in allocated(6).items()}
    true = exact(mixed, order, way)
    scheme = STEP.allocate(6).subsample(0.125)
    wide = 1e-2 if way == "add" else 1e-9
    inside(scheme, order, way, true, wide)
    inside(scheme.repeat(7), order, way, 7 * true, wide)
    inside(pl.compose(scheme, STEP), order, way, true + exact(allocated(1), order, way), wide)
    inside(scheme.swap(), order, "add" if way == "remove" else "remove", true, wide)


@pytest.mark.parametrize("order", [2, 3, 6])
def test_parts_of_different_weight(order: int) -> None:
    """0.75 of one step of a kind that shows nothing much and 0.25 of another, by hand."""
    scheme = pl.allocate([(STEP, 1), (STEP.swap(), 1)], weights=[0.25, 0.75])
    counts: dict[Fraction, Fraction] = {}
    for i in (0, 1):
        for j in (0, 1):
            ratio = Fraction(1, 4) * P[i] / Q[i] + Fraction(3, 4) * Q[j] / P[j]
            counts[ratio] = counts.get(ratio, Fraction(0)) + Q[i] * P[j]
    for way in WAYS:
        inside(scheme, order, way, exact(counts, order, way), 1e-9 if way == "remove" else 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "density"), [
    (pl.Gaussian(0.8), lambda z: mp.npdf(z, 0, 0.8)),
    (pl.Laplace(1.3), lambda z: mp.exp(-abs(z) / mp.mpf(1.3)) / (2 * mp.mpf(1.3))),
])  # fmt: skip
@pytest.mark.parametrize("rate", [1.0, 0.03])
def test_noise_by_quadrature(scheme: Scheme, density: Any, rate: float) -> None:
    with mp.workdps(30):
        for order in (2, 3, 9):
            for way, power in (("remove", order), ("add", 1 - order)):
                def part(z: Any, power: int = power) -> Any:
                    return (1 - mp.mpf(rate) + mp.mpf(rate) * density(z - 1) / density(z)) ** power * density(z)

                ends = [-200, -40, -10, -5, 0, 1, 5, 10, 20, 40, 200]
                true = float(mp.log(mp.quad(part, ends)) / (order - 1))
                inside(scheme.subsample(rate), order, way, true, 1e-9 if rate == 1 or way == "remove" else 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.6, 1.0, 3.0])
@pytest.mark.parametrize("order", [2, 3, 8])
def test_two_gaussian_steps_by_quadrature(sigma: float, order: int) -> None:
    """By sums over a fine grid of the plane, wide enough for the outputs that high orders are about."""
    mu = 1 / sigma
    z = np.linspace(-12 - order * mu, 12 + order * mu, 1501)
    weight = np.exp(-z * z / 2) * (z[1] - z[0]) / np.sqrt(2 * np.pi)
    ratio = np.exp(mu * z - mu * mu / 2)
    mean = (ratio[:, None] + ratio) / 2
    for way, power in (("remove", order), ("add", 1 - order)):
        true = log(float(weight @ mean**power @ weight)) / (order - 1)
        inside(pl.Gaussian(sigma).allocate(2), order, way, true, 1e-9 if way == "remove" else 2e-2, 1e-11)


@pytest.mark.parametrize("row", [row for row in ROWS if row["method"] == "renyi"], ids=str)
def test_remove_agrees_with_sums_over_partitions(row: dict[str, Any]) -> None:
    found = pl.Gaussian(row["sigma"]).allocate(row["steps"]).renyi(row["order"], direction="remove")
    assert found.upper == pytest.approx(row["value"], rel=1e-8)


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 63, 10**6, 2**53])
def test_squaring_and_the_recursion_agree(steps: int) -> None:
    moments = np.array([0.5 * a * (a - 1) for a in range(min(steps + 2, 33))])
    for how in ("recursion", "squaring"):
        low, high = (averaged(moments, steps, side, how) for side in ("lower", "upper"))
        other = averaged(moments, steps, "lower", "squaring")
        assert np.all(low <= high)
        assert np.all(other <= high)
    with pytest.raises(ValueError, match="order must be at most"):
        series_power(np.zeros(8), 3, "upper", "recursion")


def test_the_recursion_is_exact_enough_for_many_steps() -> None:
    """For a billion steps log E X^a is about a(a-1)/2 (e - 1)/t."""
    found = pl.Gaussian(1.0).allocate(10**9).renyi(10, direction="remove")
    assert found.lower <= 5 * (exp(1.0) - 1) * 1e-9 * (1 + 1e-6)
    assert found.upper >= 5 * (exp(1.0) - 1) * 1e-9
    assert found.gap < 1e-10


@pytest.mark.parametrize("way", WAYS)
def test_orders_between_whole_ones(way: Any) -> None:
    with mp.workdps(30):
        for order in (1.2, 1.9, 2.5, 7.75):
            true = mp.log(_two(order)) / (order - 1)
            found = STEP.renyi(order, direction=way)
            assert found.lower <= float(true) <= found.upper
    orders = STEP.renyi([2, 3.5, 10], direction=way)
    assert isinstance(orders.upper, np.ndarray)
    assert np.all(np.diff(orders.upper) > 0)


def _two(order: float) -> Any:
    p, q = mp.mpf(3) / 4, mp.mpf(1) / 4
    return p**order * q ** (1 - order) + q**order * p ** (1 - order)


def test_the_ends_of_the_range() -> None:
    assert pl.Gaussian(1.0).renyi(inf).upper == inf
    assert pl.Laplace(2.0).renyi(inf).upper == pytest.approx(0.5)
    assert pl.ApproximateDP(1.0, 1e-6).renyi(2).upper == inf
    assert pl.ApproximateDP(1.0, 1e-6).renyi(2).lower == inf
    assert pl.DiscreteGaussian(1.5, 2).renyi(3).upper == pytest.approx(3 * 4 / (2 * 1.5**2))
    assert not pl.Gaussian(1.0).allocate(10, picks=3).renyi(2).exact
    assert pl.Gaussian(1e-160).renyi(2).upper == inf
    assert pl.Gaussian(1e9).allocate(3).renyi(2).upper < 1e-12


def test_depth_is_no_obstacle() -> None:
    scheme: Scheme = pl.Gaussian(1.0)
    for _ in range(20):
        scheme = scheme.allocate(2).repeat(2)
    for way in WAYS:
        found = scheme.renyi(2, direction=way)
        assert 0 < found.lower <= found.upper < inf


@pytest.mark.parametrize("order", [1, 1.0, 0.5, -2, float("nan"), 1e6])
def test_wrong_orders_are_refused(order: float) -> None:
    with pytest.raises(ValueError, match="order must be"):
        pl.Gaussian(1.0).renyi(order)


def test_what_has_no_known_divergence_is_refused() -> None:
    mixture = pl.GaussianMixture(1.0, [0.0, 1.0], [0.5, 0.5])
    for scheme in (mixture, mixture.allocate(3), mixture.subsample(0.1).repeat(2)):
        for way in WAYS:
            with pytest.raises(ValueError, match="scheme must be built from"):
                scheme.renyi(2, direction=way)
    with pytest.raises(TypeError, match="order must be"):
        pl.Gaussian(1.0).renyi("2")
    assert logs(pl.Gaussian(1.0), [1], "add", "upper").tolist() == [0.0]


@pytest.mark.parametrize("order", [1.5, 2, 2.5, 7.7])
def test_mass_of_one_side_alone_makes_every_order_infinite(order: float) -> None:
    scheme = pl.Outcomes([0.5, 0.5], [0.0, 1.0]).repeat(2)
    found = scheme.renyi(order, direction="remove")
    assert (found.lower, found.upper) == (inf, inf)
    back = scheme.renyi(order, direction="add")
    assert back.lower <= 2 * log(2) <= back.upper < inf


def test_what_no_double_holds_is_not_infinite_from_below() -> None:
    found = pl.Gaussian(1e-200).subsample(0.5).repeat(3).renyi([1.5, 2, 9], direction="remove")
    assert np.all(np.isfinite(found.lower))
    assert np.all(np.isinf(found.upper))


def test_orders_of_different_lengths_are_refused_in_one_sentence() -> None:
    with pytest.raises(TypeError, match="order must be a number or an array of numbers"):
        STEP.renyi([[2], [3, 4]])


@pytest.mark.parametrize("most", [2, 256, 257, 2000])
@pytest.mark.parametrize("start", [0.5, 4.0])
def test_the_rule_of_the_integrals_leaves_no_more_than_it_charges(most: int, start: float) -> None:
    """Of u^(s-1) in closed form; of u^(s-1) e^-u as an incomplete gamma function. Nodes themselves are doubles."""
    nodes, weights = rule(most)
    with mp.workdps(25):
        a = mp.mpf(start * most)
        u = [a * (1 + (mp.mpf(CELL) - 1) * node) for node in nodes.tolist()]
        width, b = a * (mp.mpf(CELL) - 1), a * mp.mpf(CELL)
        flat = mp.fsum(w * width * v ** (most - 1) for w, v in zip(weights.tolist(), u, strict=True))
        steep = mp.fsum(w * width * v ** (most - 1) * mp.exp(-v) for w, v in zip(weights.tolist(), u, strict=True))
        true = mp.quad(lambda v: v ** (most - 1) * mp.exp(-v), mp.linspace(a, b, 5))
        margin = 1e-13 + 16 * most * 2.0**-53
        assert abs(mp.log(flat / ((b**most - a**most) / most))) <= margin
        assert abs(mp.log(steep / true)) <= margin


def test_tails_of_a_swap_share_their_moments() -> None:
    node = pl.Outcomes([0.9, 0.1], [0.2, 0.8]).subsample(0.25).swap()
    before = _column.cache_info().misses
    for r in range(3, 200):
        worst(node, r + 0.5)
    assert _column.cache_info().misses - before <= 10


def test_infinite_moments_beside_vanishing_terms() -> None:
    """Order steps + 1 of the recursion has a term that is 0 times an infinite moment."""
    scheme = pl.allocate([(pl.Outcomes([1.0, 0.0], [0.0, 1.0]), 2), (pl.PureDP(0.1), 1)], [1.0, 0.0])
    found = scheme.renyi([1.5, 2, 3, 4])
    assert np.all(np.isposinf(found.lower))
    assert np.all(np.isposinf(averaged(np.array([0.0, 0.0, inf, inf]), 2, "upper")[2:]))


@pytest.mark.parametrize(
    ("scheme", "remove", "add"),
    [
        (pl.Outcomes([0.5, 0.5], [0.0, 1.0]).allocate(2), True, False),
        (pl.Outcomes([0.5, 0.5], [0.0, 1.0]).allocate(2).swap(), False, True),
        (pl.Outcomes([0.0, 1.0], [0.5, 0.5]).allocate(2), False, True),
        (pl.Outcomes([0.0, 1.0], [0.5, 0.5]).subsample(0.5), False, False),
        (pl.Outcomes([0.0, 1.0], [0.5, 0.5]) + pl.Gaussian(1.0), False, True),
        (pl.allocate([(pl.Outcomes([0.0, 1.0], [0.5, 0.5]), 2), (pl.Gaussian(1.0), 1)]), False, False),
        (pl.allocate([(pl.Outcomes([0.5, 0.5], [0.0, 1.0]), 2), (pl.Gaussian(1.0), 1)]), True, False),
    ],
    ids=str,
)
def test_which_divergences_are_infinite(scheme: Scheme, remove: bool, add: bool) -> None:
    for way, infinite in (("remove", remove), ("add", add)):
        found = scheme.renyi(3, direction=way)  # type: ignore[arg-type]
        assert (found.lower == inf, found.upper == inf) == (infinite, infinite)


def test_a_transform_asked_at_once_is_the_one_asked_point_by_point() -> None:
    """By its definition, on an exact pair: blocks, and both branches."""
    law = pl.Outcomes([0.75, 0.25], [0.25, 0.75]).pair(side="upper")
    u = np.geomspace(1e-3, 1e3, 9000)
    true = np.logaddexp(log(0.25) - 3 * u, log(0.75) - u / 3) + u
    with np.errstate(divide="ignore"):  # the log of an empty atom, as ``logs`` has it
        upper, lower = (pair_g(law, u, side, 1.0) for side in SIDES)
        bare = pair_g(law, u, "upper", 0.0)
    assert np.all(lower <= true + 1e-12)
    assert np.all(true <= upper + 1e-12)
    np.testing.assert_allclose(upper, true, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(bare, true - u, rtol=1e-9, atol=1e-11)

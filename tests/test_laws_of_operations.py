"""The laws of the operations, each over one shared list of schemes, as statements about answers.

Two expressions that must mean the same are answered apart, and their brackets must meet: each is claimed to
hold the same truth. No test says how the answers are found.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privloss as pl
from privloss import Scheme
from schemes_list import mechanisms, schemes

Array = NDArray[np.float64]
SCHEMES = schemes()
NAMES = [name for name, _ in SCHEMES]
SMALL = [*mechanisms(), ("small allocation", pl.Gaussian(2.0).allocate(20))]
DIRECTIONS: list[Any] = ["remove", "add"]
EPSILONS = np.array([-0.25, 0.0, 0.05, 0.2, 0.6])
DELTA = 1e-5
over_all = pytest.mark.parametrize("scheme", [scheme for _, scheme in SCHEMES], ids=NAMES)
over_small = pytest.mark.parametrize("scheme", [scheme for _, scheme in SMALL], ids=[name for name, _ in SMALL])


def deltas(scheme: Scheme, direction: Any) -> tuple[Array, Array]:
    # The absolute tolerance is for curves that touch 0, where no relative one can be met.
    bracket = scheme.delta(EPSILONS, direction=direction, rtol=1e-4, atol=1e-6)
    return np.asarray(bracket.lower), np.asarray(bracket.upper)


def same(one: Scheme, other: Scheme, other_direction: dict[str, str] | None = None) -> None:
    for direction in DIRECTIONS:
        second: Any = (other_direction or {}).get(direction, direction)
        (low, high), (other_low, other_high) = deltas(one, direction), deltas(other, second)
        assert np.all(low <= other_high), f"{one} against {other}, {direction}"
        assert np.all(other_low <= high), f"{one} against {other}, {direction}"
        a = one.epsilon(DELTA, direction=direction, rtol=1e-4, atol=1e-5)
        b = other.epsilon(DELTA, direction=second, rtol=1e-4, atol=1e-5)
        assert a.lower <= b.upper
        assert b.lower <= a.upper


# ---------------------------------------------------------------- answers


@over_all
def test_bounds_are_in_order(scheme: Scheme) -> None:
    for direction in (*DIRECTIONS, "both"):
        low, high = deltas(scheme, direction)
        assert np.all(low >= np.maximum(0, 1 - np.exp(EPSILONS)) * (1 - 1e-9))
        assert np.all(low <= high)
        assert np.all(high <= 1)
        for bracket in (scheme.epsilon(DELTA, direction=direction), scheme.advantage(direction=direction)):
            assert 0 <= bracket.lower <= bracket.upper
        missed = scheme.tradeoff([0.01, 0.3], direction=direction, atol=1e-4)
        assert np.all(np.asarray(missed.lower) >= 0)
        assert np.all(np.asarray(missed.lower) <= np.asarray(missed.upper))
        assert np.all(np.asarray(missed.upper) <= np.array([0.99, 0.7]) + 1e-9)


@over_all
def test_both_is_the_worse_direction(scheme: Scheme) -> None:
    (low, high), (other_low, other_high), (both_low, both_high) = (deltas(scheme, d) for d in (*DIRECTIONS, "both"))
    assert np.all(both_low <= np.maximum(high, other_high))
    assert np.all(np.maximum(low, other_low) <= both_high)


@over_all
def test_delta_falls_and_is_convex_in_the_ratio(scheme: Scheme) -> None:
    """For arrays all answers come from one resolution, so each bound is a curve of some pair."""
    k = np.linspace(0.5, 2.5, 21)
    for direction in DIRECTIONS:
        bracket = scheme.delta(np.log(k), direction=direction, atol=1e-9)
        for curve in (np.asarray(bracket.lower), np.asarray(bracket.upper)):
            slack = 1e-9 * curve[0]
            assert np.all(np.diff(curve) <= slack)
            assert np.all(np.diff(curve, 2) >= -slack)


@over_all
def test_epsilon_falls_with_delta(scheme: Scheme) -> None:
    bracket = scheme.epsilon([1e-9, 1e-6, 1e-3, 0.1, 0.9], rtol=1e-3)
    for curve in (np.asarray(bracket.lower), np.asarray(bracket.upper)):
        assert np.all(curve[1:] <= curve[:-1])
    answers = [scheme.epsilon(delta) for delta in (1e-9, 1e-3, 0.1)]
    for tight, loose in pairwise(answers):
        assert loose.lower <= tight.upper


@over_all
def test_epsilon_and_delta_are_inverse(scheme: Scheme) -> None:
    for direction in DIRECTIONS:
        epsilon = scheme.epsilon(DELTA, direction=direction)
        if np.isfinite(epsilon.upper):
            at_upper = scheme.delta(float(epsilon.upper), direction=direction, atol=1e-9)
            assert at_upper.lower <= DELTA
        if epsilon.lower > 0 and np.isfinite(epsilon.lower):
            at_lower = scheme.delta(float(epsilon.lower), direction=direction, atol=1e-9)
            assert at_lower.upper >= DELTA * (1 - 1e-9)


@over_all
def test_masses_are_kept(scheme: Scheme) -> None:
    sides: list[Any] = ["upper", "lower"]
    for side in sides:
        for direction in DIRECTIONS:
            pair = scheme.pair(side=side, direction=direction)
            for masses, atom in ((pair.p, pair.p_only), (pair.q, pair.q_only)):
                assert np.all(masses >= 0)
                assert atom >= 0
                total = float(np.sum(masses)) + float(atom)
                # A lower measure may drop what it cannot hold; neither side makes any.
                assert total <= 1 + pair.eta + 1e-13
                assert total >= 1 - pair.eta - (1e-13 if side == "upper" else 1e-9)


@over_all
def test_refining_does_not_widen(scheme: Scheme) -> None:
    """Up to rounding: each refinement is a bracket of the same curve, and the answer is no wider."""
    for direction in DIRECTIONS:
        before = np.inf
        for rtol in (1e-1, 1e-2, 1e-3, 1e-4):
            bracket = scheme.epsilon(DELTA, direction=direction, rtol=rtol, atol=1e-7)
            if not np.isfinite(bracket.upper):
                break
            assert bracket.gap <= before * (1 + 1e-6) + 1e-9 * (1 + bracket.upper)
            before = float(bracket.gap)


# ---------------------------------------------------------------- identities


@over_all
def test_swap_is_its_own_inverse(scheme: Scheme) -> None:
    same(scheme, scheme.swap().swap())


@over_all
def test_remove_is_add_of_the_swap(scheme: Scheme) -> None:
    same(scheme, scheme.swap(), {"remove": "add", "add": "remove"})


@over_all
def test_identities(scheme: Scheme) -> None:
    same(scheme, scheme.allocate(1))
    same(scheme, scheme.subsample(1.0))
    same(scheme, scheme.repeat(1))
    same(scheme, pl.compose(scheme))


@over_small
def test_all_picks_is_repetition(scheme: Scheme) -> None:
    same(scheme.allocate(3, picks=3), scheme.repeat(3))


@over_small
def test_repeats_of_repeats(scheme: Scheme) -> None:
    same(scheme.repeat(2).repeat(3), scheme.repeat(6))
    same(pl.compose(scheme, scheme, scheme), scheme.repeat(3))


@over_small
def test_composition_in_any_order_and_grouping(scheme: Scheme) -> None:
    a, b, c = scheme, pl.Laplace(2.0), pl.Outcomes([0.5, 0.25, 0.25], [0.25, 0.25, 0.5])
    same(a + b, b + a)
    same((a + b) + c, a + (b + c))
    same(pl.compose(a, b, c), pl.compose(c, a, b))


@over_small
def test_subsampling_passes_through_one_pick(scheme: Scheme) -> None:
    same(scheme.subsample(0.25).allocate(10), scheme.allocate(10).subsample(0.25))
    same(scheme.subsample(0.5).subsample(0.5), scheme.subsample(0.25))


@over_small
def test_uniform_weights_are_an_allocation(scheme: Scheme) -> None:
    same(pl.allocate([(scheme, 3), (scheme, 5)]), scheme.allocate(8))
    same(pl.allocate([(scheme, 2), (pl.PureDP(0.5), 3)]), pl.allocate([(pl.PureDP(0.5), 3), (scheme, 2)]))


@over_small
def test_an_allocation_of_blocks(scheme: Scheme) -> None:
    """A uniform step of a uniform block is a uniform step."""
    same(scheme.allocate(3).allocate(4), scheme.allocate(12))


@pytest.mark.parametrize("scheme", [s for _, s in mechanisms()], ids=[name for name, _ in mechanisms()])
def test_poisson_over_blocks_is_poisson_over_all(scheme: Scheme) -> None:
    """Of mechanisms: the twin replaces every allocation, those inside the scheme as well."""
    allocation = scheme.allocate(12, picks=3)
    same(allocation.poisson(), scheme.subsample(0.25).repeat(12))
    same(scheme.allocate(4).repeat(3).poisson(), scheme.subsample(0.25).repeat(12))


@over_small
def test_more_data_is_less_private(scheme: Scheme) -> None:
    for direction in DIRECTIONS:
        for less, more in (
            (scheme.subsample(0.25), scheme),
            (scheme.subsample(0.125), scheme.subsample(0.25)),
            (scheme, scheme.repeat(2)),
            (scheme.allocate(8), scheme),
            (scheme.allocate(8), scheme.allocate(4)),
        ):
            assert np.all(deltas(less, direction)[0] <= deltas(more, direction)[1]), f"{less} above {more}"


# ---------------------------------------------------------------- the order of convergence

ORDERS: list[tuple[str, Scheme, float]] = [
    ("allocated gaussian", pl.Gaussian(1.0).allocate(1000), 0.2),
    ("louder", pl.Gaussian(2.0).allocate(100), 0.3),
    ("composed", pl.Gaussian(2.0).allocate(100).repeat(10), 1.0),
    ("sampled", pl.Gaussian(1.0).subsample(0.1).repeat(50), 2.5),
]


@pytest.mark.parametrize(("label", "scheme", "reach"), ORDERS, ids=[label for label, _, _ in ORDERS])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_gap_is_of_second_order(label: str, scheme: Scheme, reach: float, direction: Any) -> None:
    """The largest gap over many epsilons, against the resolution; each side against a finer bracket too."""
    from privloss._questions import bracket_curve

    epsilons = np.linspace(0.05 * reach, reach, 97)
    resolutions = np.array([0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025])  # coarser ones are not in the limit yet
    curves = [bracket_curve(scheme, direction, float(resolution), epsilons) for resolution in resolutions]
    finest = bracket_curve(scheme, direction, 0.00625, epsilons)
    middle = (finest[0] + finest[1]) / 2

    def order(errors: list[float]) -> float:
        return float(np.polyfit(np.log(resolutions), np.log(errors), 1)[0])

    gap = order([float(np.max((upper - lower) / middle)) for lower, upper in curves])
    above = order([float(np.max((upper - middle) / middle)) for _, upper in curves])
    below = order([float(np.max((middle - lower) / middle)) for lower, _ in curves])
    for slope in (gap, above, below):
        assert 1.75 < slope < 2.25, f"orders {gap:.2f}, above {above:.2f}, below {below:.2f}"

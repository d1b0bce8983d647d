"""The bridge to dp-accounting, against that library's own answers and against closed forms."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pytest

import privloss as pl
from privloss.bridges import dp_accounting as bridge
from privloss.bridges.dp_accounting.event import EVERYTHING, NOTHING
from truth import closed

pytestmark = pytest.mark.extras

FLOATS = 1e-11  # what dp-accounting rounds: its masses are found to 1e-12 and composed by Fourier transforms
Side = Literal["upper", "lower"]


@pytest.fixture
def dp() -> Any:
    return import_module("dp_accounting")


@pytest.fixture
def events() -> Any:
    return import_module("dp_accounting.dp_event")


@pytest.fixture
def plds() -> Any:
    return import_module("dp_accounting.pld.privacy_loss_distribution")


# Distributions.

SCHEMES = [
    pl.Gaussian(1.0),
    pl.Gaussian(1.0).subsample(0.01).repeat(1000),
    pl.Laplace(2.0).repeat(40),
    pl.RandomizedResponse(0.75).repeat(5),
    pl.Gaussian(1.0).allocate(100).repeat(10),
    pl.Gaussian(1.0).allocate(10, picks=3).subsample(0.2),
    pl.ApproximateDP(0.5, 1e-6) + pl.Gaussian(3.0),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_what_they_answer_bounds_the_scheme(scheme: pl.Scheme) -> None:
    high, low = (bridge.to_pld(scheme, 1e-2, side=side, rtol=1e-4) for side in ("upper", "lower"))
    epsilons = [0.0, 0.123, 1.0, 2.5]
    ours = scheme.delta(epsilons)
    assert (high.get_delta_for_epsilon(epsilons) >= np.asarray(ours.lower) - 1e-15).all()
    assert (low.get_delta_for_epsilon(epsilons) <= np.asarray(ours.upper) + 1e-15).all()


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_composed_by_them_it_is_still_a_bound(plds: Any, side: Side) -> None:
    a, b = pl.Gaussian(2.0).allocate(20), pl.Gaussian(1.0).subsample(0.1)
    got = bridge.to_pld(a, 1e-3, side=side).self_compose(5).compose(bridge.to_pld(b, 1e-3, side=side))
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        ours, theirs = (a.repeat(5) + b).delta(epsilon), got.get_delta_for_epsilon(epsilon)
        assert theirs >= ours.lower - FLOATS if side == "upper" else theirs <= ours.upper + FLOATS


def test_it_composes_with_their_own(plds: Any) -> None:
    ours = bridge.to_pld(pl.Gaussian(3.0), 1e-3)
    theirs = plds.from_gaussian_mechanism(4.0, value_discretization_interval=1e-3)
    both = ours.compose(theirs).get_delta_for_epsilon(0.5)
    truth = float(closed.gaussian(2.4).delta(0.5, "remove"))  # 3 and 4 make 1/sqrt(1/9 + 1/16)
    assert truth - FLOATS <= both <= truth * 1.00001 + FLOATS


@pytest.mark.parametrize("rate", [1.0, 0.01])
def test_of_one_step_it_is_connect_the_dots(plds: Any, rate: float) -> None:
    """The spread of the exact law is what they compute from differences of delta."""
    theirs = plds.from_gaussian_mechanism(1.0, sampling_prob=rate, value_discretization_interval=1e-2)
    ours = bridge.to_pld(pl.Gaussian(1.0).subsample(rate), 1e-2)
    for epsilon in (0.0, 0.004, 0.5, 1.0, 3.0):
        assert ours.get_delta_for_epsilon(epsilon) == pytest.approx(theirs.get_delta_for_epsilon(epsilon), abs=FLOATS)


def test_an_optimistic_one_is_told_so(plds: Any) -> None:
    low = bridge.to_pld(pl.Gaussian(1.0), 1e-2, side="lower")
    with pytest.raises(ValueError, match="Estimation types are different"):
        low.compose(bridge.to_pld(pl.Gaussian(1.0), 1e-2))


def test_short_ones_are_dictionaries() -> None:
    assert bridge.to_pld(pl.RandomizedResponse(0.75), 1e-4)._pmf_remove.size <= 5


THEIRS: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda plds: plds.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3),
    "little noise": lambda plds: plds.from_gaussian_mechanism(0.3, value_discretization_interval=1e-2),
    "Laplace": lambda plds: plds.from_laplace_mechanism(2.0),
    "discrete Laplace": lambda plds: plds.from_discrete_laplace_mechanism(1.0, sensitivity=2),
    "discrete Gaussian": lambda plds: plds.from_discrete_gaussian_mechanism(2.0),
    "randomized response": lambda plds: plds.from_randomized_response(0.5, 4),
    "Poisson, composed": lambda plds: plds.from_gaussian_mechanism(
        1.0, sampling_prob=0.01, value_discretization_interval=1e-3
    ).self_compose(1000),
    "Laplace, composed": lambda plds: plds.from_laplace_mechanism(
        2.0, value_discretization_interval=1e-3
    ).self_compose(40),
    "optimistic": lambda plds: plds.from_gaussian_mechanism(
        1.0, pessimistic_estimate=False, use_connect_dots=False, value_discretization_interval=1e-3
    ).self_compose(10),
    "identity": lambda plds: plds.identity(),
    "a guarantee": lambda plds: plds.from_privacy_parameters(
        import_module("dp_accounting.pld.common").DifferentialPrivacyParameters(0.5, 1e-6)
    ),
}


@pytest.mark.parametrize("name", THEIRS)
def test_theirs_as_a_scheme_has_their_curve(plds: Any, name: str) -> None:
    theirs = THEIRS[name](plds)
    scheme = bridge.from_pld(theirs)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        exact = theirs._pmf_remove.get_delta_for_epsilon(epsilon)
        ours = scheme.delta(epsilon, direction="remove")
        assert ours.lower - 1e-12 <= exact <= ours.upper + 1e-12  # negative masses and sums are theirs
        assert ours.gap <= max(1e-3 * ours.upper, 2e-13)


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("sigma", [1.0, 0.3])
def test_theirs_bounds_the_mechanism_at_negative_epsilon_too(plds: Any, sigma: float, side: Side) -> None:
    """What composition, sampling and the other direction rest on. Their own curves go wrong there."""
    pessimistic, truth = side == "upper", closed.gaussian(sigma)
    theirs = plds.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-2, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic
    )
    scheme = bridge.from_pld(theirs)
    for direction in ("remove", "add"):
        for epsilon in (-20.0, -3.0, -0.5, 0.0, 0.5, 3.0):
            ours, exact = scheme.delta(epsilon, direction=direction), float(truth.delta(epsilon, direction))
            assert ours.upper >= exact - FLOATS if pessimistic else ours.lower <= exact + FLOATS


def test_theirs_can_be_nested(plds: Any) -> None:
    """Sampled and allocated, what they do not do: of their Gaussian it is that of ours, to their interval."""
    scheme = bridge.from_pld(plds.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3))
    nests: list[Callable[[pl.Scheme], pl.Scheme]] = [lambda s: s.subsample(0.1).repeat(10), lambda s: s.allocate(10)]
    for nest in nests:
        ours, theirs = nest(pl.Gaussian(1.0)).epsilon(1e-5), nest(scheme).epsilon(1e-5)
        assert theirs.upper >= ours.lower
        assert theirs.lower == pytest.approx(ours.upper, rel=5e-3)


def test_there_and_back() -> None:
    scheme = pl.Gaussian(1.0).subsample(0.1).repeat(10)
    back = [bridge.from_pld(bridge.to_pld(scheme, 1e-3, side=side)) for side in ("lower", "upper")]
    low, high = (each.delta(0.5, direction="remove") for each in back)
    truth = scheme.delta(0.5, direction="remove")
    assert low.lower <= truth.upper
    assert truth.lower <= high.upper <= 1.001 * truth.upper


@pytest.mark.parametrize("wrong", [None, 3, "pld", pl.Gaussian(1.0)])
def test_only_distributions_are_read(wrong: object) -> None:
    with pytest.raises(TypeError, match="PrivacyLossDistribution of dp-accounting, got"):
        bridge.from_pld(wrong)


# Events. Each with the scheme that it describes; where the last is False, of the scheme another event comes back.

EVENTS: list[tuple[Callable[[Any], Any], pl.Scheme, bool]] = [
    (lambda e: e.NoOpDpEvent(), NOTHING, True),
    (lambda e: e.NonPrivateDpEvent(), EVERYTHING, True),
    (lambda e: e.GaussianDpEvent(1.5), pl.Gaussian(1.5), True),
    (lambda e: e.GaussianDpEvent(0), EVERYTHING, False),
    (lambda e: e.LaplaceDpEvent(2.0), pl.Laplace(2.0), True),
    (lambda e: e.LaplaceDpEvent(0), EVERYTHING, False),
    (lambda e: e.DiscreteLaplaceDpEvent(0.5, 3), pl.DiscreteLaplace(2.0, 3), True),
    (lambda e: e.DiscreteLaplaceDpEvent(0, 3), EVERYTHING, False),
    (
        lambda e: e.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0], [0.25, 0.75]),
        pl.GaussianMixture(2.0, [0, 1], [0.25, 0.75]),
        True,
    ),
    (lambda e: e.MixtureOfGaussiansDpEvent(0, [0], [1.0]), NOTHING, False),
    (lambda e: e.MixtureOfGaussiansDpEvent(0, [1], [1.0]), EVERYTHING, False),
    (lambda e: e.RandomizedResponseDpEvent(0.5, 2), pl.RandomizedResponse(0.75), True),
    (lambda e: e.RandomizedResponseDpEvent(0.5, 4), pl.RandomizedResponse(0.625, 4), True),
    (lambda e: e.RandomizedResponseDpEvent(0.0, 1), NOTHING, False),
    (lambda e: e.RandomizedResponseDpEvent(1.0, 3), NOTHING, False),
    (lambda e: e.RandomizedResponseDpEvent(0.0, 3), EVERYTHING, False),
    (lambda e: e.PoissonSampledDpEvent(0.1, e.GaussianDpEvent(1.0)), pl.Gaussian(1.0).subsample(0.1), True),
    (lambda e: e.PoissonSampledDpEvent(0.1, e.LaplaceDpEvent(1.0)), pl.Laplace(1.0).subsample(0.1), True),
    (
        lambda e: e.PoissonSampledDpEvent(0.1, e.SelfComposedDpEvent(e.LaplaceDpEvent(1.0), 3)),
        pl.Laplace(1.0).repeat(3).subsample(0.1),
        True,
    ),
    (lambda e: e.PoissonSampledDpEvent(0, e.GaussianDpEvent(0)), NOTHING, False),
    (lambda e: e.PoissonSampledDpEvent(0.1, e.GaussianDpEvent(0)), EVERYTHING, False),
    (lambda e: e.SelfComposedDpEvent(e.GaussianDpEvent(1.0), 10), pl.Gaussian(1.0).repeat(10), True),
    (lambda e: e.SelfComposedDpEvent(e.NoOpDpEvent(), 10), NOTHING, False),
    (
        lambda e: e.ComposedDpEvent([e.GaussianDpEvent(1.0), e.NoOpDpEvent(), e.LaplaceDpEvent(2.0)]),
        pl.Gaussian(1.0) + pl.Laplace(2.0),
        False,
    ),
    (lambda e: e.ComposedDpEvent([]), NOTHING, False),
    (lambda e: e.ComposedDpEvent([e.GaussianDpEvent(1.0), e.NonPrivateDpEvent()]), EVERYTHING, False),
    (lambda e: bridge.RandomAllocationDpEvent(e.GaussianDpEvent(1.0), 1, 1000), pl.Gaussian(1.0).allocate(1000), True),
    (
        lambda e: e.SelfComposedDpEvent(bridge.RandomAllocationDpEvent(e.LaplaceDpEvent(1.0), 3, 10), 4),
        pl.Laplace(1.0).allocate(10, picks=3).repeat(4),
        True,
    ),
    (lambda e: e.TruncatedSubsampledGaussianDpEvent(100, 0.1, 100, 2.0), pl.Gaussian(2.0).subsample(0.1), False),
    (lambda e: e.TruncatedSubsampledGaussianDpEvent(100, 0.1, 0, 2.0), NOTHING, False),
]


@pytest.mark.parametrize("row", EVENTS, ids=[f"{i}-{scheme!r}" for i, (_, scheme, _) in enumerate(EVENTS)])
def test_an_event_is_a_scheme(events: Any, row: tuple[Callable[[Any], Any], pl.Scheme, bool]) -> None:
    event = row[0](events)
    assert bridge.from_event(event) == row[1]
    if row[2]:
        assert bridge.to_event(row[1]) == event


def test_every_class_of_event_is_read_or_refused_by_name(events: Any) -> None:
    from privloss.bridges.dp_accounting.event import REFUSED, readers

    theirs = {kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, events.DpEvent)}
    known = {kind.__name__ for kind in readers()} | set(REFUSED) | {"DpEvent", "UnsupportedDpEvent"}
    assert {kind.__name__ for kind in theirs} <= known


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda e: e.UnsupportedDpEvent(), "not known here"),
        (lambda e: e.ZCDpEvent(0.1), "no one pair attains"),
        (lambda e: e.SampledWithoutReplacementDpEvent(10, 2, e.GaussianDpEvent(1.0)), "replacing a record"),
        (lambda e: e.SampledWithReplacementDpEvent(10, 2, e.GaussianDpEvent(1.0)), "replacing a record"),
        (lambda e: e.SingleEpochTreeAggregationDpEvent(1.0, 4), "special one"),
        (lambda e: e.RepeatAndSelectDpEvent(e.GaussianDpEvent(1.0), 2.0, 1.0), "Renyi divergences only"),
        (lambda e: e.TruncatedSubsampledGaussianDpEvent(100, 0.1, 10, 2.0), "truncated batch"),
        (lambda e: e.ComposedDpEvent([e.GaussianDpEvent(1), e.RandomizedResponseDpEvent(0.5, 2)]), "mixes"),
        (lambda e: e.PoissonSampledDpEvent(0.1, e.RandomizedResponseDpEvent(0.5, 2)), "mixes"),
        (lambda e: e.GaussianDpEvent(-1), "sigma must be positive"),
        (lambda e: e.GaussianDpEvent(math.nan), "sigma must be a number"),
        (lambda e: e.PoissonSampledDpEvent(1.1, e.GaussianDpEvent(1)), "rate must be above 0"),
        (lambda e: e.SelfComposedDpEvent(e.GaussianDpEvent(1.0), 0), "rounds must be a whole number"),
        (lambda e: e.SelfComposedDpEvent(e.NoOpDpEvent(), -1), "rounds must be a whole number"),
        (lambda e: bridge.RandomAllocationDpEvent(e.GaussianDpEvent(1.0), 5, 4), "picks must be at most steps"),
    ],
)
def test_what_has_no_scheme_is_refused(events: Any, make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        bridge.from_event(make(events))
    assert "\n" not in str(caught.value)


def test_nesting_beyond_the_stack_is_refused(events: Any) -> None:
    event = events.GaussianDpEvent(1.0)
    for _ in range(5000):
        event = events.PoissonSampledDpEvent(0.5, event)
    with pytest.raises(ValueError, match="nested less deeply"):
        bridge.from_event(event)


@pytest.mark.parametrize("wrong", [None, "GaussianDpEvent(1.0)", pl.Gaussian(1.0)])
def test_only_events_are_read(wrong: object) -> None:
    with pytest.raises(TypeError, match="event must be a DpEvent"):
        bridge.from_event(wrong)


def test_swapped_schemes_have_events_where_nothing_changes(events: Any) -> None:
    assert bridge.to_event(pl.Gaussian(1.0).swap()) == events.GaussianDpEvent(1.0)
    with pytest.raises(ValueError, match="no event"):
        bridge.to_event(pl.Gaussian(1.0).subsample(0.1).swap())


@pytest.mark.parametrize(
    "scheme",
    [
        pl.Outcomes([0.5, 0.5], [0.4, 0.6]),
        pl.PrivacyLoss([0.0], [1.0]),
        pl.DiscreteGaussian(1.0),
        pl.allocate([(pl.Gaussian(1.0), 2), (pl.Gaussian(2.0), 3)]),
        pl.Gaussian(1.0).repeat(2) + pl.DiscreteGaussian(1.0),
    ],
    ids=repr,
)
def test_schemes_without_an_event_are_refused(scheme: pl.Scheme) -> None:
    with pytest.raises(ValueError, match="has no event in dp-accounting"):
        bridge.to_event(scheme)


def test_the_event_of_random_allocation_is_one_of_theirs(dp: Any) -> None:
    event = bridge.RandomAllocationDpEvent(dp.GaussianDpEvent(1.0), num_selected=2, num_steps=10)
    assert isinstance(event, dp.DpEvent)
    assert pickle.loads(pickle.dumps(event)) == event
    assert dp.DpEvent.from_named_tuple(event.to_named_tuple()) == event


# The accountant.


def test_an_accountant_answers_as_the_scheme_does(dp: Any) -> None:
    accountant = bridge.Accountant()
    accountant.compose(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 1000).compose(dp.GaussianDpEvent(5.0))
    scheme = pl.Gaussian(1.0).subsample(0.01).repeat(1000) + pl.Gaussian(5.0)
    assert accountant.scheme == scheme
    epsilon, delta = scheme.epsilon(1e-6, rtol=1e-3), scheme.delta(1.0, rtol=1e-3)
    assert epsilon.lower <= accountant.get_epsilon(1e-6) <= epsilon.upper * 1.001
    assert delta.lower <= accountant.get_delta(1.0) <= delta.upper * 1.001
    assert isinstance(accountant.ledger, dp.ComposedDpEvent)
    assert pickle.loads(pickle.dumps(accountant)).scheme == scheme


@pytest.mark.slow
def test_it_agrees_with_theirs(dp: Any) -> None:
    event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 1000)
    ours, theirs = bridge.Accountant().compose(event), dp.pld.PLDAccountant().compose(event)
    assert ours.get_epsilon(1e-6) == pytest.approx(theirs.get_epsilon(1e-6), rel=1e-3)
    assert ours.get_delta(1.0) == pytest.approx(theirs.get_delta(1.0), rel=1e-3)


@pytest.mark.slow
def test_calibration_meets_the_target(dp: Any) -> None:
    def event(sigma: float) -> Any:
        return bridge.RandomAllocationDpEvent(dp.GaussianDpEvent(sigma), 1, 1000)

    sigma = dp.calibrate_dp_mechanism(
        bridge.Accountant, event, 1.0, 1e-6, dp.ExplicitBracketInterval(0.3, 10), tol=1e-4
    )
    noise = pl.calibrate(lambda sigma: pl.Gaussian(sigma).allocate(1000), epsilon=1.0, delta=1e-6)
    assert noise.lower <= sigma <= 1.001 * noise.upper
    assert pl.Gaussian(sigma).allocate(1000).epsilon(1e-6).lower <= 1.0


def test_calibration_of_a_count(dp: Any) -> None:
    def event(rounds: int) -> Any:
        return dp.SelfComposedDpEvent(dp.GaussianDpEvent(10.0), rounds)

    rounds = dp.calibrate_dp_mechanism(
        bridge.Accountant, event, 1.0, 1e-6, dp.LowerEndpointAndGuess(1, 4), discrete=True
    )
    assert pl.Gaussian(10.0).repeat(rounds).epsilon(1e-6).upper <= 1.0
    assert pl.Gaussian(10.0).repeat(rounds + 2).epsilon(1e-6).lower > 1.0


def test_their_tests_for_accountants_pass() -> None:
    """Their test of the base class, run on ours, whatever it checks in the installed version."""
    import io
    import unittest

    theirs = import_module("dp_accounting.privacy_accountant_test")

    class Tests(theirs.PrivacyAccountantTest):  # type: ignore[misc, name-defined]
        def _make_test_accountants(self) -> list[Any]:
            return [bridge.Accountant()]

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    assert result.testsRun >= 10
    assert result.wasSuccessful(), [trace for _, trace in (*result.failures, *result.errors)]
    assert not result.skipped


def test_an_empty_one_has_spent_nothing() -> None:
    accountant = bridge.Accountant()
    assert accountant.get_epsilon(0) == accountant.get_epsilon(1e-12) == accountant.get_delta(0) == 0
    assert accountant.get_delta(-1.0) == pytest.approx(1 - math.exp(-1))


def test_what_it_does_not_support_it_says(dp: Any, events: Any) -> None:
    accountant = bridge.Accountant()
    for event in (events.ZCDpEvent(0.1), events.RandomizedResponseDpEvent(0.5, 2)):
        assert not accountant.supports(event)
        with pytest.raises(dp.UnsupportedEventError, match="caused by subevent"):
            accountant.compose(events.SelfComposedDpEvent(event, 3))
    assert accountant.supports(events.GaussianDpEvent(1.0))
    assert isinstance(accountant.ledger, events.NoOpDpEvent)  # nothing was composed


def test_its_arguments_are_checked(dp: Any) -> None:
    for relation in (dp.NeighboringRelation.REPLACE_ONE, dp.NeighboringRelation.REPLACE_SPECIAL):
        with pytest.raises(ValueError, match="neighboring_relation must be ADD_OR_REMOVE_ONE, got"):
            bridge.Accountant(relation)
    with pytest.raises(ValueError, match="rtol must be at least 0"):
        bridge.Accountant(rtol=-1.0)
    accountant = bridge.Accountant()
    for count in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            accountant.compose(dp.GaussianDpEvent(1.0), count)
    with pytest.raises(ValueError, match="sigma must be positive"):
        accountant.compose(dp.GaussianDpEvent(-1.0))
    with pytest.raises(ValueError, match="target_delta must be between 0 and 1"):
        accountant.get_epsilon(2.0)

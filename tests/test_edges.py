"""Answers where digits or exponents run out, against exact fractions and closed forms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import privloss as pl
from privloss import Bracket, Scheme
from privloss._bracket import REASONS
from truth import closed
from truth import enumerate as enumeration

ALMOST = 1 - 1e-10
TINY = 10.0**-280

FAR = pl.PureDP(1500.0)
LISTED: list[tuple[Scheme, str, float, Any]] = [
    # losses of hundreds: the other measure underflows
    (pl.compose(pl.PureDP(1), pl.PrivacyLoss([700.0, 800.0], [1 - 1e-13, 1e-13])), "epsilon", 0.1, "remove"),
    (pl.allocate([(pl.PureDP(800), 1), (pl.PureDP(600), 1)]), "epsilon", 0.1, "remove"),
    (pl.allocate([(pl.PureDP(800), 1), (pl.PureDP(600), 1)]), "delta", 700.0, "remove"),
    (pl.PureDP(400).allocate(2), "epsilon", 1e-3, "add"),
    (pl.PureDP(600.0).subsample(1e-262), "epsilon", 0.0, "remove"),
    (pl.PureDP(620.0).subsample(TINY), "epsilon", 0.0, "remove"),
    (pl.PureDP(800.0), "tradeoff", 0.0, "remove"),
    (FAR.allocate(2), "delta", 1499.0, "remove"),
    (FAR.allocate(2), "delta", 1499.0, "add"),
    (FAR.allocate(2), "delta", 799.0, "add"),
    (FAR.allocate(2), "epsilon", 0.3, "add"),
    (FAR.allocate(3), "epsilon", 0.3, "remove"),
    (FAR.allocate(2), "tradeoff", 0.05, "remove"),
    ((FAR + pl.PureDP(800.0)).repeat(2), "delta", 2999.0, "remove"),
    ((FAR + pl.PureDP(800.0)).repeat(2), "delta", 2999.0, "add"),
    # rates near 1: the little that they lack decides
    (pl.PureDP(40).subsample(ALMOST), "delta", 23.0, "add"),
    (pl.PureDP(40).subsample(ALMOST), "epsilon", 0.3, "add"),
    (pl.PureDP(40).subsample(ALMOST), "epsilon", 0.0, "add"),
    (pl.PureDP(40).subsample(ALMOST).subsample(ALMOST), "delta", 22.0, "add"),
    (pl.PureDP(40).subsample(1 - 2.0**-53), "epsilon", 0.0, "add"),
    # ratios of tiny masses
    (pl.Outcomes([1.0, 2e-20], [1.0, 1e-20]), "delta", 0.6931461805599453, "remove"),
    (pl.Outcomes([1.0, 1.7e-100], [1.0, 1e-100]), "delta", 0.5306282510621703, "remove"),
    # losses next to 0
    (pl.RandomizedResponse(1 / 3 + 1e-10, values=3), "epsilon", 0.0, "remove"),
    (pl.allocate([(pl.PureDP(1e-10), 1), (pl.PureDP(2e-10), 1)]), "epsilon", 0.0, "remove"),
    # weights of very different size
    (
        pl.allocate([(pl.PureDP(1e-6), 1), (pl.ApproximateDP(20, 0.5), 1)], weights=[1 - 1e-5, 1e-5]),
        "delta",
        25.0,
        "remove",
    ),
    (
        pl.allocate(
            [(pl.ApproximateDP(40, 1e-200).subsample(1e-3), 1), (pl.ApproximateDP(0.001, 1e-5), 1)],
            weights=[1e-6, 0.999999],
        ),
        "epsilon",
        1e-50,
        "add",
    ),
    (
        pl.allocate([(pl.Outcomes([1.0], [1.0]), 8), (pl.PureDP(90.0), 9)], weights=[0.75, 0.25]),
        "epsilon",
        0.1,
        "remove",
    ),
    (
        pl.allocate(
            [(pl.ApproximateDP(40, 0.999).allocate(2), 2), (pl.PrivacyLoss([inf, 800.0], [0.5, 0.5]), 1)],
            weights=[0.5, 0.5],
        ),
        "tradeoff",
        0.0,
        "remove",
    ),
    # a delta that is the mass of an atom
    (pl.ApproximateDP(1.0, 1e-6), "epsilon", 1e-6, "remove"),
    (pl.ApproximateDP(1.0, 1e-6), "epsilon", 0.99e-6, "remove"),
]


@pytest.mark.parametrize(("scheme", "question", "at", "direction"), LISTED, ids=lambda value: repr(value)[:50])
def test_listed(scheme: Scheme, question: str, at: float, direction: Any) -> None:
    pair = enumeration.pair_of(scheme)
    answer: Bracket = getattr(scheme, question)(at, direction=direction)
    with mp.workdps(60):
        if question == "delta":
            true = closed.exactly(enumeration.delta(pair, enumeration.exp(at), direction))
        elif question == "tradeoff":
            true = closed.exactly(enumeration.tradeoff(pair, Fraction(at), direction))
        else:
            ratio = enumeration.ratio(pair, Fraction(at), direction)
            true = mpf(inf) if ratio == inf else max(mpmath.log(closed.exactly(ratio)), mpf(0))
        assert mpf(float(answer.lower)) <= true <= mpf(float(answer.upper)), f"{answer!r} {true}"


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 3])
def test_next_to_the_largest_loss_of_laplace_noise(rounds: int) -> None:
    """What is left is the mass 2^-n at the largest loss n and, one of n losses being within s of 1 but not there, less
    than n s/4 of mass, each counted at most s times."""
    for short in (1e-2, 1e-4, 1e-6):
        bracket = pl.Laplace(1.0).repeat(rounds).delta(rounds - short, direction="remove")
        atom = 2.0**-rounds * -math.expm1(-short)
        assert bracket.lower <= atom + rounds * short**2
        assert atom * (1 - 1e-9) <= bracket.upper <= 1.01 * (atom + rounds * short**2)


@pytest.mark.parametrize(("p", "q", "rate"), [(0.9, 0.5, 0.5), (0.99, 0.3, 0.9), (0.8, 0.7, 0.3)])
def test_next_to_the_largest_loss_of_hundreds_of_rounds(p: float, q: float, rate: float) -> None:
    with mp.workdps(60):
        rounds, mass = 1000, mpf(rate) * mpf(p) + (1 - mpf(rate)) * mpf(q)
        scheme = pl.Outcomes([p, 1 - p], [q, 1 - q]).subsample(rate).repeat(rounds)
        largest = rounds * mpmath.log(mass / mpf(q))
        for short in (1e-3, 1e-6):
            epsilon = float(largest - short)
            truth = mpmath.power(mass, rounds) * -mpmath.expm1(epsilon - largest)
            bracket = scheme.delta(epsilon, direction="remove")
            assert bracket.lower <= truth <= bracket.upper <= 1.01 * bracket.lower


def test_half_of_a_far_gaussian() -> None:
    """The ratio is (1 + that of the Gaussian)/2, so delta at log K is half of the Gaussian's at log(2 K - 1)."""
    for sigma, delta in ((0.001, 1e-3), (0.001, 1e-6), (0.02, 1e-9)):
        with mp.workdps(40):
            whole = closed.gaussian(sigma).epsilon(2 * delta, "remove")
            true = mpmath.log((1 + mpmath.exp(whole)) / 2)
        for scheme in (pl.Gaussian(sigma).subsample(0.5), pl.GaussianMixture(sigma, [0, 1], [0.5, 0.5])):
            answer = scheme.epsilon(delta, direction="remove", seconds=None)
            assert mpf(float(answer.lower)) <= true <= mpf(float(answer.upper))
            assert answer.gap <= 2e-3 * answer.upper


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 2, 100])
@pytest.mark.parametrize("sigma", [1e10, 1e12, 1e13, 1e15, 1e100])
def test_noise_at_which_ratios_are_next_to_1(sigma: float, steps: int) -> None:
    """delta at 0 of one step is erf(1/(sqrt 8 sigma)); more steps hide more, and leave a share of 1/steps at least."""
    one = math.erf(1 / (math.sqrt(8) * sigma))
    answer = pl.Gaussian(sigma).allocate(steps).delta(0.0, direction="remove")
    assert answer.upper >= one / steps * (1 - 1e-12)
    assert answer.lower <= one * (1 + 1e-12)


@pytest.mark.parametrize("sigma", [1e4, 1.0001e4, 1e5, 1e9])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_many_integers_are_the_bell(sigma: float, direction: Any) -> None:
    """A discrete Gaussian wide beside its integers: between the bell over unit cells and the bell."""
    shift = int(sigma)
    discrete = pl.DiscreteGaussian(sigma, shift).repeat(3).epsilon(1e-6, direction=direction)
    smooth = pl.Gaussian(sigma, shift).repeat(3).epsilon(1e-6, direction=direction)
    assert discrete.lower <= smooth.upper
    assert discrete.upper >= smooth.lower * (1 - 1e-6)
    assert discrete.gap <= 2e-3 * discrete.upper


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_many_integers_are_their_sum(direction: Any) -> None:
    """The sum over all of them: positive terms, right to 1e-12. The allowances are the larger, the fewer there are."""
    sigma, shift, epsilon = 10_001.0, 10_001, 1.0
    least = math.floor((epsilon * sigma**2 + shift**2 / 2) / shift) + 1  # the first whose loss is above epsilon
    bell = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(12 * shift)]
    whole = 2 * math.fsum(bell) - 1.0
    truth = (math.fsum(bell[least - shift :]) - math.exp(epsilon) * math.fsum(bell[least:])) / whole
    found = pl.DiscreteGaussian(sigma, shift).delta(epsilon, direction=direction, rtol=1e-7)
    assert found.lower <= truth * (1 + 1e-12) and truth * (1 - 1e-12) <= found.upper <= (1 + 1e-3) * found.lower


@pytest.mark.parametrize("steps", [2, 3])
def test_few_integers_far_apart(steps: int) -> None:
    """Ratios with nothing between them: the smallest, for add, is octaves below the next. By all their sums."""
    sigma, reach = 0.3, 7
    with mp.workdps(60):
        masses = {k: mpmath.exp(-mpf(k) ** 2 / (2 * mpf(sigma) ** 2)) for k in range(-reach, reach + 1)}
        whole = mpmath.fsum(masses.values())
        step = [(mpmath.exp((2 * k - 1) / (2 * mpf(sigma) ** 2)), mass / whole) for k, mass in masses.items()]
        sums = [(mpf(0), mpf(1))]
        for _ in range(steps):
            sums = [(x + y, q * r) for x, q in sums for y, r in step]
        for epsilon in (1.0, 5.0, 16.0):
            k = mpmath.exp(mpf(epsilon))
            truth = mpmath.fsum(q * max(1 - k * x / steps, mpf(0)) for x, q in sums)
            found = pl.DiscreteGaussian(sigma).allocate(steps).delta(epsilon, direction="add")
            assert found.lower <= truth * (1 + mpf(10) ** -15) and truth <= found.upper <= 1.01 * found.lower + 1e-269


def test_a_discrete_gaussian_at_one_integer() -> None:
    """Below sigma 0.02 all else is below e^-1250: the loss is that of the mean."""
    for sigma in (0.019, 0.021, 0.001):
        answer = pl.DiscreteGaussian(sigma, 2).epsilon(0.1)
        with mp.workdps(60):
            ratio = (1 - mpf("0.1")) * mpmath.exp(mpf(4) / (2 * mpf(sigma) ** 2))
            assert mpf(float(answer.lower)) <= mpmath.log(ratio) <= mpf(float(answer.upper))


EXTREME: list[Callable[[], Scheme]] = [
    *[lambda s=s: pl.Gaussian(s) for s in (1e-300, 1e-6, 1e300, 1e308)],
    *[lambda s=s: pl.Laplace(s) for s in (1e-308, 1e-130, 1e300, 1e308)],
    *[lambda s=s: pl.GaussianMixture(s, [0, 1], [0.5, 0.5]) for s in (1e-300, 1e-5, 1e308)],
    *[lambda s=s: pl.DiscreteGaussian(s) for s in (1e-200, 1e-153, 1e12)],
    *[lambda s=s: pl.Gaussian(s, sensitivity=s) for s in (1e-302, 1e302)],
    lambda: pl.Laplace(1e302, 1e302),
    lambda: pl.DiscreteLaplace(2.0, 10**9),
    lambda: pl.DiscreteLaplace(1e6, 10**7),
    lambda: pl.PureDP(1e308).repeat(10),
    lambda: pl.Gaussian(1.0).subsample(5e-324),
    lambda: pl.Gaussian(1.0).subsample(5e-324).repeat(1000),
    lambda: pl.allocate([(pl.Gaussian(0.001), 5), (pl.Gaussian(0.3), 5)]),
    lambda: pl.PrivacyLoss([800.0, 5.0, 0.0], [0.99999997, 2.9e-08, 1e-9]).allocate(2).swap(),
]


@pytest.mark.slow
@pytest.mark.parametrize("make", EXTREME, ids=lambda make: repr(make())[:50])
def test_extremes_are_answered(make: Callable[[], Scheme]) -> None:
    """A bracket with a reason: no warning, no NaN, no error, nothing out of order."""
    scheme = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in (scheme, scheme.allocate(7), scheme.repeat(3), scheme.swap()):
            for question, at in (("epsilon", 1e-6), ("delta", 0.5), ("tradeoff", 0.1)):
                bracket = getattr(part, question)(at, seconds=1.0)
                assert 0 <= bracket.lower <= bracket.upper
                assert bracket.reason in REASONS


def levels(count: int, *grow: Callable[[Scheme], Scheme]) -> Scheme:
    scheme: Scheme = pl.Gaussian(1.0)
    for _ in range(count):
        for one in grow:
            scheme = one(scheme)
    return scheme


def test_deep_nestings_are_answered_or_refused_in_a_sentence() -> None:
    swaps = levels(20, lambda s: s.subsample(0.9), lambda s: s.swap())
    assert swaps.epsilon(1e-6, seconds=None).lower > 0
    shared = levels(100, lambda s: s.allocate(7, picks=3))
    assert shared.epsilon(0.0).upper == inf
    assert shared.epsilon(1e-6, seconds=1.0).upper > 0
    doubled = levels(80, lambda s: pl.compose(s, s), lambda s: s.subsample(0.5))
    assert doubled.epsilon(1e-6, seconds=1.0).upper > 0
    deepest = levels(1000, lambda s: s.subsample(0.9), lambda s: s.swap())
    for ask in (lambda: deepest.epsilon(1e-6), lambda: deepest.delta(0.5), deepest.pair):
        with pytest.raises(ValueError, match="nested less deeply"):
            ask()


def test_a_pair_cannot_be_changed() -> None:
    pair = pl.Gaussian(1.0).allocate(10).pair()
    for array in (pair.loss, pair.q, pair.p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_which_end_is_of_the_reduction() -> None:
    scheme = pl.Gaussian(1.0).allocate(10, picks=3)
    assert "lower of the reduction" in repr(scheme.epsilon(1e-6))
    assert "upper of the reduction" in repr(scheme.tradeoff(0.1))
    assert f"{scheme.epsilon(1e-6):.2f}" == f"{float(scheme.epsilon(1e-6)):.2f}"
    assert f"{scheme.epsilon(1e-6)}" == repr(scheme.epsilon(1e-6))


def test_calibration_at_the_ends_of_its_limits() -> None:
    def rounds(n: float) -> Scheme:
        return pl.Gaussian(100.0).repeat(int(n))

    all_meet = pl.calibrate(rounds, epsilon=1.0, delta=1e-6, integer=True, within=(1, 5))
    assert (all_meet.lower, all_meet.upper, all_meet.safe) == (5.0, inf, "lower")
    more = pl.calibrate(lambda sigma: pl.Gaussian(sigma).allocate(1000), epsilon=1.0, delta=1e-6, within=(1, 5))
    assert (more.lower, more.upper, more.safe) == (0.0, 1.0, "upper")
    for within in ((1.2, 1.8), (2, 2), (3.2, 3.8)):
        with pytest.raises(ValueError, match="two whole numbers"):
            pl.calibrate(rounds, epsilon=1.0, delta=1e-6, integer=True, within=within)
    with pytest.raises(TypeError, match="integer must be True or False"):
        pl.calibrate(rounds, epsilon=1.0, delta=1e-6, integer="no")  # type: ignore[arg-type]


def test_no_gap_allowed_is_as_fine_as_next_to_none() -> None:
    none, little = (pl.Gaussian(1.0).epsilon(delta=1e-6, rtol=rtol, seconds=None) for rtol in (0.0, 1e-300))
    assert (none.lower, none.upper, none.reason) == (little.lower, little.upper, little.reason)
    assert 0 < none.gap < 1e-6


def test_calibration_of_whole_numbers_that_does_not_say_so() -> None:
    limits: tuple[tuple[float, float] | None, ...] = (None, (2, 40), (2, 3))
    for within in limits:  # refused between two that are not
        with pytest.raises(TypeError, match=r"unless integer=True is given: at .* rounds must be a whole number"):
            pl.calibrate(lambda n: pl.Gaussian(10.0).repeat(n), epsilon=1.0, delta=1e-6, within=within)
    rate = pl.calibrate(lambda rate: pl.Gaussian(1.1).subsample(rate).repeat(2000), epsilon=2.0, delta=1e-5)
    assert 0.009 < float(rate) < 0.01  # 1 and 2 are not both rates: what is refused between them is a limit


def test_a_sharper_calibration_is_not_a_wider_one() -> None:
    def family(sigma: float) -> Scheme:
        return pl.Gaussian(sigma).allocate(1000)

    coarse, fine = (pl.calibrate(family, epsilon=1.0, delta=1e-6, rtol=rtol, seconds=None) for rtol in (1e-2, 1e-4))
    assert fine.gap < 0.1 * coarse.gap
    assert max(coarse.lower, fine.lower) <= min(coarse.upper, fine.upper)
    assert pl.calibrate(family, epsilon=0.0, delta=1e-6, seconds=None).gap < 20


def test_many_parts_with_atoms() -> None:
    """Thirty different parts, atoms among them, against the exact product of their closed forms."""
    parts = [pl.ApproximateDP(0.0, 1e-3 * (n + 1)) for n in range(30)]
    true = 1 - math.prod(1 - 1e-3 * (n + 1) for n in range(30))
    answer = pl.compose(*parts).delta(1.0, rtol=1e-9)
    assert float(answer.lower) <= true * (1 + 1e-14)
    assert float(answer.upper) >= true * (1 - 1e-14)
    assert answer.gap < 1e-8
    laplaces = [pl.Laplace(20.0 + n) for n in range(30)]
    top = math.fsum(1 / (20.0 + n) for n in range(30))
    edge = pl.compose(*laplaces).delta(top - 1e-9, direction="remove", atol=1e-15)
    atom = 0.5**30  # all at the largest loss: 1e-9 of it is left there
    assert answer.lower >= 0
    assert edge.upper >= atom * 1e-9 * (1 - 1e-6)
    assert edge.lower <= np.exp(-top) + atom

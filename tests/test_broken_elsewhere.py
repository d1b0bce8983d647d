"""Questions that other libraries answer wrongly, or not at all: here each has a certified bracket.

What the others do with them is on docs/benchmarks.md, measured by bench/peers. Where something else tells the value (a
closed form, a bound that any method must keep, another library's finest answer) the bracket is held against it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss import Bracket, Scheme

DELTA = 1e-6
ONE = pl.Gaussian(1.0)
EPOCH = ONE.allocate(1000)


def certified(scheme: Scheme, delta: float, **options: Any) -> Bracket:
    """Both bounds in order, as tight as asked, and the reason says so."""
    bracket = scheme.epsilon(delta, seconds=None, **options)
    lower, upper = float(bracket.lower), float(bracket.upper)
    assert 0 <= lower <= upper < math.inf
    assert bracket.reason == "tolerance met"
    assert bracket.gap <= max(1e-6, 1e-3 * upper)
    assert bracket.exact == scheme.exact
    return bracket


def contains(bracket: Bracket, value: float, error: float = 0.0) -> bool:
    return bool(bracket.lower - error <= value <= bracket.upper + error)


def above(value: float) -> float:
    """The mass of the standard normal law there."""
    return 0.5 * math.erfc(value / math.sqrt(2.0))


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """The closed form (Balle and Wang 2018)."""
    low, high = epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma
    return above(low) - math.exp(epsilon) * above(high)


# ---------------------------------------------------------------- PLD-accounting


def test_a_large_delta() -> None:
    """Its adaptive question does not return. One step has total variation 0.38, so epsilon is 0 at delta 0.9."""
    bracket = certified(EPOCH, 0.9)
    assert bracket.lower == bracket.upper == 0.0


@pytest.mark.parametrize("delta", [1e-15, 1e-30])
def test_a_small_delta(delta: float) -> None:
    """Its adaptive question raises. An attack that looks for one large value bounds epsilon from below."""
    bracket = certified(EPOCH, delta)
    seen = [(above(value - 1), 1000 * above(value)) for value in np.linspace(5.0, 15.0, 1001)]
    attack = max(math.log((with_person - delta) / without) for with_person, without in seen if with_person > delta)
    assert 0 < attack <= bracket.upper
    assert gaussian_delta(1.0, float(bracket.lower)) >= delta  # one step, not hidden among others, is worse


def test_ten_million_steps() -> None:
    """Its adaptive question does not return. More steps are more private, and a little less than linearly so."""
    bracket = certified(ONE.allocate(10**7), DELTA)
    assert bracket.upper < certified(ONE.allocate(10**5), DELTA).lower


def test_a_hundred_thousand_rounds() -> None:
    """Its adaptive question does not return."""
    bracket = certified(EPOCH.repeat(10**5), DELTA)
    assert contains(bracket, 147.2, error=0.4)
    assert bracket.upper <= certified(ONE.repeat(10**5), DELTA).lower


def test_all_steps_picked() -> None:
    """Its transform raises. t of t steps are the composition of all, a Gaussian of sigma 1/10: a closed form."""
    bracket = certified(ONE.allocate(100, picks=100), DELTA)
    assert gaussian_delta(0.1, float(bracket.upper)) <= DELTA * (1 + 1e-9)
    assert gaussian_delta(0.1, float(bracket.lower)) >= DELTA * (1 - 1e-9)


def test_allocations_with_different_steps_compose() -> None:
    """Its grids do not fit together. The sum is at least as bad as either part, and no worse than both added."""
    bracket = certified(EPOCH + ONE.allocate(100), DELTA)
    assert bracket.lower >= certified(ONE.allocate(100), DELTA).upper
    assert bracket.upper <= sum(float(ONE.allocate(steps).epsilon(DELTA / 2).upper) for steps in (1000, 100))


def test_a_composition_subsampled() -> None:
    """Its import of a composed distribution raises."""
    run = ONE.subsample(0.01).repeat(1000)
    bracket = certified(run.subsample(0.1), DELTA)
    amplified = math.log1p(0.1 * math.expm1(float(run.epsilon(DELTA / 0.1).upper)))  # amplification by subsampling
    assert contains(bracket, amplified, error=1e-3 * amplified)


# ---------------------------------------------------------------- prv-accountant


def test_epsilon_does_not_jump_with_delta() -> None:
    """0.056 at one of these and 3.8 at the other, said its first release; the later one raises."""
    run = pl.Gaussian(4.0).subsample(250 / 750_000).repeat(10_000)
    low, high = (certified(run, delta) for delta in (1.13e-18, 1.1e-18))
    assert contains(low, 0.0679, error=1e-4)
    assert contains(high, 0.0679, error=1e-4)
    assert low.lower <= high.upper


def test_epsilon_is_not_negative() -> None:
    """-0.69, it says: log(1 - delta), where the curve of delta crosses 1 - e^epsilon."""
    bracket = certified(pl.Gaussian(10.0).subsample(0.001).repeat(10), 0.5)
    assert bracket.lower == bracket.upper == 0.0


@pytest.mark.parametrize(
    ("scheme", "delta"),
    [
        (pl.Gaussian(0.3).subsample(0.1).repeat(10), 1e-5),
        (ONE.subsample(0.2).repeat(500), 1e-5),
    ],
    ids=repr,
)
def test_where_discrete_means_differ(scheme: Scheme, delta: float) -> None:
    """It raises "Discrete mean differs from continuous mean significantly". Each answer confirms itself as delta."""
    bracket = certified(scheme, delta)
    assert scheme.delta(float(bracket.upper), seconds=None).lower <= delta
    assert scheme.delta(float(bracket.lower), seconds=None).upper >= delta


# ---------------------------------------------------------------- dp-accounting


def test_a_small_rate() -> None:
    """0.0296 at its default step; 0.013128 at a step of 1e-6, which bounds the truth from above."""
    bracket = certified(ONE.subsample(1e-5).repeat(100_000), DELTA)
    assert bracket.upper >= 0.013115
    assert bracket.lower <= 0.013134
    assert bracket.lower <= 0.0131282631

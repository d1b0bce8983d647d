"""The bridge to JAX Privacy; needs it (scripts/check.py --torch), but for the tests of what the bridge says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss.bridges import jax_privacy as bridge

_STEP = pl.Gaussian(1.5)


class _Partition(Enum):
    INDEPENDENT = 1
    EQUAL_SPLIT = 2


@dataclass
class BallsInBinsSampling:
    """The shapes of theirs, so that what the bridge makes of them is tested everywhere."""

    iterations: int
    cycle_length: int


@dataclass
class RandomAllocationSampling:  # in versions after 2.0.0
    total_participations: int
    iterations: int


@dataclass
class CyclicPoissonSampling:
    sampling_prob: float
    iterations: int
    truncated_batch_size: int | None = None
    cycle_length: int = 1
    partition_type: _Partition = _Partition.EQUAL_SPLIT


@dataclass
class BMinSepSampling:
    sampling_prob: float
    iterations: int
    min_sep: int
    warm_start: bool = True
    truncated_batch_size: int | None = None


@dataclass
class FixedBatchSampling:
    batch_size: int
    iterations: int


@pytest.mark.parametrize(
    ("strategy", "scheme"),
    [
        (BallsInBinsSampling(iterations=30, cycle_length=10), _STEP.repeat(3).allocate(10)),
        (BallsInBinsSampling(10, 10), _STEP.allocate(10)),
        (BallsInBinsSampling(25, 10), pl.allocate([(_STEP.repeat(3), 5), (_STEP.repeat(2), 5)])),
        (BallsInBinsSampling(4, 10), _STEP.allocate(4).subsample(0.4)),
        (RandomAllocationSampling(3, 50), _STEP.allocate(50, picks=3)),
        (CyclicPoissonSampling(0.1, 50), _STEP.subsample(0.1).repeat(50)),
        (
            CyclicPoissonSampling(0.1, 50, cycle_length=5, partition_type=_Partition.INDEPENDENT),
            _STEP.subsample(0.1).repeat(10).allocate(5),
        ),
        (BMinSepSampling(1.0, 30, min_sep=10), _STEP.repeat(3).allocate(10)),
    ],
)
def test_what_a_strategy_amounts_to(strategy: Any, scheme: pl.Scheme) -> None:
    assert bridge.scheme(strategy, 1.5) == scheme


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (CyclicPoissonSampling(0.1, 50, truncated_batch_size=9), "truncated_batch_size must be None, got 9"),
        (CyclicPoissonSampling(0.1, 50, cycle_length=5), "partition_type must be INDEPENDENT .* got EQUAL_SPLIT"),
        (BMinSepSampling(0.5, 30, 10), "BMinSepSampling must have sampling_prob=1"),
        (FixedBatchSampling(10, 30), "batches of a fixed size have no scheme"),
        (BallsInBinsSampling(0, 10), "iterations must be a whole number from 1"),
        ("poisson", "strategy must be one of BallsInBinsSampling, .*, got 'poisson'"),
    ],
)
def test_what_is_refused_says_why(strategy: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        bridge.scheme(strategy, 1.5)


def test_groups_that_nobody_knows_are_more_private() -> None:
    known = _STEP.subsample(0.2).repeat(10).epsilon(1e-6)
    unknown = bridge.epsilon(
        CyclicPoissonSampling(0.2, 50, cycle_length=5, partition_type=_Partition.INDEPENDENT), 1.5, 1e-6
    )
    assert unknown.upper < known.lower


# With JAX Privacy installed.


@pytest.mark.jax
@pytest.mark.parametrize(("iterations", "cycle", "noise"), [(30, 10, 1.5), (25, 10, 2.0), (40, 40, 0.7), (6, 10, 0.8)])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_their_monte_carlo_agrees(iterations: int, cycle: int, noise: float, direction: str) -> None:
    """Their sampler of the privacy loss, and their delta: within five standard errors of our interval."""
    from jax_privacy import batch_selection
    from jax_privacy.experimental.monte_carlo import delta_calculation, sample_generation

    strategy = batch_selection.BallsInBinsSampling(iterations=iterations, cycle_length=cycle)
    losses, _ = sample_generation.get_privacy_loss_sample(
        strategy, noise, np.array([1.0]), seed=7, positive_sample=direction == "remove", num_samples=4000
    )
    for epsilon in (0.0, 0.3, 1.0):
        estimate = delta_calculation.delta_from_epsilon_and_samples(epsilon, losses)
        error = np.std(np.maximum(0, -np.expm1(epsilon - losses))) / math.sqrt(len(losses))
        ours = bridge.scheme(strategy, noise).delta(epsilon, direction=direction)  # type: ignore[arg-type]
        assert ours.lower - 5 * error - 1e-4 <= estimate <= ours.upper + 5 * error + 1e-4


@pytest.mark.jax
def test_their_strategies_are_those() -> None:
    """Every strategy of the installed version is either understood or refused with its reason."""
    from jax_privacy import batch_selection as theirs

    independent = theirs.PartitionType.INDEPENDENT
    bins = theirs.BallsInBinsSampling(iterations=30, cycle_length=10)
    groups = theirs.CyclicPoissonSampling(0.1, 50, cycle_length=5, partition_type=independent)
    assert bridge.scheme(bins, 1.5) == _STEP.repeat(3).allocate(10)
    assert bridge.scheme(groups, 1.5) == _STEP.subsample(0.1).repeat(10).allocate(5)
    assert bridge.scheme(theirs.BMinSepSampling(1.0, 30, 10), 1.5) == _STEP.repeat(3).allocate(10)
    with pytest.raises(ValueError, match="batches of a fixed size"):
        bridge.scheme(theirs.FixedBatchSampling(10, 30), 1.5)
    known = {name for name in vars(theirs) if name.endswith("Sampling")}
    assert known <= set(bridge._SCHEMES)


@pytest.mark.jax
def test_their_bins_have_that_law() -> None:
    """Each example in one bin in all cycles, all bins equally likely."""
    from jax_privacy import batch_selection as theirs

    size, cycle = 100_000, 10
    batches = list(theirs.BallsInBinsSampling(iterations=20, cycle_length=cycle).batch_iterator(size, rng=1))
    assert all((batches[i] == batches[i + cycle]).all() for i in range(cycle))
    assert sorted(np.concatenate(batches[:cycle])) == list(range(size))
    counts = np.array([len(batch) for batch in batches[:cycle]])
    assert np.sum((counts - size / cycle) ** 2) / (size / cycle) < 50  # chi-square, 9 degrees of freedom


@pytest.mark.jax
@pytest.mark.parametrize(("noise", "iterations", "rate"), [(3.0, 512, 0.1), (1.0, 1000, 0.01)])
def test_the_interval_meets_that_of_their_accountant(noise: float, iterations: int, rate: float) -> None:
    """The example of jax_privacy.experimental.accounting, by both estimates of the PLD accountant."""
    import dp_accounting
    from jax_privacy import batch_selection
    from jax_privacy.experimental import accounting

    event = accounting.dpsgd_event(noise, iterations, sampling_prob=rate)
    theirs = dp_accounting.pld.PLDAccountant().compose(event).get_epsilon(1e-6)
    plain = dp_accounting.pld.privacy_loss_distribution.from_gaussian_mechanism(
        noise, sampling_prob=rate, pessimistic_estimate=False
    )
    lowest = plain.self_compose(iterations).get_epsilon_for_delta(1e-6)
    ours = bridge.epsilon(batch_selection.CyclicPoissonSampling(rate, iterations), noise, 1e-6)
    assert ours.lower <= theirs and lowest <= ours.upper


@pytest.mark.jax
def test_their_calibration_accepts_our_accountant() -> None:
    from jax_privacy import accounting

    ours = bridge.BallsInBinsAccountant(cycle_length=100)
    given: dict[str, Any] = {"batch_sizes": 10, "num_samples": 1000, "target_delta": 1e-5, "target_epsilon": 2.0}
    noise = accounting.calibrate_noise_multiplier(accountant=ours, num_updates=300, tol=1e-3, **given)
    assert float(pl.Gaussian(noise).repeat(3).allocate(100).epsilon(1e-5)) == pytest.approx(2.0, abs=0.01)
    steps = accounting.calibrate_num_updates(
        accountant=ours, noise_multipliers=noise, **{**given, "target_epsilon": 2.01}
    )
    assert 300 <= steps <= 310


@pytest.mark.jax
def test_the_accountant_refuses_what_it_does_not_cover() -> None:
    from jax_privacy import accounting

    ours = bridge.BallsInBinsAccountant(cycle_length=100)
    given: dict[str, Any] = {"noise_multipliers": 1.0, "num_samples": 1000, "delta": 1e-5, "batch_size": 10}
    assert ours.compute_epsilon(0, accounting.DpParams(**given)) == 0
    for more, said in (
        ({"cycle_length": 7}, "cycle_length must be 100, as here, got 7"),
        ({"truncated_batch_size": 7}, "truncated_batch_size must be None, got 7"),
        ({"examples_per_user": 2}, "examples_per_user must be 1 or None, got 2"),
        ({"noise_multipliers": [(0, 1.0)]}, "sigma must be a number"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            ours.compute_epsilon(10, accounting.DpParams(**{**given, **more}))

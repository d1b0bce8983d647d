"""JAX Privacy: what its strategies of batch selection amount to, and an accountant for its calibration.

The noise is independent from step to step (DP-SGD). Nothing here applies to correlated noise (matrix factorization).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privloss import Gaussian
from privloss._bracket import Bracket
from privloss._check import count, show
from privloss._scheme import Scheme
from privloss.samplers import _run


def scheme(strategy: Any, noise_multiplier: float) -> Scheme:
    """What one person's data goes through in a run of DP-SGD with batches from ``strategy``.

    * ``BallsInBinsSampling``: one bin, kept through all cycles; if the last cycle is cut short, some bins have one
      step less.
    * ``RandomAllocationSampling`` (where the installed version has it): ``allocate(iterations, total_participations)``.
    * ``CyclicPoissonSampling``: Poisson; with more than one group, the person's group is a kept bin, which is more
      private than being in a known group. Independent groups only.
    * ``BMinSepSampling`` with probability 1 and a warm start, which is balls in bins.

    Anything else is refused, with the reason.
    """
    named = next((kind.__name__ for kind in type(strategy).__mro__ if kind.__name__ in _SCHEMES), None)
    if named is None:
        known = ", ".join(name for name in _SCHEMES if name not in _REFUSED)
        raise TypeError(f"strategy must be one of {known}, got {show(strategy)}")
    return _SCHEMES[named](strategy, Gaussian(noise_multiplier))


def epsilon(strategy: Any, noise_multiplier: float, delta: float, **asked: Any) -> Bracket:
    """The epsilon of that run; ``asked`` is what ``Scheme.epsilon`` takes, such as ``direction`` or ``rtol``."""
    return scheme(strategy, noise_multiplier).epsilon(delta, **asked)


class BallsInBinsAccountant:
    """An accountant for ``jax_privacy.accounting.calibrate_noise_multiplier`` and ``calibrate_num_updates``.

    It has the interface of their training accountants, with bins instead of Poisson subsampling. ``cycle_length`` says
    how many bins there are, and so the expected batch size, which ``batch_sizes`` therefore does not change.
    """

    def __init__(self, cycle_length: int) -> None:
        self.cycle_length = count(cycle_length=cycle_length)

    def can_calibrate_noise_multipliers(self) -> bool:
        return True

    def can_calibrate_steps(self) -> bool:
        return True

    def can_calibrate_batch_size(self) -> bool:
        return False

    def compute_epsilon(self, num_updates: Any, dp_params: Any, allow_approximate_cache: bool = False) -> float:
        """The upper bound after ``num_updates`` steps."""
        if dp_params.cycle_length not in (None, self.cycle_length):
            raise ValueError(f"cycle_length must be {self.cycle_length}, as here, got {show(dp_params.cycle_length)}")
        if dp_params.examples_per_user not in (None, 1):
            raise ValueError(f"examples_per_user must be 1 or None, got {show(dp_params.examples_per_user)}")
        if dp_params.truncated_batch_size is not None:
            raise ValueError(_TRUNCATED.format(dp_params.truncated_batch_size))
        taken = count(least=0, num_updates=int(num_updates))
        if taken == 0:
            return 0.0
        if not dp_params.is_finite_guarantee or dp_params.noise_multipliers == 0:
            return float("inf")
        step = Gaussian(dp_params.noise_multipliers)
        return float(_run.ended(step, taken, self.cycle_length, picks=1, fresh=False).epsilon(dp_params.delta))


def _bins(strategy: Any, step: Scheme) -> Scheme:
    return _run.ended(step, _iterations(strategy), count(cycle_length=strategy.cycle_length), picks=1, fresh=False)


def _allocation(strategy: Any, step: Scheme) -> Scheme:
    return step.allocate(_iterations(strategy), strategy.total_participations)


def _poisson(strategy: Any, step: Scheme) -> Scheme:
    if strategy.truncated_batch_size is not None:
        raise ValueError(_TRUNCATED.format(strategy.truncated_batch_size))
    one = step.subsample(strategy.sampling_prob)
    if strategy.cycle_length == 1:
        return one.repeat(_iterations(strategy))
    if strategy.partition_type.name != "INDEPENDENT":
        raise ValueError(
            "partition_type must be INDEPENDENT for a person who may be absent, got "
            f"{strategy.partition_type.name}: in groups of equal size, each person's group depends on the others'"
        )
    return _run.ended(one, _iterations(strategy), strategy.cycle_length, picks=1, fresh=False)


def _separated(strategy: Any, step: Scheme) -> Scheme:
    if strategy.sampling_prob != 1 or not strategy.warm_start or strategy.truncated_batch_size is not None:
        raise ValueError(
            "BMinSepSampling must have sampling_prob=1, a warm start and no truncation, and so be balls in bins, got "
            f"{show(strategy, 200)}: its steps depend on one another, and only Monte Carlo is known"
        )
    return _run.ended(step, _iterations(strategy), strategy.min_sep, picks=1, fresh=False)


def _fixed(strategy: Any, step: Scheme) -> Scheme:
    raise ValueError(
        f"batches of a fixed size have no scheme, got {show(strategy, 200)}: adding a person changes the others' places"
    )


def _iterations(strategy: Any) -> int:
    return count(iterations=strategy.iterations)


_TRUNCATED = "truncated_batch_size must be None, got {}: whom a full batch leaves out depends on the others in it"
_REFUSED = ("FixedBatchSampling",)
_SCHEMES: dict[str, Callable[[Any, Scheme], Scheme]] = {
    "BallsInBinsSampling": _bins,
    "RandomAllocationSampling": _allocation,
    "CyclicPoissonSampling": _poisson,
    "BMinSepSampling": _separated,
    "FixedBatchSampling": _fixed,
}

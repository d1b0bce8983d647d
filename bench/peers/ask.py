"""One question to one library, in a process of its own: ``python ask.py '{"call": ..., "given": {...}, ...}'``.

Imports the library, asks it something small first, so that what is compiled or loaded late is there, unless told to
start cold; then the question, as often as fits into a second, five times at most, of which the best counts; it prints
lines of JSON. The process is ended by an alarm when the question takes longer than the limit, even in compiled code.
"""

from __future__ import annotations

import json
import logging
import math
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

RUNS, ENOUGH = 5, 1.0
REMEMBERS = ("allocation",)  # asked again, it answers from a cache of its own: the first time counts
STARTING = 120.0
MEMORY = 12 * 2**30

Answer = dict[str, Any]


# ---------------------------------------------------------------- privloss


def privloss(scheme: str, delta: float, rtol: float | None = None) -> Answer:
    import privloss as pl
    from privloss import _questions

    _questions.forget()
    options: Answer = {"seconds": None} if rtol is None else {"rtol": rtol, "seconds": None}
    answer = pl.parse(scheme).epsilon(delta, **options)
    return {
        "lower": float(answer.lower),
        "upper": float(answer.upper),
        "reason": answer.reason,
        "exact": answer.exact,
    }


# ---------------------------------------------------------------- PLD-accounting


def _allocation(
    sigma: float, steps: int, delta: float | None, picks: int, rounds: int, step: float, tail: float, **more: Any
) -> tuple[Any, Any]:
    from PLD_accounting import AllocationSchemeConfig, ConvolutionMethod, PrivacyParams

    method = ConvolutionMethod[more.get("method", "GEOM")]
    params = PrivacyParams(sigma=sigma, num_steps=steps, num_selected=picks, num_epochs=rounds, delta=delta)
    config = AllocationSchemeConfig(
        loss_discretization=step,
        tail_truncation=tail,
        convolution_method=method,
        max_grid_fft=int(more.get("grid", 1_000_000)),
    )
    return params, config


def pld_geom(
    sigma: float, steps: int, delta: float, step: float, tail: float, picks: int = 1, rounds: int = 1
) -> Answer:
    """Both bounds, and how long each took."""
    from PLD_accounting import BoundType, gaussian_allocation_epsilon_configurable

    params, config = _allocation(sigma, steps, delta, picks, rounds, step, tail)
    said: Answer = {}
    for side, bound in (("upper", BoundType.DOMINATES), ("lower", BoundType.IS_DOMINATED)):
        start = time.perf_counter()
        said[side] = gaussian_allocation_epsilon_configurable(params=params, config=config, bound_type=bound)
        said[f"{side}_seconds"] = time.perf_counter() - start
    return said


def pld_fft(
    sigma: float,
    steps: int,
    delta: float,
    step: float,
    tail: float,
    grid: float,
    picks: int = 1,
    rounds: int = 1,
    method: str = "FFT",
) -> Answer:
    """Upper bounds only."""
    from PLD_accounting import gaussian_allocation_epsilon_configurable

    params, config = _allocation(sigma, steps, delta, picks, rounds, step, tail, method=method, grid=grid)
    return {"upper": gaussian_allocation_epsilon_configurable(params=params, config=config)}


def pld_adaptive(
    sigma: float, steps: int, delta: float, picks: int = 1, rounds: int = 1, accuracy: float = -1.0
) -> Answer:
    from PLD_accounting import gaussian_allocation_epsilon_range

    upper, lower = gaussian_allocation_epsilon_range(
        delta=delta, sigma=sigma, num_steps=steps, num_selected=picks, num_epochs=rounds, epsilon_accuracy=accuracy
    )
    return {"lower": lower, "upper": upper}


def pld_nested(
    sigma: float,
    steps: int,
    delta: float,
    picks: int,
    rate: float,
    rounds: int,
    step: float,
    tail: float,
    grid: float,
    method: str = "FFT",
) -> Answer:
    """An allocation, subsampled, composed: upper bounds only."""
    from PLD_accounting import gaussian_allocation_pld, subsample_pld

    params, config = _allocation(sigma, steps, None, picks, 1, step, tail, method=method, grid=grid)
    each = subsample_pld(pld=gaussian_allocation_pld(params=params, config=config), sampling_probability=rate)
    return {"upper": each.self_compose(rounds).get_epsilon_for_delta(delta)}


def pld_two(sigma: float, steps: list[int], delta: float, step: float, tail: float) -> Answer:
    """The composition of allocations with different numbers of steps."""
    from PLD_accounting import gaussian_allocation_pld

    parts = []
    for each in steps:
        params, config = _allocation(sigma, each, None, 1, 1, step, tail)
        parts.append(gaussian_allocation_pld(params=params, config=config))
    return {"upper": parts[0].compose(parts[1]).get_epsilon_for_delta(delta)}


def pld_subsample_composed(
    sigma: float, rate: float, rounds: int, again: float, delta: float, step: float = 1e-4
) -> Answer:
    from dp_accounting.pld import privacy_loss_distribution
    from PLD_accounting import subsample_pld

    composed = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sampling_prob=rate, value_discretization_interval=step
    ).self_compose(rounds)
    return {"upper": subsample_pld(pld=composed, sampling_probability=again).get_epsilon_for_delta(delta)}


# ---------------------------------------------------------------- dp-accounting, riskcal


def dp(sigma: float, rate: float, rounds: int, delta: float, step: float, sides: str = "both") -> Answer:
    """Pessimistic by connect-the-dots, optimistic by privacy buckets (there is no optimistic connect-the-dots)."""
    from dp_accounting.pld import privacy_loss_distribution

    said: Answer = {}
    for side in ("upper", "lower") if sides == "both" else (sides,):
        start = time.perf_counter()
        one = privacy_loss_distribution.from_gaussian_mechanism(
            sigma,
            sampling_prob=rate,
            value_discretization_interval=step,
            pessimistic_estimate=side == "upper",
            use_connect_dots=side == "upper",
        )
        said[side] = one.self_compose(rounds).get_epsilon_for_delta(delta)
        said[f"{side}_seconds"] = time.perf_counter() - start
    return said


def riskcal(sigma: float, rate: float, rounds: int, delta: float, step: float) -> Answer:
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(sigma, rate, rounds)]
    return {"upper": accountant.get_epsilon(delta=delta, grid_step=step)}


# ---------------------------------------------------------------- prv-accountant


def prv(sigma: float, rate: float, rounds: int, delta: float, error: float, delta_error: float | None = None) -> Answer:
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    mechanism = PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
    accountant = PRVAccountant(
        prvs=mechanism, max_self_compositions=rounds, eps_error=error, delta_error=delta_error or delta / 1000
    )
    lower, estimate, upper = accountant.compute_epsilon(delta, rounds)
    return {"lower": lower, "upper": upper, "estimate": estimate}


def prv_first(sigma: float, rate: float, rounds: int, delta: float, error: float) -> Answer:
    """The interface of the first release."""
    from prv_accountant import Accountant

    accountant = Accountant(
        noise_multiplier=sigma, sampling_probability=rate, delta=delta, eps_error=error, max_compositions=rounds
    )
    lower, estimate, upper = accountant.compute_epsilon(rounds)
    return {"lower": lower, "upper": upper, "estimate": estimate}


# ---------------------------------------------------------------- random-allocation


def allocation(
    method: str,
    sigma: float,
    steps: int,
    delta: float,
    picks: int = 1,
    rounds: int = 1,
    step: float = 1e-4,
    tolerance: float = 1e-3,
    orders: int = 30,
) -> Answer:
    from random_allocation import random_allocation_scheme as scheme
    from random_allocation.comparisons.definitions import Verbosity

    params = scheme.PrivacyParams(sigma=sigma, num_steps=steps, num_selected=picks, num_epochs=rounds, delta=delta)
    config = scheme.SchemeConfig(
        discretization=step,
        allocation_direct_alpha_orders=list(range(2, orders + 1)),
        epsilon_tolerance=tolerance,
        verbosity=Verbosity.NONE,
    )
    value = getattr(scheme, f"allocation_epsilon_{method}")(params, config)
    return {"lower" if method == "lower_bound" else "upper": float(value)}


# ---------------------------------------------------------------- one question

_SMALL = {"sigma": 1.0, "delta": 1e-6}
_FEW = {**_SMALL, "steps": 10, "rounds": 2, "step": 0.1, "tail": 1e-8}
_SUBSAMPLED = {**_SMALL, "rate": 0.1, "rounds": 2}

# call: distribution, module, the small question that comes first
CALLS: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "privloss": ("privloss", "privloss", lambda: privloss("Gaussian(1.0).allocate(10)", 1e-6)),
    "pld_geom": ("PLD-accounting", "PLD_accounting", lambda: pld_geom(**_FEW)),
    "pld_fft": ("PLD-accounting", "PLD_accounting", lambda: pld_fft(**{**_FEW, "step": 0.01}, grid=1e6)),
    "pld_adaptive": ("PLD-accounting", "PLD_accounting", lambda: pld_geom(**_FEW)),
    "pld_nested": (
        "PLD-accounting",
        "PLD_accounting",
        lambda: pld_nested(**{**_FEW, "step": 0.01}, picks=2, rate=0.1, grid=1e6),
    ),
    "pld_two": ("PLD-accounting", "PLD_accounting", lambda: pld_geom(**_FEW)),
    "pld_subsample_composed": ("PLD-accounting", "PLD_accounting", lambda: dp(**_SUBSAMPLED, step=1e-2)),
    "dp": ("dp-accounting", "dp_accounting", lambda: dp(**_SUBSAMPLED, step=1e-2)),
    "riskcal": ("riskcal", "riskcal", lambda: riskcal(**_SUBSAMPLED, step=1e-2)),
    "prv": ("prv-accountant", "prv_accountant", lambda: prv(**_SUBSAMPLED, error=0.1)),
    "prv_first": ("prv-accountant", "prv_accountant", lambda: prv_first(**_SUBSAMPLED, error=0.1)),
    "allocation": ("random-allocation", "random_allocation", lambda: allocation("combined", 1.0, 10, 1e-5, orders=4)),
}


def timed(question: Callable[[], Answer], runs: int) -> Answer:
    best: Answer = {}
    spent = 0.0
    for run in range(runs):
        if run and spent * (run + 1) / run > ENOUGH:
            break
        start = time.perf_counter()
        said = question()
        seconds = time.perf_counter() - start
        spent += seconds
        if not best or seconds < best["seconds"]:
            best = {**said, "seconds": seconds}
    return best


def plain(value: Any) -> Any:
    """NumPy's floats as Python's; what is not finite as a string, for the JSON to be strict."""
    if isinstance(value, str | bool):
        return value
    number = float(value)
    return number if math.isfinite(number) else str(number)


def main() -> None:
    given = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, STARTING)
    _, module, small = CALLS[given["call"]]
    start = time.perf_counter()
    __import__(module)
    imported = time.perf_counter() - start
    if not given["cold"]:
        small()
    question = globals()[given["call"]]
    print(json.dumps({"import_seconds": imported}), flush=True)
    signal.setitimer(signal.ITIMER_REAL, given["limit"])
    try:
        said = timed(lambda: question(**given["given"]), 1 if given["cold"] or given["call"] in REMEMBERS else RUNS)
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({key: plain(value) for key, value in said.items()}))


if __name__ == "__main__":
    main()

"""riskcal: its random variables, its accountant's history, and evaluators for its calibration (extra ``riskcal``).

Its functions that take a distribution of dp-accounting take what ``bridges.dp_accounting.to_pld`` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from privloss._check import positive, probability, show
from privloss._scheme import operand
from privloss.bridges._library import library
from privloss.bridges.dp_accounting.event import composed
from privloss.bridges.dp_accounting.pld import Side, from_column, to_pld

if TYPE_CHECKING:
    from privloss._mechanisms import PrivacyLoss
    from privloss._scheme import Scheme


def to_plrvs(
    scheme: Scheme, step: float, *, side: Side = "upper", rtol: float = 1e-5, seconds: float | None = 5.0
) -> Any:
    """This scheme as riskcal's ``PLRVs``, in units of ``step``: an upper one never makes an attack look worse."""
    analysis = library("riskcal.analysis", "riskcal")
    return analysis.pld_to_plrvs(to_pld(scheme, step, side=side, rtol=rtol, seconds=seconds))


def from_plrvs(plrvs: Any, step: float) -> PrivacyLoss:
    """The scheme of riskcal's ``PLRVs``, which do not say their ``step``: of Y, the losses for remove."""
    kind = library("riskcal.analysis", "riskcal").PLRVs
    if not isinstance(plrvs, kind):
        raise TypeError(f"plrvs must be a PLRVs of riskcal, got {show(plrvs)}")
    losses = (plrvs.y0 + np.arange(len(plrvs.pmf_Y))) * positive(step=step)
    return from_column(losses, np.array(plrvs.pmf_Y, np.float64), float(plrvs.infinity_mass_Y))


def from_accountant(accountant: Any) -> Scheme:
    """The scheme of a ``CTDAccountant``, or of any other whose ``history`` lists (noise multiplier, rate, steps)."""
    from privloss._mechanisms import Gaussian

    history = getattr(accountant, "history", None)
    if not isinstance(history, list) or not history:
        raise ValueError(f"accountant must have a history of at least one step, got {show(history)}")
    return composed([Gaussian(sigma).subsample(rate).repeat(rounds) for sigma, rate, rounds in history])


def evaluator(
    function: Callable[[float], Scheme],
    *,
    delta: float | None = None,
    alpha: float | None = None,
    rtol: float = 1e-4,
    seconds: float | None = 5.0,
) -> Callable[[float], Any]:
    """What riskcal's ``calibrate_parameter`` calls: the safe ends for the scheme that ``function`` makes of a number.

    Always the advantage; epsilon where ``delta`` is given, and beta where ``alpha`` is.
    """
    metrics = library("riskcal.calibration.core", "riskcal").PrivacyMetrics
    if not callable(function):
        raise TypeError(f"function must be a function that returns a scheme, got {show(function)}")
    delta = None if delta is None else probability(delta=delta)
    alpha = None if alpha is None else probability(alpha=alpha)

    def evaluate(number: float) -> Any:
        scheme = operand(result=function(number))
        given = metrics(advantage=float(scheme.advantage(rtol=rtol, seconds=seconds)), delta=delta, alpha=alpha)
        if delta is not None:
            given.epsilon = float(scheme.epsilon(delta, rtol=rtol, seconds=seconds))
        if alpha is not None:
            given.beta = float(scheme.tradeoff(alpha, rtol=rtol, seconds=seconds))
        return given

    return evaluate


__all__ = ["evaluator", "from_accountant", "from_plrvs", "to_plrvs"]

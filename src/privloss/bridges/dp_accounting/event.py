"""Events there and back: ``DpEvent`` is how dp-accounting describes what this package calls a scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from privloss._check import finite, show
from privloss._mechanisms import (
    ApproximateDP,
    DiscreteLaplace,
    Gaussian,
    GaussianMixture,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from privloss._operations import Allocate, Compose, Repeat, Subsample, Swap
from privloss._scheme import operand, walk
from privloss.bridges._library import library

if TYPE_CHECKING:
    from privloss._scheme import Scheme

NOTHING = PureDP(0.0)  # of an operation that does not touch the data
EVERYTHING = ApproximateDP(0.0, 1.0)  # of one that shows it


class RefusedEvent(ValueError):
    """An event that no scheme stands for; ``event`` is the innermost one to blame."""

    def __init__(self, event: Any, reason: str) -> None:
        super().__init__(f"{show(event)} {reason}")
        self.event = event


# From events.


def from_event(event: Any) -> Scheme:
    """The scheme that an event of dp-accounting describes; ValueError for one that none does.

    What is not noised, however rarely it is sampled, is ``ApproximateDP(0.0, 1.0)``, as the library's accountants have
    it. Randomized response speaks of replacing a record, so it is composed with itself only.
    """
    base = library("dp_accounting.dp_event", "dp-accounting").DpEvent
    if not isinstance(event, base):
        raise TypeError(f"event must be a DpEvent of dp-accounting, got {show(event)}")
    try:
        scheme = _read(event)
    except RecursionError:
        raise ValueError("event must be nested less deeply than Python's stack allows") from None
    nodes = list(walk(scheme))
    if any(isinstance(node, RandomizedResponse) for node in nodes) and not all(
        isinstance(node, RandomizedResponse | Repeat | Compose) for node in nodes
    ):
        raise RefusedEvent(event, "mixes randomized response, of replaced records, with mechanisms of added ones")
    return scheme


def _read(event: Any) -> Scheme:
    kind = type(event)
    if kind not in readers():
        raise RefusedEvent(event, f"has no scheme: {REFUSED.get(kind.__name__, 'it is not known here')}")
    try:
        return readers()[kind](event)
    except RefusedEvent:
        raise
    except (ValueError, TypeError) as error:  # of a scheme's constructor: a number it does not take
        raise type(error)(f"{show(event)} has no scheme: {error}") from None


def _gaussian(event: Any) -> Scheme:
    return Gaussian(event.noise_multiplier) if event.noise_multiplier != 0 else EVERYTHING


def _laplace(event: Any) -> Scheme:
    return Laplace(event.noise_multiplier) if event.noise_multiplier != 0 else EVERYTHING


def _discrete_laplace(event: Any) -> Scheme:
    if event.noise_parameter == 0:  # as the library's accountants read it, though it is noise without end
        return EVERYTHING
    return DiscreteLaplace(1 / finite(noise_parameter=event.noise_parameter), event.sensitivity)


def _mixture(event: Any) -> Scheme:
    if not any(event.sensitivities):
        return NOTHING
    if event.standard_deviation == 0:
        return EVERYTHING
    return GaussianMixture(event.standard_deviation, event.sensitivities, event.sampling_probs)


def _response(event: Any) -> Scheme:
    noise, values = finite(noise_parameter=event.noise_parameter), event.num_buckets
    if values == 1 or noise == 1:
        return NOTHING
    return RandomizedResponse(1 - noise * (1 - 1 / values), values) if noise != 0 else EVERYTHING


def _guarantee(event: Any) -> Scheme:
    return ApproximateDP(event.epsilon, event.delta)


def _poisson(event: Any) -> Scheme:
    return _sampled(_read(event.event), event.sampling_probability)


def _sampled(scheme: Scheme, rate: float) -> Scheme:
    if rate == 0:
        return NOTHING
    return scheme if scheme in (NOTHING, EVERYTHING) else scheme.subsample(rate)


def _repeated(event: Any) -> Scheme:
    return repeated(_read(event.event), event.count)


def repeated(scheme: Scheme, count: int) -> Scheme:
    more = scheme.repeat(count)  # whether the count is one
    return scheme if count == 1 or scheme in (NOTHING, EVERYTHING) else more


def _composed(event: Any) -> Scheme:
    return composed(map(_read, event.events))


def composed(schemes: Iterable[Scheme]) -> Scheme:
    parts = [scheme for scheme in schemes if scheme != NOTHING]
    if EVERYTHING in parts:
        return EVERYTHING
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else Compose(tuple(parts))


def _allocated(event: Any) -> Scheme:
    scheme = _read(event.event)
    more = scheme.allocate(event.num_steps, event.num_selected)
    return scheme if scheme in (NOTHING, EVERYTHING) else more


def _truncated(event: Any) -> Scheme:
    if event.sampling_probability == 0 or event.truncated_batch_size == 0 or event.dataset_size == 0:
        return NOTHING
    if event.truncated_batch_size < event.dataset_size:
        raise RefusedEvent(event, "has no scheme: what others add decides who is left out of a truncated batch")
    return _sampled(_gaussian(event), event.sampling_probability)


_READERS: dict[str, Callable[[Any], Scheme]] = {
    "NoOpDpEvent": lambda event: NOTHING,
    "NonPrivateDpEvent": lambda event: EVERYTHING,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "MixtureOfGaussiansDpEvent": _mixture,
    "RandomizedResponseDpEvent": _response,
    "EpsilonDeltaDpEvent": _guarantee,
    "PoissonSampledDpEvent": _poisson,
    "SelfComposedDpEvent": _repeated,
    "ComposedDpEvent": _composed,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
}

REFUSED = {
    "SampledWithoutReplacementDpEvent": "batches of a fixed size speak of replacing a record",
    "SampledWithReplacementDpEvent": "batches of a fixed size speak of replacing a record",
    "SingleEpochTreeAggregationDpEvent": "trees speak of a record replaced by a special one",
    "RepeatAndSelectDpEvent": "selection has bounds on its Renyi divergences only",
    "ZCDpEvent": "it is a bound on Renyi divergences, which no one pair attains",
}


@cache
def readers() -> dict[type, Callable[[Any], Scheme]]:
    """From each class of event to what reads it: of those that the installed version has."""
    from privloss.bridges.dp_accounting import RandomAllocationDpEvent

    events = library("dp_accounting.dp_event", "dp-accounting")
    found = {getattr(events, name): reader for name, reader in _READERS.items() if hasattr(events, name)}
    return {**found, RandomAllocationDpEvent: _allocated}


# To events.


def to_event(scheme: Scheme) -> Any:
    """The event of dp-accounting that describes a scheme; ValueError for one that none does."""
    operand(scheme=scheme)
    events = library("dp_accounting.dp_event", "dp-accounting")
    done: dict[int, Any] = {}
    for node in walk(scheme):
        writer = _WRITERS.get(type(node))
        if writer is None:
            raise ValueError(f"{show(node)} has no event in dp-accounting")
        done[id(node)] = writer(events, node, [done[id(part)] for part in node._parts()])
    return done[id(scheme)]


def _guaranteed(events: Any, scheme: Any, parts: list[Any]) -> Any:
    if scheme in (NOTHING, EVERYTHING):
        return events.NoOpDpEvent() if scheme == NOTHING else events.NonPrivateDpEvent()
    if not hasattr(events, "EpsilonDeltaDpEvent"):
        raise ValueError(f"{show(scheme)} has no event in this version of dp-accounting")
    return events.EpsilonDeltaDpEvent(scheme.epsilon_, getattr(scheme, "delta_", 0.0))


def _exchanged(events: Any, scheme: Any, parts: list[Any]) -> Any:
    if not scheme.of.symmetric:
        raise ValueError(f"{show(scheme)} has no event in dp-accounting")
    return parts[0]


def _allocation(events: Any, scheme: Any, parts: list[Any]) -> Any:
    from privloss.bridges.dp_accounting import RandomAllocationDpEvent

    return RandomAllocationDpEvent(parts[0], scheme.picks, scheme.steps)


_WRITERS: dict[type, Callable[[Any, Any, list[Any]], Any]] = {
    Gaussian: lambda events, s, parts: events.GaussianDpEvent(s.sigma / s.sensitivity),
    Laplace: lambda events, s, parts: events.LaplaceDpEvent(s.scale / s.sensitivity),
    DiscreteLaplace: lambda events, s, parts: events.DiscreteLaplaceDpEvent(1 / s.scale, s.sensitivity),
    GaussianMixture: lambda events, s, parts: events.MixtureOfGaussiansDpEvent(
        s.sigma, list(s.sensitivities), list(s.weights)
    ),
    RandomizedResponse: lambda events, s, parts: events.RandomizedResponseDpEvent(
        (1 - s.probability) / (1 - 1 / s.values), s.values
    ),
    PureDP: _guaranteed,
    ApproximateDP: _guaranteed,
    Subsample: lambda events, s, parts: events.PoissonSampledDpEvent(s.rate, parts[0]),
    Repeat: lambda events, s, parts: events.SelfComposedDpEvent(parts[0], s.rounds),
    Compose: lambda events, s, parts: events.ComposedDpEvent(parts),
    Allocate: _allocation,
    Swap: _exchanged,
}

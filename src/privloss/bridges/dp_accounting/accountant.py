"""A ``PrivacyAccountant`` of dp-accounting whose answers are certified upper bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from privloss._check import nonnegative, positive, probability, real
from privloss._mechanisms import RandomizedResponse
from privloss._scheme import walk
from privloss.bridges.dp_accounting.event import EVERYTHING, NOTHING, RefusedEvent, composed, from_event, repeated

if TYPE_CHECKING:
    from privloss._scheme import Scheme


class Accountant(PrivacyAccountant):  # type: ignore[misc]
    """Composes events, and answers with the safe end of this package's bracket.

    For records added or removed. ``scheme`` is what was composed, to be asked for both ends. ``rtol`` and ``seconds``
    are those of each answer: one that the time limit stopped is looser, and still a bound.
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        *,
        rtol: float = 1e-4,
        seconds: float | None = 5.0,
    ) -> None:
        if neighboring_relation != NeighboringRelation.ADD_OR_REMOVE_ONE:
            raise ValueError(f"neighboring_relation must be ADD_OR_REMOVE_ONE, got {neighboring_relation}")
        super().__init__(neighboring_relation)
        self._rtol = nonnegative(rtol=rtol)
        self._seconds = None if seconds is None else positive(seconds=seconds)
        self._parts: list[Scheme] = []

    @property
    def scheme(self) -> Scheme:
        """All that was composed so far."""
        return composed(self._parts)

    def get_epsilon(self, target_delta: float) -> float:
        """The upper bound on epsilon at this delta."""
        scheme, target_delta = self.scheme, probability(target_delta=target_delta)
        if scheme in (NOTHING, EVERYTHING):  # of the latter at delta = 1 too, as the library has it
            return 0.0 if scheme == NOTHING else math.inf
        return float(scheme.epsilon(target_delta, rtol=self._rtol, seconds=self._seconds))

    def get_delta(self, target_epsilon: float) -> float:
        """The upper bound on delta at this epsilon."""
        scheme, target_epsilon = self.scheme, real(target_epsilon=target_epsilon)
        if scheme in (NOTHING, EVERYTHING):
            return max(-math.expm1(target_epsilon), 0.0) if scheme == NOTHING else 1.0
        return float(scheme.delta(target_epsilon, rtol=self._rtol, seconds=self._seconds))

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        """None, having composed the event if asked to; else why it cannot be."""
        try:
            scheme = from_event(event)
            if any(isinstance(node, RandomizedResponse) for node in walk(scheme)):
                raise RefusedEvent(event, "speaks of replaced records, not of added or removed ones")
        except RefusedEvent as refused:
            return self.CompositionErrorDetails(refused.event, str(refused))
        if do_compose:
            self._parts.append(repeated(scheme, count))
        return None

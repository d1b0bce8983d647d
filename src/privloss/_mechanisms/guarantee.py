"""Mechanisms known only by their guarantee: the worst pair that has it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privloss._check import nonnegative, probability
from privloss._scheme import Mechanism, fix

if TYPE_CHECKING:
    from privloss._ask import Ask
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class PureDP(Mechanism):
    """Any (epsilon, 0)-private mechanism: randomized response with odds e^epsilon, which dominates them all.

    >>> from privloss import PureDP
    >>> PureDP(0.5)
    PureDP(epsilon=0.5)
    """

    epsilon: float
    symmetric: ClassVar[bool] = True  # exchange the two outcomes

    def __post_init__(self) -> None:
        fix(self, epsilon=nonnegative(epsilon=self.epsilon))

    def law(self, ask: Ask) -> Law:
        return _worst(self.epsilon, 0.0, ask)


@dataclass(frozen=True, eq=False, repr=False)
class ApproximateDP(Mechanism):
    """Any (epsilon, delta)-private mechanism: with probability delta the truth comes out, else as PureDP(epsilon).

    >>> from privloss import ApproximateDP
    >>> ApproximateDP(epsilon=0.5, delta=1e-6)
    ApproximateDP(epsilon=0.5, delta=1e-06)
    """

    epsilon: float
    delta: float
    symmetric: ClassVar[bool] = True  # exchange the two outcomes and the two atoms

    def __post_init__(self) -> None:
        fix(self, epsilon=nonnegative(epsilon=self.epsilon), delta=probability(delta=self.delta))

    def law(self, ask: Ask) -> Law:
        return _worst(self.epsilon, self.delta, ask)


def _worst(epsilon: float, delta: float, ask: Ask) -> Law:
    from privloss._pair import from_outcomes

    small = math.exp(-epsilon)
    likely, unlikely = (1 - delta) / (1 + small), (1 - delta) * small / (1 + small)
    q, p = np.array([likely, unlikely]), np.array([unlikely, likely])
    loss = np.array([-epsilon, epsilon])  # kept, since the small mass may underflow
    if delta == 1:
        q, p, loss = q[:0], p[:0], loss[:0]
    return from_outcomes(q, p, loss=loss, q_only=delta, p_only=delta, side=ask.side)

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


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PureDP(Mechanism):
    """Any (epsilon, 0)-private mechanism: randomized response with odds e^epsilon, which dominates them all.

    The number is kept as ``epsilon_``, since ``epsilon`` is a question.

    >>> from privloss import PureDP
    >>> PureDP(0.5)
    PureDP(epsilon=0.5)
    """

    epsilon_: float
    symmetric: ClassVar[bool] = True  # exchange the two outcomes

    def __init__(self, epsilon: float) -> None:
        fix(self, epsilon_=nonnegative(epsilon=epsilon))

    def law(self, ask: Ask) -> Law:
        return _worst(self.epsilon_, 0.0, ask)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ApproximateDP(Mechanism):
    """Any (epsilon, delta)-private mechanism: the truth with probability delta, else as PureDP(epsilon).

    The numbers are kept as ``epsilon_`` and ``delta_``, since ``epsilon`` and ``delta`` are questions.

    >>> from privloss import ApproximateDP
    >>> ApproximateDP(epsilon=0.5, delta=1e-6)
    ApproximateDP(epsilon=0.5, delta=1e-06)
    """

    epsilon_: float
    delta_: float
    symmetric: ClassVar[bool] = True  # exchange the two outcomes and the two atoms

    def __init__(self, epsilon: float, delta: float) -> None:
        fix(self, epsilon_=nonnegative(epsilon=epsilon), delta_=probability(delta=delta))

    def law(self, ask: Ask) -> Law:
        return _worst(self.epsilon_, self.delta_, ask)


def _worst(epsilon: float, delta: float, ask: Ask) -> Law:
    from dataclasses import replace

    from privloss._pair import U, from_outcomes

    small = math.exp(-epsilon)
    likely, unlikely = (1 - delta) / (1 + small), (1 - delta) * small / (1 + small)
    q, p = np.array([likely, unlikely]), np.array([unlikely, likely])
    loss = np.array([-epsilon, epsilon])  # kept, since the small mass may underflow
    if delta == 1:
        q, p, loss = q[:0], p[:0], loss[:0]
    pair = from_outcomes(q, p, loss=loss, q_only=delta, p_only=delta, side=ask.side, eta_q=8 * U)
    return replace(pair, given=True)

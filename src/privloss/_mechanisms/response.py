"""Randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privloss._check import count, real, show
from privloss._scheme import Mechanism, fix

if TYPE_CHECKING:
    from privloss._ask import Ask
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class RandomizedResponse(Mechanism):
    """The truth with ``probability``, each of the other ``values - 1`` values equally.

    P is the answer when the truth is one value and Q when it is another, so it speaks of replacement:
    "remove" and "add" are then the two orders of the two true values.

    >>> from privloss import RandomizedResponse
    >>> RandomizedResponse(probability=0.75)
    RandomizedResponse(probability=0.75)
    """

    probability: float
    values: int = 2
    symmetric: ClassVar[bool] = True  # exchange the two true values

    def __post_init__(self) -> None:
        fix(self, probability=real(probability=self.probability), values=count(least=2, values=self.values))
        if not 1 / self.values < self.probability < 1:
            low = f"1/{self.values}"
            raise ValueError(f"probability must be above {low} and below 1, got {show(self.probability)}")

    def law(self, ask: Ask) -> Law:
        from privloss._pair import from_outcomes

        rest = (1 - self.probability) / (self.values - 1)
        q, p = [rest, self.probability], [self.probability, rest]
        if self.values > 2:  # neither of the two true values: says nothing
            q.append((self.values - 2) * rest)
            p.append((self.values - 2) * rest)
        return from_outcomes(np.array(q), np.array(p), side=ask.side)

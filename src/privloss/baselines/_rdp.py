"""Whole orders of Renyi divergences, tried until they stop helping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privloss._ask import Side
from privloss._pair import FloatArray, U
from privloss._renyi import logs
from privloss._scheme import Scheme
from privloss.baselines._convert import delta_from, epsilon_from

SMALL = tuple(range(2, 65))
MOST_ADD = 256  # add: an integral for each
LARGE = (*SMALL, *sorted({round(x) for x in np.geomspace(65, 1024, 40)}))


@dataclass(frozen=True)
class Divergences:
    """Upper bounds on D_a at some orders."""

    orders: FloatArray
    values: FloatArray

    def epsilon(self, delta: float) -> float:
        return epsilon_from(self.orders, self.values, delta)

    def delta(self, epsilon: float) -> float:
        return delta_from(self.orders, self.values, epsilon)


def divided(orders: FloatArray, moments: FloatArray) -> Divergences:
    """From log E X^a to divergences."""
    return Divergences(orders, np.maximum(moments, 0.0) / (orders - 1.0) * (1 + 4 * U))


@lru_cache(maxsize=64)
def divergences(scheme: Scheme, way: str, many: bool = False) -> Divergences:
    """Of a scheme, at orders up to 64, or to 1024 (256 for add)."""
    wanted = [order for order in (LARGE if many else SMALL) if way == "remove" or order <= MOST_ADD]
    side: Side = "upper"
    return divided(np.array(wanted, np.float64), logs(scheme, wanted, way, side))


def best(few: Divergences, more: Callable[[], Divergences], answer: Callable[[Divergences], float]) -> float:
    """From the small orders; from the large ones too, where the best of the small ones is their last."""
    first = answer(few)
    edge = answer(Divergences(few.orders[:-1], few.values[:-1]))
    return first if edge <= first else min(first, answer(more()))

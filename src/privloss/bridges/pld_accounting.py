"""PLD-accounting, the library of the authors of random allocation: its realizations (extra ``pld-accounting``).

What its functions return as distributions of dp-accounting, ``bridges.dp_accounting.from_pld`` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privloss._check import choice, show
from privloss.bridges._library import library
from privloss.bridges.dp_accounting.pld import from_column, to_pld

if TYPE_CHECKING:
    from privloss._mechanisms import PrivacyLoss
    from privloss._scheme import Scheme


def to_realization(
    scheme: Scheme,
    step: float,
    *,
    direction: Literal["remove", "add"] = "remove",
    rtol: float = 1e-5,
    seconds: float | None = 5.0,
) -> Any:
    """This scheme as a ``PLDRealization`` on multiples of ``step`` that dominates it in that direction."""
    there = library("PLD_accounting", "pld-accounting")
    choice(direction=direction, among=("remove", "add"))
    pld = to_pld(scheme, step, rtol=rtol, seconds=seconds)
    pmf = pld._pmf_remove if direction == "remove" else pld._pmf_add
    return there.dp_accounting_pmf_to_pld_realization(pmf=pmf)


def from_realization(realization: Any) -> PrivacyLoss:
    """The scheme of a ``PLDRealization``, of losses seen from P."""
    kind = library("PLD_accounting", "pld-accounting").PLDRealization
    if not isinstance(realization, kind):
        raise TypeError(f"realization must be a PLDRealization of PLD-accounting, got {show(realization)}")
    masses = np.array(realization.prob_arr, np.float64)
    return from_column(np.array(realization.x_array, np.float64), masses, float(realization.p_max))


__all__ = ["from_realization", "to_realization"]

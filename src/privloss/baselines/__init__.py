"""Earlier bounds under one roof, each asked alike: ``baselines.rdp.epsilon(scheme, delta, direction="both")``.

Every answer is a ``Bracket``: an upper bound has lower 0, a lower bound has upper inf (1 for delta), an estimate says
in ``reason`` how sure it is. To add a method, add a short file with a ``METHOD`` and name it here.

>>> from privloss import Gaussian, baselines
>>> epoch = Gaussian(1.0).allocate(1000)
>>> lower, upper = baselines.cghlkkmsz24.epsilon(epoch, 1e-6).lower, baselines.fs25.epsilon(epoch, 1e-6).upper
>>> round(lower, 3), round(upper, 2)
(0.123, 0.29)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from privloss.baselines._baseline import Baseline
from privloss.baselines._convert import RenyiCurve, gdp, zcdp
from privloss.baselines.cghlkkmsz24 import METHOD as cghlkkmsz24
from privloss.baselines.dco25 import METHOD as dco25
from privloss.baselines.dg26 import METHOD as dg26
from privloss.baselines.fs25 import METHOD as fs25
from privloss.baselines.fs25_analytic import METHOD as fs25_analytic
from privloss.baselines.fs25_decomposition import METHOD as fs25_decomposition
from privloss.baselines.fs25_direct import METHOD as fs25_direct
from privloss.baselines.fs25_recursive import METHOD as fs25_recursive
from privloss.baselines.monte_carlo import METHOD as monte_carlo
from privloss.baselines.poisson import METHOD as poisson
from privloss.baselines.rdp import METHOD as rdp
from privloss.baselines.shuffle_lower import METHOD as shuffle_lower
from privloss.baselines.shuffle_upper import METHOD as shuffle_upper
from privloss.baselines.sk26 import METHOD as sk26

METHODS: tuple[Baseline[Any], ...] = (
    rdp,
    sk26,
    fs25,
    fs25_analytic,
    fs25_decomposition,
    fs25_recursive,
    fs25_direct,
    dco25,
    poisson,
    monte_carlo,
    dg26,
    cghlkkmsz24,
    shuffle_upper,
    shuffle_lower,
)


class Row(NamedTuple):
    """One line of the table in docs/bounds.md."""

    name: str
    year: int
    kind: str
    about: str
    covers: str
    assumptions: str
    cost: str
    reference: str


def table() -> list[Row]:
    """What there is, in the order of the docs."""
    return [Row(*(getattr(method, field) for field in Row._fields)) for method in METHODS]


__all__ = [
    "METHODS",
    "Baseline",
    "RenyiCurve",
    "Row",
    "cghlkkmsz24",
    "dco25",
    "dg26",
    "fs25",
    "fs25_analytic",
    "fs25_decomposition",
    "fs25_direct",
    "fs25_recursive",
    "gdp",
    "monte_carlo",
    "poisson",
    "rdp",
    "shuffle_lower",
    "shuffle_upper",
    "sk26",
    "table",
    "zcdp",
]

"""The Gaussian pair when the centres are so far apart that P and Q have nothing in common that a double can hold.

With a = sensitivity / sigma the loss is a^2/2 + a z under P and -(a^2/2 + a z) under Q, z standard normal. Each
measure is listed about its own mean, where the other one is below e^-700: that is charged to the atoms.

* Upper: the mass of a cell goes to the end where it tells more. It keeps its own measure, and lets the other have
  less; what the other had is in the atoms' charge.
* Lower: the mass of a cell goes to its other end, which gives the other measure more, still less than any double.
"""

from __future__ import annotations

import numpy as np

from privloss._ask import Side
from privloss._laws.gaussian import VANISHED, GaussianLaw
from privloss._pair import Pair, U

APART = 1200.0  # a, from which the listed measures are e^-700 of the other
REACH = 38.0  # standard deviations: what lies beyond is below 1e-315
FEWEST, MOST = 500, 20_000  # cells of a measure


def far_gaussian(a: float, spacing: float, side: Side) -> Pair:
    """The pair as a list, its cells ``spacing`` standard deviations wide."""
    count = int(min(max(2 * REACH / spacing, FEWEST), MOST))
    z = np.linspace(-REACH, REACH, count)
    one = GaussianLaw(1.0)
    mass = one.cells(z - 0.5).q  # of the normal law between the z: its loss there is z - 1/2
    loss = a * (0.5 * a + z)
    if side == "upper":  # the first cell goes to its right end as well; the last one to infinity
        mass, beyond = mass[:-1], float(mass[-1]) + VANISHED
    else:  # the first cell is nothing
        mass, beyond = mass[1:], 0.0
    none = np.zeros_like(mass)
    loss, q, p = np.concatenate((-loss[::-1], loss)), np.append(mass[::-1], none), np.append(none, mass)
    return Pair(loss, q, p, beyond, beyond, side, one.eta_q + U, 8 * U * float(loss[-1]))

"""The moments of an allocation by a recursion over orders, the cost of which does not depend on the steps.

SK26 evaluates the Renyi divergences of matrix mechanisms by a dynamic program over steps, whose state is the number of
factors used up. For independent noise that program computes the coefficients of b(z)^t, b_j = E X^j / j!, one factor
at a time: t order^2 operations. The same coefficients obey J. C. P. Miller's recursion (``privloss._renyi``), which
is what is done here: order^2 in all, and positive terms as long as the order is at most steps + 1. Its values are those
of ``rdp`` for these schemes; add is not part of it here.
"""

import numpy as np

from privloss._mechanisms import DiscreteGaussian, Gaussian, Laplace
from privloss._renyi import averaged, out, subsampled
from privloss._renyi import logs as log_moments
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._rdp import Divergences, divided


def _divergences(setting: Shape) -> Divergences:
    most = min(setting.steps + 1, 256)
    orders = np.arange(1, most + 1)
    one = np.concatenate(([0.0], log_moments(setting.step, orders.tolist(), "remove", "upper")))
    chosen = averaged(one, setting.steps, "upper", "recursion")
    total = out(setting.rounds * subsampled(chosen, setting.rate, "upper"), "upper", 2)
    return divided(orders[1:].astype(np.float64), total[2:])


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    return _divergences(setting).delta(epsilon)


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    return _divergences(setting).epsilon(delta)


METHOD = Bound(
    name="sk26",
    year=2026,
    reference="J. Schuchardt, N. Kalinin, Sampling-Free Privacy Accounting for Matrix Mechanisms under Random "
    "Allocation, 2026",
    kind="upper",
    covers="Gaussian, Laplace or discrete Gaussian steps, one of several, perhaps subsampled and repeated",
    assumptions="independent noise; remove; orders up to steps + 1, at most 256",
    cost="order^2, whatever the number of steps",
    read=reading(Gaussian, DiscreteGaussian, Laplace, rate=True, rounds=True, fewest=2),
    ways=("remove",),
    curve=_curve,
    inverse=_inverse,
)

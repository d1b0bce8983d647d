"""RDP of allocation, composition and subsampling: exact moments at whole orders, converted to (epsilon, delta).

``privloss._renyi`` has the moments: remove by a power of a series, add by an integral over its Laplace transform.
"""

from privloss._renyi import logs
from privloss._scheme import Scheme
from privloss.baselines._baseline import Bound, Uncovered, Way
from privloss.baselines._rdp import best, divergences


def _read(scheme: Scheme) -> Scheme:
    try:
        logs(scheme, [2], "remove", "upper")
    except ValueError:
        raise Uncovered from None
    return scheme


def _curve(scheme: Scheme, epsilon: float, way: Way) -> float:
    few = divergences(scheme, way)
    return best(few, lambda: divergences(scheme, way, True), lambda seen: seen.delta(epsilon))


def _inverse(scheme: Scheme, delta: float, way: Way) -> float:
    few = divergences(scheme, way)
    return best(few, lambda: divergences(scheme, way, True), lambda seen: seen.epsilon(delta))


METHOD = Bound(
    name="rdp",
    year=2017,
    reference="I. Mironov, Renyi Differential Privacy, CSF 2017; conversions: C. Canonne, G. Kamath, T. Steinke, The "
    "Discrete Gaussian for Differential Privacy, NeurIPS 2020, and S. Asoodeh et al., Three Variants of Differential "
    "Privacy, IEEE JSAIT 2021",
    kind="upper",
    covers="built from Gaussian, Laplace or discrete Gaussian noise, or from lists of outcomes, by any operations",
    assumptions="whole orders from 2 to 1024",
    cost="order^2 for all orders at once, whatever the number of steps; add: a table of a Laplace transform",
    read=_read,
    curve=_curve,
    inverse=_inverse,
)

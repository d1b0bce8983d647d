"""Certified upper curves of Poisson subsampling, and of anything else that a formula is built on."""

from __future__ import annotations

import math
from functools import lru_cache

from privloss._curve import Curve
from privloss._questions import Look, evaluate
from privloss._rewrite import simplify
from privloss._scheme import Scheme
from privloss.baselines._baseline import Way

SPACING = 0.01  # in standard deviations: a relative gap of about 1e-4


@lru_cache(maxsize=32)
def _curve(plain: Scheme, way: Way, digits: int) -> Curve:
    mass = 10.0**digits
    look = Look(SPACING, mass * 1e-6, min(math.log(mass), -0.5), False, math.inf)
    return Curve(evaluate(plain, look.ask("upper", way))[0], way)


def delta(scheme: Scheme, epsilon: float, way: Way) -> float:
    """An upper bound on delta at any real epsilon, looked at ever farther out while it is far smaller than expected."""
    plain, digits, found = simplify(scheme), -8, 1.0
    for _ in range(6):
        found = min(found, _curve(plain, way, digits).delta(epsilon))
        if found >= 10.0 ** (digits - 2) or digits <= -250:
            return found
        digits = max(math.floor(math.log10(max(found, 1e-250))), 2 * digits - 8)
    return found


def epsilon(scheme: Scheme, given: float, way: Way) -> float:
    """An upper bound on epsilon."""
    return _curve(simplify(scheme), way, max(math.floor(math.log10(given)), -250)).epsilon(given)

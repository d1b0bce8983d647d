"""The pointwise combination of two bounds (Claim clm:bndComb)."""

from __future__ import annotations

import numpy as np

from privloss._check import instance
from privloss._pair import U
from privloss.paper._lattice import Bound, Discrete


def combine(one: Discrete, two: Discrete) -> Bound:
    """The law whose CCDF is the smaller of two upper bounds', or the larger of two lower bounds': as tight as either.

    CCDFs are summed from the far end and compared at the losses of both. Their differences are the masses: each is off
    by one rounding of itself, and a CCDF by one for each loss above. Losses may be off by the ``blur`` of either.
    """
    instance(Discrete, "a bound, such as disc_dist gives", one=one)
    instance(Discrete, "a bound, such as disc_dist gives", two=two)
    if one.side != two.side:
        raise ValueError(f"both must bound one side, got {one.side} and {two.side}")
    losses = np.union1d(one.losses, two.losses)
    chosen = np.minimum if one.side == "upper" else np.maximum
    beyond = chosen(one.ccdf(losses), two.ccdf(losses))
    whole = float(chosen(1.0 - one.bottom, 1.0 - two.bottom))
    mass = np.maximum(-np.diff(np.concatenate(([max(whole, float(beyond[0]))], beyond))), 0.0)
    bottom = (max if one.side == "upper" else min)(one.bottom, two.bottom)
    eta = max(one.eta, two.eta) + (2 + losses.size) * U
    blur = max(one.blur, two.blur)
    return Bound(losses, mass, bottom, float(beyond[-1]), one.side, eta, blur)

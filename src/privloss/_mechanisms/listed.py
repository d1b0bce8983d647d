"""Mechanisms given outcome by outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privloss._check import MISS, Numbers, masses, reals, same_length
from privloss._scheme import Mechanism, fix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privloss._ask import Ask
    from privloss._pair import Law

    FloatArray = NDArray[np.float64]

U = 2.0**-53
ULPS = 64 * U  # a sum this close to 1 misses it by the rounding of its terms, which eta_q allows for


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyLoss(Mechanism):
    """A privacy loss realization: losses l_i = log(p_i/q_i) with their masses p_i, seen from P.

    q_i = p_i e^(-l_i), and Q has 1 - E[e^(-L)] where P has none. A loss of +inf is mass that only P has; -inf
    is not allowed. Masses may miss 1, and E[e^(-L)] exceed 1, by 1e-9: the bounds hold however that is read.

    >>> from privloss import PrivacyLoss
    >>> PrivacyLoss(losses=[-0.5, 0.5, float("inf")], masses=[0.25, 0.65, 0.1])
    PrivacyLoss(losses=[-0.5, 0.5, inf], masses=[0.25, 0.65, 0.1])
    """

    losses: Numbers
    masses: Numbers

    def __post_init__(self) -> None:
        fix(self, losses=reals(losses=self.losses), masses=masses(masses=self.masses))
        same_length(losses=self.losses, masses=self.masses)
        if min(self.losses) == -math.inf:
            raise ValueError(
                "losses must be above -inf, got -inf: mass that only Q has is what E[e^(-L)] lacks"
            )
        _, _, q, _ = self._arrays()
        total = math.fsum(q.tolist()) if np.isfinite(q).all() else math.inf
        if not total <= 1 + MISS:
            raise ValueError(f"losses must have E[e^(-loss)] at most 1 within {MISS}, got {total!r}")

    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Finite losses with their masses under P and Q, and the mass at +inf."""
        loss, p = np.array(self.losses), np.array(self.masses)
        p_only = math.fsum(p[loss == math.inf].tolist())
        keep = (p > 0) & (loss < math.inf)
        loss, p = loss[keep], p[keep]
        with np.errstate(over="ignore", under="ignore"):
            half = np.exp(-0.5 * loss)  # in two halves: e^(-loss) overflows where p is tiny
            return loss, p, p * half * half, p_only

    def law(self, ask: Ask) -> Law:
        loss, p, q, p_only = self._arrays()
        missing = 1 - math.fsum(q.tolist())
        error = 16 * U if ask.side == "upper" else -16 * U  # what the rounding of the masses q can do to it
        q_only = missing + error if missing > ULPS else 0.0
        return _certain(q, p, ask, loss=loss, q_only=q_only, p_only=p_only)


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(Mechanism):
    """Any finite pair: the masses of each outcome with the person (p) and without (q).

    Each sum may miss 1 by 1e-9: the bounds hold however that is read.

    >>> from privloss import Outcomes
    >>> Outcomes(p=[0.75, 0.25], q=[0.25, 0.75])
    Outcomes(p=[0.75, 0.25], q=[0.25, 0.75])
    """

    p: Numbers
    q: Numbers

    def __post_init__(self) -> None:
        fix(self, p=masses(p=self.p), q=masses(q=self.q))
        same_length(p=self.p, q=self.q)

    def law(self, ask: Ask) -> Law:
        q, p = np.array(self.q), np.array(self.p)
        keep = (q > 0) & (p > 0)
        only = [math.fsum(mass[~keep].tolist()) for mass in (q, p)]
        return _certain(q[keep], p[keep], ask, q_only=only[0], p_only=only[1])


def _certain(
    q: FloatArray,
    p: FloatArray,
    ask: Ask,
    *,
    loss: FloatArray | None = None,
    q_only: float,
    p_only: float,
) -> Law:
    """A pair that bounds every reading of masses whose sums miss 1.

    What lacks may be anywhere; what exceeds is divided out.

    Let s be what the sums miss in all. A reading is (1-s)p and a rest against (1-s)q and a rest, so it is a
    post-processing of these with the rests at p_only and q_only: the upper side. Each reading is within s of
    the masses divided by their sums, so its curve is at least their H(k) - s - k*s: the lower side.
    """
    from privloss._pair import from_outcomes

    totals = [math.fsum([*mass.tolist(), only]) for mass, only in ((q, q_only), (p, p_only))]
    misses = [abs(total - 1) for total in totals]
    miss = sum(m for m in misses if m > ULPS)
    eta_q = 16 * U + max(m if m <= ULPS else 0.0 for m in misses)
    if miss and ask.side == "upper":
        q_only, p_only = (
            max(1 - (1 - miss) * (total - only), 0.0)
            for total, only in zip(totals, (q_only, p_only), strict=True)
        )
        q, p = (1 - miss) * q, (1 - miss) * p
    elif miss:
        q, p = _trimmed(
            q / totals[0],
            p / totals[1],
            q_only / totals[0],
            p_only / totals[1],
            2 * miss,  # twice, for the rounding of its sums
        )
        loss, q_only, p_only = None, 0.0, 0.0
    return from_outcomes(q, p, loss=loss, q_only=q_only, p_only=p_only, side=ask.side, eta_q=eta_q)


def _trimmed(
    q: FloatArray, p: FloatArray, q_only: float, p_only: float, miss: float
) -> tuple[FloatArray, FloatArray]:
    """The pair whose curve is max(0, 1-k, H(k) - miss - k*miss).

    The outcomes of highest ratio become one, which loses ``miss`` of its p and gains as much q; those of
    lowest ratio likewise with p and q exchanged. Each end takes in as many as keep its ratio beyond that of
    the next.
    """
    with np.errstate(divide="ignore"):
        order = np.argsort(p / q, kind="stable")
    q, p = np.concatenate(([q_only], q[order], [0.0])), np.concatenate(([0.0], p[order], [p_only]))
    low, high = _reach(q, p, miss), q.size - _reach(p[::-1], q[::-1], miss)
    if low >= high:
        return np.ones(1), np.ones(1)  # nothing is left: P and Q may be the same
    q = np.concatenate(([q[:low].sum() - miss], q[low:high], [q[high:].sum() + miss]))
    p = np.concatenate(([p[:low].sum() + miss], p[low:high], [p[high:].sum() - miss]))
    return q, p


def _reach(gain: FloatArray, cost: FloatArray, miss: float) -> int:
    """The least n for which the first n as one, (gain - miss)/(cost + miss), are still beyond the next."""
    ratio = (np.cumsum(gain) - miss) / (np.cumsum(cost) + miss)
    with np.errstate(divide="ignore", invalid="ignore"):
        following = np.append(gain[1:] / cost[1:], 0.0)
    return int(np.argmax(ratio >= following)) + 1

"""Bounds of an allocation by the largest of its ratios, for laws whose ratios no double can hold together.

With ratios x_1..x_t and M the largest, the mean ratio lies in [M/t, M].

* Lower: who keeps only M has post-processed. Its law: Q-mass F_Q^t up to a loss, P-mass F_P F_Q^(t-1).
* Upper, for what ``add`` asks: M/t in the place of the mean ratio, under the same Q, lets each Q-mass have less
  P-mass; what P-mass that leaves over has no Q-mass.

Where losses span thousands, log t is little. Errors of F are raised to the power t: a mass is kept as the share of
one cell, 1 - (F(a)/F(b))^t, times F(b)^t, and F is found from the smaller of its two tails.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privloss._ask import Ask
from privloss._pair import FloatArray, Law, Pair, U

CUTS = 20_000
LEAST = 1e-290  # powers below this are dropped, or charged
MOST_LOG = 700.0  # of such a power
MOST_ERROR = 0.01  # of the masses; beyond, there is no answer here


class Powers(NamedTuple):
    """Cells of the largest loss: left and right edges (the first is -inf, the last inf), F_Q^t at the right edge and,
    of the cell, its share of that and of F_Q^(t-1)."""

    left: FloatArray
    right: FloatArray
    top: FloatArray
    share: FloatArray
    share_of_rest: FloatArray
    q: FloatArray
    p: FloatArray
    q_only: float
    p_only: float
    eta: float


def largest(law: Law, steps: int, ask: Ask) -> Pair | None:
    """The bound of ``ask.side``, or nothing where its masses would not be accurate."""
    cells = _powers(law, steps, ask)
    if cells.eta > MOST_ERROR:
        return None
    return _upper(cells, steps, law) if ask.side == "upper" else _lower(cells, steps, law)


def _powers(law: Law, steps: int, ask: Ask) -> Powers:
    lo, hi = law.window(ask.tail, ask.tail)
    cuts = np.linspace(lo, max(hi, lo + 1e-9 * (1 + abs(lo))), CUTS)
    if isinstance(law, Pair):  # its masses may be close together, far apart
        cuts = np.unique(np.concatenate((cuts, law.grid(CUTS, ask.tail, ask.tail))))
    got = law.cells(cuts)
    below = got.q_only + np.cumsum(got.q)  # Q-mass up to the right edge
    above = np.append(np.cumsum(got.q[:0:-1])[::-1], 0.0)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        log = np.where(above < 0.5, np.log1p(-np.minimum(above, 0.5)), np.log(below))
        ratio = np.log1p(-np.minimum(got.q / below, 1.0))  # of F at the left edge to F at the right
        top = np.where(steps * log > -MOST_LOG, np.exp(np.maximum(steps * log, -MOST_LOG)), 0.0)
        share, share_of_rest = -np.expm1(steps * ratio), -np.expm1((steps - 1) * ratio) if steps > 1 else 0.0 * ratio
    error = law.eta_q + (cuts.size + 32) * U
    lost = abs(float(below[-1]) - 1.0)  # F may have been found from a tail and a total of 1
    eta = 4 * MOST_LOG * error + steps * lost
    left, right = np.concatenate(([-np.inf], cuts)), np.append(cuts, np.inf)
    nothing = np.isnan(share) | (top < LEAST)
    top = np.where(nothing, 0.0, top)
    share, share_of_rest = np.where(nothing, 0.0, share), np.where(nothing, 0.0, share_of_rest)
    return Powers(left, right, top, share, share_of_rest, got.q, got.p, got.q_only, got.p_only, eta)


def _upper(cells: Powers, steps: int, law: Law) -> Pair:
    """Each cell at the least ratio in it."""
    q = cells.top * cells.share
    keep = (q > 0) & np.isfinite(cells.left)
    first = int(np.argmax(keep))
    loss = cells.left[keep] - math.log(steps)
    with np.errstate(under="ignore", over="ignore"):
        p = np.minimum(q[keep] * np.exp(np.minimum(loss, MOST_LOG)), 1.0)
    q_only = float(cells.top[first] * (1 - cells.share[first])) if keep.any() else 1.0
    p_only = max(1.0 - float(p.sum()) * (1 - 2 * cells.eta), 0.0)
    return Pair(loss, q[keep], p, min(q_only + 2 * LEAST, 1.0), p_only, "upper", cells.eta, law.eta_x + 8 * U)


def _lower(cells: Powers, steps: int, law: Law) -> Pair:
    """Cells merged. Where one of the two underflows, the other and what the cell's edge says of the ratio bound it from
    above: that only lowers this bound."""
    q = cells.top * cells.share
    before = np.concatenate(([0.0], np.cumsum(cells.p)[:-1]))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        rest = np.where(cells.top > 0, cells.top ** (1.0 - 1.0 / steps), 0.0)  # F_Q^(t-1) at the right edge
        p = cells.p * rest + before * rest * cells.share_of_rest
        loss = np.log(p) - np.log(q)
        loss = np.where((p < LEAST) & (p < q), cells.right, loss)
        loss = np.where((q < LEAST) & (q < p), cells.left - math.log(steps), loss)
        p = np.where((p < LEAST) & (p < q), q * np.exp(loss), p)
        q = np.where((q < LEAST) & (q < p), p * np.exp(-loss), q)
    keep = ((q > 0) | (p > 0)) & np.isfinite(loss) & np.isfinite(p) & np.isfinite(q)
    order = np.argsort(loss[keep], kind="stable")
    masses = q[keep][order], p[keep][order]
    q_only = (cells.q_only * (1 - law.eta_q)) ** steps
    return Pair(
        loss[keep][order], *masses, q_only, cells.p_only, "lower", cells.eta, law.eta_x + 2 * cells.eta
    )

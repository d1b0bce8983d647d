"""Poisson subsampling of a PLD realization (Theorem thm:PLD_subsam, Algorithms alg:PLD_subsam_rem, _add and _core).

The map phi bends an even grid. As in the paper's implementation, the result goes directly onto the grid that it will
have: the points of the even grid are pulled back by phi, and cut the realization and its dual there.
"""

from __future__ import annotations

from privloss._ask import Side
from privloss.paper._allocate import bounding
from privloss.paper._grid import disc_dist
from privloss.paper._lattice import Lattice
from privloss.paper._realization import Realization

Source = Realization | Lattice


def subsample_remove(source: Source, rate: float, alpha: float, beta: float, side: Side = "upper") -> Lattice:
    """PLD-subsam-remove: the loss of (rate P + (1 - rate) Q, Q), on an even grid of width ``alpha``.

    ``source`` is L_{P,Q}, or an upper bound on it. A stochastic lower bound is refused: subsampling needs its dual, and
    neither keeps the stochastic order (claim PLDdualDom). For a lower bound subsample the exact realization and round
    down: ``side="lower"``.
    """
    realization = _exact(source)
    side = bounding(realization, side)
    return disc_dist(realization.subsampled(rate).loss, alpha, beta, side)


def subsample_add(source: Source, rate: float, alpha: float, beta: float, side: Side = "upper") -> Lattice:
    """PLD-subsam-add: the loss of (Q, rate P + (1 - rate) Q), on an even grid of width ``alpha``.

    ``source`` is L_{Q,P}, as in the paper, or an upper bound on it; lower bounds are refused, as for ``remove``.
    """
    realization = _exact(source)
    side = bounding(realization, side)
    return disc_dist(realization.dual().subsampled(rate).dual().loss, alpha, beta, side)


def _exact(source: Source) -> Realization:
    return Realization.of_lattice(source) if isinstance(source, Lattice) else source

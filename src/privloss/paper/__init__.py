"""The paper's own method, as its appendix of algorithms states it: sums of exp-PLDs on geometric grids.

Each function is named and cited after its algorithm; ``docs/paper.md`` is the guide. ``epsilon`` and ``delta`` ask a
scheme; the rest are the pieces.

>>> from privloss import paper
>>> gaussian = paper.Realization.gaussian(sigma=1.0)
>>> upper = paper.rand_alloc_remove(gaussian, steps=100, alpha=0.05, beta=1e-9)
>>> lower = paper.rand_alloc_remove(gaussian, steps=100, alpha=0.05, beta=1e-9, side="lower")
>>> 0 < lower.epsilon(delta=1e-6) < upper.epsilon(delta=1e-6)
True
"""

from __future__ import annotations

from privloss.paper._allocate import blocks, rand_alloc, rand_alloc_add, rand_alloc_remove
from privloss.paper._combine import combine
from privloss.paper._compose import compose
from privloss.paper._convolve import conv, convolutions, self_conv
from privloss.paper._fft import fft_alloc_add, fft_alloc_remove
from privloss.paper._front import REASONS, delta, epsilon, law
from privloss.paper._grid import disc_dist, range_renorm
from privloss.paper._lattice import Bound, Lattice, truncate
from privloss.paper._realization import Realization, dual
from privloss.paper._subsample import subsample_add, subsample_remove

__all__ = [
    "REASONS",
    "Bound",
    "Lattice",
    "Realization",
    "blocks",
    "combine",
    "compose",
    "conv",
    "convolutions",
    "delta",
    "disc_dist",
    "dual",
    "epsilon",
    "fft_alloc_add",
    "fft_alloc_remove",
    "law",
    "rand_alloc",
    "rand_alloc_add",
    "rand_alloc_remove",
    "range_renorm",
    "self_conv",
    "subsample_add",
    "subsample_remove",
    "truncate",
]

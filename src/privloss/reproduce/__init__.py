"""The paper's figures and tables, computed anew: data, pictures, and a verdict on each of the paper's claims.

``privloss reproduce`` is the command line of it. A figure is one file of ``figures/``, as data over one engine:

    _figure     what a figure is: grids, a drawing, claims
    _data       its rows, and picking among them
    figures/    one file a figure
    _methods    what the figures ask that no other room answers
    _run        from the sweep's journal to a table, pictures and verdicts
    _style      one look for all pictures
    _page       the page that shows them all
"""

from __future__ import annotations

from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict
from privloss.reproduce._run import Result, catalogue, figure, run

__all__ = ["Claim", "Data", "Figure", "Part", "Result", "Verdict", "catalogue", "figure", "run"]

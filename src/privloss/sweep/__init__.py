"""Sweeps: a grid of questions answered on all cores or a cluster, from a journal that survives anything.

The room itself can be called, ``pl.sweep(grid)`` being ``privloss.sweep.sweep(grid)``.

    _grid       which points there are, as data, read and checked
    _point      one point: what it hashes to, what it costs, and asking it
    _journal    the answers and claims, in SQLite
    _run        a sweep: from the journal, to a crew, into the journal
    _workers    the crew on this machine
    _dask       the crew on a cluster
    _progress   how far it is, on a terminal
    _table      rows as Parquet, CSV and SQL
    _show       rows as text and as pictures
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from privloss.sweep._grid import Grid, Source
from privloss.sweep._journal import Journal, home, located
from privloss.sweep._run import Plan, Row, sweep
from privloss.sweep._table import save

__all__ = ["Grid", "Journal", "Row", "home", "look", "save", "sweep"]


def look(grid: Source | Grid, journal: str | os.PathLike[str] | None = None) -> list[Row]:
    """The rows of a grid as far as the journal has them, without computing anything; the others are empty."""
    grid = grid if isinstance(grid, Grid) else Grid(grid)
    grid.check(1)
    plan = Plan.of(grid)
    with Journal(located(journal), readonly=True) as book:
        return plan.rows(book.known(plan.tasks))


class _Room(ModuleType):
    """This module: importing it takes the place of the front door's name, so it can do the same."""

    def __call__(self, *arguments: Any, **options: Any) -> list[Row]:
        return sweep(*arguments, **options)


sys.modules[__name__].__class__ = _Room

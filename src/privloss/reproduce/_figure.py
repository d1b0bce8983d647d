"""What a figure is: which points to compute, how to draw them, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privloss.reproduce._data import Data, Row


@dataclass(frozen=True)
class Part:
    """A grid of a sweep, and columns with one value each that tell its rows from those of other parts."""

    grid: Mapping[str, Any]
    tags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, with the number that says so."""

    holds: bool
    number: str


@dataclass(frozen=True)
class Claim:
    """What is claimed, and a function of the rows that checks it.

    * ``ours``: it is not the paper's claim but goes further.
    * ``known``: why it does not hold, where that is known.
    """

    says: str
    check: Callable[[Data], Verdict]
    ours: bool = False
    known: str = ""


@dataclass(frozen=True)
class Figure:
    """One figure of the paper, or one that goes further.

    * ``parts(quick)``: the grids of its points.
    * ``draw(data, canvas)``: the picture. ``size`` is that of the canvas in inches.
    * ``derive(rows)``: rows that follow from the computed ones, such as ratios.
    * ``seconds``: how long it takes on two cores, quick and in full.
    * ``place``: where it comes in the paper; ``note``: what to know of its parameters.
    * ``alone``: times are measured, so one process computes one point at a time.
    """

    name: str
    title: str
    parts: Callable[[bool], Sequence[Part]]
    draw: Callable[[Data, Any], None]
    claims: tuple[Claim, ...]
    seconds: tuple[float, float]
    place: float
    note: str = ""
    size: tuple[float, float] = (6.4, 4.0)
    derive: Callable[[list[Row]], list[Row]] | None = None
    further: bool = False
    alone: bool = False


def most(pairs: Sequence[tuple[float, float]]) -> float:
    """The largest quotient; of none, nan, of which nothing holds."""
    return max((a / b for a, b in pairs), default=float("nan"))


def least(pairs: Sequence[tuple[float, float]]) -> float:
    return min((a / b for a, b in pairs), default=float("nan"))

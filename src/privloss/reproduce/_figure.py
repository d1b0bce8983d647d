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
    """The smallest quotient; of none, nan."""
    return min((a / b for a, b in pairs), default=float("nan"))


# Claims that several figures make.


def below(others: Sequence[str], by: Sequence[str]) -> Callable[[Data], Verdict]:
    """That our upper bound is below those of other methods, at every point."""

    def check(data: Data) -> Verdict:
        found = {name: data.pairs({"method": "engine"}, {"method": name}, by) for name in others}
        worst = {name: most([(a["upper"], b["upper"]) for a, b in pairs]) for name, pairs in found.items()}
        counted = min(map(len, found.values()))
        said = ", ".join(f"at most {ratio:.4g} of {name}" for name, ratio in worst.items())
        return Verdict(all(ratio < 1 for ratio in worst.values()), f"{said}, at {counted} points")

    return check


def never_above_poisson(by: Sequence[str]) -> Callable[[Data], Verdict]:
    """That our upper bound is not above that of Poisson, at any point."""

    def check(data: Data) -> Verdict:
        pairs = data.pairs({"method": "engine"}, {"method": "poisson"}, by)
        worst = most([(a["upper"], b["upper"]) for a, b in pairs])
        return Verdict(
            worst <= 1,
            f"between {least([(a['upper'], b['upper']) for a, b in pairs]):.4g} and {worst:.4g} "
            f"of Poisson's, at {len(pairs)} points",
        )

    return check


def narrow(gap: float, **which: Any) -> Callable[[Data], Verdict]:
    """That lower and upper cannot be told apart: their largest relative gap."""

    def check(data: Data) -> Verdict:
        rows = data.where(**which).answered()
        worst = max(((row["upper"] - row["lower"]) / row["upper"] for row in rows), default=float("nan"))
        return Verdict(worst <= gap, f"the widest bracket is {worst:.1e} of its upper end, of {len(rows)}")

    return check

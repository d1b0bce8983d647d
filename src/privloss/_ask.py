"""What an evaluation is asked for: handed down the tree of a scheme, one field per decision."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

Side = Literal["upper", "lower"]
Direction = Literal["remove", "add"]


class OutOfTime(Exception):
    """Raised inside the evaluator when the deadline has passed; the question answers with what it has."""


def check_time(deadline: float) -> None:
    if time.perf_counter() > deadline:
        raise OutOfTime


@dataclass(frozen=True)
class Ask:
    """One evaluation.

    * ``side``: spread (upper) or merge (lower).
    * ``direction``: the direction whose answer is wanted; it decides which tails matter.
    * ``spacing``: lattice spacing in standard deviations of whatever is being summed. The gap goes as its square.
    * ``tail``: mass that may be cut at this node, as a share of the answer. It passes unchanged through a sum, is
      divided by the rounds of a composition, and grows by 1/rate through a subsampling.
    * ``focus``: log of the probability at which the law is looked at (the delta of the question). It only places
      lattices; no bound depends on it.
    * ``deep``: the same for the whole question, where ``focus`` is what of it falls to one of many rounds.
    * ``nested``: whether something is done to the law afterwards, so that both of its measures matter in both tails.
    * ``deadline``: ``time.perf_counter()`` after which to give up. It makes no difference to what is asked.
    """

    side: Side
    direction: Direction
    spacing: float
    tail: float
    focus: float
    deep: float
    nested: bool = False
    deadline: float = field(default=inf, compare=False)

    def per_round(self, rounds: int) -> Ask:
        return replace(self, tail=self.tail / rounds, focus=self.focus / rounds)

    def per_rate(self, log_rate: float) -> Ask:
        return replace(self, focus=min(self.focus - log_rate, -0.5), deep=min(self.deep - log_rate, -0.5))

    def per_step(self, steps: int) -> Ask:
        """For one of the steps of an allocation; for ``add``, all of them are small together."""
        share = 1 / steps if self.direction == "add" else 1.0
        return replace(self, nested=True, focus=self.focus * share, deep=self.deep * share)

    def check_time(self) -> None:
        check_time(self.deadline)

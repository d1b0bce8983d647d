"""Composition of a scheme with itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privloss._check import count
from privloss._scheme import Operation, Scheme, fix, operand

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class Repeat(Operation):
    """``rounds`` independent runs; built by ``scheme.repeat(rounds)``."""

    of: Scheme
    rounds: int
    kind: ClassVar[str] = "repeat"

    def __post_init__(self) -> None:
        fix(self, of=operand(of=self.of), rounds=count(rounds=self.rounds))

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import compose_law

        return compose_law(((self.of, self.rounds),), ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = self.of.support(side)
        return low * self.rounds, high * self.rounds

    def _text(self, parts: Sequence[str]) -> str:
        return f"{parts[0]}.repeat(rounds={self.rounds})"

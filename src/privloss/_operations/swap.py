"""The dual of a scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privloss._scheme import Operation, Scheme, fix, operand

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class Swap(Operation):
    """P and Q exchanged; built by ``scheme.swap()``."""

    of: Scheme
    kind: ClassVar[str] = "swap"

    def __post_init__(self) -> None:
        fix(self, of=operand(of=self.of))

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import swap_law

        return swap_law(self.of, ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = self.of.support(side)
        return -high, -low

    def _text(self, parts: Sequence[str]) -> str:
        return f"{parts[0]}.swap()"

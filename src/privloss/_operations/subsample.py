"""Poisson subsampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privloss._check import rate
from privloss._scheme import Operation, Scheme, fix, operand

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class Subsample(Operation):
    """The person takes part with probability ``rate``; built by ``scheme.subsample(rate)``."""

    of: Scheme
    rate: float
    kind: ClassVar[str] = "subsample"

    def __post_init__(self) -> None:
        fix(self, of=operand(of=self.of), rate=rate(rate=self.rate))

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import subsample_law

        return subsample_law(self.of, self.rate, ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = (self._loss(loss) for loss in self.of.support(side))
        return low, high

    def _loss(self, loss: float) -> float:
        from privloss._pair import subsampled_loss

        return loss if self.rate == 1.0 else float(subsampled_loss(loss, self.rate))

    def _text(self, parts: Sequence[str]) -> str:
        return f"{parts[0]}.subsample(rate={self.rate!r})"

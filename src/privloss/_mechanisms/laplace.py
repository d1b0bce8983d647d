"""Laplace noise, on the reals and on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privloss._check import count, positive
from privloss._scheme import Mechanism, fix

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


NEAREST, FARTHEST = 1e-100, 1e140  # of sensitivity over scale: beyond, a double does not hold what is asked of it


@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Mechanism):
    """Laplace noise: density exp(-abs(z - centre)/scale)/(2 scale), centred at ``sensitivity`` against 0.

    It is (sensitivity/scale, 0)-private, with an atom at each end of the loss.

    >>> from privloss import Laplace
    >>> Laplace(scale=2.0)
    Laplace(scale=2.0)
    """

    scale: float
    sensitivity: float = 1.0
    symmetric: ClassVar[bool] = True  # reflect about sensitivity/2

    def __post_init__(self) -> None:
        fix(self, scale=positive(scale=self.scale), sensitivity=positive(sensitivity=self.sensitivity))

    def law(self, ask: Ask) -> Law:
        from privloss._laws.laplace import LaplaceLaw
        from privloss._pair import nothing_hidden, nothing_shown

        ratio = self.sensitivity / self.scale  # that of more noise is dominated by that of less
        if not NEAREST <= ratio <= FARTHEST:
            if ask.side == "upper":
                return LaplaceLaw(1.0, NEAREST) if ratio < 1 else nothing_hidden()
            return nothing_shown() if ratio < 1 else LaplaceLaw(1.0, FARTHEST)
        return LaplaceLaw(self.scale, self.sensitivity)


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteLaplace(Mechanism):
    """Laplace noise on the integers: Q(k) proportional to exp(-abs(k)/scale).

    P is the same about ``sensitivity``, which is whole; one coordinate.

    >>> from privloss import DiscreteLaplace
    >>> DiscreteLaplace(scale=2.0, sensitivity=3)
    DiscreteLaplace(scale=2.0, sensitivity=3)
    """

    scale: float
    sensitivity: int = 1
    symmetric: ClassVar[bool] = True  # reflect: k to sensitivity - k

    def __post_init__(self) -> None:
        fix(self, scale=positive(scale=self.scale), sensitivity=count(sensitivity=self.sensitivity))

    def law(self, ask: Ask) -> Law:
        from privloss._laws.integers import MOST, REACHED, discrete_laplace, slope_error, smooth

        if min(self.sensitivity, 2 * REACHED * self.scale) <= MOST:
            return discrete_laplace(self.scale, self.sensitivity, ask)
        return smooth(Laplace(self.scale, self.sensitivity).law(ask), slope_error(self.scale), ask)

    def _support(self, side: Side) -> tuple[float, float]:
        largest = self.sensitivity / self.scale
        return -largest, largest

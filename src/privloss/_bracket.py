"""Answers: a lower and an upper bound, with the reason for stopping there and the work done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Why an answer stopped where it did. Each reason is also the remedy.
MET = "tolerance met"
TIME = "time limit: give seconds=..."
POINTS = "size limit: ask for a larger rtol"
ROUNDING = "floating-point floor: a smaller rtol cannot be met"
TAIL = "tail below the smallest float: nothing smaller can be told apart"
EDGE = "every argument allowed meets the target: widen within=..."
ORDERS = "as narrow as the formulas are: a whole order is narrower"
ATOMS = "mass that only one of the two has: no Gaussian dominates"
REASONS = (MET, TIME, POINTS, ROUNDING, TAIL, EDGE, ORDERS, ATOMS)


@dataclass(frozen=True)
class Work:
    """What an answer cost.

    * ``points``: outcomes of the largest measure that was handled.
    * ``refinements``: resolutions tried after the first.
    * ``eta``: relative error of the masses that the bounds allow for.
    * ``seconds``: time spent.
    """

    points: int = 0
    refinements: int = 0
    eta: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, repr=False)
class Bracket:
    """A certified answer: ``lower <= true <= upper``.

    * ``safe`` names the end to rely on: "upper" for epsilon, delta, advantage and noise, "lower" for a false
      negative rate. ``float(bracket)`` is that end.
    * ``exact`` is False when the scheme chooses several steps at random (1 < picks < steps): then the safe end
      still bounds the scheme, and the other bounds only the reduction that was analysed.
    * ``reason`` says why the bracket is not narrower; it is one of a fixed list.
    * ``work``: points, refinements, eta, seconds.

    For an array of questions lower, upper and gap are arrays of the same shape.

    >>> from privloss import Bracket
    >>> b = Bracket(0.17163, 0.17180)
    >>> b
    Bracket(0.17163, 0.1718, tolerance met)
    >>> float(b), round(b.gap, 5)
    (0.1718, 0.00017)
    """

    lower: float | FloatArray
    upper: float | FloatArray
    safe: Literal["upper", "lower"] = "upper"
    exact: bool = True
    reason: str = MET
    work: Work = Work()

    @property
    def gap(self) -> float | FloatArray:
        """``upper - lower``; 0 where both ends are the same infinity."""
        if not isinstance(self.upper, np.ndarray):
            return 0.0 if self.lower == self.upper else self.upper - self.lower
        with np.errstate(invalid="ignore"):
            return np.where(self.lower == self.upper, 0.0, self.upper - self.lower)

    def __float__(self) -> float:
        end = self.upper if self.safe == "upper" else self.lower
        if isinstance(end, np.ndarray):
            raise TypeError(f"float() needs one answer, and this bracket holds {end.size}: use .{self.safe}")
        return float(end)

    def __format__(self, form: str) -> str:
        """The safe end in that form; as ``str`` without one."""
        return format(float(self), form) if form else str(self)

    def __repr__(self) -> str:
        other = "lower" if self.safe == "upper" else "upper"
        notes = self.reason if self.exact else f"{self.reason}, {other} of the reduction only"
        if isinstance(self.lower, np.ndarray) or isinstance(self.upper, np.ndarray):
            ends = ", ".join(
                np.array2string(np.asarray(end), threshold=8) for end in (self.lower, self.upper)
            )
        else:
            ends = ", ".join(outward(float(self.lower), float(self.upper)))
        return f"Bracket({ends}, {notes})"


def outward(lower: float, upper: float) -> tuple[str, str]:
    """Both ends with two digits of their gap, rounded away from each other: a bracket again."""
    import decimal

    lower, upper = lower + 0.0, upper + 0.0  # no "-0"
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return f"{lower:.6g}", f"{upper:.6g}"
    gap, size = abs(upper - lower), max(abs(lower), abs(upper))
    digits = 17 if gap == 0 else min(max(math.ceil(math.log10(size / gap)) + 2, 3), 17)
    down = decimal.Context(prec=digits, rounding=decimal.ROUND_FLOOR)
    up = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    if gap == 0:
        return f"{lower!r}", f"{upper!r}"
    return _plain(down.create_decimal(repr(lower))), _plain(up.create_decimal(repr(upper)))


def _plain(value: object) -> str:
    text = f"{value:g}"
    if "e" in text or "." not in text:
        return text
    return text.rstrip("0").rstrip(".")

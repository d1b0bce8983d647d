"""What every baseline shares: how it is described, asked and turned from delta to epsilon and back.

A method is described as data, over one engine. A bound on delta at each epsilon is one on epsilon(delta) as well,
wherever the search for it ends: with delta(e) <= d the answer is at most e, with delta(e) > d it is at least e. The
searches below therefore only say which e they ended at, and always on the safe side.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from privloss import _check
from privloss._bracket import Bracket
from privloss._operations import Allocate, Repeat, Subsample
from privloss._questions import values_of
from privloss._scheme import Scheme, operand

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T")
Either = Literal["remove", "add", "both"]
Way = Literal["remove", "add"]
Kind = Literal["upper", "lower", "estimate"]
BISECTIONS = 45
HALVINGS = 20  # of log delta: to a thousandth of it
LARGEST = 2.0**14  # epsilon from which a search gives up
FAR = 600.0  # stands for an infinite epsilon
REACHED = 1e-7  # of epsilon, where a search stops


@dataclass(frozen=True)
class Baseline(ABC, Generic[T]):
    """A method of others: what it is called, whose it is, what it takes for granted, what it costs.

    * ``kind``: "upper" bounds have lower 0, and "lower" bounds upper inf (1 for delta); an "estimate" says in
      ``reason`` how sure it is.
    * ``about``: what it speaks of, where that is not the scheme.
    * ``covers``, ``assumptions``, ``cost``: a few words each.
    * ``read``: takes a scheme apart, or refuses it by a ValueError of one sentence.
    """

    name: str
    year: int
    reference: str
    kind: Kind
    covers: str
    assumptions: str
    cost: str
    read: Callable[[Scheme], T]
    about: str = "the scheme"
    ways: tuple[Way, ...] = ("remove", "add")

    def epsilon(self, scheme: Scheme, delta: ArrayLike, direction: Either = "both") -> Bracket:
        """A bracket of the smallest epsilon >= 0 with delta(epsilon) <= delta."""
        return self._each("delta", delta, (0.0, 1.0), self.setting(scheme), direction)

    def delta(self, scheme: Scheme, epsilon: ArrayLike, direction: Either = "both") -> Bracket:
        """A bracket of delta at epsilon >= 0."""
        return self._each("epsilon", epsilon, (0.0, math.inf), self.setting(scheme), direction)

    def setting(self, scheme: Scheme) -> T:
        """What the method needs to know of a scheme."""
        scheme = operand(scheme=scheme)
        try:
            return self.read(scheme)
        except Uncovered:
            raise ValueError(f"scheme must be {self.covers} for {self.name}, got {_check.show(scheme)}") from None

    @abstractmethod
    def _ends(self, given: str, value: float, setting: T, ways: tuple[Way, ...]) -> tuple[float, float, str]:
        """(lower, upper, reason) for one value of what is given."""

    def _each(self, given: str, values: ArrayLike, within: tuple[float, float], setting: T, direction: str) -> Bracket:
        _check.choice(direction=direction, among=("remove", "add", "both"))
        flat, shape = values_of(given, values, *within)
        ways = self._ways(direction)
        with np.errstate(all="ignore"):  # logarithms of 0 and the like are meant
            found = [self._ends(given, float(value), setting, ways) for value in flat]
        if shape == ():
            lower, upper, reason = found[0]
            return Bracket(lower, upper, "lower" if self.kind == "lower" else "upper", self.exact, reason)
        lows, highs = (np.array([row[i] for row in found], np.float64).reshape(shape) for i in (0, 1))
        reason = found[0][2] if found else ""
        return Bracket(lows, highs, "lower" if self.kind == "lower" else "upper", self.exact, reason)

    @property
    def exact(self) -> bool:
        return True

    def _ways(self, direction: str) -> tuple[Way, ...]:
        chosen: tuple[Way, ...] = ("remove", "add") if direction == "both" else (direction,)  # type: ignore[assignment]
        missing = [way for way in chosen if way not in self.ways]
        if missing and (direction != "both" or self.kind != "lower"):
            raise ValueError(f"direction must be {self.ways[0]!r} for {self.name}, got {direction!r}")
        return tuple(way for way in chosen if way in self.ways)  # a lower bound on one is one on the worse


@dataclass(frozen=True)
class Bound(Baseline[T]):
    """An upper or a lower bound: ``curve(setting, epsilon, way)`` is one on delta, and ``inverse(setting, delta,
    way)``, for methods that have it, one on epsilon. One of the two is enough."""

    curve: Callable[[T, float, Way], float] | None = None
    inverse: Callable[[T, float, Way], float] | None = None

    def _ends(self, given: str, value: float, setting: T, ways: tuple[Way, ...]) -> tuple[float, float, str]:
        worst = max(self.one(given, value, setting, way) for way in ways)
        reason = f"{self.kind} bound of {self.name}, on {self.about}"
        if self.kind == "upper":
            return 0.0, worst, reason
        return worst, 1.0 if given == "epsilon" else math.inf, reason

    def one(self, given: str, value: float, setting: T, way: Way) -> float:
        """The bound in one direction."""
        if value == math.inf:  # delta falls with epsilon
            return self.one(given, FAR, setting, way) if self.kind == "upper" else 0.0
        if given == "epsilon":
            if self.curve is not None:
                return min(max(self.curve(setting, value, way), 0.0), 1.0)
            return self._delta_by_search(setting, value, way)
        if value >= 1.0:
            return 0.0
        if value <= 0.0:
            return math.inf if self.kind == "upper" else 0.0
        if self.inverse is not None:
            return max(self.inverse(setting, value, way), 0.0)
        assert self.curve is not None
        curve = self.curve
        return searched(lambda epsilon: curve(setting, epsilon, way), value, self.kind == "upper")

    def _delta_by_search(self, setting: T, epsilon: float, way: Way) -> float:
        """By bisection over log delta, for methods that answer with an epsilon."""
        assert self.inverse is not None
        if self.kind == "upper":
            low, high = math.log(1e-300), 0.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if self.inverse(setting, math.exp(middle), way) <= epsilon:
                    high = middle
                else:
                    low = middle
            return math.exp(high)
        raise NotImplementedError


@dataclass(frozen=True)
class Estimate(Baseline[T]):
    """What is no bound for certain: ``ends(given, value, setting, ways)`` gives lower, upper and the reason."""

    ends: Callable[[str, float, T, tuple[Way, ...]], tuple[float, float, str]] | None = None

    def _ends(self, given: str, value: float, setting: T, ways: tuple[Way, ...]) -> tuple[float, float, str]:
        assert self.ends is not None
        return self.ends(given, value, setting, ways)


class Uncovered(Exception):
    """Raised by ``read``."""


def searched(curve: Callable[[float], float], delta: float, above: bool) -> float:
    """An epsilon with curve(epsilon) <= delta (``above``), or one with curve(epsilon) > delta; 0 if there is none."""
    if curve(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while curve(high) > delta:
        low, high = high, 2 * high
        if high > LARGEST:
            return math.inf if above else low
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if curve(middle) <= delta:
            high = middle
        else:
            low = middle
        if high - low <= REACHED * high:
            break
    return high if above else low


# Taking schemes apart.


@dataclass(frozen=True)
class Shape:
    """``step.allocate(steps, picks).subsample(rate).repeat(rounds)``, what is left out being 1."""

    step: Any  # a scheme, of the kinds that the reader lets through
    steps: int
    picks: int
    rate: float
    rounds: int

    @property
    def block(self) -> int:
        """Steps of the smallest group in the reduction of several picks to one pick in each of as many groups."""
        return self.steps // self.picks


def shape(scheme: Scheme) -> Shape:
    """A scheme as an allocation of one kind of step, or Uncovered."""
    rounds, rate, steps, picks = 1, 1.0, 1, 1
    while isinstance(scheme, Repeat):
        rounds, scheme = rounds * scheme.rounds, scheme.of
    while isinstance(scheme, Subsample):
        rate, scheme = rate * scheme.rate, scheme.of
    if isinstance(scheme, Allocate):
        steps, picks, scheme = scheme.steps, scheme.picks, scheme.of
    return Shape(scheme, steps, picks, rate, rounds)


def reading(
    *kinds: type[Scheme], picks: bool = False, rate: bool = False, rounds: bool = False, fewest: int = 1
) -> Callable[[Scheme], Shape]:
    """A reader of allocations of steps of some ``kinds``; several picks, a rate and rounds only where named."""

    def read(scheme: Scheme) -> Shape:
        found = shape(scheme)
        fits = type(found.step) in kinds if kinds else not found.step._parts()
        fits = fits and found.steps >= fewest
        if not (fits and (picks or found.picks == 1) and (rate or found.rate == 1) and (rounds or found.rounds == 1)):
            raise Uncovered
        return found

    return read

"""Random allocation: a few of the steps use the person's data, and nobody knows which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from privloss._check import Numbers, count, masses, same_length, show
from privloss._scheme import Operation, Scheme, fix, operand

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class Allocate(Operation):
    """``picks`` of ``steps`` steps, chosen uniformly; built by ``scheme.allocate(steps, picks)``."""

    of: Scheme
    steps: int
    picks: int = 1
    kind: ClassVar[str] = "allocate"

    def __post_init__(self) -> None:
        fix(self, of=operand(of=self.of), steps=count(steps=self.steps))
        fix(self, picks=count(picks=self.picks))
        if self.picks > self.steps:
            raise ValueError(f"picks must be at most steps, got picks={self.picks} and steps={self.steps}")

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import allocate_law

        return allocate_law(self.of, self.steps, ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = self.of.support(side)  # the mean of equal ratios is that ratio
        return low * self.picks, high * self.picks

    def _split(self) -> bool:
        return 1 < self.picks < self.steps

    def _text(self, parts: Sequence[str]) -> str:
        picks = f", picks={self.picks}" if self.picks != 1 else ""
        return f"{parts[0]}.allocate(steps={self.steps}{picks})"


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Scheme):
    """One step out of several kinds of steps; built by ``allocate(parts, weights)``."""

    parts: tuple[tuple[Scheme, int], ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "allocate"

    def __post_init__(self) -> None:
        fix(self, parts=_pairs(self.parts), weights=masses(weights=self.weights))
        same_length(parts=self.parts, weights=self.weights)

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import allocation_law

        return allocation_law(self.parts, self.shares(), ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = zip(*(part.support(side) for part, _ in self.parts), strict=True)
        return log_mean(low, self.shares()), log_mean(high, self.shares())

    def shares(self) -> tuple[float, ...]:
        """The weights, divided by their sum."""
        total = math.fsum(self.weights)
        return tuple(weight / total for weight in self.weights)

    def _parts(self) -> tuple[Scheme, ...]:
        return tuple(part for part, _ in self.parts)

    def _data(self) -> tuple[Any, ...]:
        return tuple(steps for _, steps in self.parts), self.weights

    @classmethod
    def _make(cls, parts: Sequence[Scheme], data: Sequence[Any]) -> Allocation:
        steps, weights = data
        return cls(tuple(zip(parts, steps, strict=True)), weights)

    def _text(self, parts: Sequence[str]) -> str:
        listed = ", ".join(f"({text}, {steps})" for text, (_, steps) in zip(parts, self.parts, strict=True))
        if self.weights == proportional([steps for _, steps in self.parts]):
            return f"allocate([{listed}])"
        return f"allocate([{listed}], weights={list(self.weights)})"


def allocate(parts: Iterable[tuple[Scheme, int]], weights: Numbers | None = None) -> Scheme:
    """Random allocation over different steps: exactly one step is chosen.

    ``parts`` lists (scheme, steps). ``weights`` has for each part the probability that the chosen step lies
    in it, uniform inside; the default is in proportion to the steps. Weights sum to 1 within 1e-9, and are
    divided by their sum. P = sum over steps i of (w_i/steps_i) Q x ... x P_i x ... x Q, against Q x ... x Q.

    >>> from privloss import Gaussian, allocate
    >>> allocate([(Gaussian(1.0), 500), (Gaussian(1.2), 500)], weights=[0.4, 0.6])
    allocate([(Gaussian(sigma=1.0), 500), (Gaussian(sigma=1.2), 500)], weights=[0.4, 0.6])
    """
    pairs = _pairs(parts)
    if weights is None:
        return Allocation(pairs, proportional([steps for _, steps in pairs]))
    return Allocation(pairs, masses(weights=weights))


def log_mean(losses: Sequence[float], weights: Sequence[float]) -> float:
    """The loss of a weighted mean of ratios."""
    top = max(losses)
    if math.isinf(top):
        return top
    if max(map(abs, losses)) < 0.5:
        return math.log1p(math.fsum(w * math.expm1(loss) for loss, w in zip(losses, weights, strict=True)))
    return top + math.log(
        math.fsum(w * math.exp(loss - top) for loss, w in zip(losses, weights, strict=True))
    )


def proportional(steps: Sequence[int]) -> tuple[float, ...]:
    total = sum(steps)
    return tuple(n / total for n in steps)


def _pairs(parts: object) -> tuple[tuple[Scheme, int], ...]:
    if isinstance(parts, str | Scheme) or not isinstance(parts, Iterable):
        raise TypeError(f"parts must be a list of (scheme, steps), got {show(parts)}")
    pairs = tuple(_pair(i, part) for i, part in enumerate(parts))
    if not pairs:
        raise ValueError("parts must have at least one (scheme, steps), got none")
    return pairs


def _pair(i: int, part: object) -> tuple[Scheme, int]:
    if not isinstance(part, tuple | list) or len(part) != 2:
        raise TypeError(f"parts[{i}] must be (scheme, steps), got {show(part)}")
    return operand(**{f"parts[{i}][0]": part[0]}), count(**{f"parts[{i}][1]": part[1]})

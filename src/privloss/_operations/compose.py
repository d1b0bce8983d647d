"""Composition of different schemes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from privloss._check import show
from privloss._operations.repeat import Repeat
from privloss._scheme import Scheme, fix, operand

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law


@dataclass(frozen=True, eq=False, repr=False)
class Compose(Scheme):
    """Independent runs of all ``parts``, in the order given; a composition inside is taken apart."""

    parts: tuple[Scheme, ...]
    kind: ClassVar[str] = "compose"

    def __post_init__(self) -> None:
        fix(self, parts=tuple(piece for part in _checked(self.parts) for piece in _flat(part)))

    @classmethod
    def joined(cls, first: Scheme, second: Scheme) -> Compose:
        """``first + second``, without looking at every part again: sums of 10,000 parts stay quick."""
        result = object.__new__(cls)
        fix(result, parts=_flat(first) + _flat(second))
        return result

    def law(self, ask: Ask) -> Law:
        from privloss._evaluate import compose_law

        return compose_law(grouped(self.parts), ask)

    def _support(self, side: Side) -> tuple[float, float]:
        low, high = zip(*(part.support(side) for part in self.parts), strict=True)
        return math.fsum(low), math.fsum(high)

    def _parts(self) -> tuple[Scheme, ...]:
        return self.parts

    def _data(self) -> tuple[Any, ...]:
        return ()

    @classmethod
    def _make(cls, parts: Sequence[Scheme], data: Sequence[Any]) -> Compose:
        return cls(tuple(parts))

    def _text(self, parts: Sequence[str]) -> str:
        return f"compose({', '.join(parts)})"


def compose(*schemes: Scheme) -> Scheme:
    """Composition: independent runs of all of them, P = P_1 x P_2 x ... against Q = Q_1 x Q_2 x ...

    >>> from privloss import Gaussian, Laplace, compose
    >>> compose(Gaussian(1.0).allocate(1000), Laplace(2.0))
    compose(Gaussian(sigma=1.0).allocate(steps=1000), Laplace(scale=2.0))
    """
    return Compose(schemes)


def grouped(parts: Iterable[Scheme]) -> tuple[tuple[Scheme, int], ...]:
    """Equal parts once, with how often they occur; ``part.repeat(n)`` counts as n parts."""
    counts: dict[Scheme, int] = {}
    for part in parts:
        of, rounds = (part.of, part.rounds) if isinstance(part, Repeat) else (part, 1)
        counts[of] = counts.get(of, 0) + rounds
    return tuple(counts.items())


def _checked(parts: object) -> list[Scheme]:
    if isinstance(parts, str | Scheme) or not isinstance(parts, Iterable):
        raise TypeError(f"parts must be a list of schemes, got {show(parts)}")
    schemes = [operand(**{f"parts[{i}]": part}) for i, part in enumerate(parts)]
    if not schemes:
        raise ValueError("parts must have at least one scheme, got none")
    return schemes


def _flat(scheme: Scheme) -> tuple[Scheme, ...]:
    return scheme.parts if isinstance(scheme, Compose) else (scheme,)

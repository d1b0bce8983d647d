"""Vectors: questions and their true answers, in files that say where these come from.

A set is a file `tests/vectors/<set>.json`: a header and one vector a line. Its values are made by the module
of the set's name in `generators`, and confirmed by the one in `verifiers`, which goes another way:

    generator   vectors(): every vector of the set                       METHOD, DIGITS
    verifier    curve(scheme, k, direction): delta at k = e^epsilon,     METHOD
                and its slope, the mass (without the person, for remove) of the outcomes that count in it

A value is a decimal string, right to within one unit of its last digit. epsilon is verified by one step of
Newton's method, from one unit below it: that doubles the digits, so where the step ends is compared with the
value. (The curve is convex, and a step from the left of the root stays on its left.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import mpmath
from mpmath import mp, mpf

from truth.closed import Number, exactly
from truth.nodes import Node

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
SETS = ("two_outcomes", "three_outcomes", "k_of_t", "gaussian", "laplace", "random")
WORK = 120  # digits of the verifiers
FAR = mpf(10) ** 2000  # e^epsilon beyond every finite loss of the vectors
Curve = Callable[[Node, Any, str], tuple[Any, Any]]


@dataclass(frozen=True)
class Vector:
    scheme: Node
    question: str  # "epsilon" or "delta"
    at: float  # the delta or the epsilon it is asked at, exactly this double
    direction: str
    value: str
    reduction: str | None = None  # the answer for the blocks that bound an allocation of several picks

    @property
    def text(self) -> str:
        kept = {key: value for key, value in asdict(self).items() if value is not None}
        return json.dumps(kept, separators=(",", ":"))


class Truth(Protocol):
    """What answers both questions."""

    def delta(self, epsilon: Number, direction: str) -> Any: ...
    def epsilon(self, delta: Number, direction: str) -> Any: ...


def written(value: Number, digits: int) -> str:
    """`digits` significant digits, rounded to the nearest; "0" and "inf" are exact."""
    with mp.workdps(digits + 20):
        number = exactly(value)
        if number == 0 or mpmath.isinf(number):
            return "inf" if number else "0"
        return str(mpmath.nstr(number, digits, strip_zeros=False))


def bounds(value: str) -> tuple[Fraction, Fraction]:
    """What a finite value stands for: itself, and one unit of its last digit to both sides."""
    last = Fraction(10) ** int(Decimal(value).as_tuple().exponent) if value != "0" else Fraction(0)
    return Fraction(value) - last, Fraction(value) + last


def asked(
    scheme: Node,
    truth: Truth,
    digits: int,
    deltas: Iterable[float],
    targets: Iterable[float] = (),
    epsilons: Iterable[float] = (),
    directions: Sequence[str] = ("remove", "add"),
) -> Iterator[Vector]:
    """epsilon at the deltas, delta at the epsilons and about where it is one of the targets."""
    for direction in directions:
        for delta in deltas:
            yield Vector(scheme, "epsilon", delta, direction, written(truth.epsilon(delta, direction), digits))
        found = [truth.epsilon(target, direction) for target in targets]
        places = [short(place) for place in found if 0 < place < mpmath.inf]
        for epsilon in dict.fromkeys([*epsilons, *places]):
            value = written(truth.delta(epsilon, direction), digits)
            yield Vector(scheme, "delta", epsilon, direction, value)


def short(value: Any) -> float:
    """A double of few digits below, so that it is not above the largest loss."""
    number = Decimal(str(float(value)))
    return float(number.quantize(Decimal(1).scaleb(number.adjusted() - 4), ROUND_FLOOR))


def path(name: str) -> Path:
    return FOLDER / f"{name}.json"


def generator(name: str) -> Any:
    return import_module(f"truth.generators.{name}")


def verifier(name: str) -> Any:
    return import_module(f"truth.verifiers.{name}")


def write(name: str) -> int:
    """Make the set anew; how many vectors it has."""
    made = generator(name)
    header = {
        "set": name,
        "generator": f"tests/truth/generators/{name}.py",
        "method": made.METHOD,
        "verifier": f"tests/truth/verifiers/{name}.py",
        "other method": verifier(name).METHOD,
        "digits": made.DIGITS,
    }
    lines = [vector.text for vector in made.vectors()]
    head = json.dumps(header, indent=1).removesuffix("\n}")
    path(name).write_text(head + ',\n "vectors": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    return len(lines)


def read(name: str) -> list[Vector]:
    data = json.loads(path(name).read_text(encoding="utf-8"))
    return [Vector(**vector) for vector in data["vectors"]]


def checked(name: str, vector: Vector) -> Iterator[tuple[Vector, Any, bool]]:
    """The vector, and if it has a reduction that too: how far the verifier is away, and whether they agree."""
    other = verifier(name)
    both = [(vector, other.curve)]
    if vector.reduction is not None:
        both.append((replace(vector, value=vector.reduction, reduction=None), other.reduced))
    for each, curve in both:
        found = disagreement(each, curve)
        yield each, found, agrees(each, found)


def disagreement(vector: Vector, curve: Curve) -> Any:
    """The difference of the value and what the verifier makes of it, relative unless the value is 0."""
    with mp.workdps(WORK):
        at, value = mpf(vector.at), mpf(vector.value)
        if vector.question == "delta":
            delta, _ = curve(vector.scheme, mpmath.exp(at), vector.direction)
            return abs(delta - value) / (value or 1)
        if value == 0 or mpmath.isinf(value):
            delta, _ = curve(vector.scheme, FAR if value else mpf(1), vector.direction)
            return mpf(0) if (delta > at) == bool(value) else mpmath.inf
        # From below: above the largest loss, which the value may be next to, there is no slope.
        k = mpmath.exp(exactly(bounds(vector.value)[0]))
        delta, slope = curve(vector.scheme, k, vector.direction)
        return abs(mpmath.log(k + (delta - at) / slope) - value) / value if slope else mpmath.inf


def agrees(vector: Vector, difference: Any) -> bool:
    """Whether the difference is at most one unit of the last digit written."""
    if vector.value in ("0", "inf"):
        return bool(difference < mpf(10) ** -100)
    low, high = bounds(vector.value)
    with mp.workdps(WORK):
        return bool(difference * exactly(high + low) <= exactly(high - low))

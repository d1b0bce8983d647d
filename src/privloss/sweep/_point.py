"""One point of a grid: what it asks, what that hashes to, and asking it. All that a worker needs."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from privloss import Bracket, Scheme, __version__, _questions, calibrate, parse
from privloss._bracket import TIME
from privloss._calibrate import TooLate

FORMAT = 1  # of what a key is made from
KEPT_POINTS = 200_000  # of measures, in a worker's cache: the points of a grid hardly share any
FOUND = "sigma"  # the question, and the hole, whose value is looked for

GIVEN: dict[str, tuple[tuple[str, ...], ...]] = {
    "epsilon": (("delta",),),
    "delta": (("epsilon",),),
    "tradeoff": (("fpr",),),
    "advantage": ((),),
    FOUND: (("epsilon", "delta"), ("advantage",)),
}
"""The questions, and what each of them is asked at: one of these."""


@dataclass(frozen=True)
class Recipe:
    """What all points of a grid have in common: the question, its settings, the schemes with their holes."""

    question: str
    options: Mapping[str, Any]
    sources: tuple[str | Scheme, ...]


@dataclass(frozen=True)
class Point:
    """Which scheme, what fills its holes, and the values that the question is asked at."""

    source: int
    holes: Mapping[str, Any]
    given: Mapping[str, float]


@dataclass(frozen=True)
class Outcome:
    """What came of a point. ``final``: asking again would say the same."""

    lower: float | None = None
    upper: float | None = None
    seconds: float = 0.0
    reason: str | None = None
    exact: bool | None = None
    error: str | None = None
    final: bool = True


def built(recipe: Recipe, point: Point, **found: float) -> Scheme:
    """The scheme of a point; ``found`` is the noise, where that is what is asked for."""
    source = recipe.sources[point.source]
    return source if isinstance(source, Scheme) else parse(source, **point.holes, **found)


def likes(recipe: Recipe, point: Point) -> tuple[Scheme, ...]:
    """Schemes that tell the point's from every other: with two values in a hole, they tell where it is."""
    if recipe.question != FOUND:
        return (built(recipe, point),)
    return built(recipe, point, **{FOUND: 1.0}), built(recipe, point, **{FOUND: 2.0})


def key(recipe: Recipe, point: Point, schemes: tuple[Scheme, ...], engine: str) -> bytes:
    """A hash of everything that the answer depends on. Without schemes, as where none can be built, of their text."""
    source: Any = [scheme._digest() for scheme in schemes]
    if not schemes:
        source = {"text": repr(recipe.sources[point.source]), "holes": point.holes}
    asked = [FORMAT, engine, recipe.question, source, point.given, recipe.options]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


def ask(recipe: Recipe, point: Point) -> Outcome:
    """The answer, or the sentence that says why there is none."""
    began = time.perf_counter()
    try:
        bracket = _answer(recipe, point)
        lower, upper = float(bracket.lower), float(bracket.upper)
    except Exception as error:  # whatever it is, the other points go on
        final = isinstance(error, ValueError | TypeError | ArithmeticError) and not isinstance(error, TooLate)
        return Outcome(seconds=time.perf_counter() - began, error=sentence(error), final=final)
    spent = time.perf_counter() - began
    return Outcome(lower, upper, spent, bracket.reason, bracket.exact, final=bracket.reason != TIME)


def _answer(recipe: Recipe, point: Point) -> Bracket:
    asked: dict[str, Any] = {**point.given, **recipe.options}
    if recipe.question == FOUND:
        return calibrate(partial(_with_noise, recipe, point), **asked)
    bracket: Bracket = getattr(built(recipe, point), recipe.question)(**asked)
    return bracket


def _with_noise(recipe: Recipe, point: Point, sigma: float) -> Scheme:
    return built(recipe, point, **{FOUND: sigma})


def sentence(error: BaseException) -> str:
    """An error as one line; with its kind where it is not one that a user's value leads to."""
    said = " ".join(str(error).split())
    known = isinstance(error, ValueError | TypeError | OverflowError)
    return said if known and said else f"{type(error).__name__}: {said}".rstrip(": ")


def gap(lower: float | None, upper: float | None) -> float | None:
    if lower is None or upper is None:
        return None
    return 0.0 if lower == upper else upper - lower


def lighten() -> None:
    """Keep little of what was computed: a worker lives for thousands of points."""
    _questions.CACHED_POINTS = min(_questions.CACHED_POINTS, KEPT_POINTS)


@cache
def engine() -> str:
    """The version, and a hash of the sources that answers come from: the private modules below the front door."""
    room = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(room.rglob("*.py")):
        name = path.relative_to(room).as_posix()
        if name.startswith("_") and not name.startswith(("__", "_cli/")):
            digest.update(f"{name}\n".encode())
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{__version__}+{digest.hexdigest()[:16]}"


# What a point will cost, in milliseconds on some machine: to start with the long ones, and to say how long it takes.

_HARDER = {"epsilon": 1.0, "delta": 1.0, "tradeoff": 1.5, "advantage": 1.0, FOUND: 12.0}


def cost(recipe: Recipe, schemes: tuple[Scheme, ...]) -> float:
    """Only roughly: what the sweep has measured so far corrects it."""
    if not schemes:
        return 0.0
    rtol = float(recipe.options["rtol"])
    both = 1.0 if recipe.options["direction"] == "both" else 0.5
    return _HARDER[recipe.question] * both * _of(schemes[0]) * math.sqrt(1e-3 / min(max(rtol, 1e-6), 1e-2))


def _of(scheme: Scheme) -> float:
    """A level: an allocation adds measures once for every doubling of its steps, and more so with little noise."""
    total, stack = 1.0, [scheme]
    while stack and total < 1e5:
        node = stack.pop()
        stack.extend(node._parts())
        steps, rounds = getattr(node, "steps", 1), getattr(node, "rounds", 1)
        total += 0.5 + 3.0 * math.log2(steps) + 1.5 * math.log2(rounds)
        total += 3.0 * min(1.0 / max(getattr(node, "sigma", 1.0), 0.05), 20.0) * (not node._parts())
    return total

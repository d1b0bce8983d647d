"""A grid as data: which points there are, read from TOML or given as a mapping, and checked before anything starts.

The first parameter varies slowest; the schemes that are compared come last, side by side.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from privloss import Scheme, _check
from privloss._check import show
from privloss.sweep import _methods
from privloss.sweep._point import FOUND, GIVEN, Point, Recipe, cost, likes

MOST = 1_000_000  # points of one sweep
SAMPLED = 64  # points that an estimate looks at

_HOLE = re.compile(r"\{\s*([A-Za-z_][A-Za-z_0-9]*)\s*\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_RANGE = ("from", "to", "points", "scale", "whole")
ANSWER = ("lower", "upper", "gap", "seconds", "reason", "exact", "error")  # columns
NAMED = "scheme"  # the column that tells named schemes apart
METHOD = "method"  # the column that tells apart who answers
_GIVEN_NAMES = ("delta", "epsilon", "fpr", "advantage")
_OPTIONS = ("direction", "rtol", "atol", "seconds")
_KEYS = ("question", "scheme", METHOD, "parameters", "points", *_GIVEN_NAMES, *_OPTIONS)
_ALLOWED: dict[str, Callable[..., float]] = {
    "delta": _check.probability,
    "epsilon": _check.real,
    "fpr": _check.probability,
    "advantage": _check.probability,
}

Source = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Span:
    """Numbers from one end to the other, evenly or by equal factors; none is computed before it is asked for."""

    low: float
    high: float
    points: int
    log: bool
    whole: bool

    def __len__(self) -> int:
        return self.points

    def __iter__(self) -> Iterator[float]:
        return map(self.__getitem__, range(self.points))

    def __getitem__(self, place: int) -> float:
        share = place / (self.points - 1) if self.points > 1 else 0.0
        if place == self.points - 1:
            value = self.high if self.points > 1 else self.low
        elif self.log:
            value = math.exp(math.log(self.low) + share * math.log(self.high / self.low)) if place else self.low
        else:
            value = self.low + share * (self.high - self.low)
        return round(value) if self.whole else value


@dataclass(frozen=True)
class Axis:
    """Columns that vary together: one parameter, or the columns of a list of points."""

    names: tuple[str, ...]
    rows: Any  # a Span, a list of values, or a list of lists of values

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, place: int) -> dict[str, Any]:
        row = self.rows[place]
        return dict(zip(self.names, row, strict=True)) if len(self.names) != 1 else {self.names[0]: row}


    def checked(self, given: Sequence[str]) -> Axis:
        """With the values as they will be asked and written."""
        rows = self.rows if len(self.names) > 1 else ((row,) for row in self.rows)
        made = [[_value(n, value, n in given) for n, value in zip(self.names, row, strict=True)] for row in rows]
        return Axis(self.names, made if len(self.names) > 1 else [row[0] for row in made])


class Grid:
    """The points of a sweep: ``Grid("grid.toml")``, or ``Grid({"question": "epsilon", ...})``.

    ``len`` counts them, and ``grid.values(i)`` are the parameters of one.
    """

    def __init__(self, source: Source, *, seconds: float | str | None = "") -> None:
        tree = _tree(source)
        if seconds != "":
            tree["seconds"] = "none" if seconds is None else seconds
        _only(tree, _KEYS, "the grid")
        self._tree = tree
        self.question = _check.choice(question=_needed(tree, "question"), among=tuple(GIVEN))
        self._names, sources = _schemes(_needed(tree, "scheme"))
        self.methods = _who(tree.get(METHOD, _methods.ENGINE), self.question)
        self._settings = {name: (*_methods.find(name).settings, _methods.RUN) for name in self.methods}
        self._holes = [_holes(each) for each in sources]
        self._axes = _axes(tree)
        names = [name for axis in self._axes for name in axis.names]
        self.given = self._asked_at(names)
        self._check_holes(names)
        self.recipe = Recipe(self.question, _options(tree, self.question), sources)
        if self.count <= MOST:
            self._axes = [axis.checked(self.given) for axis in self._axes]

    @property
    def count(self) -> int:
        """How many points: what ``len`` says, which refuses numbers beyond 64 bits."""
        return math.prod(map(len, self._axes)) * len(self._names) * len(self.methods)

    def __len__(self) -> int:
        return self.count

    @property
    def parameters(self) -> tuple[str, ...]:
        """The columns that say which point a row is: parameters, then what the question is asked at, the scheme."""
        names = [name for axis in self._axes for name in axis.names]
        return (*names, *[NAMED] * self.named, *[METHOD] * (METHOD in self._tree))

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.parameters, *ANSWER)

    @property
    def named(self) -> bool:
        """Whether schemes are compared by name."""
        return self._names != [""]

    def values(self, place: int) -> dict[str, Any]:
        """The columns of the point with that number that are not its answer."""
        place, method = divmod(place, len(self.methods))
        place, scheme = divmod(place, len(self._names))
        digits = []
        for axis in reversed(self._axes):
            place, digit = divmod(place, len(axis))
            digits.append(digit)
        found: dict[str, Any] = {}
        for axis, digit in zip(self._axes, reversed(digits), strict=True):
            found.update(axis.at(digit))
        if self.named:
            found[NAMED] = self._names[scheme]
        if METHOD in self._tree:
            found[METHOD] = self.methods[method]
        return found

    def point(self, place: int) -> Point:
        values, which = self.values(place), place // len(self.methods) % len(self._names)
        holes = {name: values[name] for name in self._holes[which] if name in values}
        method = self.methods[place % len(self.methods)]
        settings = {name: values[name] for name in self._settings[method] if name in values}
        return Point(which, holes, {name: values[name] for name in self.given}, method, settings)

    def check(self, processes: int) -> None:
        """Refuse what is too large, or has nothing to ask; all else is an error of the points that have it."""
        count = self.count
        if count > MOST:
            time = duration(self.estimate() / processes)
            workers = f"{processes} processes" if processes > 1 else "one process"
            raise ValueError(
                f"the grid has {count:,} points, which would take {time} on {workers}: "
                f"at most {MOST:,} are allowed, so give fewer or split it"
            )
        for which, name in enumerate(self._names):
            self._check_scheme(which, f"scheme.{name}" if self.named else "scheme")

    def _check_scheme(self, which: int, called: str) -> None:
        """A scheme that cannot be built at any of a few points is a mistake in the grid."""
        count, first = self.count // (len(self._names) * len(self.methods)), None
        for place in sorted({(count - 1) * i // (SAMPLED - 1) for i in range(SAMPLED)}):
            try:
                likes(self.recipe, self.point((place * len(self._names) + which) * len(self.methods)))
                return
            except (ValueError, TypeError, OverflowError) as error:
                first = first or error
        raise ValueError(f"{called} can be built at no point of the grid: {first}")

    def estimate(self) -> float:
        """Seconds of work, roughly, without looking at every point."""
        count, total, seen = self.count, 0.0, 0
        for place in sorted({count * (2 * i + 1) // (2 * SAMPLED) for i in range(SAMPLED)}):
            with suppress(ValueError, TypeError, OverflowError):
                total += cost(self.recipe, likes(self.recipe, self.point(place)))
            seen += 1
        return 1e-3 * total / max(seen, 1) * count

    def to_json(self) -> str:
        """The grid as it was given, for ``Grid(json.loads(...))``."""
        return json.dumps(self._tree, default=_plain)

    def _asked_at(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What the question is asked at, which is one of what it may be asked at."""
        got = set(columns) & set(_GIVEN_NAMES)
        holes = {name for each in self._holes for name in each}
        clash = sorted(holes & set(_GIVEN_NAMES))
        if clash:
            raise ValueError(f"the hole {{{clash[0]}}} has the name of a question's argument: call it something else")
        for names in GIVEN[self.question]:
            if got == set(names):
                return names
        wanted = " or ".join(" and ".join(names) or "nothing" for names in GIVEN[self.question])
        raise ValueError(
            f"question {self.question!r} is asked at {wanted}, got {' and '.join(sorted(got)) or 'nothing'}"
        )

    def _check_holes(self, columns: Sequence[str]) -> None:
        """Every hole has values, and every parameter a hole."""
        free = {FOUND} if self.question == FOUND else set()
        have = set(columns) - set(self.given)
        for holes in self._holes:
            missing = [name for name in holes if name not in have | free]
            if missing:
                raise ValueError(f"the hole {{{missing[0]}}} has no values: give {missing[0]} under [parameters]")
            if free - set(holes):
                raise ValueError(f"question {FOUND!r} needs the hole {{{FOUND}}} in every scheme, where the noise goes")
        known = {name for names in (*self._holes, *self._settings.values()) for name in names}
        unused = sorted(have - known)
        if unused:
            raise ValueError(f"parameter {show(unused[0])} is not used: no scheme has the hole {{{unused[0]}}}")
        if free & have:
            raise ValueError(f"question {FOUND!r} looks for {FOUND}: it must not be among the parameters")


def duration(seconds: float) -> str:
    """About how long, in words."""
    units = (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86400.0), ("year", 365.25 * 86400.0))
    name, unit = next((n, u) for n, u in reversed(units) if seconds >= u or u == 1.0)
    count = max(round(seconds / unit), 1)
    return f"about {count:,} {name}{'s' if count > 1 else ''}"


def _tree(source: Source) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return dict(source)
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"grid must be the path of a TOML file or a mapping, got {show(source)}")
    return _toml(Path(source))


def _toml(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    try:
        import tomllib
    except ImportError:  # Python 3.10
        try:
            import tomli as tomllib  # type: ignore[no-redef,unused-ignore]
        except ImportError:
            raise ImportError("TOML needs Python 3.11, or the extra sweep: pip install privloss[sweep]") from None
    try:
        tree: dict[str, Any] = tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError(f"{path} is not a grid: it nests too deep") from None
    except ValueError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    return tree


def _only(tree: Mapping[str, Any], allowed: Sequence[str], what: str) -> None:
    unknown = [name for name in tree if name not in allowed]
    if unknown:
        raise ValueError(f"{what} must not have {show(unknown[0])}: it may have {', '.join(allowed)}")


def _needed(tree: Mapping[str, Any], name: str) -> Any:
    if name not in tree:
        raise ValueError(f"the grid must have {name!r}, got {show(sorted(map(str, tree)))}")
    return tree[name]


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a table, got {show(value)}")
    return value


def _schemes(given: Any) -> tuple[list[str], tuple[str | Scheme, ...]]:
    if isinstance(given, Mapping) and "privloss" not in given:
        if not given:
            raise ValueError("scheme must name one scheme at least, got an empty table")
        return list(map(str, given)), tuple(_source(each, f"scheme.{name}") for name, each in given.items())
    return [""], (_source(given, "scheme"),)


def _who(given: Any, question: str) -> tuple[str, ...]:
    """The methods to ask, each of which answers the question."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else ()
    if not names:
        raise ValueError(f"method must be a name or a list of names, got {show(given)}")
    for name in names:
        answered = _methods.find(name).questions
        if question not in answered:
            raise ValueError(f"method {name!r} answers {', '.join(answered)}, got the question {question!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"method must name each once, got {show(given)}")
    return names


def _source(given: Any, name: str) -> str | Scheme:
    if isinstance(given, Mapping):
        return Scheme.from_json(dict(given))
    if not isinstance(given, str | Scheme):
        raise TypeError(f"{name} must be an expression, such as 'Gaussian({{sigma}})', got {show(given)}")
    return given


def _holes(source: str | Scheme) -> tuple[str, ...]:
    return () if isinstance(source, Scheme) else tuple(dict.fromkeys(_HOLE.findall(source)))


def _parameter(name: object) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"a parameter must be a name such as sigma, got {show(name)}")
    if name in (*ANSWER, NAMED, METHOD):
        raise ValueError(f"a parameter must not be called {name}, which is a column of the answer")
    return name


def _axes(tree: Mapping[str, Any]) -> list[Axis]:
    """Unchecked but for their lengths: there may be billions of values."""
    axes = [
        Axis((_parameter(name),), _values(f"parameters.{name}", spec))
        for name, spec in _table(tree.get("parameters", {}), "parameters").items()
    ]
    if "points" in tree:
        columns, rows = _listed(tree["points"])
        axes.append(Axis(columns, rows if len(columns) > 1 else [row[0] for row in rows]))
    axes += [Axis((name,), _values(name, tree[name])) for name in _GIVEN_NAMES if name in tree]
    names = [name for axis in axes for name in axis.names]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]} must be given once, got it twice")
    return axes


def _values(name: str, spec: Any) -> Any:
    """Something with a length, whose values are looked at later."""
    if isinstance(spec, Mapping):
        return _span(name, spec)
    if isinstance(spec, np.ndarray):
        if spec.ndim != 1:
            raise ValueError(f"{name} must be a flat list, got shape {spec.shape}")
        spec = spec.tolist()
    if isinstance(spec, str | bytes) or (not isinstance(spec, Sequence) and not isinstance(spec, Real | np.generic)):
        raise TypeError(f"{name} must be a number, a list of them or {{from, to, points}}, got {show(spec)}")
    rows = spec if isinstance(spec, Sequence) else [spec]
    if not rows:
        raise ValueError(f"{name} must have one value at least, got an empty list")
    return rows


def _span(name: str, spec: Mapping[str, Any]) -> Any:
    _only(spec, _RANGE, name)
    missing = [each for each in _RANGE[:3] if each not in spec]
    if missing:
        raise ValueError(f"{name} must have {missing[0]!r}, got {show(dict(spec))}")
    low, high = (_check.finite(**{f"{name}.{end}": spec[end]}) for end in ("from", "to"))
    points = _check.count(**{f"{name}.points": spec["points"]})
    log = _check.choice(**{f"{name}.scale": spec.get("scale", "linear")}, among=("linear", "log")) == "log"
    if log and not (low > 0 and high > 0):
        raise ValueError(f"{name} must be positive from end to end on a log scale, got {low!r} to {high!r}")
    whole = spec.get("whole", False)
    if not isinstance(whole, bool):
        raise TypeError(f"{name}.whole must be true or false, got {show(whole)}")
    span = Span(low, high, points, log, whole)
    return list(dict.fromkeys(span)) if whole and points <= MOST else span


def _listed(points: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    if not isinstance(points, Sequence) or isinstance(points, str) or not points:
        raise ValueError(f"points must be a list of tables, one at least, got {show(points)}")
    names: tuple[str, ...] = ()
    for place, row in enumerate(points):
        row = _table(row, f"points[{place}]")
        names = names or tuple(map(_parameter, row))
        if set(row) != set(names) or not names:
            wanted = f"{', '.join(names)}, as points[0] has" if names else "a parameter"
            raise ValueError(f"points[{place}] must have {wanted}, got {show(dict(row))}")
    return names, [[row[name] for name in names] for row in points]


def _value(name: str, value: Any, given: bool) -> Any:
    if given:
        return _ALLOWED[name](**{name: value})
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and value:
        return tuple(_number(name, each) for each in value)
    return _number(name, value)


def _number(name: str, value: Any) -> int | float:
    number = _check.real(**{name: value})
    return int(value) if isinstance(value, Integral) else number


def _options(tree: Mapping[str, Any], question: str) -> dict[str, Any]:
    """The settings, each of them there: what a point's answer is stored under has to say them all."""
    options: dict[str, Any] = {"direction": tree.get("direction", "both")}
    _check.choice(direction=options["direction"], among=("remove", "add", "both"))
    options["rtol"] = _check.nonnegative(rtol=tree.get("rtol", 1e-3))
    if question != FOUND:
        default = 1e-6 if question == "epsilon" and "rtol" not in tree else 0.0
        options["atol"] = _check.nonnegative(atol=tree.get("atol", default))
    elif "atol" in tree:
        raise ValueError(f"question {FOUND!r} must have no atol: its gap is relative to the noise")
    seconds = tree.get("seconds", 5.0)
    unlimited = seconds is None or seconds in ("none", math.inf)
    options["seconds"] = None if unlimited else _check.positive(seconds=seconds)
    return options


def _plain(value: Any) -> Any:
    """What JSON has no word for."""
    if isinstance(value, Scheme):
        return json.loads(value.to_json())
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, Sequence) else dict(value)

"""One answer, as JSON and as a table."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

from privloss import Bracket, Scheme, __version__
from privloss._bracket import outward
from privloss._cli._print import Line, write

_DIRECTIONS = {
    "remove": "remove: with the person, against without",
    "add": "add: without the person, against with",
    "both": "both, the worse of remove and add",
}


@dataclass(frozen=True)
class Answer:
    """A bracket at one value of what was given; `poisson` answers the same for the scheme's Poisson twin."""

    question: str
    given: Mapping[str, float | str | None]
    lower: float
    upper: float
    bracket: Bracket
    scheme: Scheme
    poisson: Answer | None = None

    @property
    def safe(self) -> float:
        return self.upper if self.bracket.safe == "upper" else self.lower

    @property
    def gap(self) -> float:
        return 0.0 if self.lower == self.upper else self.upper - self.lower


def answers(
    question: str, given: Sequence[Mapping[str, float | str | None]], bracket: Bracket, scheme: Scheme
) -> list[Answer]:
    """An answer for each of the values that were given, from the bracket that holds them all."""
    ends = zip(np.ravel(bracket.lower).tolist(), np.ravel(bracket.upper).tolist(), strict=True)
    return [Answer(question, each, *end, bracket, scheme) for each, end in zip(given, ends, strict=True)]


def compared(found: Sequence[Answer], twins: Sequence[Answer]) -> list[Answer]:
    """The answers, each beside that of the Poisson twin."""
    return [replace(answer, poisson=twin) for answer, twin in zip(found, twins, strict=True)]


def show(found: Sequence[Answer], args: argparse.Namespace) -> int:
    """Print the answers in the shape that was asked for; the exit status."""
    if args.quiet:
        write([Line(repr(answer.safe)) for answer in found])
    elif args.json:
        documents = [as_json(answer) for answer in found]
        text = json.dumps(documents if len(documents) > 1 else documents[0], indent=2, allow_nan=False)
        write([Line(line) for line in text.splitlines()])
    else:
        write(as_table(found))
    return 0


def as_json(answer: Answer) -> dict[str, Any]:
    """The contract's JSON: strict, with infinities as strings; `poisson` is null where there is no twin."""
    twin = answer.poisson
    return {
        answer.question: _ends(answer),
        "given": {name: _strict(value) for name, value in answer.given.items()},
        "exact": answer.bracket.exact,
        "reason": answer.bracket.reason,
        "work": {name: _strict(value) for name, value in asdict(answer.bracket.work).items()},
        "scheme": _tree(answer.scheme),
        "poisson": None
        if twin is None
        else {answer.question: _ends(twin), "reason": twin.bracket.reason, "scheme": _tree(twin.scheme)},
        "adjacency": "add/remove",
        "version": __version__,
    }


def as_table(found: Sequence[Answer]) -> list[Line]:
    """A row for each answer, then what holds for all of them."""
    head = [_head(found[0]), *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*head, strict=True)]
    rows = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in head]
    facts = [(name, text) for name, texts in _facts(found).items() for text in _by_row(texts)]
    return [
        Line(rows[0], "bold"),
        *map(Line, rows[1:]),
        Line(""),
        *(Line(f"{name:<10} {text}") for name, text in facts),
    ]


def _head(answer: Answer) -> list[str]:
    twin = [] if answer.poisson is None else ["Poisson lower", "Poisson upper"]
    return [*_asked(answer), f"{answer.question} lower", f"{answer.question} upper", "gap", *twin]


def _row(answer: Answer) -> list[str]:
    twin = [] if answer.poisson is None else _bounds(answer.poisson)
    return [*map(repr, _asked(answer).values()), *_bounds(answer), _gap(answer), *twin]


def _by_row(texts: Sequence[str]) -> list[str]:
    """What holds for all rows once; else each with the rows, from 1, that it holds for."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts, 1):
        rows.setdefault(text, []).append(row)
    if len(rows) <= 1:
        return list(rows)
    return [f"row {', '.join(map(str, where))}: {text}" for text, where in rows.items()]


def _facts(found: Sequence[Answer]) -> dict[str, list[str]]:
    first = found[0]
    direction = _DIRECTIONS[str(first.given["direction"])]
    return {
        "scheme": [repr(answer.scheme) for answer in found],
        "adjacency": [f"add/remove (one person present or absent); direction {direction}"],
        "exact": [_exact(first.bracket)],
        "safe end": [first.bracket.safe],
        "stopped": [answer.bracket.reason for answer in found],
        "Poisson": [_twin(answer.poisson) for answer in found if answer.poisson is not None],
    }


def _exact(bracket: Bracket) -> str:
    if bracket.exact:
        return "yes: the true value lies between lower and upper"
    other = "lower" if bracket.safe == "upper" else "upper"
    return f"no: {bracket.safe} bounds the scheme, {other} only the reduction that was analysed (picks > 1)"


def _twin(twin: Answer) -> str:
    return f"{twin.scheme!r}; stopped: {twin.bracket.reason}"


def _asked(answer: Answer) -> dict[str, float]:
    """What was given as numbers to answer for, not how to answer."""
    named = ("epsilon", "delta", "fpr", "advantage")
    return {name: value for name, value in answer.given.items() if name in named and isinstance(value, float)}


def _bounds(answer: Answer) -> list[str]:
    return list(outward(answer.lower, answer.upper))


def _gap(answer: Answer) -> str:
    """To two digits, rounded up."""
    if math.isinf(answer.gap):
        return "inf"
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(answer.gap)):g}"


def _ends(answer: Answer) -> dict[str, Any]:
    return {"lower": _strict(answer.lower), "upper": _strict(answer.upper), "gap": _strict(answer.gap)}


def _strict(value: Any) -> Any:
    """A value that strict JSON has a word for."""
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value.item() if isinstance(value, np.generic) else value


def _tree(scheme: Scheme) -> Any:
    return json.loads(scheme.to_json())["scheme"]

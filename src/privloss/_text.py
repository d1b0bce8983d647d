"""Schemes as text: ``repr`` writes it and ``parse`` reads it.

The grammar, read by the parser below and never evaluated:

    expression:  operand ('+' operand)*
    operand:     primary ('.' method '(' arguments ')')*
    primary:     number | '{' name '}' | '[' items ']' | '(' items ')'
                 | ['pl.' | 'privloss.'] name '(' arguments ')'
    number:      ['+' | '-']* (digits as in Python, with underscores and exponents, or 'inf')
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from privloss._check import show
from privloss._scheme import Scheme

LONGEST = 100_000  # characters
DEEPEST = 100  # brackets inside brackets
SHORT = 32  # outcomes that repr writes out
METHODS = ("allocate", "subsample", "repeat", "swap", "poisson")
PREFIXES = ("pl", "privloss")

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number> (?: \d+(?:_\d+)* (?:\.(?:\d+(?:_\d+)*)?)? | \.\d+(?:_\d+)* )
                (?: [eE][+-]?\d+(?:_\d+)* )? (?!\w) )
  | (?P<name> [A-Za-z_][A-Za-z_0-9]* )
  | (?P<hole> \{\s*[A-Za-z_][A-Za-z_0-9]*\s*\} )
  | (?P<mark> [.,=+\-()\[\]] )
  | (?P<end> \Z )
    )""",
    re.VERBOSE | re.ASCII,
)


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """``name(key=value, ...)``; long outcomes are shortened to their number and a hash."""
    longest = max((len(v) for v in arguments.values() if isinstance(v, tuple)), default=0)
    if longest > SHORT:
        return f"{name}(<{longest} outcomes, sha256 {_digest(arguments)}>)"
    return f"{name}({', '.join(f'{key}={_value(value)}' for key, value in arguments.items())})"


def _value(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _digest(arguments: Mapping[str, Any]) -> str:
    import hashlib

    import numpy as np

    digest = hashlib.sha256()
    for key, value in arguments.items():
        digest.update(key.encode())
        digest.update(np.asarray(value, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def parse(text: str, /, **values: Any) -> Scheme:
    """The scheme that a text such as its ``repr`` describes.

    Numbers, lists, tuples, ``inf`` and our names, optionally after ``pl.``; nothing is evaluated. ``{name}``
    stands for the keyword argument of that name, as a value. ValueError for anything else.

    >>> import privloss as pl
    >>> pl.parse("pl.Gaussian(1).allocate(1000).repeat(rounds=10)")
    Gaussian(sigma=1.0).allocate(steps=1000).repeat(rounds=10)
    >>> pl.parse("Gaussian({sigma}).allocate(1000)", sigma=0.8)
    Gaussian(sigma=0.8).allocate(steps=1000)
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {show(text)}")
    if len(text) > LONGEST:
        raise ValueError(f"text must have at most {LONGEST} characters, got {len(text)}")
    parser = _Parser(text, values)
    try:
        return parser.scheme()
    except RecursionError:  # the caller was deep already
        raise ValueError("text nests too deep to be read here") from None


class _Parser:
    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text, self.values = text, values
        self.used: set[str] = set()
        self.depth = 0
        self.end = 0  # of the current token
        self.step()

    def scheme(self) -> Scheme:
        result = self.expression()
        if self.kind != "end":
            raise self.wrong("an operation such as .repeat(10) or the end")
        unused = sorted(set(self.values) - self.used)
        if unused:
            raise ValueError(f"value {unused[0]!r} has no place {{{unused[0]}}} in {show(self.text)}")
        if not isinstance(result, Scheme):
            raise ValueError(f"text must describe a scheme, such as Gaussian(1.0), got {show(self.text)}")
        return result

    # Tokens.

    def step(self) -> str:
        """Take the current token and look at the next."""
        taken = getattr(self, "token", "")
        found = _TOKEN.match(self.text, self.end)
        if found is None or found.lastgroup is None:
            rest = self.text[self.end :].lstrip()
            where = len(self.text) - len(rest)
            if rest.startswith("<"):
                raise ValueError(
                    "text was shortened by repr and cannot be read back: use to_json and from_json"
                )
            raise ValueError(
                f"text has {show(rest[:12])} at character {where}, which is not a name, number or bracket"
            )
        self.kind, self.token = found.lastgroup, found.group(found.lastgroup)
        self.start, self.end = found.span(found.lastgroup)
        return taken

    def wrong(self, wanted: str) -> ValueError:
        got = "the end" if self.kind == "end" else show(self.token)
        return ValueError(f"text must have {wanted} at character {self.start}, got {got}")

    def take(self, mark: str) -> None:
        if self.token != mark:
            raise self.wrong(f"{mark!r}")
        self.step()

    # Grammar. A bracket costs six Python frames, so DEEPEST stays well within the interpreter's thousand.

    def expression(self) -> Any:
        terms = [self.operand()]
        while self.token == "+":
            self.step()
            terms.append(self.operand())
        if len(terms) == 1:
            return terms[0]
        if not all(isinstance(term, Scheme) for term in terms):
            raise ValueError(f"'+' composes schemes only, in {show(self.text)}")
        from privloss._operations import Compose

        return Compose(tuple(terms))

    def operand(self) -> Any:
        value = self.primary()
        while self.token == ".":
            self.step()
            if not isinstance(value, Scheme) or self.kind != "name" or self.token not in METHODS:
                raise self.wrong(f"one of {', '.join(METHODS)} after a scheme")
            value = self.called(getattr(value, self.step()))
        return value

    def primary(self) -> Any:
        if self.kind == "name":
            return self.named()
        if self.kind == "hole":
            return self.hole()
        if self.kind == "number" or self.token in ("+", "-"):
            return self.number()
        if self.token in ("(", "["):
            closing = ")" if self.step() == "(" else "]"
            items, _, comma = self.items(closing, keywords=False)
            return items[0] if closing == ")" and len(items) == 1 and not comma else items
        raise self.wrong("a scheme, a number or a list")

    def number(self) -> float:
        sign = 1
        while self.token in ("+", "-"):
            sign = -sign if self.step() == "-" else sign
        if self.token == "inf":
            self.step()
            return sign * math.inf
        if self.kind != "number":
            raise self.wrong("a number")
        if len(self.token) > 400:
            raise ValueError(f"text has a number of {len(self.token)} characters, at most 400 are allowed")
        token = self.step()
        return sign * (int(token) if re.fullmatch(r"[\d_]+", token) else float(token))

    def hole(self) -> Any:
        name = self.step().strip("{} \t\r\n")
        if name not in self.values:
            raise ValueError(f"{{{name}}} has no value: give {name}=... for {show(self.text)}")
        self.used.add(name)
        return self.values[name]

    def named(self) -> Any:
        if self.token == "inf":
            return self.number()
        names = _names()
        if self.token in PREFIXES:
            self.step()
            self.take(".")
        if self.token not in names:
            raise self.wrong(f"one of {', '.join(names)}")
        return self.called(names[self.step()])

    def called(self, function: Callable[..., Any]) -> Any:
        self.take("(")
        items, keywords, _ = self.items(")", keywords=True)
        try:
            return function(*items, **keywords)
        except TypeError as error:
            raise ValueError(_sentence(function, error)) from None

    def items(self, closing: str, *, keywords: bool) -> tuple[list[Any], dict[str, Any], bool]:
        """Values up to the closing bracket, those with a name, and whether a comma came last."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"text must nest at most {DEEPEST} brackets, got more at character {self.start}")
        items: list[Any] = []
        named: dict[str, Any] = {}
        comma = False
        while self.token != closing:
            name = self.keyword() if keywords else None
            value = self.expression()
            if name is None and named:
                raise self.wrong("name=value after the first such")
            if name is None:
                items.append(value)
            elif name in named:
                raise ValueError(f"text gives {name}= twice, before character {self.start}")
            else:
                named[name] = value
            comma = self.token == ","
            if comma:
                self.step()
            elif self.token != closing:
                raise self.wrong(f"',' or {closing!r}")
        self.depth -= 1
        self.step()
        return items, named, comma

    def keyword(self) -> str | None:
        """The name before '=', if one comes next."""
        found = _TOKEN.match(self.text, self.end)
        if self.kind != "name" or found is None or found.group("mark") != "=":
            return None
        name = self.step()
        self.step()
        return name


def _names() -> dict[str, Callable[..., Any]]:
    from privloss._mechanisms import MECHANISMS
    from privloss._operations import allocate, compose

    functions: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in MECHANISMS}
    return {**functions, "allocate": allocate, "compose": compose}


def _sentence(function: Callable[..., Any], error: TypeError) -> str:
    """A TypeError in the words of the text: Python's own speaks of __init__ and self."""
    name = getattr(function, "__name__", "call")
    return re.sub(r"^[\w.]*\(\) ", f"{name} ", str(error)).replace(name + ".__init__()", name)

"""The flags that commands share, and the schemes that they build."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping
from typing import Any

from privloss import Gaussian, Laplace, Scheme, parse
from privloss._check import show as quoted

_BUILDING = ("sigma", "scale", "steps", "picks", "rate", "rounds")


def number(text: str) -> float:
    """A flag's number; whether it is in range is for the library to say."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {quoted(text)}") from None


def numbers(text: str) -> tuple[float, ...]:
    """A comma list of numbers."""
    return tuple(number(part) for part in text.split(","))


def whole(text: str) -> int | float:
    """A flag's whole number, `1e6` too; 2.5 goes on as it is, for the library to refuse by name."""
    try:
        return int(text)
    except ValueError:
        value = number(text)
        return int(value) if value.is_integer() else value


def limit(text: str) -> float | None:
    """A number of seconds; `none` is no limit."""
    value = math.inf if text.lower() == "none" else number(text)
    return None if value == math.inf else value


def add_scheme(parser: argparse.ArgumentParser, *, sigma: bool = True) -> None:
    """An expression, or flags that build a scheme; without `--sigma` where sigma is what is asked for."""
    parser.add_argument(
        "expression",
        nargs="?",
        help='a scheme, as in "Gaussian(1).allocate(1000).repeat(10)"; flags fill {holes} of their names',
    )
    group = parser.add_argument_group("flags that build a scheme, in this order")
    if sigma:
        group.add_argument("--sigma", type=number, metavar="X", help="Gaussian noise, sensitivity 1")
        group.add_argument("--scale", type=number, metavar="X", help="Laplace noise, sensitivity 1")
    group.add_argument("--steps", type=whole, metavar="N", help="random allocation over N steps")
    group.add_argument("--picks", type=whole, metavar="K", help="to K of the steps (1)")
    group.add_argument("--rate", type=number, metavar="X", help="Poisson subsampling with probability X")
    group.add_argument("--rounds", type=whole, metavar="N", help="the whole, N times")


def add_answer(parser: argparse.ArgumentParser, *, atol: bool = True) -> None:
    """How to answer and how to show it."""
    group = parser.add_argument_group("the answer")
    group.add_argument("--direction", choices=("remove", "add", "both"), default="both", help="(both)")
    group.add_argument("--rtol", type=number, metavar="X", help="gap allowed, relative to upper (1e-3)")
    if atol:
        group.add_argument("--atol", type=number, metavar="X", help="gap allowed (1e-6 for epsilon, else 0)")
    group.add_argument("--seconds", type=limit, metavar="X", default=5.0, help="time allowed, or none (5)")
    shape = group.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="everything, as JSON")
    shape.add_argument("--quiet", action="store_true", help="the safe end of the bracket, nothing else")


def scheme(args: argparse.Namespace, **found: float) -> Scheme:
    """The scheme that the command line describes; `found` are values that it leaves open."""
    flags = {name: getattr(args, name) for name in _BUILDING if getattr(args, name, None) is not None}
    if args.expression is None:
        return _built({**flags, **found})
    return parse(args.expression, **flags, **found)


def options(args: argparse.Namespace, *names: str) -> dict[str, float]:
    """The flags among `names` that were given: the library has the defaults of the others."""
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


class Clock:
    """The seconds of a command, shared between the questions that it asks."""

    def __init__(self, seconds: float | None) -> None:
        self._start = time.perf_counter()
        self._seconds = seconds

    def share(self, questions: int = 1) -> float | None:
        """What the next of so many questions may take; a little always, as the limit is soft."""
        if self._seconds is None:
            return None
        left = self._seconds - (time.perf_counter() - self._start)
        return max(left / questions, min(0.1, self._seconds))


def _built(flags: Mapping[str, Any]) -> Scheme:
    if "sigma" in flags and "scale" in flags:
        raise ValueError(f"one of --sigma and --scale must be given, got {flags['sigma']:g} and {flags['scale']:g}")
    if "sigma" not in flags and "scale" not in flags:
        raise ValueError("a scheme is needed: an expression, or one of --sigma and --scale")
    if "picks" in flags and "steps" not in flags:
        raise ValueError(f"--picks {flags['picks']} needs --steps")
    built: Scheme = Gaussian(flags["sigma"]) if "sigma" in flags else Laplace(flags["scale"])
    if "steps" in flags:
        built = built.allocate(flags["steps"], flags.get("picks", 1))
    if "rate" in flags:
        built = built.subsample(flags["rate"])
    if "rounds" in flags:
        built = built.repeat(flags["rounds"])
    return built

"""`privloss sigma`: the least noise that meets a target."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from privloss import Scheme, calibrate
from privloss._cli._answer import Answer, answers, compared, show
from privloss._cli._command import Command
from privloss._cli._flags import Clock, add_answer, add_scheme, numbers, options, scheme


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_scheme(parser, sigma=False)
    group = parser.add_argument_group("the target: epsilon at delta, or the advantage")
    group.add_argument("--epsilon", type=numbers, metavar="X[,X...]", help="with --delta")
    group.add_argument("--delta", type=numbers, metavar="X[,X...]", help="with --epsilon")
    group.add_argument("--advantage", type=numbers, metavar="X[,X...]", help="total variation allowed")
    add_answer(parser, atol=False)


def _run(args: argparse.Namespace) -> int:
    targets, clock = _targets(args), Clock(args.seconds)
    some = _scheme(args, 1.0)  # bad input shows here, before the search
    found = _answers(partial(_scheme, args), targets, args, clock)
    if some.poisson() != some and not args.quiet:
        found = _beside_twins(found, targets, args, clock)
    return show(found, args)


def _targets(args: argparse.Namespace) -> list[dict[str, float]]:
    """What `calibrate` is to meet: every epsilon with every delta, or every advantage."""
    pair = [args.epsilon is not None, args.delta is not None]
    if any(pair) == (args.advantage is not None) or any(pair) != all(pair):
        raise ValueError("a target is needed: --epsilon and --delta, or --advantage alone")
    if args.advantage is not None:
        return [{"advantage": value} for value in args.advantage]
    return [{"epsilon": epsilon, "delta": delta} for epsilon in args.epsilon for delta in args.delta]


def _answers(
    family: Callable[[float], Scheme],
    targets: Sequence[dict[str, float]],
    args: argparse.Namespace,
    clock: Clock,
) -> list[Answer]:
    how = {"direction": args.direction, "rtol": 1e-3 if args.rtol is None else args.rtol, "atol": 0.0}
    found = []
    for place, target in enumerate(targets):
        seconds = clock.share(len(targets) - place)
        wanted: dict[str, Any] = {**target, **options(args, "rtol")}
        bracket = calibrate(family, **wanted, direction=args.direction, seconds=seconds)
        given = {**target, **how, "seconds": args.seconds}
        found += answers("sigma", [given], bracket, family(float(bracket)))
    return found


def _beside_twins(
    found: list[Answer], targets: Sequence[dict[str, float]], args: argparse.Namespace, clock: Clock
) -> list[Answer]:
    try:
        return compared(found, _answers(lambda sigma: _scheme(args, sigma).poisson(), targets, args, clock))
    except ValueError:  # no noise makes the twin meet the target: the answer stands alone
        return found


def _scheme(args: argparse.Namespace, sigma: float) -> Scheme:
    return scheme(args, sigma=sigma)


COMMANDS = (
    Command(
        "sigma",
        "The least noise that meets a target.",
        'privloss sigma "Gaussian({sigma}).allocate(1000)" --epsilon 1 --delta 1e-6',
        _arguments,
        _run,
    ),
)

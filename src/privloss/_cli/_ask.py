"""`privloss epsilon | delta | tradeoff`: a question about a scheme, at the values given."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from privloss import Bracket, Scheme
from privloss._cli._answer import Answer, answers, compared, show
from privloss._cli._command import Command
from privloss._cli._flags import Clock, add_answer, add_scheme, numbers, options, scheme


class _Question(NamedTuple):
    name: str
    given: str
    meaning: str
    example: str
    summary: str
    atol: float = 0.0  # the library's default, printed with the answer

    @property
    def command(self) -> Command:
        example = f"privloss {self.name} --sigma 1 --steps 1000 --{self.given} {self.example}"
        return Command(self.name, self.summary, example, self._arguments, self._run)

    def _arguments(self, parser: argparse.ArgumentParser) -> None:
        add_scheme(parser)
        meaning = f"{self.meaning}; a comma list for several"
        parser.add_argument(f"--{self.given}", type=numbers, required=True, metavar="X[,X...]", help=meaning)
        add_answer(parser)

    def _run(self, args: argparse.Namespace) -> int:
        clock, of = Clock(args.seconds), scheme(args)
        found = self._answers(of, args, args.seconds)
        twin = of.poisson()
        if twin != of and not args.quiet:
            found = compared(found, self._answers(twin, args, clock.share()))
        return show(found, args)

    def _answers(self, of: Scheme, args: argparse.Namespace, seconds: float | None) -> list[Answer]:
        values = getattr(args, self.given)
        bracket: Bracket = getattr(of, self.name)(
            **{self.given: list(values) if len(values) > 1 else values[0]},
            **options(args, "rtol", "atol"),
            direction=args.direction,
            seconds=seconds,
        )
        how = {"direction": args.direction, **self._tolerances(args), "seconds": args.seconds}
        return answers(self.name, [{self.given: value, **how} for value in values], bracket, of)

    def _tolerances(self, args: argparse.Namespace) -> dict[str, float]:
        """Those that the library worked to: rtol alone means atol=0."""
        rtol = 1e-3 if args.rtol is None else args.rtol
        atol = self.atol if args.rtol is None else 0.0
        return {"rtol": rtol, "atol": atol if args.atol is None else args.atol}


_QUESTIONS = (
    _Question(
        "epsilon", "delta", "probability of failure", "1e-6", "The smallest epsilon at a delta.", atol=1e-6
    ),
    _Question("delta", "epsilon", "any real number", "1", "The smallest delta at an epsilon."),
    _Question("tradeoff", "fpr", "false positive rate", "0.01", "An attack's smallest false negative rate."),
)

COMMANDS = tuple(question.command for question in _QUESTIONS)

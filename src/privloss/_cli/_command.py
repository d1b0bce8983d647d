"""What a command is, and the parser that reads one."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from privloss import __version__

_NEGATIVE = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)


@dataclass(frozen=True)
class Command:
    """`privloss NAME`: `arguments` declares its flags, `run` answers and returns the exit status."""

    name: str
    summary: str
    example: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Bad input is one line for `main` to print, not a page of usage."""
        raise ValueError(message)


def parser(commands: Iterable[Command]) -> argparse.ArgumentParser:
    """The parser of the whole command line; what it reads has the chosen command as `command`."""
    top = _Parser(
        prog="privloss",
        description="Privacy accounting with certified lower and upper bounds.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"privloss {__version__}")
    each = top.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        sub = each.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            epilog=f"example: {command.example}".replace("%", "%%"),
            allow_abbrev=False,
        )
        command.arguments(sub)
        sub.set_defaults(command=command)
    return top


def attached(argv: Sequence[str]) -> list[str]:
    """`--epsilon -1e-3` as `--epsilon=-1e-3`: argparse would take some negative numbers for flags."""
    tokens: list[str] = []
    for token in argv:
        if tokens and _NEGATIVE.match(token) and tokens[-1].startswith("--") and "=" not in tokens[-1]:
            tokens[-1] += f"={token}"
        else:
            tokens.append(token)
    return tokens

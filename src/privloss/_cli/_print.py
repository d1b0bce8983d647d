"""Text on its way to a console, a pipe or a file: plain ASCII, brighter on a terminal with rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import NamedTuple

_LONGEST = 600  # characters of a complaint: a pasted expression can be megabytes


class Line(NamedTuple):
    """A line of output and the style that a terminal gives it."""

    text: str
    style: str = ""


def write(lines: Sequence[Line]) -> None:
    """Print the lines; rich changes their colours, never their text."""
    if sys.stdout is None:  # closed
        raise OSError("standard output is closed")
    if sys.stdout.isatty() and find_spec("rich") is not None:
        _bright(lines)
    else:
        sys.stdout.write("".join(f"{printable(line.text)}\n" for line in lines))


def complain(message: str, status: int) -> int:
    """One line on stderr, whatever is in the message; the exit status, for the caller to return."""
    line = printable(" ".join(message.split()))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST - 3]}..."
    with suppress(OSError):  # nobody may listen there either: the status still tells
        print(f"privloss: {line}", file=sys.stderr, flush=True)
    return status


def printable(text: str) -> str:
    """ASCII without control characters: safe on every console, and no message can forge a second line."""
    return "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode("ascii") for c in text)


def flush() -> None:
    """Write what is still held back, so that a closed pipe or a full disk shows now."""
    if sys.stdout is not None:
        sys.stdout.flush()


def hush() -> None:
    """Send what stdout still holds nowhere: the interpreter would complain about it when it ends."""
    with suppress(OSError, ValueError, AttributeError):  # where stdout is no file, nothing will be written
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _bright(lines: Sequence[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text(printable(line.text), style=line.style))

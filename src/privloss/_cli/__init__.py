"""The command line: `privloss COMMAND ...`.

A file of this folder that is named in `_FILES` adds the commands in its `COMMANDS`. To keep all of them quick
it imports what its flags need; what an answer needs it imports when it runs.

    _command    what a command is, and the parser that reads one
    _flags      the flags that commands share, and the schemes that they build
    _answer     one answer, as JSON and as a table
    _print      text on its way to a console, a pipe or a file
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from privloss._check import show as shown
from privloss._cli._command import Command, attached, parser
from privloss._cli._print import complain, flush, hush

_FILES = ("_ask", "_sigma", "_sweep")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the status is 0, 1 (a verification failed), 2 (bad input) or 130 (interrupted)."""
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        flush()
    except KeyboardInterrupt as stopped:
        return complain(str(stopped) or "interrupted", 130)
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        hush()
        return 0
    except OSError as error:  # a full disk, a file that is not there
        hush()
        return complain(str(error), 2)
    except RecursionError:
        return complain("the scheme is nested too deeply", 2)
    except MemoryError:
        return complain("the scheme needs more memory than there is", 2)
    except (ValueError, TypeError, OverflowError, ImportError) as error:  # an extra is missing
        return complain(str(error), 2)
    return status


def _run(argv: Sequence[str]) -> int:
    commands = _commands()
    if not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help", "--version")):
        names = ", ".join(command.name for command in commands)
        raise ValueError(f"a command is needed: one of {names}, or --help; got {shown(argv[0]) if argv else 'none'}")
    try:
        args = parser(commands).parse_args(attached(argv))
    except SystemExit:  # --help or --version, already printed
        return 0
    command: Command = args.command
    return command.run(args)


def _commands() -> list[Command]:
    return [command for file in _FILES for command in import_module(f"{__name__}.{file}").COMMANDS]

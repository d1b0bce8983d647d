"""`privloss sweep`: a grid of questions, and `privloss sweep show`: what its journal knows."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from privloss._cli._command import Command
from privloss._cli._flags import limit, whole
from privloss._cli._print import Line, write

_SHOW = "show"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("grid", metavar="GRID", help="a grid, as TOML; `show` shows what the journal knows of one")
    parser.add_argument("of", nargs="?", metavar="GRID|JOURNAL", help="after `show`: of what (the latest grid)")
    run = parser.add_argument_group("the sweep")
    where = "a file to write: .parquet, .csv, .sqlite or .sql; a table is printed without it"
    run.add_argument("-o", "--output", metavar="FILE", help=where)
    run.add_argument("--jobs", type=whole, metavar="N", help="processes (as many as there are cores)")
    run.add_argument("--dask", metavar="ADDRESS", help="of a Dask scheduler to use instead; `local` starts one")
    time = "for each point, or none; instead of the grid's"
    run.add_argument("--seconds", type=limit, metavar="X", default=argparse.SUPPRESS, help=time)
    run.add_argument("--journal", metavar="FILE", help="the SQLite file with the answers (one in your data folder)")
    show = parser.add_argument_group("what is shown")
    show.add_argument("--plot", metavar="FILE", help="draw lines or maps: .png, .svg or .pdf")
    show.add_argument("--quiet", action="store_true", help="no progress, no summary")


def _run(args: argparse.Namespace) -> int:
    return _show(args) if args.grid == _SHOW else _sweep(args)


def _sweep(args: argparse.Namespace) -> int:
    from privloss.sweep import Grid, _show, _table, sweep

    if args.of is not None:
        raise ValueError(f"one grid is needed, got {args.of!r} as well")
    if args.output is not None:
        _table.check(args.output)
    if args.plot is not None:
        _show.check(args.plot)
    grid = Grid(args.grid, **_seconds(args))
    rows = sweep(grid, args.jobs, args.journal, dask=args.dask, quiet=args.quiet)
    if args.output is not None:
        _table.save(rows, args.output)
    return _said(grid, rows, args)


def _show(args: argparse.Namespace) -> int:
    from privloss.sweep import Grid, look

    for flag in ("output", "jobs", "dask"):
        if getattr(args, flag) is not None:
            raise ValueError(f"sweep show computes nothing, so --{flag} must not be given")
    source: Any = args.of
    if source is None or Path(source).suffix.lower() != ".toml":
        source, args.journal = _latest(args)
    grid = Grid(source, **_seconds(args))
    return _said(grid, look(grid, args.journal), args)


def _latest(args: argparse.Namespace) -> tuple[Any, Path]:
    """The last grid that was begun with a journal."""
    from privloss.sweep import Journal, home

    if args.of is not None and args.journal is not None:
        raise ValueError(f"one journal is needed, got {args.of!r} and --journal {args.journal!r}")
    named = args.of or args.journal
    path = home() if named is None else Path(named)
    with Journal(path, readonly=True) as journal:
        found = journal.latest()
    if found is None:
        raise ValueError(f"no sweep was run with the journal {path}")
    return found, path


def _seconds(args: argparse.Namespace) -> dict[str, Any]:
    return {"seconds": args.seconds} if "seconds" in args else {}


def _said(grid: Any, rows: Any, args: argparse.Namespace) -> int:
    """A table, unless that went into a file; a picture; a line about the whole."""
    from privloss.sweep import _show

    if args.plot is not None:
        _show.draw(grid, rows, args.plot)
    if args.output is None and not args.quiet:
        head, *lines = _show.text(grid, rows)
        write([Line(head, "bold"), *map(Line, lines), Line("")])
    elif args.output is None:
        write([Line(json.dumps(row[_show.safe(grid)])) for row in rows])
    if not args.quiet:
        write([Line(_show.summary(grid, rows))])
    return 0


COMMANDS = (
    Command(
        "sweep",
        "A grid of questions, on all cores or a cluster, from a journal that survives anything.",
        "privloss sweep examples/noise.toml",
        _arguments,
        _run,
    ),
)

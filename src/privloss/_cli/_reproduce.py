"""`privloss reproduce`: the paper's figures and tables, and a verdict on each of its claims."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from privloss._check import count
from privloss._cli._command import Command
from privloss._cli._flags import whole
from privloss._cli._print import Line, flush, write

_ALL = "all"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="figures to make, or `all`; without one, what there is"
    )
    parser.add_argument("--quick", action="store_true", help="fewer points: all of it in a few minutes")
    parser.add_argument("--out", metavar="DIR", default="reproduction", help="where to write (reproduction)")
    parser.add_argument("--jobs", type=whole, metavar="N", help="processes (as many as there are cores)")
    parser.add_argument("--journal", metavar="FILE", help="the SQLite file with the answers (one in your data folder)")
    parser.add_argument("--quiet", action="store_true", help="no progress, and one line a figure")


def _run(args: argparse.Namespace) -> int:
    from privloss.reproduce import _run, catalogue, figure

    if not args.names:
        return _listed(catalogue())
    chosen = catalogue() if _ALL in args.names else [figure(name) for name in dict.fromkeys(args.names)]
    folder = Path(args.out)
    if not args.out:
        raise ValueError("out must be a folder to write to, got ''")
    if args.jobs is not None:
        count(jobs=args.jobs, most=1024)
    _run.check(folder)
    if not args.quiet:
        write([Line(_beforehand(chosen, args)), Line("")])
        flush()
    surprises = 0
    for each in chosen:
        made = _run.run(each.name, folder, quick=args.quick, jobs=args.jobs, quiet=args.quiet, journal=args.journal)
        surprises += made.surprises
        write(_brief(made) if args.quiet else _told(made))
        flush()
    return 1 if surprises else 0


def _listed(figures: list[Any]) -> int:
    width = max(len(each.name) for each in figures)
    lines = [Line(f"{'NAME'.ljust(width)}  {'quick':>7}  {'full':>7}  what it shows", "bold")]
    for each in figures:
        times = "  ".join(_duration(seconds).rjust(7) for seconds in each.seconds)
        lines.append(Line(f"{each.name.ljust(width)}  {times}  {each.title}{' (further)' * each.further}"))
    totals = "  ".join(_duration(sum(each.seconds[i] for each in figures)).rjust(7) for i in (0, 1))
    lines += [Line(f"{_ALL.ljust(width)}  {totals}  on two cores"), Line("")]
    write([*lines, Line("privloss reproduce NAME ... [--quick] [--out DIR] makes them")])
    return 0


def _beforehand(chosen: list[Any], args: argparse.Namespace) -> str:
    from privloss.reproduce import _run
    from privloss.sweep._run import cores

    jobs = args.jobs or cores()
    time = _duration(_run.expected(chosen, quick=args.quick, jobs=jobs))
    figures = f"{len(chosen)} figure{'s' * (len(chosen) > 1)}"
    return f"{figures} into {args.out}, {'quick' if args.quick else 'in full'}: about {time}, less what the journal has"


def _told(made: Any) -> list[Line]:
    lines = [Line(f"{made.figure.name}: {made.figure.title}", "bold")]
    for claim, verdict in made.verdicts:
        word = "holds" if verdict.holds else "does not hold"
        lines.append(Line(f"  {word}: {claim.says}", "green" if verdict.holds else "red"))
        lines.append(Line(f"      {verdict.number}{' (further than the paper)' * claim.ours}"))
        if not verdict.holds and claim.known:
            lines.append(Line(f"      {claim.known}"))
    if made.failed:
        lines.append(Line(f"  {made.failed} of {len(made.data)} points have no answer: see the column error", "red"))
    files = ", ".join(path.name for path in made.files)
    return [*lines, Line(f"  {len(made.data):,} rows in {_duration(made.seconds)}: {files}"), Line("")]


def _brief(made: Any) -> list[Line]:
    held = sum(verdict.holds for _, verdict in made.verdicts)
    return [Line(f"{made.figure.name} {held} of {len(made.verdicts)} claims hold")]


def _duration(seconds: float) -> str:
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{round(seconds / 60)} min"


# The tests run each command's example, and this one writes nothing.
COMMANDS = (
    Command(
        "reproduce",
        "The paper's figures and tables, computed anew, and a verdict on each of its claims.",
        "privloss reproduce",
        _arguments,
        _run,
    ),
)

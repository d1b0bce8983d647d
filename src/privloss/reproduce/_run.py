"""A figure made: its points through the sweep, then the table, the pictures and the verdicts."""

from __future__ import annotations

import json
import os
import pkgutil
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from privloss import __version__, _check
from privloss.reproduce import figures
from privloss.reproduce._data import Data, Row
from privloss.reproduce._figure import Claim, Figure, Verdict

VERDICTS = "verdicts.json"
CORES = 2  # that the expected times are for


@dataclass(frozen=True)
class Result:
    """What came of a figure: its rows, a verdict for each claim, the files and the seconds it took."""

    figure: Figure
    data: Data
    verdicts: tuple[tuple[Claim, Verdict], ...]
    files: tuple[Path, ...]
    seconds: float
    quick: bool

    @property
    def surprises(self) -> int:
        """Claims that do not hold although nothing says why."""
        return sum(not verdict.holds and not claim.known for claim, verdict in self.verdicts)

    @property
    def failed(self) -> int:
        """Points without an answer."""
        return sum(row.get("error") is not None for row in self.data)


@cache
def _found() -> dict[str, Figure]:
    modules = pkgutil.iter_modules(figures.__path__)
    every = [import_module(f"{figures.__name__}.{module.name}").FIGURE for module in modules]
    return {each.name: each for each in sorted(every, key=lambda each: (each.further, each.place, each.name))}


def catalogue() -> list[Figure]:
    """What there is: the paper's figures in its order, then those that go further."""
    return list(_found().values())


def figure(name: str) -> Figure:
    """The figure with that name, which is its label in the paper's source.

    >>> figure("no-domination").title
    'Two privacy profiles that cross'
    """
    if name not in _found():
        raise ValueError(f"NAME must be one of {', '.join(_found())}, got {_check.show(name)}")
    return _found()[name]


def check(out: Path) -> None:
    """Whether pictures can be drawn, and written there, before anything is computed for them."""
    if find_spec("matplotlib") is None:
        raise ImportError("pictures need the extra plot: pip install privloss[plot]")
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise ValueError(f"out must be a folder that can be written to, got {str(out)!r}")


def run(
    name: str,
    out: str | os.PathLike[str] = "reproduction",
    *,
    quick: bool = False,
    jobs: int | None = None,
    quiet: bool = False,
    journal: str | os.PathLike[str] | None = None,
) -> Result:
    """Compute what the journal does not have yet, write NAME.csv, NAME.svg and NAME.png, and check the claims."""
    chosen, folder = figure(name), Path(out)
    check(folder)
    began = time.perf_counter()
    data = Data(_rows(chosen, quick, jobs, quiet, journal))
    verdicts = tuple((claim, judged(claim, data)) for claim in chosen.claims)
    files = (folder / f"{name}.csv", *drawn(chosen, data, folder))
    data.save(files[0])
    result = Result(chosen, data, verdicts, files, time.perf_counter() - began, quick)
    _note(result, folder / VERDICTS)
    return result


def _rows(
    chosen: Figure, quick: bool, jobs: int | None, quiet: bool, journal: str | os.PathLike[str] | None
) -> list[Row]:
    from privloss.sweep import sweep

    rows: list[Row] = []
    for part in chosen.parts(quick):
        answers = sweep(part.grid, 1 if chosen.alone else jobs, journal, quiet=quiet)
        rows += [{**part.tags, "question": part.grid["question"], **row} for row in answers]
    return rows if chosen.derive is None else rows + chosen.derive(rows)


def judged(claim: Claim, data: Data) -> Verdict:
    """A claim about points that have no answer does not hold."""
    try:
        verdict = claim.check(data)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return Verdict(False, f"could not be checked: {type(error).__name__}: {error}")
    return Verdict(bool(verdict.holds), verdict.number)


def drawn(chosen: Figure, data: Data, folder: Path) -> tuple[Path, ...]:
    from privloss.reproduce import _style

    with _style.look():
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=chosen.size, layout="constrained")
        chosen.draw(data, canvas)
        return _style.save(canvas, folder / chosen.name)


def _note(result: Result, path: Path) -> None:
    """Add the verdicts to those of the figures made before."""
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known[result.figure.name] = {
        "title": result.figure.title,
        "quick": result.quick,
        "points": len(result.data),
        "seconds": round(result.seconds, 1),
        "version": __version__,
        "claims": [said(claim, verdict) for claim, verdict in result.verdicts],
    }
    order = {name: known[name] for name in _found() if name in known}
    path.write_text(json.dumps(order, indent=1) + "\n", encoding="utf-8")


def said(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it."""
    return {"says": claim.says, "ours": claim.ours, **asdict(verdict), "known": claim.known}


def expected(chosen: Iterable[Figure], *, quick: bool, jobs: int) -> float:
    """Seconds that they take, about, with an empty journal."""
    return sum(each.seconds[not quick] * (1 if each.alone else CORES / min(jobs, CORES)) for each in chosen)

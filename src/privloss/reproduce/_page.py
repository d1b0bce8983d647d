"""The page that shows every figure with its claims, from a folder of results: nothing is computed for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privloss.reproduce._figure import Figure
from privloss.reproduce._run import VERDICTS, catalogue

_OPENING = """# The paper's figures, computed anew

Every figure and table of the paper, and some that go further: picture, what is claimed, and what was measured. Each
verdict is the code's, from the numbers in the data file, and one command makes it all again:

    privloss reproduce NAME ... [--quick] [--out DIR]

Shades are brackets: the value lies in them, rounding errors included. Where several steps are chosen the lower end is
one of the [reduction](looseness.md) to one pick a block. What other methods answer is as on [their page](bounds.md).

Many claims are words, such as "close", "stable" or "slightly". The numbers that stand for them (1.25, 10 %, 3 %, 15 %,
"where epsilon is at most 1"), and parameters that the paper does not give, are choices made here, some of the
parameters after a first look at the data; where a verdict is known to depend on that, the figure's text says so.
"""


def page(results: Path) -> str:
    """``results`` has the verdicts, the pictures and the data files; the page goes into the folder above."""
    verdicts: Mapping[str, Any] = json.loads((results / VERDICTS).read_text(encoding="utf-8"))
    made = [figure for figure in catalogue() if figure.name in verdicts]
    every = [claim for figure in made for claim in verdicts[figure.name]["claims"]]
    ours, theirs = ([claim for claim in every if claim["ours"] is further] for further in (True, False))
    counted = f"Of the paper's {len(theirs)} claims {_held(theirs)} hold, of {len(ours)} further ones {_held(ours)}."
    parts = [_OPENING, f"{counted}\n", *_missed(made, verdicts)]
    for further, title in ((False, "Figures of the paper"), (True, "Further than the paper")):
        shown = [figure for figure in made if figure.further is further]
        if shown:
            parts += [f"## {title}\n", *(_section(figure, verdicts[figure.name], results.name) for figure in shown)]
    return "\n".join(parts)


def _held(claims: Sequence[Mapping[str, Any]]) -> int:
    return sum(claim["holds"] for claim in claims)


def _missed(made: Sequence[Figure], verdicts: Mapping[str, Any]) -> list[str]:
    """Those that do not hold come first: nobody should have to look for them."""
    rows = [
        f"| [{figure.name}](#{figure.name.lower()}) | {claim['says']} | {claim['number']} | {claim['known']} |"
        for figure in made
        for claim in verdicts[figure.name]["claims"]
        if not claim["holds"]
    ]
    head = ["What does not hold:\n", "| figure | claim | measured | why |", "|---|---|---|---|"]
    return ["\n".join([*head, *rows, ""])] if rows else []


def _section(figure: Figure, told: Mapping[str, Any], folder: str) -> str:
    picture = f"![{figure.title}]({folder}/{figure.name}.svg)"
    lines = [f"### {figure.name}\n", f"{picture}\n", f"{figure.title}. {figure.note}\n"]
    lines += ["| claim | verdict | measured |", "|---|---|---|"]
    for claim in told["claims"]:
        says = claim["says"] + (" (ours)" if claim["ours"] and not figure.further else "")
        lines.append(f"| {says} | {'holds' if claim['holds'] else '**does not hold**'} | {claim['number']} |")
    files = f"[data]({folder}/{figure.name}.csv)"
    quick = " --quick" if told["quick"] else ""
    lines.append(f"\n`privloss reproduce {figure.name}{quick}`: {told['points']:,} rows, {files}.\n")
    return "\n".join(lines)

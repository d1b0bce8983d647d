"""How much less epsilon is by allocation than by Poisson subsampling, each cell refined until it is decided."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict
from privloss.reproduce._methods import LESS, MORE, ZERO
from privloss.reproduce.figures.param_scan_eps import DELTAS, EPOCH, panels, parameters, table

LIMIT = 60  # seconds for a cell


def _parts(quick: bool) -> list[Part]:
    grid = {
        "question": "epsilon",
        "scheme": EPOCH,
        "method": ["against_poisson"],
        "parameters": parameters(quick),
        "delta": DELTAS,
        "seconds": 5 if quick else LIMIT,
    }
    return [Part(grid)]


def _counted(data: Data) -> dict[str, int]:
    found = {LESS: 0, MORE: 0, ZERO: 0}
    for row in data:
        said = row["error"] or row["reason"]
        found[said] = found.get(said, 0) + 1
    return found


def _never(data: Data) -> Verdict:
    count = _counted(data)
    worst = min(row["upper"] for row in data.answered())
    said = (
        f"Poisson is less in {count[MORE]} of {len(data)} cells; its epsilon less ours is at most {worst:.1e} or more"
    )
    return Verdict(count[MORE] == 0 and worst >= 0, said)


def _decided(data: Data) -> Verdict:
    every = data.where(rounds=100)
    count = _counted(every)
    left = sum(number for said, number in count.items() if said not in (LESS, MORE, ZERO))
    open_cells = [row for row in every if row["reason"] not in (LESS, MORE, ZERO)]
    listed = "; ".join(
        f"sigma={row['sigma']:g}, t={row['steps']}, delta={row['delta']:g}: within {row['upper'] - row['lower']:.0e}, "
        f"{row['error'] or row['reason']}"
        for row in open_cells
    )
    said = f"allocation less in {count[LESS]} cells, Poisson in {count[MORE]}, both exactly 0 in {count[ZERO]}"
    said += f", {left} open"
    return Verdict(left == 0 < len(every), f"{said}{': ' * bool(listed)}{listed}")


def _share(row: dict[str, Any]) -> float:
    return float(row["lower"]) if row["reason"] == LESS else float("nan")


def _draw(data: Data, canvas: Any) -> None:
    from matplotlib.colors import LogNorm

    found = [row["lower"] for row in data.where(reason=LESS)]
    norm, mesh, axes = LogNorm(max(min(found), 1e-10), max(found)), None, []
    for each, _, _, cells in panels(canvas, data):
        each.set_facecolor("white")
        sigmas, steps, values = table(cells, _share)
        mesh = _style.heat(each, sigmas, steps, values, norm=norm, cmap="cividis")
        for row in cells:
            mark = {LESS: "", ZERO: "0", MORE: "P"}.get(row["reason"], "?")
            at = sigmas.index(row["sigma"]) + 0.5, steps.index(row["steps"]) + 0.5
            each.annotate(mark, at, ha="center", va="center", color=_style.GREY, fontsize=7)
        axes.append(each)
    label = "$\\varepsilon$ of Poisson less that of allocation, lower bound (0: both are exactly 0; ?: open)"
    canvas.colorbar(mesh, ax=axes, label=label, shrink=0.9)


FIGURE = Figure(
    name="param_scan_gap",
    title="Poisson's epsilon less allocation's, every cell decided",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("Poisson is never less: its upper bound is never below our lower bound", _never),
        Claim(
            "no cell of the scan at 100 epochs is left undecided",
            _decided,
            ours=True,
            known="millions of rounds of Poisson subsampling meet the floating-point floor before the two part",
        ),
    ),
    seconds=(6, 120),
    place=7.5,
    note="As param_scan_eps. Both brackets of a cell are refined until they part, or 60 s are spent.",
    size=(6.8, 5.4),
)

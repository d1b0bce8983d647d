"""PREAMBLE's ratio for all block sizes and batch sizes, each a certified bracket."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Verdict
from privloss.reproduce.figures.PREAMBLE import derive, parts, ratios

BATCHES = [2**i for i in range(9, 20)] + [600_000]
BLOCKS = [2**i for i in range(2, 16)]


def _narrow(data: Data) -> Verdict:
    rows = ratios(data).rows
    worst = max(rows, key=lambda row: row["gap"] / row["upper"])
    said = f"the widest is {worst['gap'] / worst['upper']:.1e} of it (b={worst['batch']}, B={worst['block']})"
    return Verdict(worst["gap"] <= 1e-3 * worst["upper"], f"{said}, of {len(rows)}")


def _rises(data: Data) -> Verdict:
    """In the block size, for every batch: no bracket is below the one before."""
    wrong, best, worst = 0, float("inf"), 0.0
    for _, rows in ratios(data).groups("batch"):
        ordered = rows.sorted("block").rows
        wrong += sum(b["upper"] < a["lower"] for a, b in pairwise(ordered))
        best, worst = min(best, ordered[0]["lower"]), max(worst, ordered[-1]["upper"])
    return Verdict(
        wrong == 0 and worst > 0, f"it falls at {wrong} of {len(ratios(data))} places; from {best:.4f} to {worst:.4f}"
    )


def _draw(data: Data, canvas: Any) -> None:
    from matplotlib.colors import LogNorm

    axes = canvas.subplots()
    rows = {(row["block"], row["batch"]): row for row in ratios(data)}
    blocks, batches = ratios(data).values("block"), ratios(data).values("batch")
    cells = [[rows[block, batch]["upper"] - 1 for block in blocks] for batch in batches]
    mesh = _style.heat(axes, blocks, batches, cells, norm=LogNorm(), cmap="cividis")
    for (block, batch), row in rows.items():
        dark = row["upper"] - 1 < 0.2
        at = blocks.index(block) + 0.5, batches.index(batch) + 0.5
        axes.annotate(
            f"{row['upper']:.2f}", at, ha="center", va="center", color="white" if dark else "black", fontsize=6.5
        )
    axes.set_xticks([i + 0.5 for i in range(len(blocks))], [f"$2^{{{block.bit_length() - 1}}}$" for block in blocks])
    named = [f"$2^{{{b.bit_length() - 1}}}$" if b & (b - 1) == 0 else f"{b:,}" for b in batches]
    axes.set_yticks([i + 0.5 for i in range(len(batches))], named)
    axes.set(xlabel="block size $B$", ylabel="batch $b$")
    canvas.colorbar(mesh, ax=axes, label="noise over that of plain DP-SGD, less 1 (upper end)")


FIGURE = Figure(
    name="PREAMBLE_grid",
    title="PREAMBLE's ratio for all block sizes and batch sizes",
    parts=lambda quick: parts([4096, 600_000] if quick else BATCHES, [2**8, 2**11] if quick else BLOCKS, ["engine"]),
    derive=derive,
    draw=_draw,
    claims=(
        Claim("the ratio's bracket is at most 1e-3 of it wide", _narrow, ours=True),
        Claim("the ratio grows with the block size, at every batch size", _rises, ours=True),
    ),
    seconds=(2, 450),
    place=3,
    further=True,
    note="As PREAMBLE, with batches 2^9 to 2^19 and 600,000, blocks 2^2 to 2^15 (one pick).",
    size=(6.8, 4.4),
)

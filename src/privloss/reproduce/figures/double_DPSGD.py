"""The four ways to nest Poisson subsampling and allocation in one another."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data, Row
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

NAMES = {"a": "allocation", "p": "Poisson"}
COLORS = (_style.BLUE, _style.ORANGE, _style.GREEN, _style.RED, _style.SKY, _style.PINK, _style.BLACK, _style.GREY)


def nested(kinds: str, levels: list[tuple[int, int]]) -> str:
    """From the inside out: ``a`` is an allocation of k of t, ``p`` Poisson subsampling at k/t in t rounds."""
    text = "Gaussian({sigma})"
    for kind, (steps, picks) in zip(kinds, levels, strict=True):
        if kind == "a":
            text += f".allocate({steps}, picks={picks})"
        else:
            text += f".subsample({picks / steps!r}).repeat({steps})"
    return text


def label(kinds: str) -> str:
    return ", ".join(NAMES[kind] for kind in kinds)


def parts(every: list[str], levels: list[tuple[int, int]], sigmas: list[float]) -> list[Part]:
    schemes = {label(kinds): nested(kinds, levels) for kinds in every}
    asked = {"question": "epsilon", "delta": 1e-8, "seconds": 30}
    return [Part({**asked, "scheme": schemes, "parameters": {"sigma": sigmas}})]


def spread(limit: float, ours: float = 1.0) -> Any:
    """That all are close where epsilon is at most ``ours``: the largest upper end over the smallest lower one."""

    def check(data: Data) -> Verdict:
        found = []
        for (sigma,), rows in data.groups("sigma"):
            highest: Row = max(rows, key=lambda row: row["upper"])
            lowest: Row = min(rows, key=lambda row: row["lower"])
            found.append(
                (highest["upper"] / lowest["lower"], sigma, highest["upper"], highest["scheme"], lowest["scheme"])
            )
        near = max(each for each in found if each[2] <= ours)
        worst = max(found)
        said = (
            f"the largest is at most {near[0]:.3f} times the smallest there, {worst[0]:.3f} times at "
            f"sigma={worst[1]:g}, ({worst[3]}) over ({worst[4]}), with epsilon up to {worst[2]:.2g}"
        )
        return Verdict(near[0] <= limit, said)

    return check


def draw(data: Data, canvas: Any) -> None:
    left, right = canvas.subplots(1, 2)
    schemes = data.values("scheme")
    first = {row["sigma"]: row["upper"] for row in data.where(scheme=label("p" * (schemes[0].count(",") + 1)))}
    lines = []
    for name, color in zip(schemes, COLORS, strict=False):
        found = data.where(scheme=name)
        _style.band(left, found, "sigma", color)
        over = Data(
            {
                "sigma": row["sigma"],
                "lower": row["lower"] / first[row["sigma"]],
                "upper": row["upper"] / first[row["sigma"]],
            }
            for row in found
        )
        lines.append((_style.band(right, over, "sigma", color), name))
    left.set(yscale="log", xlabel="noise $\\sigma$", ylabel="privacy $\\varepsilon$ at $\\delta=10^{-8}$")
    right.set(xlabel="noise $\\sigma$", ylabel="$\\varepsilon$ over that of Poisson throughout")
    _style.decades(left)
    _style.names(right, lines)


LEVELS = [(50, 2), (20, 2)]

FIGURE = Figure(
    name="double_DPSGD",
    title="Two consecutive samplings, Poisson or allocation",
    parts=lambda quick: parts(["aa", "ap", "pa", "pp"], LEVELS, [1, 2, 4] if quick else [0.7, 1, 1.5, 2, 2.5, 3, 4]),
    draw=draw,
    claims=(Claim("the four nestings are close: within a factor of 1.25 where epsilon is at most 1", spread(1.25)),),
    seconds=(2, 6),
    place=14,
    note="Named from the inside out: t1=50, k1=2, then t2=20, k2=2; delta 1e-8. All expect 4 steps of 1,000.",
    size=(7.6, 3.0),
)

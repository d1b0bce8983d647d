"""The gap between the bounds against the grid's step: the paper's two tables, its algorithm, and this package."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data, Row
from privloss.reproduce._figure import Claim, Figure, Part, Verdict
from privloss.reproduce.figures.runtime_experiment import slope

# The paper's tables dominates-gap-k1 and dominates-gap-kgt1: sigma, t, k, delta, step, tail, upper, lower, gap.
TABLE = [
    (2.4, 80, 1, 1e-6, 1.630755e-3, 1e-8, 0.185, 0.185, 5.64e-4),
    (2.0, 100, 1, 1e-6, 2.2798e-3, 1e-8, 0.205, 0.205, 8.36e-4),
    (2.2, 120, 1, 1e-7, 2.492507e-3, 1e-9, 0.189, 0.188, 8.03e-4),
    (0.65, 512, 64, 1e-6, 0.5, 1e-8, 55.1, 55.0, 0.127),
    (1.8, 120, 2, 1e-6, 6.97295e-3, 1e-8, 0.447, 0.444, 2.44e-3),
    (0.7, 384, 32, 1e-6, 0.407584, 1e-8, 24.7, 24.6, 0.109),
    (1.5, 150, 3, 1e-6, 1.592553e-2, 1e-8, 0.785, 0.779, 6.36e-3),
    (1.2, 180, 4, 1e-6, 3.498079e-2, 1e-8, 1.40, 1.38, 1.31e-2),
    (1.1, 190, 6, 1e-6, 7.49499e-2, 1e-8, 2.44, 2.42, 1.78e-2),
    (0.75, 320, 16, 1e-7, 0.4239968, 1e-9, 12.5, 12.4, 0.121),
    (1.0, 200, 5, 1e-6, 9.079556e-2, 1e-8, 2.43, 2.40, 2.8e-2),
    (0.75, 320, 16, 1e-6, 0.5, 1e-8, 11.3, 11.2, 0.145),
    (1.0, 180, 4, 1e-7, 0.109825, 1e-9, 2.45, 2.41, 3.67e-2),
    (0.78, 310, 14, 1e-6, 0.5, 1e-8, 9.19, 9.10, 8.79e-2),
    (0.95, 230, 7, 1e-6, 0.1897968, 1e-8, 3.50, 3.46, 4.26e-2),
    (0.9, 250, 6, 1e-6, 0.2064352, 1e-8, 3.29, 3.24, 5.51e-2),
    (0.8, 280, 8, 1e-6, 0.3682103, 1e-8, 5.40, 5.27, 0.129),
    (0.82, 305, 11, 1e-6, 0.5, 1e-8, 6.55, 6.44, 0.104),
    (0.88, 275, 9, 1e-6, 0.3964506, 1e-8, 4.85, 4.75, 0.106),
    (0.85, 275, 9, 1e-7, 0.5, 1e-9, 5.93, 5.80, 0.131),
]
SPACINGS = [0.2, 0.1, 0.05, 0.025, 0.0125]
BY = ("sigma", "steps", "picks", "delta")


def _parts(quick: bool) -> list[Part]:
    table = [TABLE[i] for i in (0, 1, 4, 10)] if quick else TABLE
    names = ("sigma", "steps", "picks", "delta", "alpha", "beta")
    scheme = "Gaussian({sigma}).allocate({steps}, picks={picks})"
    theirs = [dict(zip(names, row, strict=False)) for row in table]
    ours = [{name: row[name] for name in BY} for row in theirs]
    asked = {"question": "epsilon", "scheme": scheme}
    spacings = SPACINGS[1:4] if quick else SPACINGS
    return [
        Part({**asked, "points": theirs, "method": ["paper"]}),
        Part({**asked, "points": ours, "method": ["one_look"], "parameters": {"spacing": spacings}}),
        Part({**asked, "points": ours, "method": ["engine"], "rtol": 1e-4}),
    ]


def derive(rows: list[Row]) -> list[Row]:
    """What the tables print, beside what is computed here."""
    have = {tuple(row[name] for name in BY) for row in rows}
    printed = []
    for sigma, steps, picks, delta, alpha, beta, upper, lower, gap in TABLE:
        if (sigma, steps, picks, delta) in have:
            where = {"sigma": sigma, "steps": steps, "picks": picks, "delta": delta, "alpha": alpha, "beta": beta}
            printed.append(
                {"question": "epsilon", "method": "printed", **where, "lower": lower, "upper": upper, "gap": gap}
            )
    return printed


def at_most_twice(method: str) -> Any:
    def check(data: Data) -> Verdict:
        found = [row["gap"] / row["alpha"] for row in data.where(method=method).answered()]
        said = f"{min(found):.2f} to {max(found):.2f} times the step, at {len(found)} points"
        return Verdict(max(found) <= 2, said)

    return check


def _inside(data: Data) -> Verdict:
    """The tables print three digits, rounded: half a unit of the third is allowed."""
    pairs = data.pairs({"method": "engine"}, {"method": "printed"}, BY)
    inside = [_within(ours, theirs) for ours, theirs in pairs]
    return Verdict(
        all(inside) and bool(inside), f"{sum(inside)} of {len(inside)} brackets lie within the printed bounds"
    )


def _within(ours: Row, theirs: Row) -> bool:
    room = [0.5 * 10.0 ** (len(str(int(theirs[end]))) * (theirs[end] >= 1) - 3) for end in ("lower", "upper")]
    return bool(theirs["lower"] - room[0] <= ours["lower"] and ours["upper"] <= theirs["upper"] + room[1])


def envelope(data: Data) -> Data:
    """At each spacing the widest gap of all settings, relative to the answer: at one point it wobbles."""
    looks = data.where(method="one_look").answered()
    rows = []
    for (spacing,), found in looks.groups("spacing"):
        rows.append({"spacing": spacing, "gap": max(row["gap"] / row["upper"] for row in found)})
    return Data(rows).sorted("spacing")


def _order(data: Data) -> Verdict:
    order = slope(envelope(data), "spacing", "gap")
    return Verdict(order > 1.8, f"the widest gap goes as the spacing to the power {order:.2f}")


def _draw(data: Data, canvas: Any) -> None:
    left, right = canvas.subplots(1, 2)
    for name, mark, label in (("printed", "x", "printed in the paper"), ("paper", "o", "its algorithm, computed here")):
        rows = data.where(method=name).answered()
        scaled = [(row["alpha"] / row["upper"], row["gap"] / row["upper"]) for row in rows]
        color = _style.BLACK if name == "printed" else _style.RED
        left.plot(*zip(*scaled, strict=True), mark, color=color, markersize=4, fillstyle="none", label=label)
    ends = [min(a for a, _ in scaled) / 1.5, max(a for a, _ in scaled) * 1.5]
    left.plot(ends, [2 * end for end in ends], color=_style.GREY, linewidth=0.8)
    left.annotate("2 steps", (ends[1], 2 * ends[1]), ha="right", va="bottom", color=_style.GREY)
    left.set(xscale="log", yscale="log", xlabel="step $\\alpha/\\varepsilon$", ylabel="gap over $\\varepsilon$")
    _style.decades(left, "x")
    left.legend(frameon=False, loc="upper left", handletextpad=0.1)
    for _, found in data.where(method="one_look").answered().groups(*BY):
        rows = found.sorted("spacing")
        right.plot(rows["spacing"], [row["gap"] / row["upper"] for row in rows], color=_style.SKY, linewidth=0.6)
    top = envelope(data)
    (line,) = right.plot(top["spacing"], top["gap"], color=_style.BLUE, marker=".")
    first = (top["spacing"][0], top["gap"][0])
    guide = [first[1] * (each / first[0]) ** 2 / 6 for each in top["spacing"]]
    right.plot(top["spacing"], guide, color=_style.GREY, linewidth=0.8)
    right.set(xscale="log", yscale="log", xlabel="our spacing, in standard deviations", title="this package")
    left.set_title("the paper's algorithm")
    _style.decades(right, "x")
    _style.names(right, [(line, "widest"), (right.lines[-1], "second order")])


FIGURE = Figure(
    name="gap_vs_disc",
    title="The gap between the bounds against the grid's step",
    parts=_parts,
    derive=derive,
    draw=_draw,
    claims=(
        Claim("in the paper's tables the gap is at most two steps", at_most_twice("printed")),
        Claim("so it is by its algorithm, computed here", at_most_twice("paper")),
        Claim("our brackets lie within the printed bounds", _inside, ours=True),
        Claim("our gap is of second order in the spacing", _order, ours=True),
    ),
    seconds=(9, 50),
    place=5,
    note="The settings, steps and tails of the paper's two tables.",
    size=(7.2, 3.0),
)

"""Epsilon of allocation and of Poisson subsampling against the noise, for Gaussian and Laplace noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data, Row
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

NOISES = [0.3, 0.4, 0.5, 0.65, 0.8, 1, 1.3, 1.6, 2, 2.5, 3.2, 4]
STEPS = [10, 100, 1000]
BY = ("noise", "steps")


def parts(mechanisms: list[str], noises: list[float], steps: list[int]) -> list[Part]:
    found = []
    for mechanism in mechanisms:
        epoch = f"{mechanism}({{noise}}).allocate({{steps}})"
        grid = {
            "question": "epsilon",
            "scheme": {"allocation": epoch, "Poisson": f"{epoch}.poisson()"},
            "parameters": {"steps": steps, "noise": noises},
            "delta": 1e-6,
            "rtol": 1e-4,
            "seconds": 10,
        }
        found.append(Part(grid, {"mechanism": mechanism}))
    return found


def pairs(data: Data, mechanism: str) -> list[tuple[Row, Row]]:
    return data.where(mechanism=mechanism).pairs({"scheme": "allocation"}, {"scheme": "Poisson"}, BY)


def more_private(mechanism: str) -> Any:
    """That allocation's epsilon is at most Poisson's: at no point is its lower bound above Poisson's upper one."""

    def check(data: Data) -> Verdict:
        found = pairs(data, mechanism)
        less = sum(ours["upper"] < theirs["lower"] for ours, theirs in found)
        more = sum(ours["lower"] > theirs["upper"] for ours, theirs in found)
        said = (
            f"proven less at {less} of {len(found)} points, proven more at {more}, open at {len(found) - less - more}"
        )
        return Verdict(more == 0 and less > 0, said)

    return check


def _place(row: Row) -> str:
    return f"noise {row['noise']:g}, t={row['steps']}"


def better_at_first(mechanism: str) -> Any:
    """That it is much better where noise and steps are least."""

    def check(data: Data) -> Verdict:
        found = pairs(data, mechanism)
        ours, theirs = min(found, key=lambda each: (each[0]["noise"], each[0]["steps"]))
        ratio = ours["upper"] / theirs["lower"]
        return Verdict(ratio < 0.9, f"at most {ratio:.4f} of Poisson's at {_place(ours)}")

    return check


def worse_later(mechanism: str, limit: float) -> Any:
    """That it is worse somewhere, and where epsilon is at most 1 never by more than a factor of ``limit``."""

    def check(data: Data) -> Verdict:
        private = [(ours, theirs) for ours, theirs in pairs(data, mechanism) if theirs["upper"] <= 1]
        count = sum(ours["lower"] > theirs["upper"] for ours, theirs in private)
        worst, row = max(
            ((ours["upper"] / theirs["lower"], ours) for ours, theirs in private), key=lambda each: each[0]
        )
        said = (
            f"proven more at {count} of the {len(private)} points with epsilon up to 1, "
            f"by a factor of at most {worst:.4f} ({_place(row)})"
        )
        return Verdict(count > 0 and worst < limit, said)

    return check


def same_limit(mechanism: str) -> Any:
    """That they come together where both are largest."""

    def check(data: Data) -> Verdict:
        ours, theirs = max(pairs(data, mechanism), key=lambda each: (each[0]["steps"], each[0]["noise"]))
        low, high = ours["lower"] / theirs["upper"], ours["upper"] / theirs["lower"]
        return Verdict(low > 0.95 and high < 1.05, f"{low:.4f} to {high:.4f} of Poisson's at {_place(ours)}")

    return check


def claims(gaussian: str, laplace: str, limit: float = 1.15, *, ours: bool = False) -> tuple[Claim, ...]:
    return (
        Claim(f"{gaussian}: epsilon of allocation is at most that of Poisson", more_private(gaussian), ours=ours),
        Claim(f"{laplace}: allocation is better at small noise and few steps", better_at_first(laplace), ours=ours),
        Claim(
            f"{laplace}: it is worse elsewhere, but by less than {limit - 1:.0%} where epsilon is at most 1",
            worse_later(laplace, limit),
            ours=ours,
        ),
        Claim(f"{laplace}: both have the same limit", same_limit(laplace), ours=ours),
    )


def drawing(x: str, label: str, by: str, name: Callable[[float], str]) -> Callable[[Data, Any], None]:
    """A column for each mechanism: epsilon along ``x``, a line for each value of ``by``, and its quotient below."""

    def draw(data: Data, canvas: Any) -> None:
        mechanisms, values = list(dict.fromkeys(data["mechanism"])), data.values(by)
        panels = canvas.subplots(2, len(mechanisms), sharex=True, height_ratios=(3, 2))
        for (top, bottom), mechanism in zip(panels.T, mechanisms, strict=True):
            lines = []
            for value, color in zip(values, (_style.SKY, _style.BLUE, _style.BLACK), strict=True):
                shown = data.where(mechanism=mechanism, **{by: value})
                _style.band(top, shown.where(scheme="Poisson"), x, color, "--")
                lines.append((_style.band(top, shown.where(scheme="allocation"), x, color), name(value)))
                over = Data(
                    {x: ours[x], "lower": ours["lower"] / theirs["upper"], "upper": ours["upper"] / theirs["lower"]}
                    for ours, theirs in pairs(shown, mechanism)
                )
                _style.band(bottom, over, x, color)
            bottom.axhline(1, color=_style.GREY, linewidth=0.8)
            top.set(yscale="log", title=f"{mechanism} (dashes: Poisson)")
            bottom.set(xscale="log", xlabel=label)
            _style.decades(bottom, "x")
            if mechanism == mechanisms[-1]:
                _style.names(top, lines)
        panels[0][0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")
        panels[1][0].set_ylabel("allocation\nover Poisson")

    return draw


BY_NOISE = drawing(
    "noise", "noise $\\sigma$ (Gaussian) or scale (Laplace)", "steps", lambda steps: f"$t$ = {_style.short(steps)}"
)

FIGURE = Figure(
    name="Gauss_Laplace_by_sigma",
    title="Gaussian and Laplace noise, by the noise",
    parts=lambda quick: parts(["Gaussian", "Laplace"], NOISES[:: 4 if quick else 1] + [4] * quick, STEPS),
    draw=BY_NOISE,
    claims=claims("Gaussian", "Laplace"),
    seconds=(4, 25),
    place=11,
    note="Laplace noise has the scale that Gaussian noise has as sigma. delta 1e-6, to a relative gap of 1e-4.",
    size=(7.2, 4.4),
)

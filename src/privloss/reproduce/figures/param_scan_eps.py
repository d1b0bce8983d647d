"""Epsilon over noise, steps, delta and rounds, for allocation and for Poisson subsampling."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

SIGMAS = [0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.6, 2, 2.5, 3.2, 4]
STEPS = [10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000]
DELTAS, ROUNDS = [1e-5, 1e-8], [1, 100]
EPOCH = "Gaussian({sigma}).allocate({steps}).repeat({rounds})"
BY = ("sigma", "steps", "delta", "rounds")


def parameters(quick: bool) -> dict[str, Any]:
    sigmas, steps = (SIGMAS[::5], STEPS[::4]) if quick else (SIGMAS, STEPS)
    return {"rounds": ROUNDS, "sigma": sigmas, "steps": steps}


def _parts(quick: bool) -> list[Part]:
    schemes = {"allocation": EPOCH, "Poisson": f"{EPOCH}.poisson()"}
    grid = {"question": "epsilon", "scheme": schemes, "parameters": parameters(quick), "delta": DELTAS, "seconds": 20}
    return [Part(grid)]


def _never(data: Data) -> Verdict:
    pairs = data.pairs({"scheme": "Poisson"}, {"scheme": "allocation"}, BY)
    wrong = [poisson for poisson, ours in pairs if poisson["upper"] < ours["lower"]]
    least = min(poisson["upper"] / ours["lower"] for poisson, ours in pairs if ours["lower"] > 0)
    zero = sum(poisson["upper"] == ours["upper"] == 0 for poisson, ours in pairs)
    said = f"Poisson's upper over our lower bound is at least {least:.6f}; {len(pairs)} cells, {zero} of them exactly 0"
    return Verdict(not wrong and least >= 1, said)


def panels(canvas: Any, data: Data) -> list[tuple[Any, float, int, Data]]:
    """One for each delta and number of rounds, with its title."""
    rounds, deltas = data.values("rounds"), data.values("delta")
    axes = canvas.subplots(len(rounds), len(deltas), sharex=True, sharey=True, squeeze=False)
    found = []
    for i, n in enumerate(rounds):
        for j, delta in enumerate(deltas):
            each = axes[i][j]
            power = _style.power(delta)
            each.set_title(f"$\\delta$ = {power}, {n} epoch{'s' * (n > 1)}")
            if i == len(rounds) - 1:
                each.set_xlabel("noise $\\sigma$")
            if j == 0:
                each.set_ylabel("steps $t$")
            found.append((each, delta, n, data.where(rounds=n, delta=delta)))
    return found


def table(data: Data, value: Any) -> tuple[list[float], list[float], list[list[float]]]:
    sigmas, steps = data.values("sigma"), data.values("steps")
    found = {(row["sigma"], row["steps"]): value(row) for row in data.answered()}
    return sigmas, steps, [[found.get((sigma, t), float("nan")) for sigma in sigmas] for t in steps]


def _draw(data: Data, canvas: Any) -> None:
    from matplotlib.colors import LogNorm

    shown = data.where(scheme="allocation")
    ends = [row["upper"] for row in shown.answered() if row["upper"] > 0]
    norm, mesh, axes = LogNorm(max(min(ends), 1e-4), max(ends)), None, []
    for each, _, _, found in panels(canvas, shown):
        each.set_facecolor("#eeeeee")
        sigmas, steps, cells = table(found, lambda row: row["upper"] or float("nan"))
        mesh = _style.heat(each, sigmas, steps, cells, norm=norm, cmap="cividis")
        axes.append(each)
    canvas.colorbar(mesh, ax=axes, label="privacy $\\varepsilon$, upper bound (pale: exactly 0)", shrink=0.8)


FIGURE = Figure(
    name="param_scan_eps",
    title="Epsilon over noise, steps, delta and epochs",
    parts=_parts,
    draw=_draw,
    claims=(Claim("Poisson's upper bound is never below our lower bound", _never),),
    seconds=(5, 90),
    place=7,
    note="sigma 0.4 to 4, 10 to 100,000 steps, delta 1e-5 and 1e-8, one epoch and 100 with a fresh step in each.",
    size=(6.8, 5.4),
)

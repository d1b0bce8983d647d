"""The time of privloss.paper, against its alpha, its steps and its truncation, and against the plain double loop.

    python bench/paper/speed.py                    our own, about three minutes
    python bench/paper/speed.py --peers PYTHON     and PLD-accounting's, with the Python of an environment that has it
    python bench/paper/speed.py --peers ""         the same in .venv/peers, made if need be

Seconds are processor time, the best of a few runs, of all four bounds that a bracket takes: remove and add, upper and
lower. Exponents are least-squares slopes of log(seconds) over the finer half of the rows. The bracket of every row is
checked against the engine's.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import privloss as pl
from privloss import paper
from privloss.paper._convolve import offsets
from privloss.paper._grid import range_renorm

HERE = Path(__file__).resolve().parent
DELTA, BETA = 1e-6, 1e-8
GAUSSIAN = paper.Realization.gaussian(1.0)
SIDES: list[Any] = ["upper", "lower"]


def plain(one: paper.Lattice, two: paper.Lattice) -> paper.Lattice:
    """conv with every offset k - j on its own: all n^2 products, in the same places."""
    origin, size = range_renorm(one, two)
    n, m = one.mass.size, two.mass.size
    d = np.arange(1 - n, m)
    total = np.zeros(size + 2)
    for place, shift in zip(d.tolist(), offsets(one, two, origin, d).tolist(), strict=True):
        lo, hi = max(0, -place), min(n, m - place)
        product = one.mass[lo:hi] * two.mass[lo + place : hi + place]
        total[1 + lo + shift : 1 + hi + shift] += product
    return paper.Lattice(origin, one.step, total[1:-1], 0.0, one.top + two.top, one.side)


def best(question: Callable[[], Any], least: float = 0.5, most: int = 5) -> tuple[Any, float]:
    shortest, spent, runs = math.inf, 0.0, 0
    while runs < 1 or (spent < least and runs < most):
        start = time.process_time()
        answer = question()
        took = time.process_time() - start
        shortest, spent, runs = min(shortest, took), spent + took, runs + 1
    return answer, shortest


def bracket(steps: int, alpha: float, truncated: bool = True, convolve: Any = None) -> tuple[float, float, int]:
    """The worse direction at DELTA, by all four bounds."""
    ends: dict[str, float] = {"upper": 0.0, "lower": 0.0}
    points = 0
    for side in SIDES:
        for run, seen in ((paper.rand_alloc_remove, GAUSSIAN), (paper.rand_alloc_add, GAUSSIAN.dual())):
            bound = run(seen, steps, alpha, BETA, side, truncated=truncated, convolve=convolve)
            ends[side], points = max(ends[side], bound.epsilon(DELTA)), max(points, bound.mass.size)
    return ends["lower"], ends["upper"], points


def checked(steps: int, ends: tuple[float, float, int]) -> None:
    ours = pl.Gaussian(1.0).allocate(steps).epsilon(DELTA)
    assert ends[0] <= ours.lower <= ours.upper <= ends[1], (steps, ends, ours)


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    last = len(xs) // 2 - len(xs)
    return float(np.polyfit(np.log(xs[last:]), np.log(ys[last:]), 1)[0])


def ask(python: str, steps: int, alpha: float) -> float:
    setting = {"kind": "gaussian", "sigma": 1.0, "steps": steps, "picks": 1, "delta": DELTA, "alpha": alpha}
    setting["beta"] = BETA
    lines = "\n".join(json.dumps(each) for each in (setting | {"alpha": 0.5}, setting))  # the first one compiles
    said = subprocess.run([python, HERE / "peer.py"], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    answer = json.loads(said.splitlines()[-1])
    ends = f"[{answer['lower']:.5f}, {answer['upper']:.5f}]"
    print(f"          {ends}  by PLD-accounting in {answer['seconds']:.2f} s", flush=True)
    return float(answer["seconds"])


def against_alpha(python: str | None) -> None:
    print("\n1-out-of-1000, sigma 1, delta 1e-6, beta 1e-8: against alpha")
    print("   alpha  bracket               gap/alpha  points  seconds  no truncation  plain n^2 in place of runs")
    alphas, times, bare, theirs = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002], [], [], []
    for alpha in alphas:
        (low, high, points), took = best(partial(bracket, 1000, alpha))
        checked(1000, (low, high, points))
        without = best(partial(bracket, 1000, alpha, truncated=False), 0.1)[1] if alpha >= 0.005 else math.nan
        loops = best(partial(bracket, 1000, alpha, convolve=plain), 0.1)[1] if alpha >= 0.01 else math.nan
        share = (high - low) / alpha
        ends = f"[{low:.5f}, {high:.5f}]"
        print(f"{alpha:8g}  {ends}  {share:9.2f}  {points:6d}  {took:7.3f}  {without:13.3f}  {loops:7.2f}", flush=True)
        times.append(took)
        if alpha >= 0.005:
            bare.append(without)
        if python is not None and alpha >= 0.005:
            theirs.append(ask(python, 1000, alpha))
    without = slope(alphas[: len(bare)], bare)
    print(f"exponent of alpha: {slope(alphas, times):.2f}; without truncation {without:.2f}; the paper: -2")
    if theirs:
        print(f"exponent of alpha, PLD-accounting: {slope(alphas[: len(theirs)], theirs):.2f}")


def against_steps(python: str | None) -> None:
    print("\n1-out-of-t, sigma 1, delta 1e-6, beta 1e-8, alpha 0.02: against t")
    print("        t  bracket               points  seconds  no truncation")
    counts, times, bare, theirs = [10, 100, 1000, 10_000, 100_000, 1_000_000], [], [], []
    for steps in counts:
        (low, high, points), took = best(partial(bracket, steps, 0.02))
        checked(steps, (low, high, points))
        _, without = best(partial(bracket, steps, 0.02, truncated=False), 0.1)
        print(f"{steps:9d}  [{low:.5f}, {high:.5f}]  {points:6d}  {took:7.3f}  {without:13.3f}", flush=True)
        times.append(took)
        bare.append(without)
        if python is not None and steps <= 10_000:
            theirs.append(ask(python, steps, 0.02))
    logs = [math.log(steps) for steps in counts]
    print(f"exponent of log t: {slope(logs, times):.2f}, without truncation {slope(logs, bare):.2f} (the paper: 3)")
    if theirs:
        print(f"exponent of log t, PLD-accounting: {slope(logs[: len(theirs)], theirs):.2f}")


def one_convolution() -> None:
    print("\none conv of a grid with itself, sigma 1, beta 1e-11: by runs, and the plain n^2")
    print("    step  points     runs    plain  ratio  largest relative difference of masses")
    for step in (1e-2, 3e-3, 1e-3, 3e-4):
        one = paper.disc_dist(GAUSSIAN.other, step, 1e-11)
        got, fast = best(partial(paper.conv, one, one))
        wanted, slow = best(partial(plain, one, one), 0.1, 2)
        inside = wanted.mass > 0
        off = float(np.abs(got.mass[inside] / wanted.mass[inside] - 1).max())
        print(f"{step:8g}  {one.mass.size:6d}  {fast:7.4f}  {slow:7.3f}  {slow / fast:5.1f}  {off:.1e}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peers", help="the Python of an environment with PLD-accounting")
    python = arguments.parse_args().peers
    if python == "":
        from agreement import peers

        python = peers()
    one_convolution()
    against_alpha(python)
    against_steps(python)


if __name__ == "__main__":
    sys.exit(main())

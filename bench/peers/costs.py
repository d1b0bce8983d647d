"""What the answers in results.json cost, gap for gap. The page and the plots are made from this."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

Answer = dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """A relative gap, and the seconds that it took."""

    gap: float
    seconds: float
    answers: tuple[Answer, ...]


def load() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    return kept


def answered(row: dict[str, Any], *calls: str) -> list[Answer]:
    return [each for each in row["answers"] if each["outcome"] == "answer" and each["call"] in calls]


def number(answer: Answer, side: str) -> float | None:
    return float(answer[side]) if side in answer else None


def short(value: float) -> str:
    """1e-6 rather than 1e-06."""
    return f"{value:g}".replace("e-0", "e-")


# ---------------------------------------------------------------- the truth


def truth(row: dict[str, Any]) -> tuple[float, float]:
    """Our finest bracket."""
    finest = min(answered(row, "privloss"), key=lambda each: float(each["upper"]) - float(each["lower"]))
    return float(finest["lower"]), float(finest["upper"])


def reference(row: dict[str, Any]) -> float | None:
    """The value by another method (tests/vectors/reference_intervals.csv), the worse of the two directions."""
    given = row["given"]
    if "rate" in given or given.get("picks", 1) > 1 or given.get("rounds", 1) > 1:
        return None
    with (ROOT / "tests" / "vectors" / "reference_intervals.csv").open(encoding="utf-8") as file:
        values = [
            float(line["value"])
            for line in csv.DictReader(each for each in file if not each.startswith("#"))
            if (float(line["sigma"]), int(line["steps"]), float(line["delta"]))
            == (given["sigma"], given["steps"], given["delta"])
        ]
    return max(values, default=None)


def misses(row: dict[str, Any], answer: Answer) -> str:
    """On which side an answer misses the truth, if it does."""
    low, high = truth(row)
    lower, upper = number(answer, "lower"), number(answer, "upper")
    if upper is not None and upper < low:
        return "its upper bound is below ours"
    if lower is not None and lower > high:
        return "its lower bound is above ours"
    return ""


def peers(row: dict[str, Any]) -> list[Answer]:
    return [each for each in row["answers"] if each["call"] != "privloss"]


# ---------------------------------------------------------------- costs


def relative(lower: float, upper: float) -> float:
    return (upper - lower) / upper if 0 < upper < math.inf else math.inf


def ours(row: dict[str, Any]) -> list[Cost]:
    said = answered(row, "privloss")
    return front([Cost(relative(float(a["lower"]), float(a["upper"])), a["seconds"], (a,)) for a in said])


def cheapest(costs: list[Cost], gap: float) -> Cost | None:
    """The cheapest that is as tight as that."""
    return min((each for each in costs if each.gap <= gap * (1 + 1e-9)), key=lambda each: each.seconds, default=None)


def brackets(row: dict[str, Any], *calls: str) -> list[Cost]:
    """Every upper bound with every lower one, each at its own cost: at one setting both are asked together."""
    said = [each for each in answered(row, *calls) if not misses(row, each)]
    costs = []
    for above in said:
        for below in said:
            upper, lower = number(above, "upper"), number(below, "lower")
            if upper is None or lower is None:
                continue
            if above is below:
                costs.append(Cost(relative(lower, upper), above["seconds"], (above,)))
            elif "lower_seconds" in below:
                seconds = above.get("upper_seconds", above["seconds"]) + below["lower_seconds"]
                costs.append(Cost(relative(lower, upper), seconds, (above, below)))
    return front(costs)


def uppers(row: dict[str, Any], *calls: str) -> list[Cost]:
    """Upper bounds alone, by how far they are above the truth, which the peer itself cannot tell."""
    low, high = truth(row)
    costs = []
    for each in answered(row, *calls):
        upper = number(each, "upper")
        if upper is not None and not misses(row, each):
            costs.append(Cost(relative(low, max(upper, high)), each.get("upper_seconds", each["seconds"]), (each,)))
    return front(costs)


def front(costs: list[Cost]) -> list[Cost]:
    """Those that nothing tighter undercuts, from coarse to fine."""
    best: list[Cost] = []
    for each in sorted(costs, key=lambda each: (each.gap, each.seconds)):
        if not best or each.seconds < best[-1].seconds:
            best.append(each)
    return [each for each in best[::-1] if math.isfinite(each.gap) and each.gap > 0]


def at(costs: list[Cost], gap: float) -> float | None:
    """Seconds for that gap, between the neighbours on the front; None where it is finer than the finest."""
    if not costs or costs[-1].gap > gap:
        return None
    if costs[0].gap <= gap:
        return costs[0].seconds
    above = next(n for n, each in enumerate(costs) if each.gap <= gap)
    coarse, fine = costs[above - 1], costs[above]
    share = math.log(coarse.gap / gap) / math.log(coarse.gap / fine.gap)
    return math.exp((1 - share) * math.log(coarse.seconds) + share * math.log(fine.seconds))


def slope(costs: list[Cost]) -> float | None:
    """The power of 1/gap by which the time grows, over the finest answers that tell it."""
    used: list[Cost] = []
    for each in costs[::-1]:
        if each.seconds > 0.05 and each.gap < 0.3 and len(used) < 4 and (not used or each.gap > 1.5 * used[-1].gap):
            used.append(each)
    if len(used) < 2:
        return None
    x = [-math.log(each.gap) for each in used]
    y = [math.log(each.seconds) for each in used]
    middle, height = sum(x) / len(x), sum(y) / len(y)
    rises = sum((a - middle) * (b - height) for a, b in zip(x, y, strict=True))
    return rises / sum((a - middle) ** 2 for a in x)


def extrapolated(costs: list[Cost], gap: float) -> float | None:
    power = slope(costs)
    if power is None or not costs:
        return None
    return costs[-1].seconds * (costs[-1].gap / gap) ** power

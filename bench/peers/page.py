"""docs/benchmarks.md, from template.md and the answers in results.json: ``python bench/peers/page.py``."""

from __future__ import annotations

import math
import re
import statistics
import string
from collections.abc import Iterable
from typing import Any

import costs
from ask import CALLS
from costs import Answer, Cost
from rows import SHARE

PAGE = costs.ROOT / "docs" / "benchmarks.md"
PLD = ("pld_geom", "pld_fft", "pld_adaptive", "pld_nested")
COARSEST, FINEST = 0.1, 1e-6  # gaps between which costs are compared; the truth is known to the latter
Row = dict[str, Any]


# ---------------------------------------------------------------- numbers and tables


def outwards(value: float, up: bool, digits: int = 6) -> str:
    """Rounded to the side that keeps a bound a bound."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    scaled = value * 10.0**places
    whole = math.ceil(scaled - 1e-9) if up else math.floor(scaled + 1e-9)
    return f"{whole / 10.0**places:.{max(places, 0)}f}".rstrip("0").rstrip(".") if places > 0 else f"{value:.7g}"


def bounds(answer: Answer) -> str:
    lower, upper = costs.number(answer, "lower"), costs.number(answer, "upper")
    if lower is None and upper is None:
        return ""
    if lower is None:
        return f"at most {outwards(float(upper or 0), True)}"
    if upper is None:
        return f"at least {outwards(lower, False)}"
    return f"[{outwards(lower, False)}, {outwards(upper, True)}]"


def seconds(value: float | None) -> str:
    if value is None:
        return ""
    if value < 0.1:
        return f"{1000 * value:.{0 if value >= 0.01 else 1}f} ms"
    return f"{value:.{2 if value < 10 else 0}f} s" if value < 1000 else f"{value:,.0f} s"


def times(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def about(value: float | None) -> str:
    """Two digits: it is an extrapolation."""
    return "" if value is None else f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.2g}"


def gaps(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-").replace("e+00", "") if math.isfinite(value) else "inf"


def memory(answer: Answer) -> str:
    return f"{answer['memory'] / 2**20:.0f} MB"


def table(heads: list[str], lines: Iterable[list[str]]) -> str:
    said = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in said) + "\n"


def name(answer: Answer) -> str:
    library = CALLS[answer["call"]][0]
    return f"{library}, {answer['label']}" if answer.get("label") else library


def said(answer: Answer) -> str:
    """What it answered, or how it failed."""
    if answer["outcome"] == "answer":
        return bounds(answer)
    if answer["outcome"] == "error":
        return f"`{' '.join(answer['error'].split())[:110]}`"
    return f"no answer in {answer['limit']:g} s" if answer["outcome"] == "no answer" else "ended without an answer"


# ---------------------------------------------------------------- the machine


def machine(results: dict[str, Any]) -> str:
    found = results["machine"]
    return f"{found['processor']}, {found['cores']} cores, {found['memory'] / 2**30:.0f} GiB, {found['system']}"


def versions(results: dict[str, Any]) -> str:
    lines = []
    for environment, found in results["machine"]["versions"].items():
        lines.append(f"  * `.venv/{environment}`: " + ", ".join(f"{key} {value}" for key, value in found.items()))
    return "\n".join(lines)


def limits(results: dict[str, Any]) -> str:
    return " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in results["rows"].values()}))


# ---------------------------------------------------------------- allocations


def tightest(found: list[Cost]) -> Cost | None:
    return found[-1] if found else None


def line(label: str, row: Row, cost: Cost) -> list[str]:
    lower = [costs.number(each, "lower") for each in cost.answers]
    upper = [costs.number(each, "upper") for each in cost.answers]
    both: Answer = {}
    if any(each is not None for each in upper):
        both["upper"] = min(each for each in upper if each is not None)
    if any(each is not None for each in lower):
        both["lower"] = max(each for each in lower if each is not None)
    ours = costs.cheapest(costs.ours(row), max(cost.gap, FINEST))
    most = max(cost.answers, key=lambda each: float(each["memory"]))
    return [
        label,
        bounds(both),
        gaps(cost.gap),
        seconds(cost.seconds),
        memory(most),
        seconds(ours.seconds) if ours else "",
        times(cost.seconds / ours.seconds) if ours else "",
        memory(ours.answers[0]) if ours else "",
    ]


HEADS = ["", "epsilon", "gap", "time", "memory", "ours", "times", "our memory"]


def without_lower(cost: Cost) -> Cost:
    answer = {key: value for key, value in cost.answers[0].items() if key != "lower"}
    return Cost(cost.gap, cost.seconds, (answer,))


def how(cost: Cost) -> str:
    return " and ".join(dict.fromkeys(each["label"] for each in cost.answers if each.get("label")))


def allocation(row: Row) -> str:
    lines = [["privloss, default tolerance", *line("", row, default(row))[1:5], "", "", ""]]
    both, alone = tightest(costs.brackets(row, *PLD)), tightest(costs.uppers(row, *PLD))
    if both:
        lines.append(line(f"PLD-accounting, tightest bracket ({how(both)})", row, both))
    if alone:
        lines.append(line(f"PLD-accounting, tightest upper bound ({how(alone)})", row, without_lower(alone)))
    for each in costs.answered(row, "pld_adaptive"):
        lines.append(line("PLD-accounting, adaptive default", row, Cost(gap(row, each), each["seconds"], (each,))))
    upper = tightest(costs.uppers(row, "allocation"))
    if upper:
        lines.append(line(f"random-allocation, tightest upper bound ({how(upper)})", row, upper))
    for each in costs.answered(row, "allocation"):
        if "lower" in each:
            lines.append(line("random-allocation, lower bound", row, Cost(gap(row, each), each["seconds"], (each,))))
    silent = [each for each in costs.peers(row) if each["outcome"] != "answer"]
    notes = [f"{name(each)}: {said(each)}" for each in silent if worth(row, each)]
    value = costs.reference(row)
    if value is not None:
        notes.insert(0, f"by another method (`tests/vectors/reference_intervals.csv`): {value:.9g}")
    text = (
        f"### {heading(row)}\n\n{row['title']}, delta = {costs.short(row['given']['delta'])}\n\n{table(HEADS, lines)}"
    )
    return text + "".join(f"\n* {each}" for each in dict.fromkeys(notes)) + ("\n" if notes else "")


def worth(row: Row, answer: Answer) -> bool:
    """A method that answered at another setting of the same name needs no note about this one."""
    alike = [each for each in row["answers"] if (each["call"], each["label"]) == (answer["call"], answer["label"])]
    return all(each["outcome"] != "answer" for each in alike)


def gap(row: Row, answer: Answer) -> float:
    low, high = costs.truth(row)
    lower, upper = costs.number(answer, "lower"), costs.number(answer, "upper")
    return costs.relative(low if lower is None else lower, high if upper is None else upper)


def default(row: Row) -> Cost:
    """Ours at a tolerance of 1e-3."""
    asked = [each for each in costs.answered(row, "privloss") if each["given"].get("rtol", 1e-3) == 1e-3]
    return Cost(gap(row, asked[0]), asked[0]["seconds"], (asked[0],))


def heading(row: Row) -> str:
    given = row["given"]
    if "rate" in given and "picks" in given:
        return "PREAMBLE"
    said = f"sigma {given['sigma']:g}, {given['steps']} steps"
    said += f", {given['picks']} picks" if "picks" in given else ""
    return said + (f", {given['rounds']} rounds" if "rounds" in given else "")


# ---------------------------------------------------------------- at equal gap


def compare(row: Row, found: list[Cost]) -> dict[str, float | None]:
    """How many times longer a peer takes: at its smallest gap, at 1e-2, and, extrapolated, at 1e-4."""
    ours = costs.ours(row)
    least = found[-1] if found else None
    mine = costs.cheapest(ours, max(least.gap, FINEST)) if least else None
    every = [
        each.seconds / beside.seconds
        for each in found
        if each.gap <= COARSEST and (beside := costs.cheapest(ours, max(each.gap, FINEST)))
    ]
    percent, fine = costs.cheapest(ours, 1e-2), costs.cheapest(ours, 1e-4)
    at = costs.at(found, 1e-2)
    later = costs.extrapolated(found, 1e-4) if least and least.gap > 1e-4 else costs.at(found, 1e-4)
    return {
        "gap": least.gap if least else None,
        "least": least.seconds / mine.seconds if least and mine else None,
        "worst": min(every, default=None),
        "percent": at / percent.seconds if at is not None and percent else None,
        "slope": costs.slope(found),
        "later": later / fine.seconds if later is not None and fine else None,
    }


def equal(rows: list[Row]) -> str:
    parts = []
    for title, find in (("Its bracket", costs.brackets), ("Its upper bound alone", costs.uppers)):
        compared = [(row, compare(row, find(row, *PLD))) for row in rows]
        lines = []
        for row, found in compared:
            least, power = found["gap"], found["slope"]
            cells = [gaps(least) if least else "none", *(times(found[key]) for key in ("least", "percent", "worst"))]
            lines.append([heading(row), *cells, f"{power:.1f}" if power else "", about(found["later"])])
        parts.append(f"**{title}**, {summary(compared)}\n\n" + table(RATIOS, lines))
    return "\n".join(parts)


RATIOS = [
    "",
    "smallest gap in time",
    "times there",
    "times at 1e-2",
    "least times",
    "slope",
    "times at 1e-4, extrapolated",
]


def summary(compared: list[tuple[Row, dict[str, float | None]]]) -> str:
    percents = [value for _, found in compared if (value := found["percent"]) is not None]
    worst = [value for _, found in compared if (value := found["worst"]) is not None]
    leasts = [value for _, found in compared if (value := found["least"]) is not None]
    if not leasts:
        return "which it never gave."
    text = f"against ours: between {times(min(leasts))} and {times(max(leasts))} times longer at its smallest gap"
    reached = [found["least"] or 0.0 for _, found in compared if found["percent"] is not None]
    if percents:
        text += f", {times(statistics.median(reached))} in the median where that is 1e-2 or less"
        text += f"; at a gap of 1e-2, which it reaches in {len(percents)} of {len(compared)} settings, "
        text += f"{times(statistics.median(percents))} times longer in the median, {times(min(percents))} at least"
    if worst:
        text += f". The least at any gap up to {costs.short(COARSEST)}: {times(min(worst))}"
        text += ", so there it is faster" if min(worst) < 1 else ""
    return text + "."


# ---------------------------------------------------------------- Poisson


def poisson(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        given = row["given"]
        label = f"{given['sigma']:g}, 1/{given['rounds']}, {costs.short(given['delta'])}"
        lines.append([label, *line("privloss, default tolerance", row, default(row))[:5], "", "", ""])
        every = [
            (f"dp-accounting, {each['label']}", Cost(gap(row, each), each["seconds"], (each,)))
            for each in costs.answered(row, "dp")
            if each["given"].get("sides") == "upper"
        ]
        both, alone = tightest(costs.brackets(row, "dp")), tightest(costs.uppers(row, "dp"))
        every += [("dp-accounting, tightest bracket", both)] if both else []
        every += [("dp-accounting, tightest upper bound", without_lower(alone))] if alone else []
        for library, call in (("prv-accountant, tightest bracket", "prv"), ("riskcal, tightest", "riskcal")):
            finest = tightest((costs.brackets if call == "prv" else costs.uppers)(row, call))
            every += [(library, finest)] if finest else []
        lines += [["", *line(text, row, cost)] for text, cost in every]
        silent = {name(each): said(each) for each in costs.peers(row) if each["outcome"] == "error"}
        answered = {each["call"] for each in costs.peers(row) if each["outcome"] == "answer"}
        for each in costs.peers(row):
            if each["call"] not in answered and each["outcome"] == "error":
                lines.append(["", name(each), silent.pop(name(each), "as above"), *[""] * 6])
    return table(["sigma, rate, delta", *HEADS], lines)


def against_dots(rows: list[Row]) -> str:
    parts = []
    for title, find in (("its bracket", costs.brackets), ("its pessimistic bound alone", costs.uppers)):
        ratios = []
        for row in rows:
            ours = costs.ours(row)
            for each in find(row, "dp"):
                mine = costs.cheapest(ours, max(each.gap, FINEST))
                if mine and each.gap <= COARSEST:
                    ratios.append((each.seconds / mine.seconds, row, each.gap))
        if not ratios:
            continue
        slower = [each for each in ratios if each[0] < 1]
        middle = times(statistics.median(each[0] for each in ratios))
        text = f"Against {title}, over {len(ratios)} gaps in {len(rows)} settings: "
        text += f"dp-accounting takes {middle} times as long in the median"
        if slower:
            worst = min(slower, key=lambda each: each[0])
            text += f"; we are slower at {len(slower)} of them, at worst {times(1 / worst[0])} times (sigma "
            text += f"{worst[1]['given']['sigma']:g}, rate 1/{worst[1]['given']['rounds']}, gap {gaps(worst[2])})"
        else:
            text += f" and never less than {times(min(each[0] for each in ratios))} times"
        parts.append(text + ".")
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------- the rest


def start(row: Row) -> str:
    lines = [
        [name(each), seconds(each["import_seconds"]), seconds(each["wall"]), memory(each), bounds(each)]
        for each in row["answers"]
    ]
    return table(["", "import", "import and first answer, whole process", "memory", "epsilon"], lines)


def broken(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        ours = [each for each in row["answers"] if each["call"] == "privloss"]
        mine = "; ".join(bounds(each) for each in ours), "; ".join(seconds(each["seconds"]) for each in ours)
        for n, each in enumerate(costs.peers(row)):
            took = seconds(each.get("seconds")) if each["outcome"] == "answer" else ""
            library = name(each).replace("prv-accountant, 0.1.0", "prv-accountant 0.1.0")
            first = [f"{row['name']}: {row['title']}", *mine] if n == 0 else ["", "", ""]
            lines.append([first[0], library, remark(row, each), took, *first[1:]])
    return table(["", "", "what it does", "time", "our answer", "time"], lines)


def remark(row: Row, answer: Answer) -> str:
    """What it answered, and what is wrong with it."""
    text = said(answer)
    if answer["outcome"] != "answer":
        return text
    if "estimate" in answer:
        text += f", estimate {answer['estimate']:.4g}"
    low, high = costs.truth(row)
    upper, lower = costs.number(answer, "upper"), costs.number(answer, "lower")
    if costs.misses(row, answer):
        return f"{text}: **wrong**, {costs.misses(row, answer)}"
    if upper is not None and low > 0 and upper > 1.1 * high:
        text += f", {times(upper / high)} times the truth"
    return text + (", below 0" if lower is not None and lower < 0 else "")


def overlaps(rows: list[Row]) -> str:
    asked, found = 0, []
    for row in rows:
        for each in costs.peers(row):
            if each["outcome"] == "answer":
                asked += 1
                wrong = costs.misses(row, each)
                if wrong:
                    low, high = costs.truth(row)
                    ours = f"[{outwards(low, False, 9)}, {outwards(high, True, 9)}]"
                    found.append(f"* {row['title']}: {name(each)} says {bounds(each)}, ours is {ours}: {wrong}.")
    checked = [(row, value) for row in rows if (value := costs.reference(row)) is not None]
    agree = 0
    for row, value in checked:
        low, high = costs.truth(row)
        agree += low * (1 - 1e-8) <= value <= high * (1 + 1e-8)
    text = (
        f"Of {asked} answers by peers in the next sections, {asked - len(found)} agree with ours: their interval, or "
        "the ray beyond their one bound, meets our finest bracket.\nThat bracket contains the value by another method "
        f"(`tests/vectors/reference_intervals.csv`), up to the 1e-8 that it is good for, in {agree} of "
        f"the {len(checked)} settings that have one.\n"
    )
    return text + ("\nThese do not:\n\n" + "\n".join(dict.fromkeys(found)) + "\n" if found else "")


def figure(file: str, words: str) -> str:
    return f"![{words}](images/{file}.svg)\n"


def page(results: dict[str, Any]) -> str:
    kinds: dict[str, list[Row]] = {"allocation": [], "poisson": [], "broken": [], "start": [], "scale": []}
    for key, row in results["rows"].items():
        kinds[row["kind"]].append({**row, "name": key})
    allocations, twins = kinds["allocation"], kinds["poisson"]
    template = string.Template((costs.HERE / "template.md").read_text(encoding="utf-8"))
    filled = template.substitute(
        machine=machine(results),
        limit=limits(results),
        share=f"{100 * SHARE:.0f} %",
        versions=versions(results),
        overlaps=overlaps(allocations + twins),
        equal=equal(allocations),
        cost=figure("cost", "Seconds against the relative gap, for each setting"),
        allocations="\n".join(allocation(row) for row in allocations),
        dots=against_dots(twins),
        poisson_plot=figure("poisson", "Seconds against the relative gap, Poisson subsampling"),
        poisson=poisson(twins),
        broken=broken(kinds["broken"]),
        start="\n".join(start(row) for row in kinds["start"]),
        scale=figure("scale", "Time and memory against steps, rounds, sigma, delta and tolerance"),
    )
    return re.sub(r"\n{3,}", "\n\n", filled).rstrip() + "\n"


def main() -> None:
    PAGE.write_text(page(costs.load()), encoding="utf-8")


if __name__ == "__main__":
    main()

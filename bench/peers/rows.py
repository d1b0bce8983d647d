"""What is asked of whom. Each row is asked on its own, the peers and ourselves in turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

Answer = dict[str, Any]
Ask = Callable[..., Answer]

GAPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SHARE = 0.5  # of the time limit: the most that the last question of a ladder is expected to take


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    kind: str
    ask: Callable[[Ask, float], list[Answer]]
    estimate: Callable[[float], float]  # seconds, from the time limit
    given: dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """Gaussian noise, allocated, repeated; or its Poisson twin."""

    sigma: float
    steps: int
    delta: float
    picks: int = 1
    rounds: int = 1

    @property
    def scheme(self) -> str:
        picks = f", picks={self.picks}" if self.picks > 1 else ""
        rounds = f".repeat({self.rounds})" if self.rounds > 1 else ""
        return f"Gaussian({self.sigma:g}).allocate({self.steps}{picks}){rounds}"

    @property
    def poisson(self) -> str:
        return f"Gaussian({self.sigma:g}).subsample({1 / self.steps!r}).repeat({self.steps})"

    @property
    def given(self) -> dict[str, Any]:
        said: dict[str, Any] = {"sigma": self.sigma, "steps": self.steps, "delta": self.delta}
        if self.picks > 1:
            said["picks"] = self.picks
        if self.rounds > 1:
            said["rounds"] = self.rounds
        return said


SETTINGS = [
    Setting(1.0, 1_000, 1e-6),
    Setting(2.0, 100, 1e-6),
    Setting(0.5, 1_000, 1e-6),
    Setting(3.0, 1_000, 1e-10),
    Setting(0.4, 100, 1e-5),
    Setting(1.0, 100_000, 1e-6),
    Setting(0.8, 1_000_000, 1e-8),
    Setting(0.3, 10, 1e-5),
]
MANY = [
    Setting(1.0, 1_000, 1e-6, picks=10),
    Setting(0.65, 512, 1e-6, picks=64),
    Setting(1.0, 1_000, 1e-6, rounds=100),
]
PREAMBLE = "Gaussian(1).allocate(1024, picks=32).subsample(0.01).repeat(1000)"


# ---------------------------------------------------------------- ladders


def seconds(answer: Answer) -> float | None:
    return answer.get("seconds") if answer["outcome"] == "answer" else None


def ladder(ask_at: Callable[[float], Answer], factor: float, power: float, limit: float) -> list[Answer]:
    """Finer and finer settings: by ``factor`` each, the last one so that it is expected to take most of the time limit.

    ``power`` is how the time grows with the fineness, until two answers tell it.
    """
    answers: list[Answer] = []
    timed: list[tuple[float, float]] = []
    fineness, failed = 1.0, math.inf
    for _ in range(9):
        answer = ask_at(fineness)
        answers.append(answer)
        spent = seconds(answer)
        if spent is None:
            if timed or len(answers) > 3:
                break
            coarse = answer["outcome"] == "error" and failed == math.inf
            failed = failed if coarse else fineness
            fineness *= factor if coarse else 1 / factor
            continue
        timed.append((fineness, spent))
        if len(timed) > 1 and timed[-2][1] > 0.05:
            (before, took), (now, takes) = timed[-2:]
            power = min(max(math.log(takes / took) / math.log(now / before), 0.7), 2.5)
        room = min((SHARE * limit / max(spent, 0.02)) ** (1 / power), 0.8 * failed / fineness)
        if room < 1.25 or spent > SHARE * limit / 2:
            break
        fineness *= min(factor, room)
    return answers


# ---------------------------------------------------------------- ourselves, beside the peers


class Beside:
    """Asks a peer, then ourselves for the same or a smaller gap."""

    def __init__(self, ask: Ask, limit: float, scheme: str, delta: float) -> None:
        self.ask, self.limit, self.scheme, self.delta = ask, limit, scheme, delta
        self.answers = [self.ours(rtol) for rtol in GAPS]
        finest = [each for each in self.answers if each["outcome"] == "answer"][-1]
        self.lower, self.upper = float(finest["lower"]), float(finest["upper"])

    def ours(self, rtol: float) -> Answer:
        return self.ask("privloss", {"scheme": self.scheme, "delta": self.delta, "rtol": rtol}, self.limit)

    def gap(self, answer: Answer) -> float:
        """Its own gap where it has two bounds, else how far its one bound is from the truth."""
        upper = float(answer.get("upper", self.upper))
        lower = float(answer.get("lower", self.lower))
        return (upper - lower) / upper if 0 < upper < math.inf else math.inf

    def peer(self, call: str, given: dict[str, Any], label: str, limit: float | None = None) -> Answer:
        answer = self.ask(call, given, limit or self.limit, label=label)
        self.answers.append(answer)
        if answer["outcome"] == "answer" and GAPS[-2] < self.gap(answer) <= GAPS[0]:  # the others were asked at first
            self.answers.append(self.ours(self.gap(answer)))
        return answer


# ---------------------------------------------------------------- allocations


def transform(setting: Setting, fineness: float, epsilon: float) -> dict[str, Any]:
    """Settings under which the grid of each term of the sum has so many points.

    With little noise the add direction wants another scale than the remove direction: PLD-accounting's combined method
    takes its geometric one there.
    """
    steps, tail = setting.steps // setting.picks, 1e-3 * setting.delta
    widest = -NormalDist().inv_cdf(tail / steps / 2) / setting.sigma + 0.5 / setting.sigma**2
    points = 2000 * fineness
    if setting.sigma < 0.7:
        method, step = "COMBINED", 1e-2 * epsilon / math.sqrt(fineness)
    else:
        rounds = setting.picks * setting.rounds
        method, step = "FFT", min(3e-4 * epsilon, rounds * math.exp(widest) / steps / points)
    return {"step": step, "tail": tail, "grid": math.ceil(points * steps), "method": method}


def allocation(setting: Setting) -> Row:
    def asks(ask: Ask, limit: float) -> list[Answer]:
        with_us = Beside(ask, limit, setting.scheme, setting.delta)
        epsilon = with_us.upper

        def geom(fineness: float) -> Answer:
            step = min(epsilon, 1.0) / fineness
            return with_us.peer("pld_geom", {**setting.given, "step": step, "tail": 1e-2 * setting.delta}, "GEOM")

        def fft(fineness: float) -> Answer:
            options = transform(setting, fineness, epsilon)
            return with_us.peer("pld_fft", {**setting.given, **options}, options["method"])

        ladder(geom, 4, 2, limit)
        ladder(fft, 8, 1, limit)
        with_us.peer("pld_adaptive", setting.given, "adaptive default", limit / 3)
        once = setting.picks == setting.rounds == 1
        for method in ("direct", "decomposition", "lower_bound") if once else ("direct", "recursive", "RDP_DCO"):
            tolerance = 1e-7 if method == "lower_bound" else 1e-4
            given = {**setting.given, "method": method, "tolerance": tolerance}
            with_us.peer("allocation", given, method.replace("_", " "), limit / 6)
        return with_us.answers

    return Row(
        f"{setting.scheme} delta={setting.delta:g}",
        f"`{setting.scheme}`",
        "allocation",
        asks,
        lambda limit: 1.8 * limit + 30,
        {**setting.given, "scheme": setting.scheme},
    )


def preamble() -> Row:
    given = {"sigma": 1.0, "steps": 1024, "picks": 32, "rate": 0.01, "rounds": 1000, "delta": 1e-6}

    def asks(ask: Ask, limit: float) -> list[Answer]:
        with_us = Beside(ask, limit, PREAMBLE, 1e-6)

        def fft(fineness: float) -> Answer:
            options = {"step": 0.1 / fineness, "tail": 1e-9, "grid": 1e9, "method": "FFT"}
            return with_us.peer("pld_nested", {**given, **options}, "FFT")

        def geom(fineness: float) -> Answer:
            options = {"step": 1.0 / fineness, "tail": 1e-9, "grid": 1e9, "method": "GEOM"}
            return with_us.peer("pld_nested", {**given, **options}, "GEOM")

        ladder(fft, 4, 1, limit)
        ladder(geom, 4, 2, limit)
        return with_us.answers

    said = {**given, "scheme": PREAMBLE}
    return Row("PREAMBLE", f"`{PREAMBLE}`", "allocation", asks, lambda limit: 1.4 * limit + 20, said)


# ---------------------------------------------------------------- Poisson


def poisson(setting: Setting) -> Row:
    given = {"sigma": setting.sigma, "rate": 1 / setting.steps, "rounds": setting.steps, "delta": setting.delta}

    def asks(ask: Ask, limit: float) -> list[Answer]:
        with_us = Beside(ask, limit, setting.poisson, setting.delta)
        epsilon = with_us.upper

        def dp(fineness: float) -> Answer:
            return with_us.peer("dp", {**given, "step": 0.1 * epsilon / fineness}, "connect the dots, privacy buckets")

        def prv(fineness: float) -> Answer:
            return with_us.peer("prv", {**given, "error": 0.1 * epsilon / fineness}, "")

        with_us.peer("dp", {**given, "step": 1e-4, "sides": "upper"}, "connect the dots, default step")
        ladder(dp, 8, 1, limit / 3)
        ladder(prv, 8, 1, limit / 3)
        for step in (1e-4, 1e-5):
            with_us.peer("riskcal", {**given, "step": step}, f"step {step:.0e}".replace("e-0", "e-"), limit / 4)
        return with_us.answers

    return Row(
        f"Poisson sigma={setting.sigma:g} rate=1/{setting.steps} delta={setting.delta:g}",
        f"`Gaussian({setting.sigma:g}).subsample(1/{setting.steps}).repeat({setting.steps})`",
        "poisson",
        asks,
        lambda limit: 0.5 * limit + 25,
        {**given, "scheme": setting.poisson},
    )


# ---------------------------------------------------------------- broken elsewhere


@dataclass(frozen=True)
class Trial:
    label: str
    call: str
    given: dict[str, Any]


def broken(name: str, scheme: str, delta: float | list[float], *trials: Trial) -> Row:
    deltas = delta if isinstance(delta, list) else [delta]

    def asks(ask: Ask, limit: float) -> list[Answer]:
        answers = [ask("privloss", {"scheme": scheme, "delta": each}, limit) for each in deltas]
        return answers + [ask(trial.call, trial.given, limit, label=trial.label) for trial in trials]

    return Row(
        name,
        f"`{scheme}`",
        "broken",
        asks,
        lambda limit: len(trials) * 3 + (limit if any("adaptive" in each.label for each in trials) else 0),
        {"scheme": scheme, "delta": delta},
    )


_ONE = {"sigma": 1.0, "steps": 1000, "delta": 1e-6}
_ADAPTIVE = "adaptive default"
_JUMP = {"sigma": 4.0, "rate": 250 / 750_000, "rounds": 10_000, "error": 0.1}
_LOOSE = {"sigma": 1.0, "rate": 1e-5, "rounds": 100_000, "delta": 1e-6, "sides": "upper"}
_MEAN = {"sigma": 0.3, "rate": 0.1, "rounds": 10, "delta": 1e-5}

BROKEN = [
    broken(
        "delta = 0.9",
        "Gaussian(1).allocate(1000)",
        0.9,
        Trial(_ADAPTIVE, "pld_adaptive", {**_ONE, "delta": 0.9}),
        Trial("GEOM, step 0.05", "pld_geom", {**_ONE, "delta": 0.9, "step": 0.05, "tail": 1e-3}),
    ),
    broken(
        "delta = 1e-15",
        "Gaussian(1).allocate(1000)",
        1e-15,
        Trial(_ADAPTIVE, "pld_adaptive", {**_ONE, "delta": 1e-15}),
        Trial("GEOM, step 0.05", "pld_geom", {**_ONE, "delta": 1e-15, "step": 0.05, "tail": 1e-17}),
    ),
    broken(
        "1e7 steps",
        "Gaussian(1).allocate(10000000)",
        1e-6,
        Trial(_ADAPTIVE, "pld_adaptive", {**_ONE, "steps": 10**7}),
        Trial("FFT, step 1e-9", "pld_fft", {**_ONE, "steps": 10**7, "step": 1e-9, "tail": 1e-9, "grid": 1e11}),
        Trial("GEOM, step 0.05", "pld_geom", {**_ONE, "steps": 10**7, "step": 0.05, "tail": 1e-8}),
    ),
    broken(
        "1e5 rounds",
        "Gaussian(1).allocate(1000).repeat(100000)",
        1e-6,
        Trial(_ADAPTIVE, "pld_adaptive", {**_ONE, "rounds": 10**5}),
    ),
    broken(
        "FFT with picks = steps",
        "Gaussian(1).allocate(100, picks=100)",
        1e-6,
        Trial("FFT", "pld_fft", {**_ONE, "steps": 100, "picks": 100, "step": 1e-3, "tail": 1e-9, "grid": 1e7}),
    ),
    broken(
        "allocations with different steps, composed",
        "compose(Gaussian(1).allocate(1000), Gaussian(1).allocate(100))",
        1e-6,
        Trial(
            "GEOM, step 0.05",
            "pld_two",
            {"sigma": 1.0, "steps": [1000, 100], "delta": 1e-6, "step": 0.05, "tail": 1e-8},
        ),
    ),
    broken(
        "a composition, subsampled",
        "Gaussian(1).subsample(0.01).repeat(1000).subsample(0.1)",
        1e-6,
        Trial(
            "of a dp-accounting PLD",
            "pld_subsample_composed",
            {"sigma": 1.0, "rate": 0.01, "rounds": 1000, "again": 0.1, "delta": 1e-6},
        ),
    ),
    broken(
        "delta near 1e-18",
        "Gaussian(4).subsample(0.0003333333333333333).repeat(10000)",
        [1.1e-18, 1.13e-18],
        *(Trial(f"0.1.0, delta {d:g}", "prv_first", {**_JUMP, "delta": d}) for d in (1.1e-18, 1.13e-18)),
        *(Trial(f"delta {d:g}", "prv", {**_JUMP, "delta": d}) for d in (1.1e-18, 1.13e-18)),
    ),
    broken(
        "a negative epsilon",
        "Gaussian(10).subsample(0.001).repeat(10)",
        0.5,
        Trial("", "prv", {"sigma": 10.0, "rate": 0.001, "rounds": 10, "delta": 0.5, "error": 0.01}),
    ),
    broken(
        "discrete mean differs",
        "Gaussian(0.3).subsample(0.1).repeat(10)",
        1e-5,
        Trial("", "prv", {**_MEAN, "error": 0.01}),
        Trial("error 0.1", "prv", {**_MEAN, "error": 0.1}),
    ),
    broken(
        "discrete mean differs, 500 rounds",
        "Gaussian(1).subsample(0.2).repeat(500)",
        1e-5,
        Trial(
            "delta_error 1e-10",
            "prv",
            {"sigma": 1.0, "rate": 0.2, "rounds": 500, "delta": 1e-5, "error": 0.01, "delta_error": 1e-10},
        ),
    ),
    broken(
        "a small rate",
        "Gaussian(1).subsample(1e-05).repeat(100000)",
        1e-6,
        *(
            Trial(f"step {step:.0e}".replace("e-0", "e-"), "dp", {**_LOOSE, "step": step})
            for step in (1e-4, 1e-5, 1e-6)
        ),
    ),
]


# ---------------------------------------------------------------- scale


def scale(name: str, axis: str, values: list[float], first: int) -> Row:
    """Outwards from the plain case. A peer that twice gave no answer is asked no further in that direction."""

    def case(value: float) -> Setting:
        whole = int(value) if axis in ("steps", "rounds") else value
        return Setting(**{**_ONE, axis: whole})

    def asks(ask: Ask, limit: float) -> list[Answer]:
        answers = []
        for direction in (values[first:], values[:first][::-1]):
            failures = 0
            for value in direction:
                setting = case(value)
                given = {"scheme": setting.scheme, "delta": setting.delta, "rtol": 1e-3}
                answers.append({**ask("privloss", given, limit), "value": value})
                if failures < 2:
                    answer = ask("pld_adaptive", setting.given, limit / 3, label=_ADAPTIVE)
                    answers.append({**answer, "value": value})
                    failures = 0 if seconds(answer) is not None else failures + 1
        return answers

    return Row(f"scale {name}", name, "scale", asks, lambda limit: len(values) * 2 + 1.4 * limit, {"axis": axis})


def tolerances() -> Row:
    values = [10.0**-power for power in range(1, 8)]

    def asks(ask: Ask, limit: float) -> list[Answer]:
        given = {"scheme": "Gaussian(1).allocate(1000)", "delta": 1e-6}
        said = [{**ask("privloss", {**given, "rtol": value}, limit), "value": value} for value in values]
        epsilon = next(float(each["upper"]) for each in said[::-1] if seconds(each) is not None)

        def adaptive(value: float) -> Answer:
            return ask("pld_adaptive", {**_ONE, "accuracy": value * epsilon}, limit / 3, label="adaptive")

        for value in values:
            answer = adaptive(value)
            said.append({**answer, "value": value})
            if seconds(answer) is None:
                break
        return said

    return Row("scale tolerance", "tolerance", "scale", asks, lambda limit: 15 + 0.6 * limit, {"axis": "tolerance"})


SCALE = [
    scale("steps", "steps", [10.0**power for power in range(1, 10)], 2),
    scale("rounds", "rounds", [10.0**power for power in range(7)], 0),
    scale("sigma", "sigma", [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0], 4),
    scale("delta", "delta", [0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15, 1e-30, 1e-60, 1e-100], 5),
    tolerances(),
]


# ---------------------------------------------------------------- from nothing


def start() -> Row:
    """Import, and a first answer in a new process, nothing asked before."""
    plain = {"sigma": 1.0, "steps": 1000, "delta": 1e-6}
    twin = {"sigma": 1.0, "rate": 1e-3, "rounds": 1000, "delta": 1e-6}
    questions: list[tuple[str, dict[str, Any], str]] = [
        ("privloss", {"scheme": "Gaussian(1).allocate(1000)", "delta": 1e-6, "rtol": 1e-3}, "allocation"),
        ("pld_adaptive", plain, "allocation, adaptive default"),
        ("allocation", {**plain, "method": "decomposition"}, "allocation, decomposition"),
        ("privloss", {"scheme": "Gaussian(1).subsample(0.001).repeat(1000)", "delta": 1e-6, "rtol": 1e-3}, "Poisson"),
        ("dp", {**twin, "step": 1e-4, "sides": "upper"}, "Poisson, default step"),
        ("riskcal", {**twin, "step": 1e-4}, "Poisson, default step"),
        ("prv", {**twin, "error": 0.01}, "Poisson, error 0.01"),
    ]

    def asks(ask: Ask, limit: float) -> list[Answer]:
        answers = []
        for call, given, label in questions:
            tries = [ask(call, given, limit, label=label, cold=True) for _ in range(3)]
            done = [each for each in tries if each["outcome"] == "answer"]
            best = min(done or tries, key=lambda each: float(each["wall"]))
            imports = min(float(each["import_seconds"]) for each in done or tries if "import_seconds" in each)
            answers.append({**best, "import_seconds": imports})
        return answers

    return Row("start", "import and first answer", "start", asks, lambda limit: 60, {})


ROWS = [
    start(),
    *BROKEN,
    *(poisson(setting) for setting in SETTINGS),
    *(allocation(setting) for setting in SETTINGS + MANY),
    preamble(),
    *SCALE,
]

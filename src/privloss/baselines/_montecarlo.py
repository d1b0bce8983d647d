"""Estimates by sampling: which estimator, how sure, and the search for an epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from privloss import _check
from privloss._mechanisms import Gaussian
from privloss._pair import FloatArray
from privloss._scheme import Scheme
from privloss.baselines._baseline import Baseline, Shape, Way
from privloss.baselines._sampling import Estimator, above, bounds, estimators, plain, ranks_for

MANY = 2000  # steps from which order statistics are drawn instead
PILOT = 4000
TRIES = 5
MOST = 512.0  # epsilon from which a guess gives up, as e^epsilon must be a double


@dataclass(frozen=True)
class MonteCarlo(Baseline[Shape]):
    """``using`` sets samples, confidence and seed; ``mean`` is the estimate itself."""

    plain: bool = False
    samples: int = 10**6
    confidence: float = 0.95
    seed: int = 0

    def using(
        self, *, samples: int | None = None, confidence: float | None = None, seed: int | None = None
    ) -> MonteCarlo:
        """The same method with other settings; what is left out stays."""
        given = self.confidence if confidence is None else _check.probability(confidence=confidence)
        if not 0 < given < 1:
            raise ValueError(f"confidence must be above 0 and below 1, got {confidence!r}")
        return replace(
            self,
            samples=self.samples if samples is None else _check.count(least=2, samples=samples),
            confidence=given,
            seed=self.seed if seed is None else _check.count(least=0, seed=seed),
        )

    def mean(self, scheme: Scheme, epsilon: float, direction: Literal["remove", "add"] = "remove") -> float:
        """The mean of the samples, without its uncertainty; of order statistics, above delta on average."""
        return float(self.values(scheme, epsilon, direction).mean())

    def values(self, scheme: Scheme, epsilon: float, direction: Literal["remove", "add"] = "remove") -> FloatArray:
        """The samples themselves, whose mean estimates delta."""
        _check.choice(direction=direction, among=("remove", "add"))
        setting = self.setting(scheme)
        chosen = self._estimator(setting, _check.nonnegative(epsilon=epsilon), direction)
        return chosen.sample(self.seed, self.samples, self._width(setting, chosen))

    def _ends(self, given: str, value: float, setting: Shape, ways: tuple[Way, ...]) -> tuple[float, float, str]:
        doubt = (1 - self.confidence) / len(ways)
        ask = self._delta if given == "epsilon" else self._epsilon
        found = [ask(setting, value, way, doubt, self.seed) for way in ways]
        reason = f"confidence {self.confidence:g} by {self.samples} samples, seed {self.seed}"
        return max(low for low, _ in found), max(high for _, high in found), reason

    def _width(self, setting: Shape, chosen: Estimator) -> int:
        return MANY if chosen.biased else setting.steps  # numbers a sample, for chunks that fit

    def _estimator(self, setting: Shape, epsilon: float, way: Way) -> Estimator:
        kind, noise = self._noise(setting)
        if self.plain:
            return plain(kind, noise, setting.steps, setting.picks, epsilon, way)
        if kind == "Gaussian" and way == "remove" and setting.picks == 1 and setting.steps >= MANY:
            return above(noise, setting.steps, epsilon, ranks_for(setting.steps - 1))
        choices = estimators(kind, noise, setting.steps, setting.picks, epsilon, way)
        pilots = [bounds(each.sample(self.seed + 1, PILOT, setting.steps), each.most, 0.9) for each in choices]
        return choices[min(range(len(choices)), key=lambda i: pilots[i][1] - pilots[i][0])]

    def _noise(self, setting: Shape) -> tuple[str, float]:
        step = setting.step
        if type(step) is Gaussian:
            return "Gaussian", step.sigma / step.sensitivity
        return "Laplace", step.scale / step.sensitivity

    def _delta(self, setting: Shape, epsilon: float, way: Way, doubt: float, seed: int) -> tuple[float, float]:
        if epsilon > 600 or epsilon == math.inf:
            return 0.0, 1.0
        chosen = self._estimator(setting, epsilon, way)
        if not chosen.most > 0:
            return 0.0, max(chosen.most, 5e-324)
        low, high = bounds(chosen.sample(seed, self.samples, self._width(setting, chosen)), chosen.most, 1 - doubt)
        return 0.0 if chosen.biased else low, min(high, 1.0)

    def _epsilon(self, setting: Shape, delta: float, way: Way, doubt: float, seed: int) -> tuple[float, float]:
        if delta in (0.0, 1.0):
            return 0.0, math.inf if delta == 0 else 0.0
        near = self._guess(setting, delta, way)
        ends, share = [0.0, math.inf], doubt / (2 * TRIES)
        for place, sign in ((0, -1.0), (1, 1.0)):
            reach = 0.02
            for attempt in range(TRIES):
                tried = max(near * (1 + sign * reach), 0.0) if near > 0 else (reach if sign > 0 else 0.0)
                low, high = self._delta(setting, tried, way, share, seed + 2 + attempt + TRIES * place)
                if (low > delta) if place == 0 else (high <= delta):
                    ends[place] = tried
                    break
                reach *= 4.0
                if place == 0 and reach > 1:
                    break
        return ends[0], ends[1]

    def _guess(self, setting: Shape, delta: float, way: Way) -> float:
        """Where delta is about the target, on small samples."""
        small = replace(self, samples=min(self.samples, 20_000))

        def about(epsilon: float) -> float:
            chosen = small._estimator(setting, epsilon, way)
            return float(np.mean(chosen.sample(self.seed + 1, small.samples, self._width(setting, chosen))))

        low, high = 0.0, 1.0
        while about(high) > delta and high < MOST:
            low, high = high, 2 * high
        for _ in range(12):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if about(middle) <= delta else (middle, high)
        return 0.5 * (low + high)

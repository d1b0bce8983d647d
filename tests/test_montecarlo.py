"""Answers against sampling of the scheme itself, several picks included, at a confidence of 1 - 1e-6 each."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest
from mpmath import mp

import privloss as pl
from privloss import Scheme
from truth import closed, sampling


class Setting(NamedTuple):
    """``kind(noise).allocate(steps, picks)``, asked where delta is about ``target``."""

    kind: str
    noise: float
    steps: int
    picks: int
    target: float
    direction: Any

    @property
    def scheme(self) -> Scheme:
        step: Scheme = pl.Gaussian(self.noise) if self.kind == "Gaussian" else pl.Laplace(self.noise)
        return step.allocate(self.steps, picks=self.picks)


def drawn(count: int) -> list[Setting]:
    generator = random.Random(11)
    found = []
    for number in range(count):
        kind = ("Gaussian", "Gaussian", "Laplace")[number % 3]
        steps = generator.choice([1, 2, 3, 4, 8, 20, 50])
        picks = min(generator.choice([1, 1, 2, 3, 5]), steps)
        noise, target = round(generator.uniform(0.4, 2.5), 2), 10 ** generator.uniform(-4.5, -0.5)
        found.append(Setting(kind, noise, steps, picks, target, generator.choice(["remove", "add"])))
    return found


SETTINGS = drawn(36)
widths: list[float] = []


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_answers_agree_with_sampling(setting: Setting) -> None:
    scheme = setting.scheme
    epsilon = float(scheme.epsilon(setting.target, direction=setting.direction).upper)
    answer = scheme.delta(epsilon, direction=setting.direction)
    low, high = sampling.delta(*setting[:4], epsilon, setting.direction, samples=150_000, seed=5)
    widths.append((high - low) / float(answer.upper))
    assert low <= answer.upper
    if scheme.exact:  # only then is the lower bound one of the scheme
        assert answer.lower <= high


def test_sampling_is_sharp_enough_to_tell() -> None:
    """In half of the settings the interval is narrower than a fifth of the answer."""
    if len(widths) == len(SETTINGS):  # all of them ran
        assert sorted(widths)[len(widths) // 2] < 0.2


@pytest.mark.parametrize(("epsilon", "direction"), [(3.0, "remove"), (2.0, "add"), (0.5, "remove")])
def test_every_way_of_sampling_has_the_same_mean(epsilon: float, direction: str) -> None:
    """One step, whose delta is known: each estimator's interval contains it, and its values stay below its bound."""
    with mp.workdps(30):
        true = float(closed.gaussian(1.25).delta(epsilon, direction))
    for each in sampling.estimators("Gaussian", 1.25, 1, 1, epsilon, direction):
        values = each.sample(3, 40_000, 1)
        low, high = sampling.bounds(values, each.most, 1 - 1e-6)
        assert low <= true <= high


@pytest.mark.parametrize(("steps", "picks", "direction"), [(4, 2, "remove"), (6, 1, "remove"), (5, 3, "add")])
def test_the_leaning_estimators_agree_with_the_plain_one(steps: int, picks: int, direction: str) -> None:
    intervals = []
    for each in sampling.estimators("Gaussian", 1.0, steps, picks, 1.0, direction):
        intervals.append(sampling.bounds(each.sample(4, 40_000, steps), each.most, 1 - 1e-6))
    assert max(low for low, _ in intervals) <= min(high for _, high in intervals)


def test_the_lower_bound_of_a_reduction_is_none_of_the_scheme() -> None:
    """Gaussian(1), 2 of 4 steps, epsilon 1, remove: the scheme's delta is 0.1524 and its reduction's 0.1621."""
    scheme = pl.Gaussian(1.0).allocate(4, picks=2)
    answer = scheme.delta(1.0, direction="remove")
    low, high = sampling.delta("Gaussian", 1.0, 4, 2, 1.0, "remove", samples=400_000)
    assert low <= 0.1524 <= high
    assert answer.lower <= 0.16215
    assert answer.upper >= 0.16205
    assert high < answer.lower
    assert not scheme.exact

"""The law of the samplers: what they promise of every example, checked against the batches themselves."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privloss as pl
from privloss.samplers import PoissonSampler, RandomAllocationSampler, Sampler, ShuffleSampler
from privloss.samplers._stream import Stream, subsets

_ALL = [
    lambda **more: RandomAllocationSampler(50, steps=8, picks=3, epochs=4, **more),
    lambda **more: RandomAllocationSampler(50, steps=8, epochs=4, fresh=False, **more),
    lambda **more: PoissonSampler(50, rate=0.2, steps=8, epochs=4, **more),
    lambda **more: ShuffleSampler(50, batch=7, epochs=4, **more),
]


def _steps(sampler: Sampler, epochs: int = 1) -> NDArray[np.int64]:
    """Who (column 1) is in which step (column 0), over some epochs."""
    batches = [batch for _ in range(epochs) for batch in sampler]
    where = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    return np.stack([where, np.concatenate([np.array(batch, dtype=int) for batch in batches])], axis=1)


def _surprise(counts: NDArray[Any], expected: NDArray[Any] | float, spread: float | None = None) -> float:
    """The chi-square statistic in standard deviations from its mean: a law that is not met is hundreds off."""
    freedom = counts.size - 1
    squares = (counts - expected) ** 2 / (expected if spread is None else spread)
    return abs(float(np.sum(squares)) - freedom) / math.sqrt(2 * freedom)


@pytest.mark.parametrize(("size", "steps", "picks"), [(1_000_000, 1000, 1), (100_000, 1000, 10), (20_000, 64, 50)])
def test_everyone_is_in_exactly_picks_batches(size: int, steps: int, picks: int) -> None:
    drawn = _steps(RandomAllocationSampler(size, steps, picks, generator=7))
    assert len(drawn) == size * picks >= 1_000_000
    assert (np.bincount(drawn[:, 1], minlength=size) == picks).all()  # nobody is lost
    assert len(np.unique(drawn[:, 0] * size + drawn[:, 1])) == size * picks  # nor twice in a batch
    share = picks / steps
    sizes = np.bincount(drawn[:, 0], minlength=steps)
    spread = size * share * (1 - share) * steps / (steps - 1)  # of a sum of sets of a fixed size, per degree of freedom
    assert _surprise(sizes, size * share, spread) < 5


def test_steps_are_uniform_and_independent_between_neighbours() -> None:
    """Over 1e6 draws: the step of each example, and the steps of two examples together."""
    size, steps = 1_000_000, 16
    drawn = _steps(RandomAllocationSampler(size, steps, generator=11))
    step = np.empty(size, dtype=int)
    step[drawn[:, 1]] = drawn[:, 0]
    assert _surprise(np.bincount(step, minlength=steps), size / steps) < 5
    for apart in (1, 2, 1000, size // 2):
        pairs = step[:-apart] * steps + step[apart:]
        assert _surprise(np.bincount(pairs, minlength=steps**2), len(pairs) / steps**2) < 5


def test_epochs_are_independent_when_fresh_and_equal_when_kept() -> None:
    size, steps = 1_000_000, 16
    fresh, kept = (RandomAllocationSampler(size, steps, epochs=2, fresh=fresh, generator=5) for fresh in (True, False))
    where = np.empty((2, size), dtype=int)
    drawn = _steps(fresh, epochs=2)
    where[drawn[:, 0] // steps, drawn[:, 1]] = drawn[:, 0] % steps
    both = np.bincount(where[0] * steps + where[1], minlength=steps**2)
    assert _surprise(both, size / steps**2) < 5
    assert list(kept) == list(kept)


@pytest.mark.parametrize("picks", [1, 2, 3, 4, 5])
def test_all_sets_are_equally_likely(picks: int) -> None:
    """200,000 examples each, more than 1e6 draws in all; five steps have ten sets of two."""
    drawn = subsets(Stream(b"k" * 32, picks), 200_000, 5, picks)
    assert (np.diff(drawn, axis=1) > 0).all()
    counts = Counter(map(tuple, drawn.tolist()))
    sets = list(itertools.combinations(range(5), picks))
    assert set(counts) <= set(sets)
    if len(sets) > 1:
        assert _surprise(np.array([counts[chosen] for chosen in sets]), 200_000 / len(sets)) < 5


def test_poisson_includes_independently() -> None:
    size, rate = 1_000_000, 0.3
    first, second = (np.isin(np.arange(size), batch) for batch in PoissonSampler(size, rate, steps=2, generator=3))
    counts = np.bincount(2 * first + second, minlength=4)
    expected = size * np.outer([1 - rate, rate], [1 - rate, rate]).ravel()
    assert _surprise(counts, expected) < 5
    assert all(len(batch) == 10 for batch in PoissonSampler(10, 1.0, steps=3))


def test_shuffled_batches_have_one_size_and_everyone_once() -> None:
    sampler = ShuffleSampler(103, batch=10, epochs=2, generator=1)
    one, two = list(sampler), list(sampler)
    assert [len(batch) for batch in one] == [10] * 10 + [3]
    assert sorted(itertools.chain(*one)) == list(range(103)) and one != two


@pytest.mark.parametrize("make", _ALL)
def test_shards_partition_the_batch(make: Any) -> None:
    whole = make(generator=b"the same in all processes")
    shards = [make(generator=b"the same in all processes", rank=rank, world=3) for rank in range(3)]
    for _ in range(whole.epochs):
        for batch, *parts in zip(whole, *shards, strict=True):
            assert sorted(itertools.chain(*parts)) == batch
            assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("make", _ALL)
def test_a_seed_repeats_and_no_seed_does_not(make: Any) -> None:
    assert list(make(generator=1)) == list(make(generator=1)) != list(make(generator=2))
    assert list(make()) != list(make())
    one, two = (list(make(generator=np.random.default_rng(4))) for _ in range(2))
    assert one == two
    assert list(make(generator=b"x" * 16)) == list(make(generator=b"x" * 16))


def test_the_numbers_of_a_seed_never_change() -> None:
    """What somebody's seed gives must be the same next year: written down, not computed."""
    assert list(RandomAllocationSampler(10, steps=4, generator=0)) == [[3], [1, 4], [7], [0, 2, 5, 6, 8, 9]]


@pytest.mark.parametrize("make", _ALL)
@pytest.mark.parametrize("stop", [0, 1, 5, 8, 9, 19])
def test_goes_on_where_it_stopped(make: Any, stop: int) -> None:
    whole = make(generator=9)
    batches = [batch for _ in range(4) for batch in whole]
    first, second = make(generator=9), make()
    taken = _take(first, stop)
    state = first.state_dict()
    second.load_state_dict(state)
    assert taken == batches[:stop]
    assert _take(first, len(batches) - stop) == _take(second, len(batches) - stop) == batches[stop:]
    assert state["taken"] == stop  # plain data, not changed by going on


def _take(sampler: Sampler, batches: int) -> list[list[int]]:
    taken: list[list[int]] = []
    while len(taken) < batches:
        taken += itertools.islice(sampler, batches - len(taken))
    return taken


def test_after_the_last_epoch_there_is_no_more() -> None:
    sampler = RandomAllocationSampler(5, steps=2, epochs=2)
    assert [len(list(sampler)) for _ in range(2)] == [2, 2] and len(sampler) == 2
    with pytest.raises(RuntimeError, match="all batches of epochs=2 epochs are drawn"):
        next(iter(sampler))


def test_empty_batches_come_as_empty_lists() -> None:
    batches = list(RandomAllocationSampler(3, steps=100, generator=1))
    assert len(batches) == 100 and batches.count([]) >= 97


def test_a_sampler_says_its_scheme() -> None:
    step = pl.Gaussian(2.0)
    assert RandomAllocationSampler(9, 5, 2, 3).scheme(step) == step.allocate(5, picks=2).repeat(3)
    assert RandomAllocationSampler(9, 5, 2, 3, fresh=False).scheme(step) == step.repeat(3).allocate(5, picks=2)
    assert PoissonSampler(9, 0.25, steps=5, epochs=3).scheme(step) == step.subsample(0.25).repeat(15)
    assert PoissonSampler(9, 0.25, steps=5, epochs=3).scheme(step, taken=7) == step.subsample(0.25).repeat(7)
    with pytest.raises(ValueError, match=r"shuffled batches of a fixed size have no scheme.*mechanism.repeat\(3\)"):
        ShuffleSampler(9, 2, epochs=3).scheme(step)


def test_the_expected_batch() -> None:
    assert RandomAllocationSampler(10, 4, 3).expected() == 7.5
    assert PoissonSampler(10, 0.25, 4).expected() == 2.5
    assert ShuffleSampler(10, 4).expected() == 10 / 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"size": 0}, "size must be a whole number from 1"),
        ({"steps": 2.5}, "steps must be a whole number"),
        ({"picks": 6}, "picks must be at most steps, got picks=6 and steps=5"),
        ({"epochs": -1}, "epochs must be a whole number from 1"),
        ({"fresh": 1}, "fresh must be True or False, got 1"),
        ({"generator": -1}, "generator must be a whole number from 0"),
        ({"generator": True}, "generator must be a whole number from 0"),
        (
            {"generator": "seed"},
            "generator must be a whole number, bytes, a numpy.random.Generator or None, got 'seed'",
        ),
        ({"generator": b"short"}, "generator must be at least 16 bytes, got 5"),
        ({"rank": 2, "world": 2, "generator": 1}, "rank must be a whole number from 0 to 1, got 2"),
        ({"world": 2}, "generator must be the same in all of world=2 processes, got None"),
    ],
)
def test_bad_arguments_say_what_is_allowed(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{said.replace('(', '[(]')}"):
        RandomAllocationSampler(**{"size": 9, "steps": 5, **arguments})


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opacus", None)
    monkeypatch.delitem(sys.modules, "privloss.bridges.opacus", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"^needs opacus: pip install 'privloss\[opacus\]'$"):
        importlib.import_module("privloss.bridges.opacus")


def test_a_state_of_another_run_is_refused() -> None:
    state = RandomAllocationSampler(9, 5).state_dict()
    with pytest.raises(ValueError, match="state must have steps=6, as here, got 5"):
        RandomAllocationSampler(9, 6).load_state_dict(state)
    with pytest.raises(ValueError, match="state must have sampler='Poisson', as here, got 'random allocation'"):
        PoissonSampler(9, 0.5, 5).load_state_dict(state)
    with pytest.raises(ValueError, match="taken must be a whole number from 1 to 5, got 6"):
        RandomAllocationSampler(9, 5).scheme(pl.Gaussian(1.0), taken=6)

"""The scheme of a run with random allocation, whole or ended early; the proofs are in docs/guides/samplers.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from privloss import allocate, compose
from privloss._check import count, show
from privloss._scheme import Scheme

Epoch = Sequence[tuple[Scheme, int]]  # the mechanisms of an epoch's steps, in order, and how many steps had each


def ended(mechanism: Scheme, taken: int, steps: int, picks: int, fresh: bool) -> Scheme:
    """The first ``taken`` steps of a run, all with the same mechanism."""
    whole, rest = divmod(taken, steps)
    last = [[(mechanism, rest)]] if rest else []
    if fresh or not whole:
        parts = [mechanism.allocate(steps, picks).repeat(whole)] if whole else []
        return _composed(Counter([*parts, *(_epoch(epoch, steps, picks, mechanism) for epoch in last)]))
    if picks == 1 and rest:
        return allocate([(_repeated(mechanism, whole + 1), rest), (_repeated(mechanism, whole), steps - rest)])
    if picks == steps:
        return mechanism.repeat(whole * steps + rest)
    return _repeated(mechanism, whole + len(last)).allocate(steps, picks)


def scheme(epochs: Sequence[Epoch], steps: int, picks: int, fresh: bool, worst: Scheme) -> Scheme:
    """What one person's data went through in the steps that were taken, whose mechanisms may differ.

    ``worst`` is at most as private as any of the mechanisms. Exact for picks=1 (with kept bins, if no step was skipped
    but in the last epoch, and the noise changed between epochs only) and for picks=steps; a bound otherwise.
    """
    if fresh or picks == steps or len(epochs) == 1:
        counts = Counter(map(tuple, epochs))
        parts: Counter[Scheme] = Counter()
        for epoch, n in counts.items():
            parts[_epoch(epoch, steps, picks, worst)] += n
        return _composed(parts)
    *earlier, last = epochs
    even = _total(last) == steps or all(len(set(_each(epoch))) == 1 for epoch in earlier)
    if picks > 1 or not even or any(_total(epoch) < steps for epoch in earlier):
        return worst.repeat(len(epochs)).allocate(steps, picks)  # in which bins was what is not known
    bins = Counter(zip_longest(*map(_each, epochs)))
    return _mean(Counter({_composed(Counter(filter(None, used))): n for used, n in bins.items()}))


def _epoch(epoch: Epoch, steps: int, picks: int, worst: Scheme) -> Scheme:
    """An epoch with bins of its own, of whose steps some may not have been taken."""
    taken, used = _total(epoch), Counter(_each(epoch))
    if picks == steps:
        return _composed(used)
    if taken == 1:
        return next(iter(used)).subsample(picks / steps)
    if picks > 1:
        return worst.allocate(steps, picks)  # the steps that were not taken are forgotten
    return _mean(used) if taken == steps else _mean(used).subsample(taken / steps)


def _mean(steps: Counter[Scheme]) -> Scheme:
    """One of these steps, each as likely as any other."""
    if len(steps) > 1:
        return allocate(list(steps.items()))
    ((mechanism, n),) = steps.items()
    return mechanism.allocate(n)


def _composed(rounds: Counter[Scheme]) -> Scheme:
    parts = [_repeated(part, n) for part, n in rounds.items()]
    return parts[0] if len(parts) == 1 else compose(*parts)


def _repeated(scheme: Scheme, rounds: int) -> Scheme:
    return scheme.repeat(rounds) if rounds > 1 else scheme


def _each(epoch: Epoch) -> list[Scheme]:
    """The mechanism of every step that was taken."""
    return [mechanism for mechanism, n in epoch for _ in range(n)]


def _total(epoch: Epoch) -> int:
    return sum(n for _, n in epoch)


def picks(steps: int, picks: int) -> int:
    """The validator of ``picks``."""
    picks = count(picks=picks)
    if picks > steps:
        raise ValueError(f"picks must be at most steps, got picks={picks} and steps={steps}")
    return picks


def flag(**named: object) -> bool:
    ((name, value),) = named.items()
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {show(value)}")
    return value

"""Random whole numbers from a key, by SHAKE-256 in counter mode.

The same key gives the same numbers on every machine and with every version of NumPy, and nobody without the key can
tell them from independent uniform ones. A run draws millions of numbers, not billions: they cost less than the sorting.
"""

from __future__ import annotations

import hashlib
import secrets
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from privloss._check import show

Seed = int | bytes | np.random.Generator | None

LEAST = 16  # bytes of a key that nobody can guess
WORDS = 2**64


@singledispatch
def key(generator: object) -> bytes:
    """32 bytes from whatever a user gives as ``generator``; a whole number is a seed, for runs to be repeated."""
    try:
        seed = generator.__index__()  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        allowed = "a whole number, bytes, a numpy.random.Generator or None"
        raise TypeError(f"generator must be {allowed}, got {show(generator)}") from None
    if isinstance(generator, bool) or not 0 <= seed < WORDS:
        raise ValueError(f"generator must be a whole number from 0 to 2**64 - 1, got {show(generator)}")
    return hashlib.sha256(b"seed" + seed.to_bytes(8, "little")).digest()


@key.register
def _(generator: None) -> bytes:
    return secrets.token_bytes(32)


@key.register
def _(generator: bytes) -> bytes:
    if len(generator) < LEAST:
        raise ValueError(f"generator must be at least {LEAST} bytes, got {len(generator)}")
    return hashlib.sha256(b"key" + generator).digest()


@key.register
def _(generator: np.random.Generator) -> bytes:
    return generator.bytes(32)


class Stream:
    """The numbers of one key for one purpose: an epoch, or a batch of one."""

    def __init__(self, key: bytes, *purpose: int) -> None:
        self.start = key + b"".join(part.to_bytes(8, "little") for part in (len(purpose), *purpose))
        self.block = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Independent and uniform on 0 .. 2**64 - 1."""
        block = hashlib.shake_256(self.start + self.block.to_bytes(8, "little"))
        self.block += 1
        return np.frombuffer(block.digest(8 * count), dtype="<u8").astype(np.uint64, copy=False)

    def below(self, high: int, count: int) -> NDArray[np.int64]:
        """Independent and uniform on 0 .. high - 1: words past the last whole multiple of ``high`` are thrown away."""
        last = np.uint64(WORDS - WORDS % high - 1)
        words = self.words(count)
        while (bad := np.flatnonzero(words > last)).size:
            words = words.copy()  # what hashlib gave cannot be written to
            words[bad] = self.words(bad.size)
        below: NDArray[np.int64] = (words % np.uint64(high)).astype(np.int64)
        return below

    def bits(self, rate: float, count: int) -> NDArray[np.bool_]:
        """Independent, each True with probability ``rate``, rounded down to a multiple of 2**-64."""
        if rate == 1:
            return np.ones(count, dtype=np.bool_)
        drawn: NDArray[np.bool_] = self.words(count) < np.uint64(int(rate * WORDS))
        return drawn

    def order(self, count: int) -> NDArray[np.int64]:
        """A permutation: uniform but for two equal words, of probability below count**2 / 2**65."""
        return np.argsort(self.words(count), kind="stable")


def subsets(stream: Stream, rows: int, high: int, picks: int) -> NDArray[np.int64]:
    """For each row a uniform set of ``picks`` of the numbers below ``high``, in increasing order; shape (rows, picks).

    Draws what is missing until nothing is: renaming the numbers changes nothing in that procedure, so all sets are
    equally likely. More than half are drawn as what is left out.
    """
    few = min(picks, high - picks)
    keys = np.empty(0, dtype=np.int64)
    missing = np.full(rows, few)
    while missing.any():
        row = np.repeat(np.arange(rows), missing)
        keys = np.sort(np.concatenate([keys, row * high + stream.below(high, row.size)]))
        keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]  # np.unique takes a hundred times as long
        missing = few - np.bincount(keys // high, minlength=rows)
    if few != picks:
        kept = np.ones(rows * high, dtype=np.bool_)
        kept[keys] = False
        keys = np.flatnonzero(kept)
    return (keys % high).reshape(rows, picks)

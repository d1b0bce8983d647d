"""Shuffled batches of a fixed size: what most training loops do, and what no scheme here describes."""

from __future__ import annotations

from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from privloss._check import count
from privloss._scheme import Scheme
from privloss.samplers import _run
from privloss.samplers._sampler import Batches, Sampler
from privloss.samplers._stream import Seed, Stream


class ShuffleSampler(Sampler):
    """A random permutation of the examples, cut into batches of ``batch``; the last one of an epoch may be smaller.

    For comparison: its privacy is not that of Poisson subsampling at rate batch/size, nor that of random allocation.

    >>> from privloss.samplers import ShuffleSampler
    >>> [len(batch) for batch in ShuffleSampler(10, batch=4)]
    [4, 4, 2]
    """

    kind: ClassVar[str] = "shuffle"
    law: ClassVar[tuple[str, ...]] = ("size", "batch", "epochs", "fresh")

    def __init__(
        self,
        size: int,
        batch: int,
        epochs: int = 1,
        fresh: bool = True,
        generator: Seed = None,
        *,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.batch = count(batch=batch)
        super().__init__(size, -(-count(size=size) // self.batch), epochs, generator, rank, world)
        self.fresh = _run.flag(fresh=fresh)

    def scheme(self, mechanism: Scheme, taken: int | None = None) -> NoReturn:
        """Refused: everyone's batch depends on everyone else's."""
        raise ValueError(
            "shuffled batches of a fixed size have no scheme: each person's batch depends on the others', and "
            "Poisson's epsilon does not bound theirs; for a person whose example is replaced by nothing, without "
            f"any amplification, mechanism.repeat({self.epochs}) is a bound (docs/guides/samplers.md)"
        )

    def expected(self) -> float:
        return self.size / self.steps

    def _draw(self, epoch: int) -> Batches:
        order = Stream(self.key, epoch if self.fresh else 0).order(self.size)

        def batch(step: int) -> NDArray[np.int64]:
            return np.sort(order[step * self.batch : (step + 1) * self.batch])

        return batch

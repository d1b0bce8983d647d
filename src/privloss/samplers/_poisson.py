"""Poisson subsampling: everyone is in each batch with the same probability."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privloss._check import rate as _rate
from privloss._scheme import Scheme
from privloss.samplers._sampler import Batches, Sampler
from privloss.samplers._stream import Seed, Stream


class PoissonSampler(Sampler):
    """Every example is in each of the ``steps`` batches of each epoch with probability ``rate``, independently.

    >>> from privloss import Gaussian
    >>> from privloss.samplers import PoissonSampler
    >>> PoissonSampler(1000, rate=0.05, steps=20, epochs=5).scheme(Gaussian(2.0))
    Gaussian(sigma=2.0).subsample(rate=0.05).repeat(rounds=100)
    """

    kind: ClassVar[str] = "Poisson"
    law: ClassVar[tuple[str, ...]] = ("size", "rate", "steps", "epochs")

    def __init__(
        self,
        size: int,
        rate: float,
        steps: int,
        epochs: int = 1,
        generator: Seed = None,
        *,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        super().__init__(size, steps, epochs, generator, rank, world)
        self.rate = _rate(rate=rate)

    def scheme(self, mechanism: Scheme, taken: int | None = None) -> Scheme:
        """Steps are independent: a run that ended after ``taken`` steps is that many of them."""
        return mechanism.subsample(self.rate).repeat(self._within(taken))

    def expected(self) -> float:
        return self.size * self.rate

    def _draw(self, epoch: int) -> Batches:
        def batch(step: int) -> NDArray[np.int64]:
            return np.flatnonzero(Stream(self.key, epoch, step).bits(self.rate, self.size))

        return batch

"""Random allocation: everyone is in exactly ``picks`` of each epoch's batches."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privloss._scheme import Scheme
from privloss.samplers import _run
from privloss.samplers._sampler import Batches, Sampler
from privloss.samplers._stream import Seed, Stream, subsets

CHUNK = 2**22  # numbers handled at a time: a matrix of examples by steps is never made


class RandomAllocationSampler(Sampler):
    """Every example is in exactly ``picks`` of each epoch's ``steps`` batches.

    Which ones is drawn for each example independently, uniformly among the sets of that size: ``fresh`` in each epoch,
    or else once for all of them, the bins being kept. Batches vary in size and may be empty. Do not leave out the step
    of an empty batch: its noise is what hides that it was empty.

    >>> from privloss import Gaussian
    >>> from privloss.samplers import RandomAllocationSampler
    >>> RandomAllocationSampler(1000, steps=20, picks=2, epochs=5).scheme(Gaussian(2.0))
    Gaussian(sigma=2.0).allocate(steps=20, picks=2).repeat(rounds=5)
    >>> RandomAllocationSampler(1000, steps=20, epochs=5, fresh=False).scheme(Gaussian(2.0))
    Gaussian(sigma=2.0).repeat(rounds=5).allocate(steps=20)
    """

    kind: ClassVar[str] = "random allocation"
    law: ClassVar[tuple[str, ...]] = ("size", "steps", "picks", "epochs", "fresh")

    def __init__(
        self,
        size: int,
        steps: int,
        picks: int = 1,
        epochs: int = 1,
        fresh: bool = True,
        generator: Seed = None,
        *,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        super().__init__(size, steps, epochs, generator, rank, world)
        self.picks = _run.picks(self.steps, picks)
        self.fresh = _run.flag(fresh=fresh)

    def scheme(self, mechanism: Scheme, taken: int | None = None) -> Scheme:
        """``mechanism`` is what one step does to those in its batch, such as ``Gaussian(sigma)``.

        For a run that ended after ``taken`` steps, see ``docs/guides/samplers.md``.
        """
        taken = self._within(taken)
        if taken < self.epochs * self.steps:
            return _run.ended(mechanism, taken, self.steps, self.picks, self.fresh)
        if self.fresh:
            return mechanism.allocate(self.steps, self.picks).repeat(self.epochs)
        return mechanism.repeat(self.epochs).allocate(self.steps, self.picks)

    def expected(self) -> float:
        return self.size * self.picks / self.steps

    def _draw(self, epoch: int) -> Batches:
        steps = self._steps(Stream(self.key, epoch if self.fresh else 0))
        order = np.argsort(steps, kind="stable")  # the places of step 0, then those of step 1, ...
        ends = np.cumsum(np.bincount(steps, minlength=self.steps))

        def batch(step: int) -> NDArray[np.int64]:
            start = ends[step - 1] if step else 0
            return order[start : ends[step]] // self.picks

        return batch

    def _steps(self, stream: Stream) -> NDArray[np.unsignedinteger]:
        """The steps of example 0, then those of example 1, ..."""
        steps = np.empty((self.size, self.picks), dtype=np.min_scalar_type(self.steps - 1))
        many = 2 * self.picks > self.steps
        rows = max(1, CHUNK // (self.steps if many else self.picks))
        for start in range(0, self.size, rows):
            part = steps[start : start + rows]
            part[:] = subsets(stream, len(part), self.steps, self.picks)
        return steps.reshape(-1)

"""What all samplers share: epochs, shards, and going on where one stopped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privloss._check import count, show
from privloss._scheme import Scheme
from privloss.samplers._stream import Seed, key

Batches = Callable[[int], NDArray[np.int64]]  # the indices in a step of an epoch, in increasing order


class Sampler(ABC):
    """Iterating over it yields the batches of the next epoch, or the rest of the one that was broken off.

    * ``taken`` counts the batches yielded so far, over all epochs; after ``epochs`` epochs there are no more.
    * ``generator`` is None (a new secret key), bytes (a key of your own), a NumPy generator (which gives the key) or a
      whole number (a seed: a run that can be repeated, by anyone who guesses it). The key fixes all batches.
    * Of ``world`` processes the one of rank ``rank`` gets its shard of every batch. The shards partition the batch,
      if all are given the same ``generator``.
    """

    kind: ClassVar[str]
    law: ClassVar[tuple[str, ...]] = ("size", "steps", "epochs")  # what fixes the batches, with the key

    def __init__(self, size: int, steps: int, epochs: int, generator: Seed, rank: int, world: int) -> None:
        self.size, self.steps, self.epochs = count(size=size), count(steps=steps), count(epochs=epochs)
        self.world = count(world=world)
        self.rank = count(least=0, most=self.world - 1, rank=rank)
        if self.world > 1 and generator is None:
            raise ValueError(f"generator must be the same in all of world={world} processes, got None: give bytes")
        self.key = key(generator)
        self.taken = 0
        self.turn = 0  # of those that iterate over it, the last one counts
        self.handed: int | None = None  # like taken, but without what a loader has fetched ahead

    @abstractmethod
    def scheme(self, mechanism: Scheme, taken: int | None = None) -> Scheme:
        """What one person's data goes through, in the whole run or in its first ``taken`` steps."""

    @abstractmethod
    def expected(self) -> float:
        """The mean size of a batch, of all shards together: what to divide sums of gradients by."""

    @abstractmethod
    def _draw(self, epoch: int) -> Batches:
        """The batches of an epoch."""

    def __len__(self) -> int:
        """The batches of one epoch."""
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        if self.taken >= self.epochs * self.steps:
            raise RuntimeError(f"all batches of epochs={self.epochs} epochs are drawn: a longer run is another scheme")
        self.turn, self.handed = self.turn + 1, None
        return self._rest(self.taken // self.steps)

    def _rest(self, epoch: int) -> Iterator[list[int]]:
        batch = self._draw(epoch)
        while self.taken // self.steps == epoch:
            step = self.taken % self.steps
            self.taken += 1
            yield batch(step)[self.rank :: self.world].tolist()

    @property
    def given(self) -> int:
        """The batches that came out so far: those taken, less what ``privloss.samplers.torch.loader`` holds back."""
        return self.taken if self.handed is None else self.handed

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, as plain data. It holds the key: who knows it knows who was in which batch.

        A loader of another kind that fetches ahead loses what it has fetched: those batches do not come again.
        """
        law = {name: getattr(self, name) for name in self.law}
        return {"sampler": self.kind, **law, "key": self.key.hex(), "taken": self.given}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where the sampler that said ``state`` stopped; it must have been made with the same arguments."""
        for name, mine in {"sampler": self.kind, **{name: getattr(self, name) for name in self.law}}.items():
            if name not in state or state[name] != mine:
                raise ValueError(f"state must have {name}={show(mine)}, as here, got {show(state.get(name))}")
        self.key, self.taken = bytes.fromhex(state["key"]), self._within(state["taken"], least=0)
        self.turn, self.handed = self.turn + 1, None

    def _within(self, taken: int | None, least: int = 1) -> int:
        """A number of steps of this run; all of them for None."""
        total = self.epochs * self.steps
        return total if taken is None else count(least=least, most=total, taken=taken)

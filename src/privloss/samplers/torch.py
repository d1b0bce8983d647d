"""For PyTorch: a loader that loses no batch, and a collate function that knows what an empty one looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from privloss.samplers import Sampler


def loader(dataset: Any, sampler: Sampler, collate_fn: Callable[[list[Any]], Any] | None = None, **more: Any) -> Any:
    """A ``DataLoader`` over the sampler's batches, empty ones included; ``more`` is what it takes, as ``num_workers``.

    Workers fetch ahead. If the loop is broken off, what they have fetched comes first in the next one, and the
    sampler's ``state_dict`` speaks of the batches that came out.
    """
    return _kind()(dataset, batch_sampler=sampler, collate_fn=Collate(dataset, collate_fn), **more)


@cache
def _kind() -> Any:
    from torch.utils.data import DataLoader

    class Loader(DataLoader):  # type: ignore[misc]
        def __iter__(self) -> Any:
            return _counted(self.batch_sampler, super().__iter__)

    return Loader


def _counted(sampler: Sampler, begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The batches, with the sampler told how many have come out; it is set back to that at the end."""
    given = sampler.taken
    batches = begin()  # with workers, draws the first ones
    turn, sampler.handed = sampler.turn, given
    try:
        for batch in batches:
            given += 1
            if sampler.turn == turn:
                sampler.handed = given
            yield batch
    finally:
        if sampler.turn == turn:  # nobody else has begun to draw
            sampler.taken, sampler.handed = given, None


class Collate:
    """``collate_fn`` of a ``DataLoader`` whose batches may be empty, as those of random allocation and of Poisson may.

    An empty batch comes out as any other, with zero examples: the shapes are those of ``dataset[0]``, whose values are
    not used. Batches go along the first dimension. It can be sent to worker processes if ``collate`` can.

        DataLoader(dataset, batch_sampler=sampler, collate_fn=Collate(dataset))
    """

    def __init__(self, dataset: Any, collate: Callable[[list[Any]], Any] | None = None) -> None:
        self.collate = collate or _default()
        self.nothing = _emptied(self.collate([dataset[0]]))

    def __call__(self, examples: list[Any]) -> Any:
        return self.collate(examples) if len(examples) else self.nothing


def _default() -> Callable[[list[Any]], Any]:
    from torch.utils.data import default_collate

    given: Callable[[list[Any]], Any] = default_collate
    return given


def _emptied(batch: Any) -> Any:
    """A batch of one without its one."""
    if getattr(batch, "shape", None):
        return batch[:0]
    if isinstance(batch, Mapping):
        return {name: _emptied(value) for name, value in batch.items()}
    if not _holds(batch):
        raise TypeError(f"collate must give arrays, or mappings or sequences of them, got a {type(batch).__name__}")
    if not any(map(_holds, batch)):
        return []  # as the strings of a batch, or whatever a collate function leaves as it is
    values = [_emptied(value) for value in batch]
    return type(batch)(*values) if hasattr(batch, "_fields") else values


def _holds(value: Any) -> bool:
    """Whether it is one of many examples' values, and not the value of one."""
    if isinstance(value, str | bytes):
        return False
    return bool(getattr(value, "shape", None)) or isinstance(value, Mapping | Sequence)

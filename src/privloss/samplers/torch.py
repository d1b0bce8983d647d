"""For PyTorch: a collate function that knows what an empty batch looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Collate:
    """``collate_fn`` of a ``DataLoader`` whose batches may be empty, as those of random allocation and of Poisson may.

    An empty batch comes out as any other, with zero examples: the shapes are those of ``dataset[0]``, whose values are
    not used. Batches go along the first dimension. It can be sent to worker processes if ``collate`` can.

        DataLoader(dataset, batch_sampler=sampler, collate_fn=Collate(dataset), num_workers=2)
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
    if not isinstance(batch, Sequence) or isinstance(batch, str | bytes):
        raise TypeError(f"collate must give arrays, or mappings or sequences of them, got a {type(batch).__name__}")
    if all(isinstance(value, str | bytes) for value in batch):
        return []
    values = [_emptied(value) for value in batch]
    return type(batch)(*values) if hasattr(batch, "_fields") else values

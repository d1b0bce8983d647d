"""The event of random allocation: the library's own where it has one, else one of the same shape."""

from __future__ import annotations

import attr
from dp_accounting import dp_event


@attr.s(frozen=True, slots=True, auto_attribs=True)
class RandomAllocationDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """Each record is used in ``num_selected`` of ``num_steps`` steps, chosen uniformly and independently of the others.

    ``event`` is one step, seen from a record that is used in it.
    """

    event: dp_event.DpEvent
    num_selected: int
    num_steps: int


RandomAllocationDpEvent = getattr(dp_event, "RandomAllocationDpEvent", RandomAllocationDpEvent)  # type: ignore[misc]

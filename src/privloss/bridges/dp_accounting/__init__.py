"""dp-accounting: its privacy loss distributions, its events and its accountants (extra ``dp-accounting``).

>>> from privloss.bridges import dp_accounting as bridge
>>> sorted(bridge.__all__)
['Accountant', 'RandomAllocationDpEvent', 'from_event', 'from_pld', 'to_event', 'to_pld']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privloss.bridges.dp_accounting.event import from_event, to_event
from privloss.bridges.dp_accounting.pld import from_pld, to_pld

if TYPE_CHECKING:
    from privloss.bridges.dp_accounting.accountant import Accountant
    from privloss.bridges.dp_accounting.allocation import RandomAllocationDpEvent

__all__ = ["Accountant", "RandomAllocationDpEvent", "from_event", "from_pld", "to_event", "to_pld"]

# Classes that need a base class of the library: their modules are imported when they are asked for.
_FILES = {"Accountant": "accountant", "RandomAllocationDpEvent": "allocation"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from privloss.bridges._library import library

    library("dp_accounting", "dp-accounting")
    return getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)

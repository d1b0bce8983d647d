"""Operations on schemes. To add one, add it to ``OPERATIONS``, and its exact rewrites to ``_rewrite.py``."""

from privloss._operations.allocate import Allocate, Allocation, allocate
from privloss._operations.compose import Compose, compose
from privloss._operations.repeat import Repeat
from privloss._operations.subsample import Subsample
from privloss._operations.swap import Swap

OPERATIONS = (Allocate, Allocation, Subsample, Repeat, Compose, Swap)

__all__ = [
    "OPERATIONS",
    "Allocate",
    "Allocation",
    "Compose",
    "Repeat",
    "Subsample",
    "Swap",
    "allocate",
    "compose",
]

"""The validator of an operand."""

from __future__ import annotations

from privloss._check import show
from privloss._scheme import Scheme


def scheme(**named: object) -> Scheme:
    ((name, value),) = named.items()
    if not isinstance(value, Scheme):
        raise TypeError(f"{name} must be a scheme, such as Gaussian(1.0), got {show(value)}")
    return value

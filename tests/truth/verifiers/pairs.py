"""The curve of a list of outcomes, by its definition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mpmath import mpf

from truth.closed import exactly


def curve(pair: Iterable[tuple[Any, Any]], k: Any, direction: str) -> tuple[Any, Any]:
    """sum (p - k q)_+, and the sum of q where it counts; P and Q exchanged for "add"."""
    delta = slope = mpf(0)
    for p, q in pair:
        a, b = (p, q) if direction == "remove" else (q, p)
        a, b = exactly(a), exactly(b)
        if a > k * b:
            delta, slope = delta + (a - k * b), slope + b
    return delta, slope

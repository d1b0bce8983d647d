"""Validators, called with the name: ``sigma = positive(sigma=sigma)``.

Each returns the value normalised (``float``, ``int`` or ``tuple``) or says in one sentence which argument,
which value and what is allowed: TypeError for the wrong kind of thing, ValueError for the wrong value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[Any]  # what a list of numbers may be given as

MISS = 1e-9  # how far given masses may be from a probability
COUNTABLE = 2**53  # whole numbers up to here are exact as floats


def show(value: object, limit: int = 60) -> str:
    """A value as it appears in a message: its repr, cut short."""
    if isinstance(value, int) and value.bit_length() > 10_000:
        return f"a number of {value.bit_length()} bits"  # Python refuses to print it
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def real(**named: object) -> float:
    """Any real number, infinities included."""
    ((name, value),) = named.items()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {show(value)}")
    try:
        result = float(value) + 0.0  # -0.0 becomes 0.0, so that equal schemes print alike
    except OverflowError:
        raise ValueError(f"{name} must be within the range of a float, got {show(value)}") from None
    if math.isnan(result):
        raise ValueError(f"{name} must be a number, got nan")
    return result


def finite(**named: object) -> float:
    ((name, value),) = named.items()
    result = real(**named)
    if math.isinf(result):
        raise ValueError(f"{name} must be finite, got {show(value)}")
    return result


def positive(**named: object) -> float:
    ((name, value),) = named.items()
    result = real(**named)
    if not 0 < result < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {show(value)}")
    return result


def limit(**named: object) -> float | None:
    """A time limit, or None."""
    ((name, value),) = named.items()
    if value is None:
        return None
    result = real(**named)
    if not 0 < result < math.inf:
        raise ValueError(f"{name} must be positive and finite, or None for no limit, got {show(value)}")
    return result


def nonnegative(**named: object) -> float:
    ((name, value),) = named.items()
    result = real(**named)
    if not 0 <= result < math.inf:
        raise ValueError(f"{name} must be at least 0 and finite, got {show(value)}")
    return result


def probability(**named: object) -> float:
    ((name, value),) = named.items()
    result = real(**named)
    if not 0 <= result <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {show(value)}")
    return result


def rate(**named: object) -> float:
    """A probability of inclusion."""
    ((name, value),) = named.items()
    result = real(**named)
    if not 0 < result <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {show(value)}")
    return result


def count(*, least: int = 1, most: int = COUNTABLE, **named: object) -> int:
    """A whole number; ``1000.0`` and NumPy's integers will do."""
    ((name, value),) = named.items()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a whole number, got {show(value)}")
    number = int(value) if isinstance(value, Integral) else float(value)
    if not least <= number <= most or number != math.floor(number):
        top = "2**53" if most == COUNTABLE else f"{most}"
        raise ValueError(f"{name} must be a whole number from {least} to {top}, got {show(value)}")
    return int(number)


def choice(*, among: Sequence[str], **named: object) -> str:
    ((name, value),) = named.items()
    if not isinstance(value, str) or value not in among:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, among))}, got {show(value)}")
    return value


def reals(**named: object) -> tuple[float, ...]:
    """A non-empty sequence of real numbers, infinities included; checked by NumPy, so long ones are quick."""
    ((name, value),) = named.items()
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, got {show(value)}")
    array = _array(name, value)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a non-empty flat sequence of numbers, got shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError(f"{name} must be numbers, got nan at index {int(np.isnan(array).argmax())}")
    return tuple((array + 0.0).tolist())


def _array(name: str, values: Iterable[object]) -> NDArray[np.float64]:
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be a sequence of numbers, got an array of {values.dtype}")
        return values.astype(np.float64)
    listed = list(values)
    if any(type(v) is not float for v in listed):
        listed = [real(**{f"{name}[{i}]": v}) for i, v in enumerate(listed)]  # names the offending one
    return np.array(listed, dtype=np.float64)


def masses(**named: object) -> tuple[float, ...]:
    """Probabilities of outcomes: none negative, and a sum that misses 1 by at most 1e-9."""
    ((name, _),) = named.items()
    result = reals(**named)
    lowest = min(result)
    if lowest < 0 or max(result) == math.inf:
        wrong = lowest if lowest < 0 else math.inf
        where = result.index(wrong)
        raise ValueError(f"{name} must be at least 0 and finite, got {wrong!r} at index {where}")
    total = _total(result)
    if not abs(total - 1) <= MISS:
        raise ValueError(f"{name} must sum to 1 within {MISS}, got {total!r}")
    return result


def _total(values: Sequence[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def instance(kind: type, such: str, **named: object) -> None:
    ((name, value),) = named.items()
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {such}, got {show(value)}")


def same_length(**named: Sized) -> None:
    (one, first), (two, second) = named.items()
    if len(first) != len(second):
        raise ValueError(f"{one} and {two} must have the same length, got {len(first)} and {len(second)}")

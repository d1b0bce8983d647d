"""Importing the library that a bridge leads to."""

from __future__ import annotations

import importlib
from typing import Any


def library(name: str, extra: str) -> Any:
    """The module ``name``, or an ImportError that names the extra which brings it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        top = name.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise
        raise ImportError(f'{top} is not installed: pip install "privloss[{extra}]"') from None

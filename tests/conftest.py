"""Hypothesis profiles: the same few examples in every run, or many new ones with HYPOTHESIS_PROFILE=long.

And a data folder that is not the user's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]  # no test fails on a slow machine
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=40, suppress_health_check=QUIET
)
settings.register_profile(
    "long", database=None, deadline=None, max_examples=2000, suppress_health_check=QUIET, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
            patch.setenv(name, str(tmp_path_factory.mktemp("data")))
        yield

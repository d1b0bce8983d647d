"""Hypothesis profiles: the same few examples in every run, or many new ones with HYPOTHESIS_PROFILE=long."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]  # no test fails on a slow machine
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=40, suppress_health_check=QUIET
)
settings.register_profile(
    "long", database=None, deadline=None, max_examples=2000, suppress_health_check=QUIET, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

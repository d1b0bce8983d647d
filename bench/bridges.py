"""What the bridges' documentation claims, measured: `python bench/bridges.py`, where the bridges' extras are installed.

Two tables: intervals for the settings in dp-accounting's and riskcal's own examples, beside those libraries' own
optimistic and pessimistic values; and dp-accounting's own tests of accountants, run on ours.
"""

from __future__ import annotations

import io
import time
import unittest
from collections import Counter
from collections.abc import Iterable
from typing import Any
from unittest import mock

import privloss as pl
from privloss.bridges import dp_accounting as bridge

STEP = 1e-4  # dp-accounting's and riskcal's default interval

# where from, sigma, rate, rounds, delta
SETTINGS = [
    ("dp-accounting, `pld_privacy_accountant_test`", 0.5, 0.2, 3, 0.15594),
    ("dp-accounting, `accountant_test`", 0.67379294682, 0.01, 1, 1e-5),
    ("dp-accounting, `accountant_test`", 3.20956502598 / 6, 0.001, 25, 1e-5),
    ("dp-accounting, `rdp_privacy_accountant_test`", 2.5, 0.01, 50, 1e-5),
    ("riskcal, trade-off curves", 0.5, 0.002, 10_000, 1e-5),
    ("riskcal, accountant", 0.5, 0.002, 100, 1e-5),
    ("Abadi et al. 2016", 4.0, 0.01, 10_000, 1e-5),
]


def theirs(sigma: float, rate: float, rounds: int, *, pessimistic: bool) -> Any:
    """Connect-the-dots from above, privacy buckets from below: they have no other."""
    from dp_accounting.pld import privacy_loss_distribution

    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma,
        sampling_prob=rate,
        value_discretization_interval=STEP,
        pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic,
    )
    return one.self_compose(rounds)


def intervals() -> None:
    given = ("from", "sigma", "rate", "rounds", "delta")
    head = (*given, "optimistic", "ours", "pessimistic", "`to_pld`, both sides", "meet")
    print("Epsilon of Poisson DP-SGD\n")
    print(_row(head), _row(["---"] * len(head)), sep="\n")
    for name, sigma, rate, rounds, delta in SETTINGS:
        scheme = pl.Gaussian(sigma).subsample(rate).repeat(rounds)
        ours = scheme.epsilon(delta, rtol=1e-5, seconds=60)
        own = [theirs(sigma, rate, rounds, pessimistic=side) for side in (False, True)]
        through = [bridge.to_pld(scheme, STEP, side=side, seconds=60) for side in ("lower", "upper")]
        low, high, *handed = (pld.get_epsilon_for_delta(delta) for pld in (*own, *through))
        meet = max(low, ours.lower) <= min(high, ours.upper)
        ends = (_digits(low), _digits(ours.lower, ours.upper), _digits(high), _digits(*handed))
        setting = (name, f"{sigma:.6g}", f"{rate:g}", f"{rounds:,}", f"{delta:g}")
        print(_row((*setting, *ends, "yes" if meet else "NO")))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _digits(*values: float) -> str:
    shown = ", ".join(f"{value:.6f}" for value in values)
    return shown if len(values) == 1 else f"[{shown}]"


def accountant_tests() -> None:
    """Their tests of ``PLDAccountant``, that of the base class among them, with ours in its place."""
    from dp_accounting import privacy_accountant
    from dp_accounting.pld import pld_privacy_accountant, pld_privacy_accountant_test

    class Tests(pld_privacy_accountant_test.PldPrivacyAccountantTest):  # type: ignore[misc]
        def _make_test_accountants(self) -> list[Any]:
            return [bridge.Accountant()]

    def accountant(relation: Any = privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE) -> Any:
        return bridge.Accountant(relation, rtol=1e-7, seconds=60)

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
    with mock.patch.object(pld_privacy_accountant, "PLDAccountant", accountant):
        start, result = time.perf_counter(), unittest.TextTestRunner(io.StringIO()).run(suite)
    failed = [*result.failures, *result.errors]
    passed = result.testsRun - len(failed) - len(result.skipped)
    took = time.perf_counter() - start
    print(f"\ndp-accounting's tests of PLDAccountant on ours: {passed} of {result.testsRun} pass, {took:.0f} s")
    reasons = Counter(trace.strip().splitlines()[-1] for _, trace in failed)
    for reason, count in reasons.most_common():
        print(f"  {count}: {reason}")


if __name__ == "__main__":
    intervals()
    accountant_tests()

"""The truth that the answers are tested against, obtained without the package's own numerics.

* ``binomial``: mechanisms of two outcomes, whose allocations and compositions are binomial (mpmath).
* ``closed``: profiles with a closed form (mpmath).
* ``enumerate``: every outcome of a small nested scheme, in exact fractions.
* ``montecarlo``: sampling with finite-sample bounds, and a plain transform on a fine linear grid.

``tests/test_truth.py`` tests them against each other.
"""

"""The truth that the answers are tested against, obtained without the package's own numerics.

* ``binomial``: mechanisms of two outcomes, whose allocations and compositions are binomial (mpmath).
* ``closed``: profiles with a closed form (mpmath).
* ``enumerate``: every outcome of a small nested scheme, in exact fractions.
* ``montecarlo``, ``sampling``: sampling with finite-sample bounds, and a plain transform on a fine linear grid.
* ``counts``: small nested schemes by multinomial counts, in whole numbers.
* ``picks``: 2-out-of-4 allocation of a Gaussian and its reduction, by quadrature.

``tests/test_truth.py`` tests them against each other. ``vectors`` reads and writes the sets in ``tests/vectors/``,
which ``generators`` make and ``verifiers`` confirm; ``nodes`` writes their schemes, ``looseness`` a page about one.
"""

"""The page on how loose the reduction of k-out-of-t allocation is, from the vectors of `k_of_t`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
from mpmath import mpf

from truth import picks, vectors
from truth.generators.k_of_t import GIVEN, RESPONSE, THREE, WEAK
from truth.nodes import Node
from truth.vectors import Vector

STEPS = (
    (RESPONSE, "two outcomes, (3/4, 1/4) against (1/4, 3/4)"),
    (WEAK, "two outcomes, (9/16, 7/16) against (7/16, 9/16)"),
    (THREE, "three outcomes, (1/2, 1/4, 1/4) against (1/4, 1/4, 1/2)"),
)
DELTAS = (1e-2, 1e-6)

PAGE = """\
# How loose the reduction is

`allocate(steps, picks=k)` with 1 < k < steps is bounded by a reduction: k blocks of floor(steps/k) and ceil(steps/k)
steps, one step chosen in each (see [adjacency](adjacency.md#picks-and-exact)). For mechanisms of a few outcomes both
the scheme and its reduction can be counted out, without bounds. The tables compare the two. Every number is of a vector
in `tests/vectors/k_of_t.json`, known to 40 digits and confirmed by a second method;
`python tests/vectors/looseness.py` writes this page.

{shown}

Columns: epsilon(delta) of the scheme, followed by how many times as large the reduction's is; then how many times as
large the reduction's delta is, at the epsilon where the scheme's is about 1e-3, and about 1e-12.
{tables}
## A Gaussian

`Gaussian(1.0).allocate(4, picks=2).delta(1.0, direction="remove")`: the scheme's delta is {scheme:.4f}, the
reduction's {reduction:.4f}, a ratio of {ratio:.3f}. Both are by quadrature over three of the four steps
(`tests/truth/picks.py`); the scheme's is confirmed by sampling, the reduction's by the bracket of the answer.
"""
HEAD = """
## A step of {name}

| steps | picks | direction | epsilon(1e-2) | times | epsilon(1e-6) | times | delta, 1e-3 | delta, 1e-12 |
|---:|---:|---|---:|---:|---:|---:|---:|---:|
"""
SHOWN = """\
What they show: the reduction's epsilon is at most {epsilon} times the scheme's, and its delta at most {delta} times.
Both grow with the share of the steps that is chosen and with the loss of one step. For a few percent of the steps there
is next to no difference; for half of them, where a step tells much, it is several percent of epsilon, more for remove
than for add, and a factor that grows with epsilon for delta. Near the largest loss (few steps, small delta) there is
none: for that all picks must come out worst, in blocks or not.
"""


def page() -> str:
    known = vectors.read("k_of_t")
    tables, largest = [], (mpf(1), mpf(1))
    for step, name in STEPS:
        tables.append(HEAD.format(name=name))
        for scheme in _schemes(known, step):
            for direction in ("remove", "add"):
                asked = [v for v in known if v.scheme == scheme and v.direction == direction]
                line, epsilon, delta = _line(scheme, direction, asked)
                tables.append(line)
                largest = max(largest[0], epsilon), max(largest[1], delta)
    epsilon, delta = (mpmath.nstr(ratio, 3) for ratio in largest)
    shown = SHOWN.format(epsilon=epsilon, delta=delta).rstrip()
    one, other = (picks.delta(1.0, 1.0, reduction) for reduction in (False, True))
    return PAGE.format(shown=shown, tables="".join(tables), scheme=one, reduction=other, ratio=other / one)


def _schemes(known: list[Vector], step: Node) -> Iterator[Node]:
    seen = {(v.scheme["steps"], v.scheme["picks"]): v.scheme for v in known if v.scheme.get("of") == step}
    for (steps, chosen), scheme in seen.items():
        if 1 < chosen < steps and scheme["kind"] == "allocate":
            yield scheme


def _line(scheme: Node, direction: str, asked: list[Vector]) -> tuple[str, Any, Any]:
    """A row of the table, and its largest ratios of epsilon and of delta."""
    cells, ratios, deltas = [str(scheme["steps"]), str(scheme["picks"]), direction], [], []
    for delta in DELTAS:
        (vector,) = (v for v in asked if v.question == "epsilon" and v.at == delta)
        ratios.append(_times(vector))
        cells += [mpmath.nstr(mpf(vector.value), 4), _shown(ratios[-1])]
    for vector in asked:
        if vector.question == "delta" and vector.at not in GIVEN:
            deltas.append(_times(vector))
            cells.append(_shown(deltas[-1]))
    return "| " + " | ".join(cells) + " |\n", max(ratios), max(deltas)


def _times(vector: Vector) -> Any:
    assert vector.reduction is not None
    return mpf(vector.reduction) / mpf(vector.value)


def _shown(ratio: Any) -> str:
    return f"{float(ratio):.3f}" if ratio < 10 else mpmath.nstr(ratio, 4)

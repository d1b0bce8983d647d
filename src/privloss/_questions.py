"""The questions: evaluate both sides at a resolution, look at the gap, predict the next resolution, and go again.

The gap goes as the square of the spacing, so one look predicts what the tolerance needs; time is watched all along.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from privloss import _check
from privloss._ask import Ask, Direction, OutOfTime, Side
from privloss._bracket import MET, POINTS, ROUNDING, TAIL, TIME, Bracket, Work
from privloss._curve import FLOOR, Curve
from privloss._evaluate import as_pair, both_ways
from privloss._pair import FloatArray, Pair
from privloss._rewrite import simplify
from privloss._scheme import depth, walk

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privloss._scheme import Scheme

Either = Literal["remove", "add", "both"]

FIRST = 0.025  # spacing, in standard deviations, that gives a relative gap of about 5e-4
FINEST = 2e-4  # below it, one convolution takes a second
NOTICED = 1e-9  # allowances for rounding below it decide nothing that is asked
TINIEST = 1e-265  # masses below it have underflowed somewhere
ROUNDS = 40


@dataclass(frozen=True)
class Question:
    """What is asked, as the engine needs it.

    * ``answer(curve, value)``: a bound, from above when the curve is (or below, when ``reverse``).
    * ``mass(lower, upper)``: the probability that matters, whose small share tails may cost.
    * ``least, most``: what the answer lies between whatever happens.
    * ``floor``: answers up to here are not told from 0.
    """

    values: FloatArray
    answer: Callable[[Curve, float], float]
    mass: Callable[[FloatArray, FloatArray], float]
    least: FloatArray
    most: FloatArray
    reverse: bool = False
    nested: bool = False
    start: float = 1e-8
    floor: float = 0.0

    def bounds(self, lower: Curve, upper: Curve) -> tuple[FloatArray, FloatArray]:
        if self.reverse:
            lower, upper = upper, lower
        low = np.array([self.answer(lower, value) for value in self.values])
        high = np.array([self.answer(upper, value) for value in self.values])
        return np.maximum(low, self.least), np.minimum(high, self.most)


@dataclass(frozen=True)
class Look:
    """One resolution."""

    spacing: float
    tail: float
    focus: float
    nested: bool
    deadline: float

    def ask(self, side: Side, direction: Direction) -> Ask:
        return Ask(side, direction, self.spacing, self.tail, self.focus, self.focus, self.nested, self.deadline)


# Pairs by scheme and resolution: a question asked again, or another one of the same scheme, costs nothing.
_cache: OrderedDict[tuple[object, ...], tuple[Pair, float]] = OrderedDict()
CACHED_POINTS = 2_000_000


def evaluate(plain: Scheme, ask: Ask) -> tuple[Pair, float]:
    """The pair of a simplified scheme, and the seconds that it took or, when it was kept, had taken."""
    key = (plain, ask)
    if key in _cache:
        _cache.move_to_end(key)
        return _cache[key]
    start = time.perf_counter()
    pair = as_pair(plain.law(ask), ask)
    for array in (pair.loss, pair.q, pair.p):  # kept, and handed out
        array.setflags(write=False)
    _cache[key] = pair, time.perf_counter() - start
    while len(_cache) > 1 and sum(kept.loss.size for kept, _ in _cache.values()) > CACHED_POINTS:
        _cache.popitem(last=False)
    return _cache[key]


def forget() -> None:
    """Empty the caches, for benchmarks."""
    _cache.clear()
    both_ways.cache_clear()


class Seen:
    """The bounds at one resolution, and what they cost."""

    def __init__(self, plain: Scheme, question: Question, direction: Either, look: Look) -> None:
        self.points, self.eta, self.seconds = 0, 0.0, 0.0
        self._question = question
        self._first = self._both_sides(plain, look, "add" if direction == "add" else "remove")
        self.lower, self.upper = question.bounds(*self._first)
        if direction == "both":
            self._add(plain, question, look)

    def rounded(self, rtol: float, atol: float) -> bool:
        """Whether the gap is mostly the allowance for rounding, which finer lattices make wider."""
        if self.eta < NOTICED:
            return False
        bare = self._question.bounds(*(end.bare() for end in self._first))
        return _excess(*bare, rtol, atol) < 0.3 * _excess(*self._question.bounds(*self._first), rtol, atol)

    def _curve(self, plain: Scheme, look: Look, side: Side, direction: Direction) -> Curve:
        pair, seconds = evaluate(plain, look.ask(side, direction))
        got = Curve(pair, direction)
        self.points, self.eta = max(self.points, pair.loss.size), max(self.eta, got.eta)
        self.seconds += seconds
        return got

    def _both_sides(self, plain: Scheme, look: Look, direction: Direction) -> tuple[Curve, Curve]:
        upper = self._curve(plain, look, "upper", direction)
        return self._curve(plain, look, "lower", direction), upper

    def _add(self, plain: Scheme, question: Question, look: Look) -> None:
        """Take the worse direction. Where add's safe end shows that it never is, its other side is not needed."""
        upper = self._curve(plain, look, "upper", "add")
        ends = question.bounds(upper, upper)
        worse = np.minimum if question.reverse else np.maximum
        if question.reverse:
            hopeless = bool(np.all(ends[0] >= self.upper))
        else:
            hopeless = bool(np.all(ends[1] <= self.lower))
        if not hopeless:
            lower, high = question.bounds(self._curve(plain, look, "lower", "add"), upper)
            self.lower, self.upper = worse(self.lower, lower), worse(self.upper, high)


def solve(
    scheme: Scheme, question: Question, direction: Either, tolerance: tuple[float, float], seconds: float | None
) -> tuple[FloatArray, FloatArray, str, Work]:
    """Refine until the tolerance is met, or say why not."""
    began = time.perf_counter()
    deadline = math.inf if seconds is None else began + seconds
    plain = simplify(scheme)
    rtol, atol = tolerance
    spacing = min(max(FIRST, FIRST * math.sqrt(rtol / 1e-3)), 0.15) / math.sqrt(max(_doublings(plain) / 10, 1.0))
    if seconds is not None:  # thousands of different parts take a while: a first look that fits comes before a fine one
        spacing *= min(max(2e-3 * len(plain._parts()) / seconds, 1.0), 4.0)
    mass, best, reason = question.start, (question.least, question.most), MET
    tries, stuck, worst, points, eta, last = 0, -1, math.inf, 0, 0.0, 0.0
    for tries in range(ROUNDS):
        tail = max(mass, TINIEST) * min(0.01 * spacing**2, 1e-5)
        look = Look(spacing, tail, min(math.log(max(mass, TINIEST)), -0.5), question.nested, deadline)
        clock = time.perf_counter()
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                seen = Seen(plain, question, direction, look)
        except OutOfTime:
            reason = TIME
            break
        except (ArithmeticError, ValueError):  # numbers that no double holds: what is known already stands
            reason = ROUNDING
            break
        except MemoryError:
            reason = POINTS
            break
        except RecursionError:
            raise too_deep(scheme) from None
        last = max(time.perf_counter() - clock, seen.seconds)
        points, eta = max(points, seen.points), max(eta, seen.eta)
        best = _narrower(best, (seen.lower, seen.upper))
        excess = _excess(*best, rtol, atol)
        if excess <= 1.0:
            reason = MET
            break
        if _excess(np.where(best[1] <= question.floor, best[1], best[0]), best[1], rtol, atol) <= 1.0:
            reason = TAIL
            break
        if seen.rounded(rtol, atol):
            reason = ROUNDING
            break
        new_mass = min(max(question.mass(seen.lower, seen.upper), TINIEST), 1.0)
        moved = abs(math.log(new_mass) - math.log(mass)) > 2.0
        mass = new_mass
        stuck = 0 if excess < 0.6 * worst or moved else stuck + 1
        worst = min(worst, excess) if tries else excess
        if stuck >= 3 or (not math.isfinite(excess) and mass <= TINIEST):
            reason = TAIL if mass <= TINIEST else ROUNDING
            break
        left = deadline - time.perf_counter()
        if left < 1.5 * last:
            reason = TIME
            break
        if moved and not math.isfinite(excess):
            continue
        if spacing <= FINEST:
            reason = POINTS
            break
        factor = min(max(math.sqrt(0.6 / excess), 0.02), 0.7) if math.isfinite(excess) else 0.7
        if moved:
            factor = max(factor, 0.7)
        affordable = math.sqrt(1.5 * last / max(left, 1e-9)) if math.isfinite(left) else 0.0
        if affordable > 0.95:
            reason = TIME
            break
        spacing = max(spacing * max(factor, affordable), FINEST)
    work = Work(points, tries, eta, time.perf_counter() - began)
    return (*best, reason, work)


def too_deep(scheme: Scheme) -> ValueError:
    levels = depth(scheme)
    return ValueError(f"the scheme must be nested less deeply than Python's stack allows, got {levels} levels")


def _doublings(plain: Scheme) -> float:
    """About how often measures are added on the way: each time rounds once."""
    counts = (getattr(node, "steps", 1) * getattr(node, "rounds", 1) for node in walk(plain))
    return min(sum(math.log2(count) for count in counts), 40.0)


def _narrower(
    old: tuple[FloatArray, FloatArray], new: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Both are certified, so for one value their intersection is. An array keeps one resolution, and so its shape."""
    if new[0].size == 1:
        return np.maximum(old[0], new[0]), np.minimum(old[1], new[1])
    return new


def _excess(lower: FloatArray, upper: FloatArray, rtol: float, atol: float) -> float:
    """The largest gap over what is allowed."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.where(lower == upper, 0.0, upper - lower)
        size = np.where(np.isfinite(upper), upper, 0.0)
        allowed = np.maximum(atol, rtol * size)
        least = np.maximum(1e-18 * size, 1e-320)  # where no gap is allowed, a smaller one is still better
        ratio = np.where(gap <= allowed, 0.0, gap / np.maximum(allowed, least))
    return 1.0 if not ratio.size else max(float(np.max(ratio)), 0.0)


def _ask(
    scheme: Scheme,
    question: Question,
    shape: tuple[int, ...],
    direction: Either,
    tolerance: tuple[float, float],
    seconds: float | None,
) -> Bracket:
    lower, upper, reason, work = solve(scheme, question, direction, tolerance, seconds)
    safe: Literal["upper", "lower"] = "lower" if question.reverse else "upper"
    if shape == ():
        return Bracket(float(lower[0]), float(upper[0]), safe, scheme.exact, reason, work)
    return Bracket(lower.reshape(shape), upper.reshape(shape), safe, scheme.exact, reason, work)


def _settings(
    direction: str, rtol: float | None, atol: float | None, seconds: float | None, default: float
) -> tuple[tuple[float, float], float | None]:
    """Tolerances and time limit, checked; giving rtol alone sets atol to 0."""
    _check.choice(direction=direction, among=("remove", "add", "both"))
    if rtol is not None:
        rtol = _check.nonnegative(rtol=rtol)
    if atol is not None:
        atol = _check.nonnegative(atol=atol)
    seconds = _check.limit(seconds=seconds)
    if atol is None:
        atol = default if rtol is None else 0.0
    return (1e-3 if rtol is None else rtol, atol), seconds


def values_of(name: str, values: ArrayLike, low: float, high: float) -> tuple[FloatArray, tuple[int, ...]]:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or an array of numbers, got {_check.show(values)}")
    flat = array.astype(np.float64).ravel()
    wrong = flat[~((flat >= low) & (flat <= high))]
    if wrong.size:
        allowed = f"between {low:g} and {high:g}" if math.isfinite(low) else "a number"
        raise ValueError(f"{name} must be {allowed}, got {float(wrong[0])!r}")
    return flat, array.shape


def epsilon(
    scheme: Scheme,
    delta: ArrayLike,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    tolerance, seconds = _settings(direction, rtol, atol, seconds, 1e-6)
    values, shape = values_of("delta", delta, 0.0, 1.0)
    largest = largest_loss(scheme, direction)
    cap = np.where(values >= 1.0, 0.0, largest[1])
    floor = np.where(values == 0.0, largest[0], 0.0)
    inside = values[(values > 0) & (values < 1)]
    least = float(inside.min()) if inside.size else 1e-8
    middle = float(np.median(inside)) if inside.size else 1e-8
    if not inside.size:
        return _known(floor, cap, shape, scheme.exact)
    mass = min(max(least, TINIEST), middle)

    def answer(seen: Curve, value: float) -> float:
        if value >= 1.0:
            return 0.0
        if value <= 0.0:
            return math.inf if seen.pair.side == "upper" else 0.0
        return seen.epsilon(value)

    question = Question(values, answer, lambda low, high: mass, floor, cap, start=mass)
    return _ask(scheme, question, shape, direction, tolerance, seconds)


def _known(lower: FloatArray, upper: FloatArray, shape: tuple[int, ...], exact: bool) -> Bracket:
    if shape == ():
        return Bracket(float(lower[0]), float(upper[0]), "upper", exact)
    return Bracket(lower.reshape(shape), upper.reshape(shape), "upper", exact)


def largest_loss(scheme: Scheme, direction: Either) -> tuple[float, float]:
    """The smallest epsilon with delta 0, widened by rounding: the largest loss that the scheme can show."""
    ends, plain = [], simplify(scheme)
    for side in ("lower", "upper"):
        low, high = plain.support(side)
        ends.append(max(0.0, {"remove": high, "add": -low, "both": max(high, -low)}[direction]))
    return ends[0] * (1 - 1e-12), ends[1] * (1 + 1e-12)


def delta(
    scheme: Scheme,
    epsilon: ArrayLike,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    tolerance, seconds = _settings(direction, rtol, atol, seconds, 0.0)
    values, shape = values_of("epsilon", epsilon, -math.inf, math.inf)
    largest = largest_loss(scheme, direction)[1]
    with np.errstate(over="ignore"):
        least = np.maximum(-np.expm1(np.minimum(values, 0.0)) * (1 - 1e-15), 0.0)
    most = np.where(values > largest, 0.0, 1.0)  # beyond the largest loss there is nothing

    def mass(low: FloatArray, high: FloatArray) -> float:
        """The smallest delta in question; while nothing is known from below, far below what is known from above."""
        here = np.where(low > 0, high, high**2)
        here = here[high > 0]
        return float(here.min()) if here.size else 1e-8

    question = Question(values, lambda seen, value: seen.delta(value), mass, least, most, floor=1.1 * FLOOR)
    return _ask(scheme, question, shape, direction, tolerance, seconds)


def advantage(
    scheme: Scheme,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    return delta(scheme, 0.0, direction=direction, rtol=rtol, atol=atol, seconds=seconds)


def tradeoff(
    scheme: Scheme,
    fpr: ArrayLike,
    *,
    direction: Either = "both",
    rtol: float | None = None,
    atol: float | None = None,
    seconds: float | None = 5.0,
) -> Bracket:
    tolerance, seconds = _settings(direction, rtol, atol, seconds, 0.0)
    values, shape = values_of("fpr", fpr, 0.0, 1.0)

    def mass(low: FloatArray, high: FloatArray) -> float:
        here = np.where(low > 0, high, high**2)
        here = here[high > 0]
        return float(here.min()) if here.size else 1e-8

    question = Question(
        values,
        lambda seen, value: seen.miss(value),
        mass,
        np.zeros_like(values),
        1.0 - values,
        reverse=True,
        nested=True,
    )
    return _ask(scheme, question, shape, direction, tolerance, seconds)


def spacing_of(rtol: float) -> float:
    """What a relative gap of about ``rtol`` takes, in standard deviations."""
    return min(max(FIRST * math.sqrt(rtol / 1e-3), FINEST), 0.15)


def pair(
    scheme: Scheme, *, side: Side = "upper", direction: Either = "both", rtol: float = 1e-3, seconds: float | None = 5.0
) -> Pair:
    """The pair itself, on the lattice of one direction ("both" takes remove's); it bounds both directions."""
    _check.choice(side=side, among=("upper", "lower"))
    (rtol, _), seconds = _settings(direction, rtol, 0.0, seconds, 0.0)
    spacing = spacing_of(rtol)
    deadline = math.inf if seconds is None else time.perf_counter() + seconds
    plain = simplify(scheme)
    way: Direction = "add" if direction == "add" else "remove"
    best = None
    for each in sorted({max(spacing, FIRST), spacing}, reverse=True):  # a coarse one is at hand when time is up
        look = Look(each, 1e-15, math.log(1e-8), True, deadline)
        try:
            best = evaluate(plain, look.ask(side, way))[0]
        except OutOfTime:
            break
        except RecursionError:
            raise too_deep(scheme) from None
    if best is None:
        raise TimeoutError(f"no pair within seconds={seconds}: give more, or a larger rtol")
    return best


def bracket_curve(
    scheme: Scheme, direction: Direction, spacing: float, epsilons: FloatArray, mass: float = 1e-8
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper delta at one resolution, for measuring the order of convergence."""
    plain = simplify(scheme)
    look = Look(spacing, mass * 1e-8, math.log(mass), True, math.inf)
    ends = [Curve(evaluate(plain, look.ask(side, direction))[0], direction) for side in ("lower", "upper")]
    lower, upper = (np.array([end.delta(float(e)) for e in epsilons]) for end in ends)
    return lower, upper

"""Calibration: the argument at which a family of schemes just meets a target, with a proof on either side.

The search runs in the logarithm of the argument. A point *meets* the target when an upper bound is at or
below it, and *misses* it when a lower bound is above it; a point that is neither is asked again, more
sharply.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from privloss import _check, _questions
from privloss._bracket import EDGE, MET, ROUNDING, TIME, Bracket, Work
from privloss._questions import Either
from privloss._scheme import Scheme

WIDEST = (1e-6, 1e9)  # arguments tried when ``within`` is not given
MOST = 2**50
TRIES = 200


class Unreachable(ValueError):
    """No argument within the limits meets the target."""


class TooLate(Unreachable):
    """None was proven to in the time given."""


@dataclass
class Probe:
    """What is known at one argument."""

    at: float
    lower: float
    upper: float

    def verdict(self, target: float) -> int:
        """1: proven to meet the target, -1: proven to miss it, 0: neither."""
        return 1 if self.upper <= target else -1 if self.lower > target else 0

    def middle(self, target: float) -> float:
        """log of the answer over the target, for interpolation; infinite where it says nothing."""
        if self.upper <= 0:
            return -math.inf
        if math.isinf(self.lower) or math.isinf(self.upper):
            return math.inf
        return math.log(max(0.5 * (self.lower + self.upper), 1e-300) / target)


class Search:
    """One calibration: asks, and remembers what is proven."""

    def __init__(
        self,
        function: Callable[..., Scheme],
        goal: tuple[float | None, float | None, float | None],
        limits: tuple[float, float],
        integer: bool,
        direction: Either,
        rtol: float,
        deadline: float,
    ) -> None:
        epsilon, delta, advantage = goal
        self.function, self.limits, self.integer = function, limits, integer
        self.direction, self.rtol, self.deadline = direction, rtol, deadline
        self.delta, self.exact = delta, True
        if epsilon:
            self.target, self.by_delta = epsilon, False
            self.named = f"epsilon={epsilon:g} at delta={delta:g}"
        else:
            target = delta if advantage is None else advantage
            assert target is not None
            self.target, self.by_delta = target, True
            self.named = f"delta={delta:g} at epsilon=0" if advantage is None else f"advantage={advantage:g}"
        self.points, self.eta, self.asked = 0, 0.0, 0
        self.meets: Probe | None = None
        self.misses: Probe | None = None
        self.seen: dict[float, float] = {}  # answers by argument
        self.rises = True  # whether a larger argument is more private, where all meet the target

    def ask(self, at: float, rtol: float) -> Probe:
        argument: float = int(at) if self.integer else at
        try:
            scheme = self.function(argument)
        except ValueError as error:
            self._check_whole(argument, error)
            raise
        if not isinstance(scheme, Scheme):
            raise TypeError(f"function must return a scheme, got {_check.show(scheme)} at {argument!r}")
        left = self.deadline - time.perf_counter()
        if left <= 0:
            raise TimeoutError
        seconds = None if math.isinf(left) else 0.5 * left  # one hard argument is not to cost all the others
        if self.by_delta:
            got = _questions.delta(scheme, 0.0, direction=self.direction, rtol=rtol, seconds=seconds)
        else:
            assert self.delta is not None
            got = _questions.epsilon(scheme, self.delta, direction=self.direction, rtol=rtol, seconds=seconds)
        self.asked += 1
        self.exact = self.exact and got.exact
        self.points, self.eta = max(self.points, got.work.points), max(self.eta, got.work.eta)
        if math.isfinite(got.upper):
            self.seen[at] = 0.5 * float(got.lower + got.upper)
        return Probe(at, float(got.lower), float(got.upper))

    def _check_whole(self, at: float, error: ValueError) -> None:
        """Refusing a number between two that it takes, the function wants whole ones, and no limit was reached."""
        if self.integer or at == math.floor(at):
            return
        try:
            for whole in (math.floor(at), math.ceil(at)):
                self.function(float(whole))
        except ValueError:
            return
        raise TypeError(
            f"function must take any number, unless integer=True is given: at {at:g} it says that {error}"
        ) from None

    def judge(self, at: float, rtol: float) -> tuple[Probe, int]:
        """Ask, more sharply while the answer straddles the target, and keep what is proven."""
        probe = self.ask(at, rtol)
        while (verdict := probe.verdict(self.target)) == 0 and rtol > 1e-7:
            rtol *= 0.1
            probe = self.ask(at, rtol)
        if verdict == 1:
            self.meets = probe
        elif verdict == -1:
            self.misses = probe
        return probe, verdict


def calibrate(
    function: Callable[..., Scheme],
    *,
    epsilon: float | None,
    delta: float | None,
    advantage: float | None,
    integer: bool,
    within: tuple[float, float] | None,
    direction: Either,
    rtol: float,
    seconds: float | None,
) -> Bracket:
    began = time.perf_counter()
    if not callable(function):
        raise TypeError(f"function must be callable and return a scheme, got {_check.show(function)}")
    goal = _goal(epsilon, delta, advantage)
    _check.choice(direction=direction, among=("remove", "add", "both"))
    rtol = _check.positive(rtol=rtol)
    seconds = _check.limit(seconds=seconds)
    deadline = math.inf if seconds is None else began + seconds
    if not isinstance(integer, bool):
        raise TypeError(f"integer must be True or False, got {_check.show(integer)}")
    search = Search(function, goal, _limits(within, integer), integer, direction, rtol, deadline)
    reason = MET
    try:
        reason = _run(search, given=within is not None)
    except TimeoutError:
        reason = TIME
        if search.meets is None:
            said = f"no argument was proven to meet the target within seconds={seconds}"
            raise TooLate(f"{said}: give more seconds, or closer limits in within") from None
    assert search.meets is not None
    if search.misses is not None:
        other = search.misses.at
    else:  # the threshold is beyond the least private argument allowed
        other = 0.0 if search.rises else math.inf
    lower, upper = sorted((search.meets.at, other))
    safe: Literal["upper", "lower"] = "upper" if search.meets.at == upper else "lower"
    work = Work(search.points, search.asked, search.eta, time.perf_counter() - began)
    return Bracket(lower, upper, safe, search.exact, reason, work)


def _goal(
    epsilon: float | None, delta: float | None, advantage: float | None
) -> tuple[float | None, float | None, float | None]:
    if advantage is not None:
        if epsilon is not None or delta is not None:
            raise ValueError("advantage must be given alone, got epsilon or delta with it")
        if not 0 < _check.real(advantage=advantage) < 1:
            raise ValueError(f"advantage must be between 0 and 1, exclusive, got {advantage!r}")
        return None, None, float(advantage)
    if epsilon is None or delta is None:
        raise ValueError("epsilon and delta must both be given, or advantage alone")
    epsilon = _check.nonnegative(epsilon=epsilon)
    delta = _check.probability(delta=delta)
    if delta >= 1 or (delta == 0 and epsilon == 0):
        raise ValueError(f"delta must be at least 0 and below 1 (above 0 when epsilon is 0), got {delta!r}")
    return epsilon, delta, None


def _limits(within: tuple[float, float] | None, integer: bool) -> tuple[float, float]:
    if within is None:
        return (1.0, float(MOST)) if integer else WIDEST
    try:
        low, high = within
    except (TypeError, ValueError):
        raise TypeError(f"within must be a pair (smallest, largest), got {_check.show(within)}") from None
    low, high = _check.positive(within=low), _check.positive(within=high)
    if integer:
        low, high = float(math.ceil(low)), float(math.floor(high))
    if not low < high:
        kind = " with two whole numbers at least" if integer else ""
        raise ValueError(f"within must be (smallest, largest){kind}, got {within!r}")
    return low, high


def _run(search: Search, *, given: bool) -> str:
    coarse = min(max(search.rtol, 0.01), 0.05)
    found = _straddle(search, coarse, given)
    if not found:
        return EDGE
    for _ in range(TRIES):
        assert search.meets is not None and search.misses is not None
        a, b = search.misses, search.meets
        if search.integer and abs(a.at - b.at) <= 1:
            return MET
        if not search.integer and abs(a.at - b.at) <= search.rtol * max(a.at, b.at):
            return MET
        sharp = max(search.rtol, 0.1 * abs(a.at - b.at) / max(a.at, b.at))  # no sharper than there is use for yet
        at = _next(search, a, b, sharp)
        _, verdict = search.judge(at, max(min(sharp, 0.01), 1e-6))
        if verdict == 0:
            return ROUNDING
    return ROUNDING


def _next(search: Search, a: Probe, b: Probe, sharp: float) -> float:
    """A little on the far side of where the line through both crosses the target, so that each try moves one end
    close."""
    x, y = math.log(a.at), math.log(b.at)
    f, g = a.middle(search.target), b.middle(search.target)
    guess = 0.5 * (x + y)
    if math.isfinite(f) and math.isfinite(g) and f != g and abs(x - y) < 6:
        guess = x + (y - x) * f / (f - g)
    toward = 1.0 if y > x else -1.0  # from the miss to the meeting
    margin = 0.4 * sharp
    if abs(y - guess) > 1.01 * margin and (abs(y - guess) >= abs(guess - x) or abs(guess - x) <= 1.01 * margin):
        guess += toward * margin
    else:
        guess -= toward * margin
    low, high = min(x, y), max(x, y)
    inside = 0.02 * (high - low)
    at = math.exp(min(max(guess, low + inside), high - inside))
    if search.integer:
        low_at, high_at = min(a.at, b.at), max(a.at, b.at)
        at = float(min(max(round(at), low_at + 1), high_at - 1))
    return at


def _straddle(search: Search, rtol: float, given: bool) -> bool:
    """Find one argument that meets the target and one that misses it, and so the trend. False when all meet it."""
    low, high = search.limits
    first = math.sqrt(low * high) if given else min(max(1.0, low), high)
    tried: list[float] = []
    ends = {-1: False, 1: False}
    x = {-1: first, 1: first}
    search_at = _whole(first, search)
    _try(search, search_at, rtol, tried)
    factor = 2.0
    while search.meets is None or search.misses is None:
        for way in _ways(search):
            if ends[way] or (search.meets is not None and search.misses is not None):
                continue
            x[way] = min(max(x[way] * factor**way, low), high)
            ends[way] = x[way] in (low, high)
            if not _try(search, _whole(x[way], search), rtol, tried):
                ends[way] = True
            if not ends[way]:
                break  # the likelier way first, to its end
        factor = min(factor**1.5, 1e3)
        if all(ends.values()):
            break
    if search.meets is None:
        raise Unreachable(
            f"the target {search.named} must be reachable, got no argument from {low:g} to {high:g} that meets it"
        )
    if search.misses is not None:
        return True
    small, large = (search.judge(at, rtol)[0] for at in (min(tried), max(tried)))
    search.rises = small.upper >= large.upper
    search.meets = small if search.rises else large
    return False


def _ways(search: Search) -> tuple[int, int]:
    """Up and down, the way that the answers tried so far point to first."""
    seen = sorted(search.seen.items())
    if len(seen) < 2:
        return 1, -1
    falls = seen[-1][1] < seen[0][1]  # a larger argument is more private
    return (1, -1) if falls == (search.meets is None) else (-1, 1)


def _try(search: Search, at: float, rtol: float, tried: list[float]) -> bool:
    """Whether the argument is one that the family of schemes accepts."""
    if at in tried:
        return True
    try:
        keep = search.meets, search.misses
        search.judge(at, rtol)
    except ValueError:
        if not tried:
            raise
        return False
    tried.append(at)
    # Of two that meet (or miss), the one nearer to the other kind is kept by the order of the search.
    if keep[0] is not None and keep[1] is not None:
        search.meets, search.misses = keep
    return True


def _whole(at: float, search: Search) -> float:
    return float(min(max(round(at), search.limits[0]), search.limits[1])) if search.integer else at

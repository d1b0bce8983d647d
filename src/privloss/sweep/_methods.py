"""Who answers a point: the engine, a bound of others or the paper's algorithms, side by side in one sweep.

What a method other than the engine answers is stored under its name, its settings and a hash of its sources. A method
has no time limit, and its tolerances are its own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from privloss import Bracket, Scheme, _check, _questions, calibrate
from privloss._bracket import MET

ENGINE = "engine"
RUN = "run"  # a setting of every method, for timing: its value tells runs apart, each with nothing in the caches
_MORE = ("privloss.reproduce._methods",)  # modules with METHODS of their own
_FARTHEST = 1e5  # noise at which the search for a method's own threshold gives up
_STEPS = 60
_GIVEN = {"epsilon": "delta", "delta": "epsilon"}
_EVERY = ("epsilon", "delta", "tradeoff", "advantage", "sigma")

Asked = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """``answer(question, scheme, asked)``, where ``asked`` has the given values, the direction and the settings.

    * ``rooms``: the modules, or the folders of modules, that answers come from, besides the engine.
    * ``settings``: parameters that are the method's, not the scheme's.
    * ``questions``: those that it answers; "sigma" is searched for among the answers to "epsilon".
    """

    name: str
    rooms: tuple[str, ...]
    answer: Callable[[str, Scheme, Asked], Bracket]
    settings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ("epsilon", "delta", "sigma")


def find(name: str) -> Method:
    if name == ENGINE:  # without looking at the other rooms
        return _OWN
    if name not in methods():
        raise ValueError(f"method must be one of {', '.join(methods())}, got {_check.show(name)}")
    return methods()[name]


@cache
def methods() -> dict[str, Method]:
    """All there are, by name."""
    found = [_OWN]
    for each in import_module("privloss.baselines").METHODS:
        settings = ("samples", "confidence", "seed") if hasattr(each, "using") else ()
        found.append(Method(each.name, ("privloss.baselines",), partial(_baseline, each), settings))
    found.append(Method("paper", ("privloss.paper",), _paper, ("alpha", "beta")))
    for room in _MORE:
        found += import_module(room).METHODS
    return {method.name: method for method in found}


@cache
def source(name: str) -> str:
    """A hash of the sources of a method's rooms."""
    digest = hashlib.sha256()
    for room in find(name).rooms:
        file = Path(str(import_module(room).__file__))
        for path in sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]:
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]


def answer(name: str, question: str, scheme: Callable[..., Scheme], asked: Asked) -> Bracket:
    """``scheme`` builds it; where the question is the noise, from the noise."""
    if asked.pop(RUN, None) is not None:
        _questions.forget()
    method = find(name)
    if question not in method.questions:
        raise ValueError(f"method {name!r} answers {', '.join(method.questions)}, not {question}")
    if name != ENGINE and question == "sigma":
        return _threshold(method, scheme, asked)
    if question == "sigma":
        return calibrate(scheme, **asked)
    return method.answer(question, scheme(), asked)


def _threshold(method: Method, scheme: Callable[..., Scheme], asked: Asked) -> Bracket:
    """Between the least noise tried that the method says is enough, and the most that it says is not."""
    if "epsilon" not in asked:
        raise ValueError(f"the noise that {method.name} asks for is for an epsilon and a delta, got an advantage")
    target, rtol = asked.pop("epsilon"), max(asked.pop("rtol"), 1e-9)
    enough, short, at = math.inf, 0.0, 1.0
    for _ in range(_STEPS):
        if method.answer("epsilon", scheme(sigma=at), dict(asked)).upper <= target:
            enough = at
        else:
            short = at
        if enough - short <= rtol * enough and math.isfinite(enough):
            return Bracket(short, enough, reason=MET)
        if short >= _FARTHEST or enough <= 1 / _FARTHEST:
            break
        at = 2 * at if enough == math.inf else at / 2 if short == 0.0 else math.sqrt(short * enough)
    raise ValueError(f"epsilon={target:g} must be reachable by {method.name}, got no noise up to {at:g} that meets it")


# The methods of other rooms, as a sweep asks them.


def _engine(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    bracket: Bracket = getattr(scheme, question)(**asked)
    return bracket


def _baseline(method: Any, question: str, scheme: Scheme, asked: Asked) -> Bracket:
    if hasattr(method, "using"):
        method = method.using(**{name: asked.get(name) for name in ("samples", "confidence", "seed")})
    bracket: Bracket = getattr(method, question)(scheme, asked[_GIVEN[question]], asked["direction"])
    return bracket


def _paper(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    from privloss import paper

    given = {name: asked[name] for name in ("alpha", "beta") if name in asked}
    ask = paper.epsilon if question == "epsilon" else paper.delta
    return ask(scheme, asked[_GIVEN[question]], direction=asked["direction"], **given)


_OWN = Method(ENGINE, (), _engine, ("rtol", "atol"), _EVERY)

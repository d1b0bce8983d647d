"""Schemes as data: a tree of frozen values, nothing computed until a question is asked.

Trees may be hundreds of levels deep, so everything that walks one does it with a loop, not by recursion.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from privloss._check import show

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from privloss._ask import Ask, Side
    from privloss._bracket import Bracket
    from privloss._pair import Law, Pair

T = TypeVar("T", bound="Scheme")


def fix(scheme: Scheme, **values: object) -> None:
    """Set normalised fields of a frozen scheme; for ``__post_init__`` only."""
    for name, value in values.items():
        object.__setattr__(scheme, name, value)


def operand(**named: object) -> Scheme:
    """The validator of what an operation works on."""
    ((name, value),) = named.items()
    if not isinstance(value, Scheme):
        raise TypeError(f"{name} must be a scheme, such as Gaussian(1.0), got {show(value)}")
    return value


def walk(scheme: Scheme, without: str = "") -> Iterator[Scheme]:
    """Every node once, children before parents; a node that several parents share comes once.

    Nodes that have the attribute ``without`` are left out, with all below them.
    """
    seen: set[int] = set()
    stack = [(scheme, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen and without not in node.__dict__:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node._parts()))


def depth(scheme: Scheme) -> int:
    """Levels of nesting."""
    found: dict[int, int] = {}
    for node in walk(scheme):
        found[id(node)] = 1 + max((found[id(part)] for part in node._parts()), default=0)
    return found[id(scheme)]


class Scheme(ABC):
    """A way of running a private mechanism, as data.

    A scheme is a mechanism, such as ``Gaussian(sigma=1.0)``, or an operation on schemes: ``allocate``,
    ``subsample``, ``repeat``, ``compose``, ``swap``. Schemes are frozen, hashable and picklable. ``==``
    compares their structure, so ``s.allocate(1) != s`` although both give the same answers.

    >>> from privloss import Gaussian
    >>> run = Gaussian(sigma=1.0).allocate(steps=1000).repeat(rounds=10)
    >>> run
    Gaussian(sigma=1.0).allocate(steps=1000).repeat(rounds=10)
    >>> run == Gaussian(1).allocate(1000).repeat(10)
    True
    """

    kind: ClassVar[str]
    symmetric: ClassVar[bool] = False  # True when exchanging P and Q gives the same hockey-stick curve

    # What a kind of scheme has to say about itself.

    @abstractmethod
    def law(self, ask: Ask) -> Law:
        """The pair of measures of this scheme, at the resolution and on the side asked for."""

    @abstractmethod
    def _support(self, side: Side) -> tuple[float, float]:
        """What ``support`` answers, from that of the parts."""

    @abstractmethod
    def _parts(self) -> tuple[Scheme, ...]:
        """The schemes it is made of."""

    @abstractmethod
    def _data(self) -> tuple[Any, ...]:
        """Everything else, hashable."""

    @classmethod
    @abstractmethod
    def _make(cls, parts: Sequence[Scheme], data: Sequence[Any]) -> Scheme:
        """The inverse of ``_parts`` and ``_data``."""

    @abstractmethod
    def _text(self, parts: Sequence[str]) -> str:
        """Its ``repr``, given those of its parts."""

    def support(self, side: Side) -> tuple[float, float]:
        """The smallest and the largest loss that can occur, of a bound of this scheme from ``side``."""
        name = f"_{side}"
        for node in walk(self, without=name):  # a part that is shared is looked at once
            fix(node, **{name: node._support(side)})
        found: tuple[float, float] = self.__dict__[name]
        return found

    def _with(self, parts: Sequence[Scheme]) -> Scheme:
        """The same operation on other schemes."""
        same = all(new is old for new, old in zip(parts, self._parts(), strict=True))
        return self if same else self._make(parts, self._data())

    # Operations.

    def allocate(self, steps: int, picks: int = 1) -> Scheme:
        """Random allocation: ``picks`` of ``steps`` steps, chosen uniformly, use the person's data.

        One step is ``self``. For picks=1 the pair is P = mean over i of Q x ... x P_i x ... x Q against Q x
        ... x Q. For 1 < picks < steps it is bounded from above by blocks of floor(steps/picks) and
        ceil(steps/picks) steps.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).allocate(steps=1000)
        Gaussian(sigma=1.0).allocate(steps=1000)
        """
        from privloss._operations import Allocate

        return Allocate(self, steps, picks)

    def subsample(self, rate: float) -> Scheme:
        """Poisson subsampling: the person takes part with probability ``rate``, P <- rate*P + (1-rate)*Q.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).subsample(rate=0.01)
        Gaussian(sigma=1.0).subsample(rate=0.01)
        """
        from privloss._operations import Subsample

        return Subsample(self, rate)

    def repeat(self, rounds: int) -> Scheme:
        """Composition with itself: ``rounds`` independent runs, with fresh randomness in each.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).allocate(1000).repeat(rounds=10)
        Gaussian(sigma=1.0).allocate(steps=1000).repeat(rounds=10)
        """
        from privloss._operations import Repeat

        return Repeat(self, rounds)

    def swap(self) -> Scheme:
        """The dual: P and Q exchanged. "remove" of a scheme is "add" of its swap.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).subsample(0.01).swap()
        Gaussian(sigma=1.0).subsample(rate=0.01).swap()
        """
        from privloss._operations import Swap

        return Swap(self)

    def poisson(self) -> Scheme:
        """The Poisson twin: ``allocate(t, k)`` of M becomes ``M.subsample(k/t).repeat(t)``, at any depth.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).allocate(steps=1000).poisson()
        Gaussian(sigma=1.0).subsample(rate=0.001).repeat(rounds=1000)
        """
        from privloss._rewrite import poisson

        return poisson(self)

    def __add__(self, other: Scheme) -> Scheme:
        """Composition of two schemes.

        >>> from privloss import Gaussian, Laplace
        >>> Gaussian(1.0) + Laplace(2.0)
        compose(Gaussian(sigma=1.0), Laplace(scale=2.0))
        """
        if not isinstance(other, Scheme):
            return NotImplemented
        from privloss._operations import Compose

        return Compose.joined(self, other)

    # Questions.

    @property
    def exact(self) -> bool:
        """False iff some node is ``allocate`` with 1 < picks < steps: its lower bound is of a reduction only.

        >>> from privloss import Gaussian
        >>> Gaussian(1.0).allocate(1000).exact, Gaussian(1.0).allocate(1000, picks=3).exact
        (True, False)
        """
        return not any(node._split() for node in walk(self))

    def _split(self) -> bool:
        """Whether this node is analysed through blocks that only bound it."""
        return False

    def epsilon(
        self,
        delta: ArrayLike,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta.

        delta=0 answers the largest loss (inf for a Gaussian) and delta=1 answers 0. Default tolerances:
        rtol=1e-3, atol=1e-6; giving ``rtol`` alone sets atol=0.

        >>> from privloss import Gaussian
        >>> b = Gaussian(1.0).allocate(steps=1000).epsilon(delta=1e-6)
        >>> b.lower <= 0.17173 <= b.upper
        True
        """
        from privloss import _questions

        return _questions.epsilon(self, delta, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def delta(
        self,
        epsilon: ArrayLike,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The hockey-stick divergence: remove is sup over E of P(E) - e^epsilon Q(E), add exchanges P and Q.

        Any real epsilon will do. Default tolerances: rtol=1e-3, atol=0.

        >>> from privloss import RandomizedResponse
        >>> b = RandomizedResponse(0.75).delta(epsilon=0.0)
        >>> b.lower <= 0.5 <= b.upper
        True
        """
        from privloss import _questions

        return _questions.delta(self, epsilon, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def tradeoff(
        self,
        fpr: ArrayLike,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The smallest false negative rate of any test whose false positive rate is at most ``fpr``.

        remove: the null hypothesis is Q, "the person is absent". "both" is the pointwise minimum. The safe
        end is "lower". Default tolerances: rtol=1e-3, atol=0.

        >>> from privloss import RandomizedResponse
        >>> b = RandomizedResponse(0.75).tradeoff(fpr=0.25)
        >>> b.lower <= 0.25 <= b.upper
        True
        """
        from privloss import _questions

        return _questions.tradeoff(self, fpr, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def advantage(
        self,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The total variation distance of P and Q, delta(0): the largest advantage of a membership test.

        >>> from privloss import RandomizedResponse
        >>> b = RandomizedResponse(0.75).advantage()
        >>> b.lower <= 0.5 <= b.upper
        True
        """
        from privloss import _questions

        return _questions.advantage(self, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def power(
        self,
        fpr: ArrayLike,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The largest true positive rate of any test whose false positive rate is at most ``fpr``: 1 - ``tradeoff``.

        The safe end is "upper". Tolerances are those of ``tradeoff``, and are met by the false negative rate.

        >>> from privloss import RandomizedResponse
        >>> b = RandomizedResponse(0.75).power(fpr=0.25)
        >>> b.lower <= 0.75 <= b.upper
        True
        """
        from privloss import _attack

        return _attack.power(self, fpr, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def bayes_risk(
        self,
        prior: ArrayLike,
        *,
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float | None = None,
        atol: float | None = None,
        seconds: float | None = 5.0,
    ) -> Bracket:
        """The smallest probability of error of an attacker who holds, with probability ``prior``, that it is P.

        prior * (1 - delta(log((1 - prior)/prior))). remove: ``prior`` is that of the person being present; add: of
        being absent; "both" is the smaller risk. The safe end is "lower". Tolerances are those of ``delta``.

        >>> from privloss import RandomizedResponse
        >>> b = RandomizedResponse(0.75).bayes_risk(prior=0.5)
        >>> b.lower <= 0.25 <= b.upper
        True
        """
        from privloss import _attack

        return _attack.bayes_risk(self, prior, direction=direction, rtol=rtol, atol=atol, seconds=seconds)

    def gdp(self, *, rtol: float = 1e-3, seconds: float | None = 5.0) -> Bracket:
        """The smallest mu for which the Gaussian pair N(mu, 1) against N(0, 1) dominates this scheme.

        It is infinite where P or Q has mass that the other has not. Of a subsampled or allocated Gaussian it is that
        of the Gaussian itself, since the far tails are: amplification does not lower it.

        >>> from privloss import Gaussian
        >>> b = Gaussian(2.0).repeat(4).gdp()
        >>> b.lower <= 1.0 <= b.upper
        True
        """
        from privloss import _attack

        return _attack.gdp(self, rtol=rtol, seconds=seconds)

    def renyi(
        self, order: ArrayLike, *, direction: Literal["remove", "add", "both"] = "both"
    ) -> Bracket:
        """The Renyi divergence of an order above 1: D(P || Q) for remove, D(Q || P) for add.

        Whole orders are closed forms and sums of positive terms, up to rounding; other orders lie between. It is for
        Gaussian, Laplace and discrete Gaussian noise, and lists of outcomes, under any operations.

        >>> from privloss import Gaussian
        >>> b = Gaussian(2.0).renyi(order=4)
        >>> b.lower <= 0.5 <= b.upper
        True
        """
        from privloss import _renyi

        return _renyi.renyi(self, order, direction=direction)

    def pair(
        self,
        *,
        side: Literal["upper", "lower"] = "upper",
        direction: Literal["remove", "add", "both"] = "both",
        rtol: float = 1e-3,
        seconds: float | None = 5.0,
    ) -> Pair:
        """The arrays themselves: loss, p, q, p_only, q_only, eta of a pair that bounds this scheme."""
        from privloss import _questions

        return _questions.pair(self, side=side, direction=direction, rtol=rtol, seconds=seconds)

    # Data.

    def to_json(self) -> str:
        """This scheme as strict JSON.

        >>> from privloss import Gaussian, Scheme
        >>> Gaussian(1.0).repeat(10).to_json()
        '{"privloss": 1, "scheme": {"kind": "repeat", "rounds": 10, "of": {"kind": "Gaussian", "sigma": 1.0, "sensitivity": 1.0}}}'
        """  # noqa: E501 - the line is the output
        from privloss._json import dump

        return dump(self)

    @staticmethod
    def from_json(source: str | bytes | dict[str, Any]) -> Scheme:
        """The scheme that ``to_json`` wrote; ValueError for anything else.

        >>> from privloss import Gaussian, Scheme
        >>> Scheme.from_json(Gaussian(1.0).repeat(10).to_json())
        Gaussian(sigma=1.0).repeat(rounds=10)
        """
        from privloss._json import load

        return load(source)

    def __repr__(self) -> str:
        texts: dict[int, str] = {}
        for node in walk(self):
            texts[id(node)] = node._text([texts[id(part)] for part in node._parts()])
        return texts[id(self)]

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            for node in walk(self, without="_hash"):
                inner = tuple(part.__dict__["_hash"] for part in node._parts())
                fix(node, _hash=hash((type(node).__qualname__, node._data(), inner)))
            known = self.__dict__["_hash"]
        return int(known)

    def _digest(self) -> str:
        """A hash of the content, the same in every process."""
        import hashlib

        for node in walk(self, without="_known"):
            inner = [part.__dict__["_known"] for part in node._parts()]
            text = repr((type(node).__qualname__, node._data(), inner))
            fix(node, _known=hashlib.sha256(text.encode()).hexdigest())
        return str(self.__dict__["_known"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scheme):
            return NotImplemented
        if hash(self) != hash(other):
            return False
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[Scheme, Scheme]] = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a is b or (id(a), id(b)) in seen:
                continue
            if type(a) is not type(b) or a._data() != b._data() or len(a._parts()) != len(b._parts()):
                return False
            seen.add((id(a), id(b)))
            stack.extend(zip(a._parts(), b._parts(), strict=True))
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled flat, children before parents, since the pickler would recurse."""
        nodes = list(walk(self))
        place = {id(node): i for i, node in enumerate(nodes)}
        rows = [(type(n), tuple(place[id(part)] for part in n._parts()), n._data()) for n in nodes]
        return _rebuilt, (rows,)


def _rebuilt(rows: list[tuple[type[Scheme], tuple[int, ...], tuple[Any, ...]]]) -> Scheme:
    nodes: list[Scheme] = []
    for kind, parts, data in rows:
        nodes.append(kind._make([nodes[i] for i in parts], data))
    return nodes[-1]


class Mechanism(Scheme):
    """A leaf: numbers only. A field whose name is that of a question ends in an underscore."""

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__

    def _support(self, side: Side) -> tuple[float, float]:
        from privloss._ask import Ask
        from privloss._pair import Pair

        law = self.law(Ask(side, "remove", spacing=0.1, tail=0.0, focus=-1.0, deep=-1.0))
        low, high = law.low, law.high
        slack = 2 * law.eta_x * (1.0 if side == "upper" else -1.0)
        low, high = min(low - slack, 0.0), max(high + slack, 0.0)  # P and Q have one total: 0 is never left out
        if isinstance(law, Pair):
            low, high = -math.inf if law.q_only > 0 else low, math.inf if law.p_only > 0 else high
        return low, high

    def _parts(self) -> tuple[Scheme, ...]:
        return ()

    def _data(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in numbers(type(self)))

    @classmethod
    def _make(cls: type[T], parts: Sequence[Scheme], data: Sequence[Any]) -> T:
        return cls(*data)

    def _text(self, parts: Sequence[str]) -> str:
        from privloss._text import call

        shown = ((field, default, getattr(self, field)) for field, default in numbers(type(self)).items())
        return call(
            self.kind, {argument(field): value for field, default, value in shown if value != default}
        )


class Operation(Scheme):
    """An operation on one scheme, the field ``of``; the other fields are numbers."""

    of: Scheme

    def _parts(self) -> tuple[Scheme, ...]:
        return (self.of,)

    def _data(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in numbers(type(self)))

    @classmethod
    def _make(cls: type[T], parts: Sequence[Scheme], data: Sequence[Any]) -> T:
        return cls(*parts, *data)


def numbers(kind: type[Scheme]) -> dict[str, Any]:
    """The fields that are not schemes, in order, with their defaults (MISSING where there is none)."""
    given = fields(kind)  # type: ignore[arg-type]
    return {field.name: field.default for field in given if field.name not in ("of", "parts")}


def argument(field: str) -> str:
    """The name of a field as the constructor, the text and the JSON have it."""
    return field.rstrip("_")

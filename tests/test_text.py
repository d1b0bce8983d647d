"""repr is what parse reads, and parse reads nothing else."""

from __future__ import annotations

import os
import warnings
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privloss as pl
from privloss import Scheme
from privloss._text import DEEPEST, LONGEST, METHODS
from schemes import ALL, STEP, chain


@pytest.mark.parametrize("scheme", ALL, ids=repr)
def test_parse_reads_what_repr_writes(scheme: Scheme) -> None:
    assert pl.parse(repr(scheme)) == scheme


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("pl.Gaussian(1)", STEP),
        ("privloss.Gaussian(sigma=1)", STEP),
        ("Gaussian(1, sensitivity=2)", pl.Gaussian(1.0, 2.0)),
        ("  Gaussian ( 1.0 , ) . repeat\n(\t10 )  ", STEP.repeat(10)),
        ("(Gaussian(1))", STEP),
        ("Gaussian(1).allocate(1_000, picks=3)", STEP.allocate(1000, 3)),
        ("Gaussian(1e0).subsample(1e-5)", STEP.subsample(1e-5)),
        ("Gaussian(.5).subsample(rate=+5.e-1)", pl.Gaussian(0.5).subsample(0.5)),
        ("Gaussian(1) + pl.Laplace(2)", STEP + pl.Laplace(2.0)),
        ("(Gaussian(1) + Laplace(2)).repeat(3)", (STEP + pl.Laplace(2.0)).repeat(3)),
        ("compose(Gaussian(1), Laplace(2)).swap()", (STEP + pl.Laplace(2.0)).swap()),
        ("allocate([(Gaussian(1), 2), [Laplace(1), 3]])", pl.allocate([(STEP, 2), (pl.Laplace(1.0), 3)])),
        ("allocate(((Gaussian(1), 2),), weights=(1,))", pl.allocate([(STEP, 2)])),
        (
            "PrivacyLoss([-0.5, --0.5, inf], (0.25, 0.65, 0.1))",
            pl.PrivacyLoss([-0.5, 0.5, inf], [0.25, 0.65, 0.1]),
        ),
        ("Gaussian(1).allocate(4).poisson()", STEP.subsample(0.25).repeat(4)),
    ],
)
def test_parse_accepts(text: str, scheme: Scheme) -> None:
    assert pl.parse(text) == scheme


def test_holes_are_filled_with_values() -> None:
    assert pl.parse("Gaussian({sigma}).allocate({ steps })", sigma=0.8, steps=10) == pl.Gaussian(
        0.8
    ).allocate(10)
    assert pl.parse("Gaussian({x}, sensitivity={x})", x=2) == pl.Gaussian(2.0, 2.0)
    assert pl.parse("{run}.repeat(3)", run=STEP) == STEP.repeat(3)
    assert pl.parse("Outcomes({text}, {self})", text=[0.5, 0.5], self=[0.5, 0.5]) == pl.Outcomes(
        [0.5, 0.5], [0.5, 0.5]
    )


def test_holes_are_never_filled_with_text() -> None:
    with pytest.raises(ValueError, match=r"sigma must be a number, got '1\).repeat\(2'"):
        pl.parse("Gaussian({sigma})", sigma="1).repeat(2")
    with pytest.raises(ValueError, match="steps"):
        pl.parse("Gaussian(1).allocate({steps})")
    with pytest.raises(ValueError, match="rate"):
        pl.parse("Gaussian(1)", rate=0.5)


GARBAGE = [
    "",
    " ",
    "Gaussian",
    "Gaussian(",
    "Gaussian)",
    "Gaussian(1",
    "Gaussian(1]",
    "Gaussian(1))",
    "Gaussian(1) Gaussian(1)",
    "Gaussian(1),",
    "Gaussian()",
    "Gaussian(,)",
    "Gaussian(1,,)",
    "Gaussian(1, 2, 3)",
    "Gaussian(1, sigma=1)",
    "Gaussian(sigma=1, sigma=1)",
    "Gaussian(sigma=1, 2)",
    "Gaussian(mu=1)",
    "Gaussian(self=1)",
    "Gaussian('1')",
    'Gaussian("1")',
    "Gaussian(True)",
    "Gaussian(None)",
    "Gaussian(nan)",
    "Gaussian(inf)",
    "Gaussian(1j)",
    "Gaussian(0x10)",
    "Gaussian(1e)",
    "Gaussian(1__0)",
    "Gaussian(1is 1)",
    "Gaussian(1.2.3)",
    "Gaussian(" + "9" * 5000 + ")",
    "Gaussian(" + "9" * 399 + ")",
    "Gaussian(1e999)",
    "Gaussian(1 + 1)",
    "Gaussian(2*1)",
    "Gaussian(2**1000000000)",
    "Gaussian(1/2)",
    "Gaussian(2-1)",
    "Gaussian([1])",
    "Gaussian(Gaussian(1))",
    "Gaussian(*[1])",
    "Gaussian(**{})",
    "Gaussian(1)(2)",
    "Gaussian(1)[0]",
    "Gaussian(1).sigma",
    "Gaussian(1).law(1)",
    "Gaussian(1).epsilon(1e-6)",
    "Gaussian(1).__class__",
    "Gaussian(1)._make(1)",
    "Gaussian(1).repeat",
    "Gaussian(1).repeat()",
    "Gaussian(1).repeat(2.5)",
    "Gaussian(1).repeat(0)",
    "Gaussian(1).from_json(1)",
    "Gaussian(1) + 1",
    "1 + Gaussian(1)",
    "+Gaussian(1)",
    "-Gaussian(1)",
    "-",
    "-(1)",
    "1",
    "inf",
    "[Gaussian(1)]",
    "(Gaussian(1),)",
    "()",
    "compose()",
    "compose(1)",
    "compose([Gaussian(1)])",
    "allocate()",
    "allocate([])",
    "allocate([Gaussian(1)])",
    "allocate([(Gaussian(1), 2, 3)])",
    "allocate([(Gaussian(1), 2)], [0.5])",
    "allocate([(Gaussian(1), 2)], 1)",
    "Outcomes([], [])",
    "pl",
    "pl.",
    "pl.Scheme",
    "pl.pl.Gaussian(1)",
    "numpy.Gaussian(1)",
    "gaussian(1)",
    "print(1)",
    "__import__('os').system('true')",
    "open('x')",
    "lambda: 1",
    "Gaussian(1) if 1 else 2",
    "[x for x in (1,)]",
    "Gaussian(x := 1)",
    "{",
    "{}",
    "{1}",
    "{a.b}",
    "{{a}}",
    "Gaussian(1); Gaussian(2)",
    "Gaussian(1) # comment",
    "Gaussian(1)\\",
    "Gaussian(1)\0",
    "Gaussian(\N{FULLWIDTH DIGIT ONE})",
    "\N{GREEK CAPITAL LETTER GAMMA}aussian(1)",
    "\ud800",
    "PrivacyLoss(<100 outcomes, sha256 00>)",
    "(" * 50_000,
    "[" * 50_000 + "]" * 50_000,
    "-" * 100_000,
    "Gaussian(" + "-" * 90_000 + ")",
    "x" * 100_000,
    "1" * 100_000,
    "1_" * 50_000,
    " " * 100_000,
    "Gaussian(1)" + ".swap" * 10_000,
    "Gaussian(1)" + "+" * 50_000,
]


@pytest.mark.parametrize("text", GARBAGE, ids=lambda text: ascii(text[:40]))
def test_garbage_is_a_value_error_in_one_sentence(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as caught:
            pl.parse(text)
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_text_must_be_text() -> None:
    for wrong in (None, 1, b"Gaussian(1)", STEP):
        with pytest.raises(TypeError, match="text must be a string"):
            pl.parse(wrong)  # type: ignore[arg-type]


@given(st.text(alphabet="Gausin(1,.)[]{}+-=_ e0plrt*\n\"'", max_size=60))
def test_random_text_is_a_scheme_or_a_value_error(text: str) -> None:
    try:
        assert isinstance(pl.parse(text), Scheme)
    except ValueError as error:
        assert type(error) is ValueError


@given(st.text(max_size=40))
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"text|has no value|scheme|\+"):
        pl.parse(text)


def test_limits_are_named() -> None:
    with pytest.raises(ValueError, match=str(LONGEST)):
        pl.parse(" " * (LONGEST + 1))
    brackets = DEEPEST - 1
    assert pl.parse("(" * brackets + "Gaussian(1)" + ")" * brackets) == STEP
    with pytest.raises(ValueError, match=str(DEEPEST)):
        pl.parse("(" * DEEPEST + "Gaussian(1)" + ")" * DEEPEST)


def test_long_chains_are_not_deep() -> None:
    scheme: Scheme = STEP
    for _ in range(1000):
        scheme = scheme.repeat(2).subsample(0.5)
    assert pl.parse(repr(scheme)) == scheme
    assert pl.parse(repr(chain(120))) == chain(120)
    many = pl.compose(*(pl.Laplace(1.0 + i) for i in range(3000)))
    assert pl.parse(repr(many)) == many


def test_only_schemes_methods_can_be_called() -> None:
    assert all(callable(getattr(Scheme, name)) for name in METHODS)
    before = os.getcwd()
    with pytest.raises(ValueError, match="one of Gaussian"):
        pl.parse("os.chdir(1)")
    assert os.getcwd() == before


def test_long_outcomes_are_shortened_with_a_hash() -> None:
    def scheme(last: float) -> Scheme:
        return pl.PrivacyLoss([0.0] * 32 + [last], [1 / 33] * 33)

    text = repr(scheme(0.1).repeat(2))
    assert text.startswith("PrivacyLoss(<33 outcomes, sha256 ") and text.endswith(">).repeat(rounds=2)")
    assert text == repr(scheme(0.1).repeat(2)) != repr(scheme(0.2).repeat(2))
    assert Scheme.from_json(scheme(0.1).to_json()) == scheme(0.1)
    with pytest.raises(ValueError, match="to_json"):
        pl.parse(text)

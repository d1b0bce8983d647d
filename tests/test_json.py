"""Schemes as strict JSON, in the shape of the contract."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privloss as pl
from privloss import Scheme
from schemes import ALL, STEP, chain

GAUSSIAN = {"kind": "Gaussian", "sigma": 1.0, "sensitivity": 1.0}


@pytest.mark.parametrize("scheme", ALL, ids=repr)
def test_json_round_trips(scheme: Scheme) -> None:
    text = scheme.to_json()
    assert Scheme.from_json(text) == scheme
    assert Scheme.from_json(text.encode()) == scheme
    assert Scheme.from_json(json.loads(text)) == scheme
    assert json.loads(text, parse_constant=pytest.fail)["privloss"] == 1


@pytest.mark.parametrize(
    ("scheme", "tree"),
    [
        (
            STEP.allocate(1000).repeat(10),
            {
                "kind": "repeat",
                "rounds": 10,
                "of": {"kind": "allocate", "steps": 1000, "picks": 1, "of": GAUSSIAN},
            },
        ),
        (
            STEP.subsample(0.5).swap(),
            {"kind": "swap", "of": {"kind": "subsample", "rate": 0.5, "of": GAUSSIAN}},
        ),
        (
            STEP + pl.PureDP(0.5),
            {"kind": "compose", "parts": [GAUSSIAN, {"kind": "PureDP", "epsilon": 0.5}]},
        ),
        (
            pl.allocate([(STEP, 1), (STEP, 3)]),
            {
                "kind": "allocate",
                "parts": [{"steps": 1, "of": GAUSSIAN}, {"steps": 3, "of": GAUSSIAN}],
                "weights": [0.25, 0.75],
            },
        ),
        (
            pl.PrivacyLoss([0.0, inf], [0.75, 0.25]),
            {"kind": "PrivacyLoss", "losses": [0.0, "inf"], "masses": [0.75, 0.25]},
        ),
    ],
)
def test_json_has_the_shape_of_the_contract(scheme: Scheme, tree: dict[str, Any]) -> None:
    assert json.loads(scheme.to_json()) == {"privloss": 1, "scheme": tree}


def test_what_has_a_default_may_be_left_out() -> None:
    tree = {"kind": "allocate", "steps": 5, "of": {"kind": "Gaussian", "sigma": 1}}
    assert Scheme.from_json({"privloss": 1, "scheme": tree}) == STEP.allocate(5)


def test_depth_is_no_obstacle() -> None:
    assert Scheme.from_json(chain(200).to_json()) == chain(200)
    assert len(chain(2000).to_json()) > 2000
    with pytest.raises(ValueError, match="nests too deep"):
        Scheme.from_json("[" * 100_000)


def whole(scheme: object) -> str:
    return json.dumps({"privloss": 1, "scheme": scheme})


NOT_SCHEMES = [
    "",
    "null",
    "[]",
    "1",
    "{}",
    "{",
    b"\xff\xfe\xff",
    '{"privloss": 1}',
    '{"scheme": {"kind": "Gaussian", "sigma": 1.0}}',
    '{"privloss": 2, "scheme": {"kind": "Gaussian", "sigma": 1.0}}',
    '{"privloss": 1.0, "scheme": {"kind": "Gaussian", "sigma": 1.0}}',
    '{"privloss": true, "scheme": {"kind": "Gaussian", "sigma": 1.0}}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": 1.0}, "more": 1}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": NaN}}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": Infinity}}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": 1e999}}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": 1.0, "sigma": 2.0}}',
    '{"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": ' + "9" * 5000 + "}}",
    {"privloss": 1, "scheme": STEP},
    {"privloss": 1, "scheme": {"kind": "Gaussian", "sigma": inf}},
    {1: 1},
    whole(None),
    whole([]),
    whole("Gaussian(1)"),
    whole({"sigma": 1.0}),
    whole({"kind": 1}),
    whole({"kind": "gaussian", "sigma": 1.0}),
    whole({"kind": "Scheme"}),
    whole({"kind": "Allocation", "parts": [], "weights": []}),
    whole({"kind": "Gaussian"}),
    whole({"kind": "Gaussian", "sigma": 1.0, "mu": 0.0}),
    whole({"kind": "Gaussian", "sigma": "1.0"}),
    whole({"kind": "Gaussian", "sigma": "inf"}),
    whole({"kind": "Gaussian", "sigma": True}),
    whole({"kind": "Gaussian", "sigma": None}),
    whole({"kind": "Gaussian", "sigma": [1.0]}),
    whole({"kind": "Gaussian", "sigma": {}}),
    whole({"kind": "Gaussian", "sigma": 0}),
    whole({"kind": "Gaussian", "sigma": 1.0, "of": GAUSSIAN}),
    whole({"kind": "Gaussian", "sigma": 1.0, "parts": [GAUSSIAN]}),
    whole({"kind": "PureDP", "epsilon_": 1.0}),
    whole({"kind": "repeat", "rounds": 10}),
    whole({"kind": "repeat", "of": GAUSSIAN}),
    whole({"kind": "repeat", "rounds": 2.5, "of": GAUSSIAN}),
    whole({"kind": "repeat", "rounds": 10, "of": 1}),
    whole({"kind": "repeat", "rounds": 10, "of": [GAUSSIAN]}),
    whole({"kind": "repeat", "rounds": 10, "of": GAUSSIAN, "parts": [GAUSSIAN]}),
    whole({"kind": "compose", "parts": []}),
    whole({"kind": "compose", "parts": GAUSSIAN}),
    whole({"kind": "compose", "parts": [1]}),
    whole({"kind": "compose", "of": GAUSSIAN}),
    whole({"kind": "allocate", "steps": 2, "picks": 3, "of": GAUSSIAN}),
    whole(
        {
            "kind": "allocate",
            "steps": 2,
            "of": GAUSSIAN,
            "parts": [{"steps": 2, "of": GAUSSIAN}],
            "weights": [1],
        }
    ),
    whole({"kind": "allocate", "parts": [], "weights": []}),
    whole({"kind": "allocate", "parts": [{"steps": 2, "of": GAUSSIAN}]}),
    whole({"kind": "allocate", "parts": [GAUSSIAN], "weights": [1]}),
    whole({"kind": "allocate", "parts": [[GAUSSIAN, 2]], "weights": [1]}),
    whole({"kind": "allocate", "parts": [{"steps": 2, "of": GAUSSIAN, "x": 1}], "weights": [1]}),
    whole({"kind": "allocate", "parts": [{"steps": 2, "of": GAUSSIAN}], "weights": [0.5]}),
    whole({"kind": "allocate", "parts": [{"steps": 2, "of": GAUSSIAN}], "weights": 1}),
    whole({"kind": "allocate", "parts": [{"steps": "2", "of": GAUSSIAN}], "weights": [1]}),
    whole({"kind": "PrivacyLoss", "losses": ["-inf"], "masses": [1.0]}),
    whole({"kind": "PrivacyLoss", "losses": [[0.0]], "masses": [1.0]}),
    whole({"kind": "PrivacyLoss", "losses": "inf", "masses": [1.0]}),
]


@pytest.mark.parametrize("source", NOT_SCHEMES, ids=lambda source: repr(source)[:60])
def test_what_is_not_a_scheme_is_a_value_error_in_one_sentence(source: Any) -> None:
    with pytest.raises(ValueError) as caught:
        Scheme.from_json(source)
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_what_holds_itself_is_refused() -> None:
    loop: dict[str, Any] = {"kind": "swap"}
    loop["of"] = loop
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        Scheme.from_json({"privloss": 1, "scheme": loop})


def test_the_source_must_be_text_or_a_dict() -> None:
    for wrong in (None, 1, STEP, [GAUSSIAN]):
        with pytest.raises(TypeError, match="source must be"):
            Scheme.from_json(wrong)  # type: ignore[arg-type]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "of", "parts", "steps", "sigma", "rounds"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@given(json_values)
def test_random_trees_are_refused(tree: Any) -> None:
    with pytest.raises(ValueError, match=" "):
        Scheme.from_json({"privloss": 1, "scheme": tree})

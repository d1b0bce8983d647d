"""Schemes as strict JSON: ``{"privloss": 1, "scheme": {"kind": "repeat", "rounds": 10, "of": {...}}}``.

One scheme inside is ``"of"``, several are ``"parts"``; the parts of an allocation are ``{"steps": 500, "of":
{...}}``. Infinities are the string "inf". Writing and reading loop over the nodes, since the json module
would recurse.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, fields
from typing import Any

from privloss._check import show
from privloss._mechanisms import MECHANISMS
from privloss._operations import OPERATIONS, Allocation, Compose
from privloss._scheme import Scheme, argument, numbers, walk

VERSION = 1
_KINDS: dict[str, type[Scheme]] = {
    kind.kind: kind for kind in (*MECHANISMS, *OPERATIONS) if kind is not Allocation
}


def dump(scheme: Scheme) -> str:
    texts: dict[int, str] = {}
    for node in walk(scheme):
        texts[id(node)] = _written(node, [texts[id(part)] for part in node._parts()])
    return f'{{"privloss": {VERSION}, "scheme": {texts[id(scheme)]}}}'


def _written(node: Scheme, parts: list[str]) -> str:
    pieces = [f'"kind": {json.dumps(node.kind)}']
    if isinstance(node, Allocation):
        rows = [f'{{"steps": {n}, "of": {text}}}' for text, (_, n) in zip(parts, node.parts, strict=True)]
        pieces += [f'"parts": [{", ".join(rows)}]', f'"weights": {_number(node.weights)}']
    elif isinstance(node, Compose):
        pieces.append(f'"parts": [{", ".join(parts)}]')
    else:
        pieces += [f'"{argument(name)}": {_number(getattr(node, name))}' for name in numbers(type(node))]
        pieces += [f'"of": {text}' for text in parts]
    return f"{{{', '.join(pieces)}}}"


def _number(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_number, value))}]"
    return '"inf"' if value == math.inf else repr(value)


def load(source: str | bytes | dict[str, Any]) -> Scheme:
    tree = _tree(source)
    _only(tree, {"privloss", "scheme"}, set(), "the JSON of a scheme")
    if type(tree["privloss"]) is not int or tree["privloss"] != VERSION:
        raise ValueError(
            f'"privloss" must be {VERSION}, the version of the format, got {show(tree["privloss"])}'
        )
    return _scheme(tree["scheme"])


def _tree(source: object) -> dict[str, Any]:
    if isinstance(source, dict):
        try:
            source = json.dumps(source, allow_nan=False)  # what is not JSON, or holds itself, stops here
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"source must be JSON of a scheme: {_first_line(error)}") from None
    if not isinstance(source, str | bytes | bytearray):
        raise TypeError(f"source must be a string or a dict, got {show(source)}")
    try:
        tree = json.loads(source, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("source must be JSON of a scheme: it nests too deep") from None
    except ValueError as error:
        raise ValueError(f"source must be JSON of a scheme: {_first_line(error)}") from None
    if not isinstance(tree, dict):
        raise ValueError(f"source must be a JSON object, got {show(tree)}")
    return tree


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _refused(text: str) -> float:
    raise ValueError(f'{text} is not JSON (infinity is "inf")')


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f'{text} is beyond the range of a float (infinity is "inf")')
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{show(next(n for n in names if names.count(n) > 1))} occurs twice in one object")
    return result


def _scheme(tree: Any) -> Scheme:
    """Children are built before their parents: the reverse of the order in which they are found."""
    order: list[Any] = [tree]
    for node in order:
        order.extend(_children(node))
    built: dict[int, Scheme] = {}
    for node in reversed(order):
        built[id(node)] = _node(node, [built[id(child)] for child in _children(node)])
    return built[id(tree)]


def _children(node: Any) -> list[Any]:
    if not isinstance(node, dict) or not isinstance(node.get("kind"), str):
        raise ValueError(f'a scheme must be an object with a "kind", got {show(node)}')
    if "parts" not in node:
        return [node["of"]] if "of" in node else []
    if not isinstance(node["parts"], list):
        raise ValueError(f'"parts" must be a list, got {show(node["parts"])}')
    return [_step(row)["of"] for row in node["parts"]] if _weighted(node) else node["parts"]


def _weighted(node: dict[str, Any]) -> bool:
    return node["kind"] == Allocation.kind and "parts" in node


def _step(row: Any) -> dict[str, Any]:
    _only(row, {"steps", "of"}, set(), 'a part of "allocate"')
    result: dict[str, Any] = row
    return result


def _node(node: dict[str, Any], parts: list[Scheme]) -> Scheme:
    name = node["kind"]
    if name not in _KINDS:
        raise ValueError(f'"kind" must be one of {", ".join(_KINDS)}, got {show(name)}')
    kind = Allocation if _weighted(node) else _KINDS[name]
    needed, optional = _keys(kind)
    _only(node, needed | {"kind"}, optional, f'"kind": "{name}"')
    values = {key: _read(key, node[key]) for key in node if key not in ("kind", "of", "parts")}
    try:
        if kind is Allocation:
            rows = zip(parts, (row["steps"] for row in node["parts"]), strict=True)
            return Allocation(tuple(rows), **values)
        return Compose(tuple(parts)) if kind is Compose else kind(*parts, **values)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None


def _keys(kind: type[Scheme]) -> tuple[set[str], set[str]]:
    """The keys that an object must have, and those it may leave out."""
    given = {argument(field): default for field, default in numbers(kind).items()}
    needed = {key for key, default in given.items() if default is MISSING}
    schemes = {field.name for field in fields(kind)} - set(numbers(kind))  # type: ignore[arg-type]
    return needed | schemes, set(given) - needed


def _only(tree: Any, needed: set[str], optional: set[str], what: str) -> None:
    if not isinstance(tree, dict):
        raise ValueError(f"{what} must be an object, got {show(tree)}")
    missing, unknown = sorted(needed - set(tree)), sorted(set(tree) - needed - optional)
    if missing:
        raise ValueError(f'{what} must have "{missing[0]}", got {show(tree)}')
    if unknown:
        raise ValueError(
            f"{what} must not have {show(unknown[0])}; it has {', '.join(sorted(needed | optional))}"
        )


def _read(name: str, value: Any) -> Any:
    """A field's value: numbers, lists of numbers, and "inf" for infinity."""
    if isinstance(value, list):
        return tuple(_read(name, item) for item in value)
    if value == "inf":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'"{name}" must be a number or "inf", got {show(value)}')
    return value

"""Schemes as the JSON that the package reads, written without the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Node = dict[str, Any]


def outcomes(p: Sequence[float], q: Sequence[float]) -> Node:
    return {"kind": "Outcomes", "p": list(p), "q": list(q)}


def two(p: float, q: float) -> Node:
    """Two outcomes; 1 - p and 1 - q must be doubles."""
    return outcomes([p, 1 - p], [q, 1 - q])


def pure(epsilon: float) -> Node:
    return {"kind": "PureDP", "epsilon": epsilon}


def gaussian(sigma: float, sensitivity: float = 1.0) -> Node:
    return {"kind": "Gaussian", "sigma": sigma, "sensitivity": sensitivity}


def laplace(scale: float, sensitivity: float = 1.0) -> Node:
    return {"kind": "Laplace", "scale": scale, "sensitivity": sensitivity}


def allocate(of: Node, steps: int, picks: int = 1) -> Node:
    return {"kind": "allocate", "steps": steps, "picks": picks, "of": of}


def weighted(parts: Sequence[tuple[Node, int]], weights: Sequence[float]) -> Node:
    rows = [{"steps": steps, "of": of} for of, steps in parts]
    return {"kind": "allocate", "parts": rows, "weights": list(weights)}


def subsample(of: Node, rate: float) -> Node:
    return {"kind": "subsample", "rate": rate, "of": of}


def repeat(of: Node, rounds: int) -> Node:
    return {"kind": "repeat", "rounds": rounds, "of": of}


def compose(*parts: Node) -> Node:
    return {"kind": "compose", "parts": list(parts)}


def swap(of: Node) -> Node:
    return {"kind": "swap", "of": of}


def walk(node: Node) -> list[Node]:
    """The node and all that it is made of."""
    inner = [node["of"]] if "of" in node else [part.get("of", part) for part in node.get("parts", [])]
    if node["kind"] == "compose":
        inner = node["parts"]
    return [node, *(deeper for each in inner for deeper in walk(each))]

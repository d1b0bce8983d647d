"""Rows of a figure, one a point, and picking among them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Data:
    """Rows with the columns ``lower`` and ``upper``, and those that tell them apart.

    >>> Data([{"t": 10, "lower": 1.0, "upper": 1.1}, {"t": 20, "lower": 2.0, "upper": 2.1}]).where(t=20)["upper"]
    [2.1]
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    def where(self, **wanted: Any) -> Data:
        """The rows with these values."""
        return Data(row for row in self.rows if all(row.get(name) == value for name, value in wanted.items()))

    def only(self, keep: Callable[[Row], bool]) -> Data:
        return Data(row for row in self.rows if keep(row))

    def answered(self) -> Data:
        """The rows that have an answer."""
        return self.only(lambda row: row["lower"] is not None)

    def sorted(self, *columns: str) -> Data:
        return Data(sorted(self.rows, key=lambda row: tuple(row[name] for name in columns)))

    def values(self, column: str) -> list[Any]:
        """The different values, in order."""
        return sorted({row[column] for row in self.rows if row.get(column) is not None})

    def groups(self, *columns: str) -> list[tuple[tuple[Any, ...], Data]]:
        """The rows by their values in these columns, in the order in which they first come."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row.get(name) for name in columns), []).append(row)
        return [(key, Data(rows)) for key, rows in found.items()]

    def pairs(self, left: Mapping[str, Any], right: Mapping[str, Any], by: Sequence[str]) -> list[tuple[Row, Row]]:
        """Rows of one kind with those of another that have the same values in the columns ``by``."""
        others = {tuple(row.get(name) for name in by): row for row in self.where(**right).answered()}
        mine = self.where(**left).answered()
        keys = [tuple(row.get(name) for name in by) for row in mine]
        return [(row, others[key]) for row, key in zip(mine, keys, strict=True) if key in others]

    def save(self, path: Path) -> None:
        """As CSV; a column that a row does not have is empty there."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([[_word(name, row.get(name)) for name in columns] for row in self.rows])

    @classmethod
    def load(cls, path: Path) -> Data:
        with path.open(newline="", encoding="utf-8") as file:
            return cls({name: _value(text) for name, text in row.items()} for row in csv.DictReader(file))


def _word(name: str, value: Any) -> Any:
    """Ends of brackets to the last digit; what is only told, shorter."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if name in ("gap", "seconds") and value is not None else value


def _value(text: str) -> Any:
    if text in ("", "true", "false"):
        return {"": None, "true": True, "false": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

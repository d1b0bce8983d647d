"""Rows as a file: Parquet, CSV or SQL, whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TABLE = "results"  # in an SQL file
_TYPES = {bool: "INTEGER", int: "INTEGER", float: "REAL", str: "TEXT"}

Rows = Sequence[Mapping[str, Any]]


def check(path: str | os.PathLike[str]) -> Path:
    """Whether a table can be written there, before anything is computed for it."""
    found = Path(path)
    if found.suffix.lower() not in _WRITERS:
        raise ValueError(f"output must end in one of {', '.join(_WRITERS)}, got {str(path)!r}")
    if found.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise ImportError("Parquet needs the extra sweep: pip install privloss[sweep]; .csv needs nothing")
    if found.is_dir() or not found.parent.is_dir():
        raise ValueError(f"output must be a file in a folder that is there, got {str(path)!r}")
    if not os.access(found.parent, os.W_OK):
        raise ValueError(f"output must be in a folder that can be written to, got {str(path)!r}")
    return found


def save(rows: Rows, path: str | os.PathLike[str]) -> None:
    """Write the rows to a file, in the format that its name ends in: .parquet, .csv, .sqlite or .sql.

    It is there whole or not at all: what was there before stays until then.
    """
    if not rows:
        raise ValueError("rows must hold one row at least, got none")
    goal = check(path)
    handle, name = tempfile.mkstemp(prefix=f".{goal.name}.", suffix=goal.suffix, dir=goal.parent)
    os.close(handle)
    try:
        _WRITERS[goal.suffix.lower()]([_flat(row) for row in rows], Path(name))
        _settle(Path(name), goal)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _settle(made: Path, goal: Path) -> None:
    mode = goal.stat().st_mode & 0o777 if goal.exists() else 0o666 & ~_umask()
    with suppress(OSError):  # where the system has no such modes
        os.chmod(made, mode)
    with made.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(made, goal)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A list, which a cell cannot hold, as its JSON."""
    return {name: json.dumps(value) if isinstance(value, tuple) else value for name, value in row.items()}


def _csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_word(value) for value in row.values()] for row in rows)


def _word(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _parquet(rows: Rows, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    fields = [(name, kinds[kind]) for name, kind in _kinds(rows).items()]
    columns = {name: [_cast(row[name], kind) for row in rows] for name, kind in _kinds(rows).items()}
    pyarrow.parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), path)


def _sqlite(rows: Rows, path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute(_created(rows))
        marks = ", ".join("?" * len(rows[0]))
        file.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", _cells(rows))
        file.commit()


def _sql(rows: Rows, path: Path) -> None:
    """Statements, for any database."""
    with path.open("w", encoding="utf-8") as script:
        script.write(f"BEGIN;\n{_created(rows)};\n")
        for row in _cells(rows):
            script.write(f"INSERT INTO {TABLE} VALUES ({', '.join(map(_literal, row))});\n")
        script.write("COMMIT;\n")


def _created(rows: Rows) -> str:
    return f"CREATE TABLE {TABLE} ({', '.join(f'{_quoted(n)} {_TYPES[kind]}' for n, kind in _kinds(rows).items())})"


def _cells(rows: Rows) -> Iterator[tuple[Any, ...]]:
    kinds = _kinds(rows)
    return (tuple(_cast(row[name], kind) for name, kind in kinds.items()) for row in rows)


def _quoted(name: str, mark: str = '"') -> str:
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _quoted(value, "'")
    return repr(int(value) if isinstance(value, bool) else value).replace("inf", "9e999")  # SQL has no infinity


_COLUMNS: dict[str, type] = {"exact": bool, "reason": str, "error": str, "scheme": str}


def _kinds(rows: Rows) -> dict[str, type]:
    """What each column holds; one of whole numbers and others, or of whole numbers beyond 64 bits, is of floats."""
    return {name: _COLUMNS.get(name) or _kind([row[name] for row in rows]) for name in rows[0]}


def _kind(values: Sequence[Any]) -> type:
    kinds = {type(value) for value in values if value is not None}
    if str in kinds:
        return str
    small = all(abs(value) < 2**63 for value in values if isinstance(value, int))
    return int if kinds == {int} and small else float


def _cast(value: Any, kind: type) -> Any:
    return None if value is None else kind(value)


_WRITERS: dict[str, Callable[[Rows, Path], None]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".sqlite": _sqlite,
    ".sql": _sql,
}

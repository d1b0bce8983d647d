"""The journal: every answer once, in an SQLite file that survives whatever happens to those who write it.

Only the process that started a sweep opens it. What it has said to be stored has reached the disk. Who works on what
is in it too, as claims, so that sweeps at the same time share the work; claims of the dead are taken over.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from privloss._check import show
from privloss.sweep._point import Outcome

APPLICATION = 0x70767377  # "pvsw": what kind of SQLite file this is
VERSION = 1
BEAT = 5.0  # seconds between signs of life
LEASE = 60.0  # without one for so long, a process on another machine is given up
PATIENCE = 30.0  # seconds to wait for another process that is writing

_TABLES = """
CREATE TABLE points (key BLOB PRIMARY KEY, question TEXT, scheme TEXT, asked TEXT, lower REAL, upper REAL,
    seconds REAL, reason TEXT, exact INTEGER, error TEXT, final INTEGER NOT NULL, stored REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE owners (id TEXT PRIMARY KEY, host TEXT, pid INTEGER, started TEXT, beat REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE grids (number INTEGER PRIMARY KEY AUTOINCREMENT, grid TEXT NOT NULL, started REAL NOT NULL);
"""
_OUTCOME = "lower, upper, seconds, reason, exact, error, final"


@dataclass(frozen=True)
class Entry:
    """An answer, with what was asked in words."""

    key: bytes
    question: str
    scheme: str
    asked: str
    outcome: Outcome


@dataclass
class Claimed:
    """What is known already, what is now this sweep's to do, and what another sweep is at."""

    known: dict[bytes, Outcome] = field(default_factory=dict)
    mine: list[bytes] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)


def home() -> Path:
    """The default journal, in the user's data folder."""
    if sys.platform == "win32":
        named, usual = "LOCALAPPDATA", "AppData/Local"
    else:
        named, usual = "XDG_DATA_HOME", "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return Path(os.environ.get(named) or Path.home() / usual) / "privloss" / "sweeps.sqlite"


def located(journal: str | os.PathLike[str] | None) -> Path:
    """The journal that is named, else the default one."""
    if journal is not None and not isinstance(journal, str | os.PathLike):
        raise TypeError(f"journal must be a path, got {show(journal)}")
    return home() if journal is None else Path(journal)


class Journal:
    """An open journal. ``readonly`` looks only, also while others write."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path, self._readonly = path, readonly
        self._owner, self._began = uuid.uuid4().hex, time.time()
        self._over = threading.Event()
        with self._said():
            self._file = _connected(path, readonly)
            self._mark = _mark(path)
            try:
                self._prepare()
            except BaseException:
                self._file.close()
                raise

    def _prepare(self) -> None:
        kind = self._one("PRAGMA application_id")
        if kind == 0 and not self._readonly and not self._one("SELECT count(*) FROM sqlite_master"):
            with self._writing():
                if not self._one("SELECT count(*) FROM sqlite_master"):  # nobody else was quicker
                    for statement in filter(str.strip, _TABLES.split(";")):
                        self._file.execute(statement)
                    self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                    self._file.execute(f"PRAGMA user_version = {VERSION}")
            kind = self._one("PRAGMA application_id")
        if kind != APPLICATION:
            raise ValueError(f"journal must be one that a sweep made, got another SQLite file, {self.path}")
        if self._one("PRAGMA user_version") != VERSION:
            raise ValueError(f"the journal {self.path} is of another version of privloss: choose another file")

    def __enter__(self) -> Journal:
        if not self._readonly:
            self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what is claimed but not done."""
        self._over.set()
        if not self._readonly:
            with suppress(OSError), self._said(), self._writing():
                self._file.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
                self._file.execute("DELETE FROM owners WHERE id = ?", (self._owner,))
        self._file.close()

    def _enter(self) -> None:
        with self._said(), self._writing():
            self._file.execute(*self._sign())
        threading.Thread(target=self._live, daemon=True).start()

    def _sign(self) -> tuple[str, tuple[object, ...]]:
        """A sign of life, as a whole row: after a long sleep others may have struck this one off."""
        me = (self._owner, _host(), os.getpid(), _started(os.getpid()), time.time())
        return "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?, ?)", me

    def _live(self) -> None:
        """Give signs of life, from a thread: the others are busy for as long as a point takes."""
        while not self._over.wait(BEAT):
            if _mark(self.path) != self._mark:  # connecting would make a new file
                return
            with suppress(sqlite3.Error, OSError), closing(_connected(self.path, False)) as other:
                other.execute(*self._sign())

    # Answers.

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Outcome]:
        """The last answers there are, final or not."""
        found = {}
        with self._said():
            for key in keys:
                row = self._row(key)
                if row is not None:
                    found[key] = row[0]
        return found

    def claim(self, keys: Sequence[bytes]) -> Claimed:
        """Of these, what can be had, what is to be done here, and what others are doing.

        An answer that a time limit stopped is had only if it was stored since this sweep began.
        """
        got = Claimed()
        with self._said(), self._writing():
            alive = self._alive()
            for key in keys:
                row = self._row(key)
                if row is not None and (row[0].final or row[1] >= self._began):
                    got.known[key] = row[0]
                    continue
                self._file.execute("INSERT INTO claims VALUES (?, ?) ON CONFLICT DO NOTHING", (key, self._owner))
                (owner,) = self._file.execute("SELECT owner FROM claims WHERE key = ?", (key,)).fetchone()
                if owner != self._owner and owner not in alive:
                    self._file.execute("UPDATE claims SET owner = ? WHERE key = ?", (self._owner, key))
                    owner = self._owner
                (got.mine if owner == self._owner else got.others).append(key)
        return got

    def store(self, entries: Iterable[Entry]) -> None:
        """On return it is on the disk. What is final stays."""
        with self._said(), self._writing():
            for each in entries:
                o = each.outcome
                words = (each.key, each.question, each.scheme, each.asked)
                answer = (o.lower, o.upper, o.seconds, o.reason, o.exact, o.error, o.final)
                self._file.execute(
                    "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                    "lower = excluded.lower, upper = excluded.upper, seconds = excluded.seconds, "
                    "reason = excluded.reason, exact = excluded.exact, error = excluded.error, "
                    "final = excluded.final, stored = excluded.stored WHERE NOT points.final",
                    (*words, *answer, time.time()),
                )
                self._file.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (each.key, self._owner))

    def _row(self, key: bytes) -> tuple[Outcome, float] | None:
        row = self._file.execute(f"SELECT {_OUTCOME}, stored FROM points WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        lower, upper, seconds, reason, exact, error, final, stored = row
        exact = None if exact is None else bool(exact)
        return Outcome(lower, upper, seconds, reason, exact, error, bool(final)), stored

    # Grids, for showing a journal.

    def remember(self, grid: str) -> None:
        """The grid becomes the latest."""
        with self._said(), self._writing():
            self._file.execute("DELETE FROM grids WHERE grid = ?", (grid,))
            self._file.execute("INSERT INTO grids (grid, started) VALUES (?, ?)", (grid, time.time()))

    def latest(self) -> dict[str, Any] | None:
        with self._said():
            row = self._file.execute("SELECT grid FROM grids ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else dict(json.loads(row[0]))

    # Others.

    def _alive(self) -> set[str]:
        """Who still works; the others are struck off, and what they claimed is free."""
        rows = self._file.execute("SELECT id, host, pid, started, beat FROM owners").fetchall()
        alive = {row[0] for row in rows if row[0] == self._owner or _lives(*row[1:])}
        for owner in {row[0] for row in rows} - alive:
            self._file.execute("DELETE FROM claims WHERE owner = ?", (owner,))
            self._file.execute("DELETE FROM owners WHERE id = ?", (owner,))
        return alive

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All or nothing, and nobody else meanwhile."""
        if _mark(self.path) != self._mark:
            raise OSError(f"the journal {self.path} was deleted or replaced, and what it held with it: start again")
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # after some failures SQLite has already rolled back
                self._file.execute("ROLLBACK")
            raise

    @contextmanager
    def _said(self) -> Iterator[None]:
        """SQLite's errors as a sentence that names the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            verb = "read" if self._readonly else "written"
            hint = " (is the disk full?)" if "disk I/O" in str(error) else ""
            raise OSError(f"the journal {self.path} cannot be {verb}: {error}{hint}; what is in it stays") from None
        except sqlite3.DatabaseError as error:
            raise ValueError(f"journal must be one that a sweep made, got {self.path}: {error}") from None

    def _one(self, query: str) -> Any:
        return self._file.execute(query).fetchone()[0]


def _mark(path: Path) -> tuple[int, int] | None:
    """Which file has that name: SQLite goes on writing to one that has been deleted, and nobody can read it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _connected(path: Path, readonly: bool) -> sqlite3.Connection:
    if readonly:
        return _looking(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _set_up(file)
    except BaseException:
        file.close()
        raise
    return file


def _set_up(file: sqlite3.Connection) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # this one does not wait by itself for another that does the same
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)
    file.execute("PRAGMA synchronous = FULL")  # with WAL, less would lose the last answers when power fails


def _looking(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise OSError(f"there is no journal {path}: run a sweep first, or name one with --journal")
    uri = path.resolve().as_uri()
    file = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=PATIENCE, isolation_level=None)
    try:
        file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # nobody writes, and this user may not
        file.close()
        file = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
    except BaseException:
        file.close()
        raise
    return file


@cache
def _host() -> str:
    """What process numbers mean something on: this machine since it was started, this container."""
    marks = [socket.gethostname()]
    with suppress(OSError):
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        marks.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(marks)


def _started(pid: int) -> str:
    """When a process began, where the system tells; process numbers are used again."""
    with suppress(OSError, IndexError):
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "ended" if told[0] in "ZX" else told[19]
    return ""


def _lives(host: str, pid: int, started: str, beat: float) -> bool:
    """A process of this machine lives if it is there; of any, only while it gives signs of life."""
    if host == _host() and os.name == "posix" and not _there(pid, started):
        return False
    return time.time() - beat < LEASE


def _there(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        pass
    return _started(pid) == started

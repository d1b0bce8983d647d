"""The pages are true: every block of code and every command shown in them runs, and prints what is shown."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from privloss._cli import main

ROOT = Path(__file__).resolve().parent.parent
_PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_RELAXED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


_NEEDS = {  # pages that run where these are installed
    "docs/guides/jax.md": ("jax",),
    "docs/guides/pytorch.md": ("torch",),
    "docs/guides/replace-my-accountant.md": ("extras", "slow"),
}

_SAID = ("Secure RNG turned off", "Full backward hook is firing")  # by Opacus and PyTorch, of every training


class _Block(NamedTuple):
    language: str
    text: str
    line: int


def _blocks(page: Path) -> Iterator[_Block]:
    source = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(source):
        yield _Block(match.group(1), match.group(2), source.count("\n", 0, match.start()) + 1)


def _names(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _with(language: str) -> list[Any]:
    pages = [page for page in _PAGES if any(block.language == language for block in _blocks(page))]
    return [pytest.param(page, marks=_marks(page)) for page in pages]


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    quiet = pytest.mark.filterwarnings(*(f"ignore:{said}:UserWarning" for said in _SAID))
    names = _NEEDS.get(_names(page), ())
    return [*(getattr(pytest.mark, name) for name in names), quiet] if names else []


@pytest.mark.parametrize("page", _with("python"), ids=_names)
def test_python_blocks_run(page: Path) -> None:
    names: dict[str, Any] = {}  # a page's blocks follow one another, as a reader types them
    for block in _blocks(page):
        if block.language == "python":
            _run_python(block, page, names)


def _run_python(block: _Block, page: Path, names: dict[str, Any]) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_RELAXED)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


@pytest.mark.parametrize("page", _with("console"), ids=_names)
def test_console_blocks_print_what_is_shown(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in _blocks(page):
        if block.language == "console":
            for command, shown in _commands(block.text):
                _run_command(command, shown, capsys)


def _commands(text: str) -> Iterator[tuple[list[str], str]]:
    """Every `$ privloss ...` with the output that follows it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        words = shlex.split(command)
        if words[0] == "privloss":
            yield words[1:], shown


def _run_command(arguments: list[str], shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments)
    printed = capsys.readouterr()
    got = printed.out + printed.err
    alike = doctest.OutputChecker().check_output(shown, got, _RELAXED)
    assert alike or not shown, f"{arguments} printed\n{got}"


@pytest.mark.parametrize("page", sorted({*ROOT.glob("*.md"), *_PAGES}), ids=_names)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        other = page.parent / target if target else page
        assert other.exists(), f"{link} in {page.name}"
        assert not anchor or anchor in _anchors(other), f"{link} in {page.name}"


def _anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

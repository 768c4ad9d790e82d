"""The page on the architecture names paths that exist, and the floors that are tested."""

import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from test_floors import APART, FLOORS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WHOLE = sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", PAGE)))
INSIDE = sorted(
    set(re.findall(r"(?<![\w./])((?:core|stats|tables|kernels|case|attacks|report|run|release)/[\w/]*(?:\.py)?)", PAGE))
)


@pytest.mark.parametrize("path", WHOLE)
def test_paths_of_the_page_exist(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", INSIDE)
def test_paths_of_the_picture_exist(path):
    assert (ROOT / "src" / "divulge" / path).exists()


def test_the_page_names_paths():
    assert len(WHOLE) > 10
    assert len(INSIDE) > 8


def test_each_floor_stands_on_its_line():
    for i, floor in enumerate(FLOORS):
        (line,) = re.findall(rf"^ +{i} {{2,}}(.*)$", PAGE, flags=re.M)
        named = set(re.findall(r"[\w]+(?=\.py)|(?<![.\w])[a-z]+(?![\w.])", line[:41]))
        assert named == floor - {"__main__"}


def test_folders_that_stand_apart_are_bracketed():
    for a, b in APART:
        assert re.search(rf"\[[^\]]*\b{a}\b[^\]]*\b{b}\b[^\]]*\]", PAGE)


def test_words_of_verdicts_are_those_of_the_code():
    table = PAGE.split("## Words of verdicts")[1].split("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| `([\w/.]+)`, `(\w+)` \|$", table, flags=re.M)
    assert len(rows) == 7
    for words, path, name in rows:
        module = import_module(f"divulge.{path.removesuffix('.py').replace('/', '.')}")
        told = get_args(getattr(module, name))
        own = get_args(told[-1]) or told  # of a question of page one, what no comparison has
        assert words.removeprefix("those of both, and: ").split(", ") == list(own)

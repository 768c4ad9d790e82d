"""A table of a terminal is readable at any width: each column has a least width, and no cell is cut."""

from __future__ import annotations

import pytest
from report_helpers import summary
from test_first_page import found, report

from divulge.report.blocks.table import TERMINAL, Col, Num, Table
from divulge.report.documents.console import as_terminal_text
from divulge.report.documents.tables import terminal_table

OF_ROWS = {"real": {"hits": 284, "n": 322, "rate": 0.88, "units": 183},
           "holdout": {"hits": 42, "n": 100, "rate": 0.42, "units": 96}}  # fmt: skip


@pytest.mark.parametrize("width", [80, 100, 110, 120])
def test_the_name_of_an_attack_is_not_broken_into_letters(width):
    many = [found("copies", 9, 2, "excess found", variant=f"columns {i}", keys=["Birth year", "zip"]) for i in range(9)]
    linked = found("copies", 9, 2, "excess found", variant="linked", keys=["amount"]) | OF_ROWS
    lines = summary(report(*many, linked), width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    table = lines[next(i for i, line in enumerate(lines) if "──" in line) - 1 :]
    assert table[0].split()[0] == "attack" and table[0].split()[-1] == "verdict"
    assert any(line.startswith(" copies (linked):") for line in table)
    (row,) = [line for line in table if "88.0% of 322 rows" in line]
    assert row.rstrip().endswith("excess found")
    assert ("42.0% of 100 rows" in row) == (width >= 100)


def _drawn(width, *more):
    cols = [
        Col("name", lambda _: "a name of several words"),
        *more,
        Col("verdict", lambda _: "excess found", whole=True),
    ]
    return as_terminal_text([terminal_table(Table("T", cols, [0], hidden=True), width)], width=width)


def test_columns_are_left_out_before_a_name_gets_too_little_room():
    wide = [Num(f"n{k}", lambda _: "1.000 (0.972 to 1.000)", keep=k, whole=True, where=TERMINAL) for k in (30, 40)]
    assert "n30" in _drawn(90, *wide) and "n40" in _drawn(90, *wide)
    told = _drawn(60, *wide)
    assert "n30" in told and "n40" not in told and "a name of" in told
    assert all(len(line) <= 60 for line in told.splitlines())
    assert "n30" not in _drawn(50, *wide)  # eight letters would be left for the name


def test_what_cannot_be_left_out_is_broken_between_words():
    told = _drawn(48, Num("risk", lambda _: "1.000 (0.972 to 1.000)", whole=True))
    assert all(len(line) <= 48 for line in told.splitlines())
    assert "excess found" in told and all(part in told for part in ("1.000", "(0.972", "1.000)"))

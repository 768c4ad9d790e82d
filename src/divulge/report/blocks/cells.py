"""The cells that several tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from divulge.core.result import Risk, counts_rows, found_by, number
from divulge.report import formatting
from divulge.report.blocks.table import Cell, Dim, Hash, Name, Piece, Small, Word
from divulge.report.model import Rate, ResultRecord
from divulge.report.policy_model import Changed
from divulge.report.prose.tiles import state_words
from divulge.report.verdicts import CHECKED, FIDELITY, word_of

__all__ = [
    "fidelity",
    "hashed",
    "held",
    "judged",
    "kept",
    "kept_sign",
    "known",
    "named",
    "names",
    "nth",
    "pair",
    "rate",
    "risk",
    "side",
    "sign",
    "state",
    "target",
    "two",
    "verdict",
    "what",
]


def named(text: object) -> Cell:
    """Return the name of a column; a dash for none."""
    return Name(formatting.name(text)) if text else "-"


def names(keys: Iterable[object]) -> tuple[Piece, ...]:
    """Return the names of columns."""
    found: list[Piece] = []
    for key in keys:
        found += [" + "] * bool(found) + [Name(formatting.name(key))]
    return tuple(found) or (Dim("none"),)


def what(r: ResultRecord | Changed) -> str:
    """Return attack and variant."""
    return f"{r.attack} ({r.variant})" if r.variant else r.attack


def nth(i: int, shown: Callable[[Any], Cell] = lambda value: value) -> Callable[[Any], Cell]:
    """Return cells for the i-th part of each row."""
    return lambda row: shown(row[i])


def pair(r: ResultRecord | Changed) -> tuple[Piece, ...]:
    """Return keys and target."""
    return names(r.keys) + ((" → ", Name(formatting.name(r.target))) if r.target else ())


def known(r: ResultRecord | Changed) -> Cell:
    """Return the keys."""
    return names(r.keys)


def target(r: ResultRecord | Changed) -> Cell:
    """Return the target."""
    return named(r.target)


def rate(part: Rate | None) -> Cell:
    """Return a rate with its counts."""
    return (formatting.rated(part), Small(formatting.counted(part))) if part and part.rate is not None else "-"


def side(role: str) -> Callable[[ResultRecord], Cell]:
    """Return the cells of members ("real") or of strangers ("holdout"), with what was counted."""

    def cell(r: ResultRecord) -> Cell:
        part = formatting.side_of(r, role)
        if part is None or part.rate is None:
            return "-"
        return formatting.rated(part), Small(formatting.side(r, role), "rows" if counts_rows(r) else "")

    return cell


def risk(found: Risk | None) -> Cell:
    """Return a risk with its simultaneous limits."""
    limits = formatting.interval(found)
    return "-" if found is None or (found.value is None and limits == "-") else (number(found.value), Small(limits))


def two(value: float | None) -> str:
    """Return a number with two decimals."""
    return "-" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def verdict(word: str | None) -> Cell:
    """Return a verdict on a risk."""
    return Word(word, word_of(word)) if word else "-"


def judged(r: ResultRecord) -> Cell:
    """Return the verdict of a comparison, and by what it was found where the interval of its risk does not show it."""
    found, how = verdict(r.verdict), found_by(r)
    return (found, Small(f"by {how}", "note")) if how and isinstance(found, Word) else found


def sign(word: str) -> Cell:
    """Return the sign of a verdict, whose word is read aloud."""
    return Word(word, word_of(word), hidden=True)


def state(word: str) -> Cell:
    """Return the state of a question."""
    return Word(state_words(word), word_of(word))


def fidelity(word: Any) -> Cell:
    """Return a verdict on fidelity."""
    return Word(word, FIDELITY[word])


def hashed(text: str | None) -> Cell:
    """Return a hash."""
    return Hash(text) if text else "-"


def kept_sign(word: Any) -> Cell:
    """Return the sign of a verdict on fidelity, where there is something to see."""
    return Word(word, FIDELITY[word], hidden=True) if FIDELITY[word].small else ""


def kept(ok: bool) -> Cell:
    """Return whether a condition is kept."""
    return held("kept" if ok else "not kept")


def held(word: str) -> Cell:
    """Return how a check ended."""
    return Word(word, CHECKED[word])

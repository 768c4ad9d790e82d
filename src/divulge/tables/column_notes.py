"""What a run says of how a column is read: forms, missing, what cannot be read, and what contradicts the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import ColumnError
from divulge.core.schema import Column
from divulge.tables.canonical_values import DISTINCT, evaluated
from divulge.tables.column_families import Family, Settled, family_of, n_read, trimmed
from divulge.tables.frames import Table
from divulge.tables.written_dates import century_of, has_offset
from divulge.tables.written_forms import (
    ISO_DATE,
    PLAIN_NUMBER,
    THEN,
    UNDECIDED,
    form_of,
    has_listed,
    is_listed,
    may_be_written,
    undecided,
)
from divulge.tables.written_numbers import NumberTexts

__all__ = ["Notes", "check_form", "check_kind", "codes_for_missing", "lost", "told_once"]

_KINDS = {"datetime": "dates", "number": "numbers", "boolean": "true and false", "text": "text"}
_SAID: dict[str, tuple[Family, str]] = {"numeric": ("number", "no number"), "datetime": ("datetime", "no date")}
_SHOWN = 3
_NAMED = 12
_CODES = np.array(
    [
        -7,
        -8,
        -9,
        -66,
        -77,
        -88,
        -96,
        -97,
        -98,
        -99,
        -666,
        -777,
        -888,
        -996,
        -997,
        -998,
        -999,
        -7777,
        -8888,
        -9998,
        -9999,
    ]
    + [-99999, -999999, 999, 9999, 99999, 999999, 9999999]
)
"""Numbers that often stand for missing. Positive ones of one or two digits may be ages."""
_OFTEN = 0.01
"""Share of a table's values from which such a number is told."""


def lost(was: pl.Series, now: pl.Series) -> NDArray[np.bool_]:
    """Return which values are null only because they cannot be read; the text NaN is missing anyway."""
    if now.null_count() == was.null_count():  # what is null stays null
        return np.zeros(was.len(), dtype=np.bool_)
    gone = now.is_null() & was.is_not_null()
    if was.dtype == pl.String and now.dtype != pl.String and gone.any():
        gone &= was.str.strip_chars().str.to_lowercase().is_in(["nan", "+nan", "-nan"]).fill_null(False).not_()
    return np.asarray(gone.to_numpy(), dtype=np.bool_)


_TOLD = re.compile(r"(?P<found>[^;]*) are (?P<code>\S+)(?P<far>, far from all others: .*)")
_OF = re.compile(r"([\d,]+) of ([\d,]+) values")


def told_once(notes: Mapping[str, str]) -> list[str]:
    """Return the notes of columns, with one sentence for all columns that have the same code for missing.

    Examples
    --------
    >>> far = ", far from all others: if it stands for missing, --missing -9 reads it so"
    >>> told_once({c: f"{n} of 100 values in real are -9{far}" for c, n in (("age", 4), ("pay", 12))})[0][:64]
    "'age', 'pay' have -9 in 4% to 12% of the values of a table, far "
    """
    found = {c: m for c, note in notes.items() if (m := _TOLD.fullmatch(note))}
    together: dict[str, list[str]] = {}
    for c, m in found.items():
        together.setdefault(f"{m['code']}{m['far']}", []).append(c)
    out: dict[str, None] = {}
    for c, note in notes.items():
        m = found.get(c)
        alike = together[f"{m['code']}{m['far']}"] if m else []
        if m is None or len(alike) == 1:
            out[f"{c!r} {note}"] = None
            continue
        of = [[int(n.replace(",", "")) for n in pair] for a in alike for pair in _OF.findall(found[a]["found"])]
        least, most = (f"{100 * which(n / all_ for n, all_ in of):.0f}%" for which in (min, max))
        share = least if least == most else f"{least} to {most}"
        names = ", ".join(map(repr, alike[:_NAMED])) + f" and {len(alike) - _NAMED} more" * (len(alike) > _NAMED)
        out[f"{names} have {m['code']} in {share} of the values of a table{m['far']}"] = None
    return list(out)


_CODES_TOLD = re.compile(r"far from all others: if (?:it stands|they stand) for missing, --missing (\S+) reads")


def codes_for_missing(notes: Mapping[str, str]) -> list[str]:
    """Return which columns have numbers that often stand for missing, far from all others, by their notes.

    Examples
    --------
    >>> far = "far from all others: if it stands for missing, --missing -9 reads it so"
    >>> codes_for_missing({"age": f"4 of 9 values in real are -9, {far}", "pay": f"1 of 9 is -9, {far}", "job": ""})
    ["'age' and 'pay' hold -9, far from all others: if it stands for missing, --missing -9 reads it so"]
    """
    by: dict[str, list[str]] = {}
    for column, note in notes.items():
        if found := _CODES_TOLD.search(note):
            by.setdefault(found[1], []).append(repr(column))
    out = []
    for codes, named in by.items():
        last = f"{len(named) - _NAMED} more" if len(named) > _NAMED + 1 else named[-1]
        which = ", ".join(named[: _NAMED if len(named) > _NAMED + 1 else -1])
        who = f"{which} and {last} hold" if which else f"{last} holds"
        it, they = ("they stand", "them") if "," in codes else ("it stands", "it")
        far = f"far from all others: if {it} for missing, --missing {codes} reads {they} so"
        out.append(f"{who} {codes.replace(',', ' and ')}, {far}")
    return out


def check_kind(where: str, said: Column, family: Family, clean: Sequence[pl.Series]) -> None:
    """Raise a `ColumnError` where most different texts of the tables are none of the kind that the schema declares.

    Parameters
    ----------
    where
        The column, in words.
    said
        What the schema says of it.
    family
        The family as which its values are read.
    clean
        Its values in each table, without those that are read as missing.
    """
    texts = [s for s in clean if s.dtype == pl.String and s.null_count() < s.len()]
    if said.kind not in _SAID or not texts or family == _SAID[said.kind][0]:
        return
    wanted, what = _SAID[said.kind]
    values = evaluated(pl.concat(texts), DISTINCT)
    n = len(values) - n_read(values, (wanted,))[0]
    if 2 * n > len(values):
        raise ColumnError(
            f"{where} is declared {said.kind}; {n:,} of {len(values):,} different values are {what}. "
            "hint: set its kind in the schema, or form where they are written in an unusual way."
        )


def check_form(where: str, said: Column, family: Family, unread: pl.Series, n_lost: int, there: int) -> None:
    """Raise a `ColumnError` where the schema states a form and most of the values of a table are written otherwise.

    Parameters
    ----------
    where
        The table and the column, in words.
    said
        What the schema says of the column.
    family
        The family as which the values are read.
    unread
        The values that cannot be read.
    n_lost, there
        How many rows have one of these, and how many have any value.
    """
    if not said.form or 2 * n_lost <= there:
        return
    other = form_of(unread, family) if unread.dtype == pl.String else "text"
    raise ColumnError(
        f"{where}: the schema says that it is written {said.form}; {n_lost:,} of {there:,} values are "
        f"{'not' if other == 'text' else f'written {other}'}. hint: change form in the schema, or the table."
    )


@dataclass(frozen=True, slots=True)
class Notes:
    """One column of all tables before and after it was read; each method returns a sentence, or ""."""

    tables: Sequence[Table]
    settled: Settled
    given: Sequence[pl.Series]
    """Plain values of each table."""
    clean: Sequence[pl.Series]
    """Without texts that are read as missing."""
    cast: Sequence[pl.Series]
    """In the dtype of the family."""
    dropped: Sequence[int]
    """Rows of each table whose text is read as missing."""
    lost: Sequence[int]
    """Rows of each table whose value cannot be read."""
    counts: Sequence[NDArray[np.int64]]
    """Rows of each table with each level; the first entry counts those without a value."""
    levels: pl.Series
    """Distinct values of all tables, as they are compared."""

    def of_lost(self) -> str:
        """Say in which tables values cannot be read as those of the real table, and how these values are written."""
        settled, parts = self.settled, []
        for i, (table, n) in enumerate(zip(self.tables, self.lost, strict=True)):
            if not n:
                continue
            unread = self._unread(i)
            form = form_of(unread, settled.family) if settled.forms and unread.dtype == pl.String else ""
            found = form if form not in ("", "text") else _KINDS[family_of(unread) or "text"]
            found += ", and no value tells which" if undecided(form) else ""
            parts.append(f"{n:,} of {table.n_rows:,} values in {table.role} ({found}) cannot be read so")
        if not parts:
            return ""
        form = settled.forms[0] if settled.forms else ""
        written_so = f" written {form}" if form and form != PLAIN_NUMBER else ""
        return f"holds {_KINDS[settled.family]}{written_so} in real; {', '.join(parts)} and are taken as missing"

    def of_forms(self) -> str:
        """Say how dates or numbers are written, where the tables write them differently, or in an unusual way."""
        roles = [t.role for t in self.tables]
        forms = {role: form for role, form in zip(roles, self.settled.forms, strict=False) if form}
        kind = _KINDS[self.settled.family]
        if not forms or not (set(forms.values()) - {ISO_DATE, PLAIN_NUMBER} or self.settled.question):
            return ""
        if len(set(forms.values())) > 1:
            listed = " and ".join(f"{form} in {role}" for role, form in forms.items())
            return f"is written {listed}: read as the same {kind}"
        form = next(iter(forms.values()))
        if self.settled.said:
            return ""
        other = " or ".join(f for f in self.settled.question.split(UNDECIDED) if f and f != form)
        doubt = f", though it may be {other}: the schema can say so (form)" if other else ""
        return f"is text written {form}: read as {kind}{doubt}"

    def beyond(self) -> list[int]:
        """Return how many dates of each table lie outside the hundred years that years of two digits are taken for."""
        first = next((c for form in self.settled.forms for part in form.split(THEN) if (c := century_of(part)[1])), 0)
        if not first:
            return [0] * len(self.tables)
        years = self.levels.dt.year().to_numpy()
        return [int(c[1:][(years < first) | (years > first + 99)].sum()) for c in self.counts]

    def of_years(self) -> str:
        """Say how many dates are of no year that two digits can tell, beside tables that write two."""
        parts = [
            f"{n:,} of {t.n_rows:,} dates in {t.role}" for t, n in zip(self.tables, self.beyond(), strict=True) if n
        ]
        return f"has {' and '.join(parts)} of other years, which two digits do not tell" if parts else ""

    def of_dropped(self) -> str:
        """Say in which tables texts that stand for missing are read so."""
        parts = [
            f"{n:,} of {t.n_rows:,} values in {t.role}" for t, n in zip(self.tables, self.dropped, strict=True) if n
        ]
        if not parts:
            return ""
        texts = pl.concat([s.filter(is_listed(s).fill_null(False)) for s in self.given if s.dtype == pl.String])
        names = sorted(set(texts.str.strip_chars().str.to_lowercase().to_list()))
        shown = ", ".join(repr(name) if name else "blanks" for name in names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
        return f"{' and '.join(parts)} ({shown}) are read as missing (--missing none keeps them)"

    def of_codes(self) -> str:
        """Say in which tables a number that often stands for missing is far from all others.

        It is far where it alone is negative, and else where it is further from the others than these from each other;
        the others are those of people, as a synthesizer may blur a code (-9 to -3).
        """
        if self.settled.family != "number" or not len(self.levels):
            return ""
        values = self.levels.to_numpy()
        people = [c[1:] for t, c in zip(self.tables, self.counts, strict=True) if t.role != "synthetic"]
        theirs = np.sum(people, axis=0) > 0 if people else np.ones(len(values), dtype=np.bool_)
        others = values[theirs & ~np.isin(values, _CODES)].astype(np.float64)
        others = others[np.isfinite(others)]
        if len(others) < 2:
            return ""
        low, high, told, found = others.min(), others.max(), dict[str, None](), list[str]()
        for code in (c for c in _CODES if c in values):
            if not ((code < 0 <= low) or max(low - code, code - high) > high - low):
                continue
            n = [int(c[1:][values == code].sum()) for c in self.counts]
            some = [
                f"{k:,} of {all_:,} values in {table.role}"
                for table, k, c in zip(self.tables, n, self.counts, strict=True)
                if k >= _OFTEN * (all_ := int(c[1:].sum())) and k
            ]
            if some:
                told[f"{code}"] = None
                found.append(f"{' and '.join(some)} are {code}")
        if not found:
            return ""
        it, they = ("it stands", "it") if len(told) == 1 else ("they stand", "them")
        return (
            f"{'; '.join(found)}, far from all others: if {it} for missing, --missing {','.join(told)} reads {they} so"
        )

    def of_zones(self, raw: Sequence[pl.Series]) -> str:
        """Say where times have an offset from UTC in one table and none in another."""
        zoned = {s.dtype.time_zone is not None for s in raw if isinstance(s.dtype, pl.Datetime)}
        if self.settled.family == "datetime" and len(self.tables) > 1:
            zoned |= {has_offset(s) for s in self.clean if s.dtype == pl.String and s.null_count() < s.len()}
        return "has a time zone in one table and none in another: all taken as UTC" if len(zoned) > 1 else ""

    def of_texts_for_missing(self) -> str:
        """Say where one table of texts has a text that stands for missing, and another has empty cells."""
        if self.settled.family != "text" or len(self.tables) < 2 or not has_listed(self.levels):
            return ""
        marked = is_listed(self.levels)
        names, there = (
            self.levels.filter(marked).to_list(),
            np.array([c[1:] for c in self.counts])[:, marked.to_numpy()] > 0,
        )
        filled = [i for i, own in enumerate(there) if own.any() and not self.counts[i][0]]
        empty = [i for i, own in enumerate(there) if self.counts[i][0] and not own.any()]
        if not filled or not empty:
            return ""
        shown = [name for i, name in enumerate(names) if there[filled, i].any()][:_SHOWN]
        roles = [" and ".join(self.tables[i].role for i in group) for group in (filled, empty)]
        codes = ",".join(shown)
        return (
            f"has {' and '.join(map(repr, shown))} in {roles[0]} and empty cells in {roles[1]}, which are compared as "
            f"different values: pass --missing {codes!r} if they mean the same"
        )

    def of_alike_values(self) -> str:
        """Say where texts of other tables differ from those of the real table by case alone, or by blanks around."""
        if self.settled.family != "text" or len(self.tables) < 2:
            return ""
        told = []
        if not all(now is was or now.equals(was) for was, now in zip(self.clean, self.cast, strict=True)):
            texts = [s for s in self.clean if s.dtype == pl.String and s.null_count() < s.len()]
            values = pl.concat(texts).drop_nulls().unique() if texts else pl.Series([], dtype=pl.String)
            if n := len(values) - trimmed(values).n_unique():
                told.append(f"has {n:,} values that blanks around or the Unicode form alone tell apart: taken as equal")
        new = self.counts[0][1:] == 0
        if new.any():
            known, others = (self.levels.filter(pl.Series(where)).to_list() for where in (~new, new))
            lower = {text.lower() for text in known}
            if n := sum(text.lower() in lower for text in others):
                told.append(f"has {n:,} values that differ from real ones by case alone: compared as different values")
        return "; ".join(told)

    def of_mixed_values(self) -> str:
        """Say that values that look like numbers or dates are compared as text, and why."""
        settled = self.settled
        if settled.family != "text":
            return ""
        if settled.question:
            return f"may be written {settled.question}, and no value tells which: compared as text"
        if not len(self.levels) or not may_be_written(self.levels):
            return ""
        n, family = n_read(self.levels)
        if 2 * n < len(self.levels) or n == len(self.levels) or NumberTexts(self.levels).zero_led():
            return ""
        kind = _KINDS[family]
        return f"holds text of which {n:,} of {len(self.levels):,} different values are {kind} and the others are not"

    def check(self, name: str, said: Column) -> None:
        """Raise a `ColumnError` where the values cannot be read as the schema says."""
        if "ignore" in said.roles:
            return
        check_kind(f"column {name!r}", said, self.settled.family, self.clean)
        for i, table in enumerate(self.tables):
            there = table.n_rows - int(self.counts[i][0]) + self.lost[i]
            check_form(
                f"{table.role}: column {name!r}", said, self.settled.family, self._unread(i), self.lost[i], there
            )

    def _unread(self, which: int) -> pl.Series:
        clean = self.clean[which]
        return clean.filter(lost(clean, self.cast[which]))

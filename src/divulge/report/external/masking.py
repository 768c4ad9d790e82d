"""Removal of names from text: column names, quoted text and file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from divulge.core.result import tidy
from divulge.report.external.known_sentences import QUOTED, QUOTED_LIST, WORDS, is_ours

__all__ = ["ANOTHER_COLUMN", "HIDDEN", "Names", "masked"]

ANOTHER_COLUMN = "another column"
"""The name of a column that the schema does not have, as one of the rows of people in linked tables."""

HIDDEN = "…"
"""Replaces what is removed from a text."""

_SUFFIX = (
    r"\.(?:csv|tsv|tab|txt|dat|parquet|pq|arrow|feather|ipc|xlsx?|xlsm|ods|jsonl?|ndjson|toml|gz|zst|bz2|xz|zip|sqlite"
    r"|db)\b"
)
_PLACE = rf"(?<!\w)(?:real|synthetic|holdout|schema|metadata): [^\n]*{_SUFFIX}"
_OURS = r"(?:assessment\.json|records\.parquet|junit\.xml)"
_FILE = (
    rf"(?<![^\s'\"(])(?!{_OURS})[^\s'\"(]*[^\s'\"(.]{_SUFFIX}"
    r"|(?:(?<=\s)|^)(?:~|\.{0,2})/[^\s'\"]+"
)
_SHEET = re.compile(rf"(sheet \d+ of \d+ was read), {QUOTED}", re.DOTALL)
_LONGEST = 80


_EXAMPLES = (
    "cap.high > 0.05", "singling_out[3 columns].score < 95", "any.low > 0", "excess", "column_pairs.ruler > 3",
    "column_shapes differs", "divulge[excel]",
)  # fmt: skip
"""Examples that the hints of errors quote."""


def masked(text: str, hidden: Iterable[str] = (), kept: Iterable[str] = ()) -> str:
    r"""Return a message without quoted texts, file names and the given texts.

    It is for messages of a run that makes an external edition, since an error may name columns and files.

    Parameters
    ----------
    text
        The message of an error of divulge, or a progress line.
    hidden
        Further texts to remove, such as the file names of the command line; the last part of a path is removed too.
        Names of divulge's documents stay.
    kept
        Quoted texts that stay, such as the options of the command line. The examples of divulge's hints, after "hint:",
        stay too.

    Examples
    --------
    >>> masked("keys: no column 'salary'. hint: is it 'sal\\'ary'?")
    "keys: no column '…'. hint: is it '…'?"
    >>> masked("real: patients 2024.csv: no such file in '/home/ann'.")
    "real: …: no such file in '…'."
    >>> masked("reading hospital", ["data/hospital"])
    'reading …'
    >>> masked("--fail-on 'x': not a rule. hint: write 'any.low > 0'.")
    "--fail-on '…': not a rule. hint: write 'any.low > 0'."
    """
    parts = {p for h in hidden for p in (str(h), re.split(r"[/\\]", str(h))[-1]) if p.strip()}
    parts -= {p for p in parts if re.fullmatch(_OURS, p)}
    stays, hint = set(kept) - parts, text.find("hint: ")
    pattern = re.compile("|".join([*_any_of(parts), QUOTED, _PLACE, _FILE]), re.DOTALL)

    def away(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] in "'\"" and found[-1] == found[0] and len(found) > 1:
            example = found[1:-1] in _EXAMPLES and found[1:-1] not in parts and -1 < hint < match.start()
            return found if example or found[1:-1] in stays else f"{found[0]}{HIDDEN}{found[0]}"
        role, colon, _ = found.partition(": ")
        return f"{role}: {HIDDEN}" if colon and role in _ROLES else HIDDEN

    return pattern.sub(away, text)


_ROLES = ("real", "synthetic", "holdout", "schema", "metadata")


def _any_of(texts: Iterable[str]) -> list[str]:
    """Return a pattern for each text, the longest first; a match does not begin or end inside a word."""
    return [
        ("(?<!\\w)" if re.match(r"\w", t) else "") + re.escape(t) + ("(?!\\w)" if re.search(r"\w\Z", t) else "")
        for t in sorted(texts, key=lambda t: (-len(t), t))
    ]


@dataclass(frozen=True)
class Names:
    """The names of columns in an edition: their own, or "column 1" and so on in the order of the schema."""

    shown: Mapping[str, str]
    """The name in the edition, by the name in the tables."""
    _forms: dict[str, str] = field(default_factory=dict)
    _done: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Iterable[str], *, reveal: bool, tables: Iterable[str] = ()) -> Names:
        """Return the names of columns, in the order of the schema, and of linked tables.

        Examples
        --------
        >>> Names.of(["age", "sex"], reveal=False).text("knowing age, 'sex' and 'job', the wage")
        "knowing column 1, 'column 2' and '…', the wage"
        """
        shown = {t: t if reveal else f"table {i}" for i, t in enumerate(tables, 1)}
        shown |= {c: c if reveal else f"column {i}" for i, c in enumerate(columns, 1)}
        names = cls(shown)
        for column, other in shown.items():
            for form, to in ((column, other), (repr(column), repr(other))):
                for variant in (form, tidy(form), *_cut(form)):
                    if variant.strip():
                        names._forms.setdefault(variant, to)
        return names

    def name(self, column: str) -> str:
        """Return the name of a column here; "another column" for one that the schema does not have."""
        return self.shown.get(column, ANOTHER_COLUMN)

    def text(self, text: str) -> str:
        """Return the text with the names of columns here, and with other quoted texts and file names hidden.

        In a sentence of divulge only quoted names are replaced: a column may have another of its words as its name.
        """
        if text not in self._done:
            ours = is_ours(text)
            listed = re.sub(QUOTED_LIST, self._listed, text, flags=re.DOTALL) if ours and self._hides() else text
            self._done[text] = self._replaced(listed, quoted_alone=ours)
        return self._done[text]

    def note(self, text: str) -> str:
        """Return a note as `text` does; "" for an unknown one that may name a column without quoting it.

        The name of an Excel sheet is left out: it may say what the table is about.
        """
        text = _SHEET.sub(r"\1", text)
        return "" if not is_ours(text) and self._replaced(text, True) != self.text(text) else self.text(text)

    def prose(self, text: str) -> str:
        """Return free text as `text` does; "…" for one that names a hidden column whose name is a common word.

        A reader could guess such a name from the words around it.
        """
        words = {w.casefold() for w in re.findall(r"\w+", text)}
        common = {c for c, to in self.shown.items() if c != to and c.casefold() in _COMMON}
        return HIDDEN if any(c.casefold() in words for c in common) else self.text(text)

    def several(self, columns: Iterable[str]) -> list[str]:
        """Return the names of columns here; where names are hidden, in the order of the schema.

        An alphabetical order would say something about the names.
        """
        given = list(columns)
        if self._hides():
            place = {c: i for i, c in enumerate(self.shown)}
            given.sort(key=lambda c: place.get(c, len(place)))
        return [self.name(c) for c in given]

    def joined(self, text: str, by: str = " + ") -> str | None:
        """Return a list of columns in one text, such as "age + sex", with their names here; None if it is no list."""
        parts = _split(text, by, self.shown)
        return None if parts is None else by.join(self.several(parts))

    def _replaced(self, text: str, quoted_alone: bool) -> str:
        present = [f for f in self._forms if f in text]
        parts = [*_any_of(f for f in present if f[0] in "'\""), QUOTED, _PLACE, _FILE]
        if not quoted_alone:
            parts += _any_of(f for f in present if f[0] not in "'\"")

        def to(match: re.Match[str]) -> str:
            found = match[0]
            return self._forms[found] if found in self._forms else masked(found)

        return re.sub("|".join(parts), to, text, flags=re.DOTALL)

    def _hides(self) -> bool:
        return any(to != column for column, to in self.shown.items())

    def _listed(self, match: re.Match[str]) -> str:
        """Return a list of quoted names in the order of the schema, or its length where it ends in "and N more"."""
        items = [m[0] for m in re.finditer(rf"{QUOTED}(?: \(\w[\w -]*\))?", match[0], flags=re.DOTALL)]
        more = re.search(r" and ([\d,]+) more\Z", match[0])
        if more:
            return f"{len(items) + int(more[1].replace(',', '')):,} columns"
        place = {repr(tidy(c)): i for i, c in enumerate(self.shown)} | {repr(c): i for i, c in enumerate(self.shown)}
        quoted = re.compile(QUOTED, re.DOTALL)

        def where(item: str) -> int:
            found = quoted.match(item)
            return place.get(found[0], len(place)) if found else len(place)

        return ", ".join(sorted(items, key=where))


_COMMON = frozenset(w.casefold() for w in WORDS)


def _cut(form: str) -> list[str]:
    """Return the forms in which the documents shorten a long name."""
    if len(form) <= _LONGEST:
        return []
    return [f"{form[:56]} … {form[-20:]}", f"{form[:40]} … {form[-18:]}"]


def _split(text: str, by: str, known: Mapping[str, str]) -> list[str] | None:
    """Return the names that a text joins, None if it joins none; names may contain the separator."""
    if text in known:
        return [text]
    place = text.find(by)
    while place >= 0:
        first, rest = text[:place], text[place + len(by) :]
        if first in known and (others := _split(rest, by, known)) is not None:
            return [first, *others]
        place = text.find(by, place + 1)
    return None

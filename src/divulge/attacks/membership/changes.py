"""Two releases before and after people left: are the leavers told from those who stayed?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.membership.blind import blind_check
from divulge.attacks.membership.change_scores import change_scores, checked_changes
from divulge.attacks.membership.results import Judgement, Scored, judgements, shown
from divulge.attacks.membership.two_releases import People, matched, with_unit
from divulge.attacks.other_people import UNIT_NOTE, by_unit, pooled_units
from divulge.case.case import Case, build_case, schema_of
from divulge.case.distances import distance_columns
from divulge.core.result import Individual, Result, sentence
from divulge.core.schema import Schema
from divulge.stats.score_tests import score_tests
from divulge.tables.frames import Table
from divulge.tables.opening import opened
from divulge.tables.stacking import stacked

__all__ = ["Changes", "changes"]

Floats = NDArray[np.float64]

_NOBODY_LEFT = "nobody left between the releases; if people did, the releases are swapped"
_WHO = {"leavers": ("left", "leavers"), "joiners": ("joined", "joiners")}


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What two releases tell about who left between them, and about who joined."""

    left: tuple[Result, ...]
    """Leavers against stayers, one result for each score: `real` counts leavers, `holdout` stayers. Empty if nobody
    left."""
    joined: tuple[Result, ...]
    """Joiners against stayers in the same way. Empty if nobody joined."""
    n_left: int
    n_stayed: int
    n_joined: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.n_left:,} people left, {self.n_stayed:,} stayed, {self.n_joined:,} joined", *self.notes]
        for results in (self.left, self.joined):
            lines += [str(r) for r in results]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain dictionaries and lists."""
        sizes = {"left": self.n_left, "stayed": self.n_stayed, "joined": self.n_joined}
        found = {
            name: [r.to_dict() for r in results] for name, results in (("left", self.left), ("joined", self.joined))
        }
        return {"people": sizes, "notes": list(self.notes), "results": found}


class _Changed(Result, frozen=True, kw_only=True):
    """A result of leavers, or joiners, against stayers."""

    def __str__(self) -> str:
        who = _WHO[self.settings["people"]][1]
        return f"{who} ({self.variant}): {_in_words(sentence(self), who)}"


def changes(
    real_before: Any,
    synthetic_before: Any,
    real_after: Any,
    synthetic_after: Any,
    *,
    unit: str,
    columns: Sequence[str] | None = None,
    scores: Sequence[str] | str | None = None,
    schema: Schema | None = None,
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> Changes:
    """Return how well two releases tell who left between them, and who joined; `divulge.changes` asks for memory first.

    Parameters
    ----------
    real_before, synthetic_before, real_after, synthetic_after, unit, columns, scores, schema, missing, seed, level
        As in `divulge.changes`.

    Raises
    ------
    ColumnError, SettingError, TableError
        As in `divulge.changes`.
    """
    wanted = checked_changes(scores)
    tables = [opened(real_before, "real before", missing), opened(real_after, "real after", missing)]
    released = [stacked([opened(t, "synthetic", missing)]) for t in (synthetic_before, synthetic_after)]
    people = matched(tables[0], tables[1], unit, (released[0], released[1]))
    questions = [q for q, n in (("leavers", people.n_left), ("joiners", people.n_joined)) if n]
    found: dict[str, tuple[Result, ...]] = {}
    for question in questions:
        first = 0 if question == "leavers" else 1
        case, n_before = _case(people, released, first, schema, missing, seed, level, tables)
        found[question] = _compared(case, n_before, columns, wanted, question, len(questions))
    notes = () if people.n_left else (_NOBODY_LEFT,)
    return Changes(
        found.get("leavers", ()), found.get("joiners", ()), people.n_left, people.n_stayed, people.n_joined, notes
    )


def _case(
    people: People,
    released: Sequence[Table],
    first: int,
    schema: Schema | None,
    missing: Sequence[str],
    seed: int,
    level: float,
    tables: Sequence[Table],
) -> tuple[Case, int]:
    """Return a case of the changed (as real), the stayers (as holdout) and both synthetic tables as one.

    The second value is the number of rows of the first of both.
    """
    before = released[first]
    both = stacked([before, released[1 - first]])
    if people.case_unit is not None:
        both = with_unit(both, tables[first], people.case_unit)
    changed, stayers = people.rows(first, stayed=False), people.rows(first, stayed=True)
    shared = set(changed.columns) & set(both.columns)
    # kinds are those of the whole table: the few who changed do not show them
    whole = schema_of(tables[first], schema=schema, missing=missing)
    full = Schema(tuple(c for c in whole.columns if c.name in shared), whole.threat)
    case = build_case(
        changed, both, stayers, schema=full, unit=people.case_unit, missing=missing, seed=seed, level=level
    )
    return case, before.n_rows


def _compared(
    case: Case, n_before: int, columns: Sequence[str] | None, wanted: Sequence[str], question: str, n_questions: int
) -> tuple[Result, ...]:
    compared, left_out = distance_columns(case, columns)
    units = pooled_units(case, ("real", "holdout"))
    blind = blind_check(case, compared, units)
    n = case.n_rows("real")
    settings = {"columns": len(compared), "people": question}
    keys = () if columns is None else compared
    scored = [
        Scored(
            name,
            *by_unit(s, n, units),
            settings,
            keys,
            blind,
            case.level,
            individual=Individual(real=s[:n], holdout=s[n:]),
        )
        for name, s in change_scores(case, n_before, compared, wanted).items()
    ]
    tests = score_tests(
        np.column_stack([s.members for s in scored]), np.column_stack([s.strangers for s in scored]),
        level=case.level, rng=case.rng("changes labels"),
    )  # fmt: skip
    notes = [*left_out, *([] if units is None else [UNIT_NOTE.format(repr(case.unit))])]
    return tuple(
        _worded(shown(s, _over(test, n_questions), notes), question)
        for s, test in zip(scored, judgements(scored, tests), strict=True)
    )


def _over(test: Judgement, n: int) -> Judgement:
    """Return a test corrected for so many families (Bonferroni)."""
    adjusted = min(1.0, n * test.p_adjusted)
    return dataclasses.replace(test, p_adjusted=adjusted, level_each=1 - (1 - test.level_each) / n)


def _worded(result: Result, question: str) -> Result:
    past, who = _WHO[question]
    notes = tuple(_in_words(note, who) for note in result.notes)
    told = replace(
        result, attack="changes", hit=f"claimed as people who {past} at a price of 10% of stayers:", notes=notes
    )
    return _Changed(**{name: getattr(told, name) for name in told.__struct_fields__})


def _in_words(text: str, who: str) -> str:
    """Return a text about members and strangers as one about these people and those who stayed."""
    for before, after in (
        ("real and holdout", f"{who} and stayers"), ("members", who), ("strangers", "stayers"),
        ("is a member", "is one of them"), (" real and ", f" {who}' and "), (" holdout records", " stayers' records"),
    ):  # fmt: skip
        text = text.replace(before, after)
    return text

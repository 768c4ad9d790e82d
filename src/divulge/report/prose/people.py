"""People in words: facts about single ones, how many there are, and how many rows they have."""

from __future__ import annotations

from divulge.core.result import percent
from divulge.report import formatting
from divulge.report.model import Assessment, Facts, Records, Table
from divulge.report.prose.compared import but_for_identifiers, exact_copies

__all__ = [
    "facts_in_words",
    "flags",
    "people_in",
    "people_or_rows",
    "repeated_in_words",
    "size_in_words",
    "size_of",
    "sizes",
    "standing_out",
]


def facts_in_words(data: Assessment) -> list[str]:
    """Return what is known about single people, whatever the tests say; [] where it is not known."""
    if data.facts is None:
        return []
    v, (real, holdout) = data.facts.verbatim, (data.tables.real, data.tables.holdout)
    n, m = (people_in(t) or 0 for t in (real, holdout))
    strangers = "" if holdout is None else f" and of {v.strangers or 0:,} of {m:,} strangers"
    exact = exact_copies(data)
    what = "The whole record" if real.units is None else "At least one whole row"
    if exact is not None and (left := but_for_identifiers(exact)):
        what += f"{left},"
    told = [f"{what} of {v.members:,} of {n:,} members{strangers} stands in the synthetic table."]
    if v.named:
        told[0] += (
            f" {v.named:,} of these members {'are' if v.named > 1 else 'is'} named in the records: chance under these "
            "columns can hardly make such a record."
        )
    elif v.members and v.why_not_named:
        who = "The records name the person whose record is repeated, and no other" if data.facts.repeated.found else ""
        told[0] += f" {who or 'Nobody is named'}: {v.why_not_named}."
    told += _histories(data.facts, n, m)
    repeated = repeated_in_words(data.facts)
    # a finding about this person stands in the verdict's sentence already, behind a colon
    is_told = repeated[1:] in data.verdict.sentence
    return told + ([repeated] if data.facts.repeated.stands_out and not is_told else [])


def _histories(facts: Facts, n: int | None, m: int | None) -> list[str]:
    """Return how many people's rows all stand under one synthetic person; [] but of linked tables."""
    h = facts.histories
    if h is None:
        return []
    strangers = "" if h.strangers is None else f" and of {h.strangers:,} of {m or 0:,} strangers"
    who = f"{h.members:,} of {n or 0:,} members{strangers}"
    told = f"All rows in one table or more of {who} stand under one synthetic person."
    if h.named:
        who = "of these members are" if h.named > 1 else "of these members is"
        return [f"{told} {h.named:,} {who} named in the records: chance can hardly do this."]
    return [f"{told} Nobody is named: {h.why_not_named}." if h.members and h.why_not_named else told]


def repeated_in_words(facts: Facts) -> str:
    """Return how often the record of one person is repeated, and whether chance explains it."""
    r = facts.repeated
    end = (
        "chance can hardly do this, and the records name the person"
        if r.found
        else "whether chance does this is open, so it is a fact and no finding"
    )
    return (
        f"The record of one person, a {r.of}, stands {_times(r.times)} in the synthetic table, and any row that is no "
        f"member's at most {_times(r.elsewhere)}: {end}."
    )


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def people_in(table: Table | None) -> int | None:
    """Return how many people a table is of; where no column tells them apart, each row is one."""
    return None if table is None else table.rows if table.units is None else table.units


def people_or_rows(data: Assessment) -> str:
    """Return what the rows of the real table are: people, or where some have several rows, rows of people."""
    return "people" if people_in(data.tables.real) == data.tables.real.rows else "rows of people"


def size_of(data: Assessment, role: str, who: str) -> str:
    """Return how many people of a table there are; where some have several rows, how many rows of how many people."""
    table = data.tables.by_role()[role]
    if table is None or table.rows is None:
        return who
    people = people_in(table)
    return f"{table.rows:,} {who}" if people in (None, table.rows) else f"{table.rows:,} rows of {people:,} {who}"


def size_in_words(table: Table) -> str:
    """Return how large a table is; "" where that is withheld.

    Of linked tables these are people and their rows, not the rows and columns that divulge makes of them.

    Examples
    --------
    >>> from divulge.report.model import LinkedTable
    >>> users = LinkedTable(name="users", rows=300, columns=2, people=300)
    >>> orders = LinkedTable(name="orders", rows=900, columns=2, people=280)
    >>> size_in_words(Table(rows=300, columns=9, sha256=None, hashed="file", linked=(users, orders)))
    '300 people with rows in 2 tables (users: 300, orders: 900)'
    """
    if not table.linked:
        return "" if table.rows is None else f"{table.rows:,} rows, {table.columns} columns"
    of_people = [t for t in table.linked if t.people is not None]
    others = [t for t in table.linked if t.people is None]
    rows = ", ".join(f"{formatting.name(t.name)}: {formatting.compact(t.rows)}" for t in of_people)
    who = "people" if table.rows is None else f"{table.rows:,} people"
    told = f"{who} with rows in {formatting.several(len(of_people), 'table')} ({rows})"
    if others:
        beside = ", ".join(f"{formatting.name(t.name)}: {formatting.compact(t.rows)}" for t in others)
        told += f", beside {formatting.several(len(others), 'table')} of nobody's rows ({beside})"
    return told


def sizes(data: Assessment) -> list[tuple[str, str]]:
    """Return who the people of each side of linked tables are, and how large it is; [] of single tables."""
    names = {"synthetic": "synthetic tables", "real": "members", "holdout": "strangers"}
    of = data.tables.by_role()
    return [(name, size_in_words(t)) for role, name in names.items() if (t := of[role]) is not None and t.linked]


# ---------------------------------------------------------------- people who stand out


_SIGNS = (
    ("copied", "copied whole"),
    ("replicated_unique", "alone on a tested key set and matched by exactly one synthetic row"),
    ("disclosed", "with a target that their synthetic class names rightly and with certainty"),
)


def standing_out(records: Records) -> str:
    """Return how many real records and what share of strangers stand out, by which signs, and the signs not tested."""
    strangers = records.exposed_share_strangers
    beside = "" if strangers is None else f"; of strangers {percent(strangers)}"
    signs = [(getattr(records, k), words) for k, words in _SIGNS]
    found = [f"{formatting.compact(n)} {words}" for n, words in signs if n is not None]
    missing = [words for n, words in signs if n is None]
    of = "" if records.exposed_people is None else f", of {formatting.several(records.exposed_people, 'member')},"
    text = (
        f"{formatting.compact(records.exposed)} of {formatting.compact(records.n)} real records "
        f"({percent(records.exposed_share)}{beside}){of} stand out: {', '.join(found) or 'no sign was looked for'}."
    )
    return text + (f" Not looked for: records {'; records '.join(missing)}." if missing else "")


def flags(records: Records | None) -> str:
    """Return how many people were flagged, and the smallest number that can be; "" when flags were not computed."""
    if records is None or records.flagged is None:
        return ""
    text = (
        f"{records.flagged:,} of {records.n:,} real records are flagged as having a synthetic row closer than "
        f"strangers have (false discovery rate {records.fdr:g})."
    )
    if records.recognised:
        text += f" {records.recognised:,} are flagged as recognised members, by the mean rank of the membership scores."
    if records.named_in_texts:
        text += f" {records.named_in_texts:,} are flagged as named in synthetic texts, by words that only they have."
    least = records.smallest_flaggable
    if least is not None and least > records.n:
        return f"{text} This holdout is too small to flag anybody."
    return (
        text
        if least is None or least <= 1
        else f"{text} With this many strangers, fewer than {least:,} records could not be flagged."
    )

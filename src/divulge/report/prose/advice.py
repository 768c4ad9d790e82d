"""What to do now: rules from the findings. Each says what it changes, and that the result must be measured again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from divulge.attacks.copying.histories import NUMBERS_ROWS
from divulge.attacks.copying.linked import LINKED
from divulge.case.relational.people_columns import described_column
from divulge.core.generators import generators_named
from divulge.core.result import FOUND
from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import use
from divulge.report.prose.bounds import NO_RELATION, holding, undecided
from divulge.report.prose.compared import quoted
from divulge.report.prose.people import people_or_rows
from divulge.report.prose.reach import NOT_COMPARED

__all__ = ["AGAIN", "COARSER", "UNTIL", "Advice", "advice", "carriers", "leaking_targets", "why_mended"]

AGAIN = "Only a new table can be cleared."
"""What every change asks for."""
UNTIL = "Only a new run can clear it."
"""What holds where nothing was found, and the table may stay as it is."""
COARSER = "Coarser values can make new copies."
"""What coarsening may do."""
_HOLE = "Do not delete rows near people: the gaps tell who is in the real table."
_MOST = 6
_TWO = 2  # kinds of generators that the advice is about
_COPYING = ("copying", "distance", "exposure", "membership")  # families of attacks that copies of people set off


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do: what, what it changes, and a warning where it may do harm."""

    do: str
    changes: str
    warning: str = ""
    trains: bool = False
    """Whether it makes a new table."""
    command: str = ""
    """What to type; "" where it is no command."""


def advice(data: Assessment) -> list[Advice]:
    """Return what to do now, most urgent first; never empty."""
    told = [a for rule in _RULES for a in rule(data)]
    return told[:_MOST] or [_NOTHING]


_NOTHING = Advice(
    "Decide, and sign below: nothing here asks for a change.",
    "A new table, a further release or new knowledge of attackers makes this test due again.",
)


def _found(data: Assessment, verdict: str = "excess found") -> list[ResultRecord]:
    return [r for r in data.results if r.verdict == verdict]


def _family(data: Assessment, r: ResultRecord) -> str:
    return data.attacks[r.attack].family if r.attack in data.attacks else ""


# ---------------------------------------------------------------- columns


def carriers(data: Assessment) -> list[str]:
    """Return the columns that carry the copies that were found, those that do so most often first.

    Near copies of part of a row name their columns, and so do copies of single columns.
    """
    place = {c.name: i for i, c in enumerate(data.schema) if "unit" not in c.roles}
    times: dict[str, int] = {}
    for r in _found(data):
        if r.attack in data.attacks and data.attacks[r.attack].family == "copying":
            for c in filter(place.__contains__, r.keys):  # histories name their tables
                times[c] = times.get(c, 0) + 1
    return sorted(times, key=lambda c: (-times[c], place[c]))


def leaking_targets(data: Assessment) -> list[str]:
    """Return the columns that are guessed right more often about members, in the order of the schema."""
    found = {r.target for r in _found(data) if r.target is not None}
    known = [c.name for c in data.schema if c.name in found]
    return known + sorted(found.difference(known))


def _copied_numbers(data: Assessment) -> list[str]:
    """Return the columns of a person's own number that copied people still carry: who knows it finds their record.

    Of linked tables also those that number the rows of a person in another table.
    """
    numbers = _numbers(data)
    alone: dict[str, set[str]] = {}
    for r in _found(data):
        if _family(data, r) == "copying" and len(r.keys) == 1:
            alone.setdefault(r.keys[0], set()).add(r.variant)
    one_table = not data.tables.real.linked  # a column that describes the rows of a person is no number of theirs
    return [
        c.name
        for c in data.schema
        if c.name in alone
        and (one_table or c.kind == "identifier")
        and (c.name in numbers or (LINKED in alone[c.name] and c.kind != "datetime"))
    ] + [r.keys[0] for r in _found(data) if NUMBERS_ROWS in r.notes]


def _of_tables(data: Assessment, names: Sequence[str]) -> list[str]:
    """Return the columns that can be left out: of linked tables those of which a column of people was made."""
    own = (described_column(c) for c in names) if data.tables.real.linked else names
    return list(dict.fromkeys(filter(None, own)))


def _numbers(data: Assessment) -> set[str]:
    """Return the columns that number rows or people."""
    return {c.name for c in data.schema if c.kind == "identifier" or "that differ" in c.why}


# ---------------------------------------------------------------- the rules


def _mend(data: Assessment) -> Iterator[Advice]:
    """What fails before any attack is mended first."""
    for check in order.in_doubt(data):
        do, changes = _MENDED.get(
            check, (f"Mend what the check “{check}” found.", "Where it fails, nothing can be compared.")
        )
        yield Advice(do, changes, trains="train again" in do)


def why_mended(check: str) -> str:
    """Return why a failing precondition matters, in plain words; "" for one that does not hold back the verdict."""
    return _MENDED[check][1] if check in _MENDED else ""


_MENDED = {
    "exchangeable": (
        "Split the people into real and holdout by chance (divulge split), and train again.",
        "Members and strangers differ by themselves, so that a difference says nothing about the table.",
    ),
    "holdout unseen": (
        "Take as strangers people who were never given to the synthesizer.",
        "The synthesizer seems to have seen the strangers too, so that members and strangers are treated alike and a "
        "leak cannot show.",
    ),
    "rows belong together": (
        "Name the column that tells people apart (--unit), or make one row of each person.",
        "Several rows seem to belong to one person, so that the counts look surer than they are.",
    ),
    "no overlap": (
        "Take people out of the holdout who are in the real table too.",
        "Whoever is in both tables is no stranger, and tests that look at other people meet him twice: they can hide "
        "what the table tells, and find what it does not tell.",
    ),
    "units apart": (
        "Put all rows of a person into one of the two tables.",
        "Whoever is in both tables is no stranger, and hides what the table tells.",
    ),
    "people apart": (
        "Put each person, with all rows, into one of the two folders (divulge split).",
        "Whoever is on both sides is no stranger, and hides what the tables tell.",
    ),
    "references": (
        "Take out the rows whose key leads nowhere, or add the people to whom they belong.",
        "Rows whose key leads nowhere were left out, so that nothing is said of them.",
    ),
    "same lengths": (
        "Cut the histories of members and strangers by the same rule, and split people by chance (divulge split).",
        "The lengths of their histories alone tell members from strangers.",
    ),
    "same window": (
        "Cut the histories of members and strangers at the same times.",
        "The times of their histories alone tell members from strangers.",
    ),
    "different tables": ("Check that no file was given twice or in another's place.", "Two of the tables are equal."),
}


def _strangers(data: Assessment) -> Iterator[Advice]:
    if not order.has_holdout(data):
        yield Advice(
            "Hold people back before training (divulge split), train again, and give them as the holdout.",
            "Only people whom it never saw tell what chance alone gives.",
            trains=True,
        )


def _own_numbers(data: Assessment) -> Iterator[Advice]:
    """The number of a copied person stands beside the record: it goes first, and alone it mends nothing."""
    if numbers := _copied_numbers(data):
        yield Advice(
            f"Leave out {quoted(numbers, _MOST)}, or draw new numbers: copied people carry their own.",
            "Whoever knows somebody's number finds the record by it. Without it the rest is still copied: that takes "
            "the next points.",
        )


def _copies(data: Assessment) -> Iterator[Advice]:
    copied = [r for r in _found(data) if _family(data, r) in _COPYING]
    if not copied and not _some_person(data):
        return
    yield from _weaker(data, "The synthesizer then keeps less of single records.")


def _weaker(data: Assessment, why: str) -> Iterator[Advice]:
    """Which settings lower what was found: of the generator that was stated, else those of any."""
    named = generators_named(data.threat.release.generator)[-_TWO:]
    if not named:
        any_ = "Train with less capacity (fewer rounds, larger leaves, more smoothing) or with differential privacy."
        yield Advice(any_, why, _HOLE)
    for i, g in enumerate(named):
        tried = f" Tried on 472 people: {g.tried}." if g.tried else ""
        yield Advice(f"{g.name}: {g.do}.", f"{g.why}{tried} ({g.source}.)", "" if i else _HOLE)


def _audit(data: Assessment) -> Iterator[Advice]:
    """The generator itself, whose next table may leak again; the command is filled in as far as the run knows it."""
    if not _found(data):
        return
    parts = ["divulge", "audit", _trained_on(data), "--train"]
    parts.append("python train.py {train} {synthetic} --seed {seed}")
    if data.edition == "custodian":
        parts += ["--unit", data.settings.unit] if data.settings.unit else []
        parts += ["--secrets", secret] if (secret := _secret(data)) else []
    yield Advice(
        "Test the generator itself, without a holdout:",
        "It trains the generator on tables that differ by coins, and counts how often the attacker guesses a coin; "
        "--dry-run tells how long that takes.",
        command=formatting.prose(shlex.join(parts), 300),
    )


def _trained_on(data: Assessment) -> str:
    """Return the file of the table that an audit deals, of linked ones that of the people, with the path of the run."""
    linked = data.tables.real.linked
    file = linked[0].file if linked else data.tables.real.file
    if not file:
        return "real.csv"
    given = data.command.partition(" --holdout")[0]
    try:
        paths = [PurePath(part.rpartition("=")[2]) for word in shlex.split(given) for part in word.split(",")]
    except ValueError:  # the command of a program is no line of a shell
        return file
    folder, _, name = file.rpartition("/")
    found = [p.parent / file for p in paths if folder and p.name == folder]
    return str(next((p for p in [*(p for p in paths if p.name == name), *found]), file))


def _secret(data: Assessment) -> str:
    """Return the column whose values people may exchange in an audit; "" where the audit is to choose one.

    A target of the run that is guessed, else its first, else a column that is guessed. No number of a row is a secret.
    Of linked tables it is a column of the people's own.
    """
    numbers = _numbers(data)
    guessed, wanted = leaking_targets(data), data.settings.targets or ()
    found = [*(t for t in guessed if t in wanted), *wanted, *guessed]
    found = [t for t in found if t not in numbers]
    if linked := data.tables.real.linked:
        own = f"{linked[0].name}."
        found = [t.removeprefix(own) for t in found if t.startswith(own) and described_column(t) == t]
    return next((t for t in found if "," not in t), "")


def _some_person(data: Assessment) -> bool:
    """Return whether the record of one person is repeated, or copied though chance can hardly make it."""
    if data.facts is None:
        return False
    together = data.facts.histories
    return data.facts.repeated.found or data.facts.verbatim.telling > 0 or (together is not None and together.named > 0)


def _columns(data: Assessment) -> Iterator[Advice]:
    """Columns that carry copies and columns that can be guessed: fewer of them, or broader values."""
    numbers = _copied_numbers(data)
    copied, guessed = ([c for c in names if c not in numbers] for names in (carriers(data), leaking_targets(data)))
    few = [_of_tables(data, names) for names in (copied, guessed)]
    which = [
        f"{what} ({quoted(c, 2)})" for what, c in zip(("carry the copies", "can be guessed"), few, strict=True) if c
    ]
    if len(copied) + 1 >= len(data.schema) - len(numbers) > 2:
        yield Advice(
            f"Keep the {'other ' if numbers else ''}columns: leaving some out hardly helps.",
            "Copies run through all columns or all but one, so that hardly any table would be left.",
        )
    elif which:
        yield Advice(
            f"Leave out or coarsen columns that {' or '.join(which)}.",
            "A column that is left out is neither copied nor guessed; the others still can be. Coarsening does less.",
            COARSER,
        )


def _joined(data: Assessment) -> Iterator[Advice]:
    found = {r.attack for r in _found(data)} & {"linkability", "singling_out"}
    copied = any(_family(data, r) in _COPYING for r in _found(data))
    if found and not copied:
        what = " and ".join({"linkability": "links", "singling_out": "descriptions"}[a] for a in sorted(found))
        yield from _weaker(data, f"The {what} come from rows that follow one person too closely.")


def _close(data: Assessment) -> Iterator[Advice]:
    """Counts that are too close to the real ones, where no attack found anything."""
    if use.is_too_close(data) and not _found(data):
        yield Advice(
            "Find out how the counts or correlations of pairs of columns came so near to the real ones: by copied "
            "rows, or by margins "
            "that were put into the synthesizer.",
            "Exact counts can give people away without any row that is like theirs.",
        )


def _holes(data: Assessment) -> Iterator[Advice]:
    if _found(data, "deficit found"):
        yield Advice(
            "Switch off what removed rows near people, such as a filter after training; train with less capacity or "
            "with differential privacy in its place.",
            "A filter hides copies from a count, and tells by the gaps who is in the real table.",
            "Then look for copies: the filter may have hidden some.",
        )


def _people(data: Assessment) -> Iterator[Advice]:
    """More people, where only their number keeps the main comparisons from deciding."""
    if data.verdict.verdict != "cannot tell" or order.in_doubt(data):
        return
    wide = [b for b in undecided(data.verdict.bounds) if not b.why]
    least = max((b.people or 0 for b in wide), default=0)
    n, asked = data.tables.real.rows, data.settings.people
    if wide and least and asked is not None and asked < least <= (n or 0):
        yield Advice(
            f"Ask more people of those who are there: --people {least:,}, not {asked:,}.",
            "The intervals shrink, and if nothing leaks, the main comparisons can then say so.",
        )
    elif wide and least:
        now = "" if n is None else f", not {n:,}"
        yield Advice(
            f"Train and test with about {least:,} {people_or_rows(data)}{now} (the holdout in proportion).",
            "The intervals shrink, and if nothing leaks, the main tests can then say so. With these people alone they "
            "cannot. Before the next run, whoever decides may accept a higher limit in writing (--acceptable, or a "
            "policy), name fewer keys and targets, or pool several years.",
            trains=True,
        )
    elif wide:
        yield Advice(
            "Test with more people, in the real table and in the holdout.",
            "The intervals shrink, and if nothing leaks, the main comparisons can then say so.",
        )


def _unfair(data: Assessment) -> Iterator[Advice]:
    """A random split, where members and strangers can be told apart without the table, or are partly the same."""
    why = next((b.why for b in undecided(data.verdict.bounds) if b.why), "")
    if why and not order.in_doubt(data):
        yield Advice(
            "Split the people into real and holdout by chance (divulge split), and train again; or test with others.",
            f"{why[0].upper()}{why[1:]}, so that membership is not judged.",
            trains=True,
        )


def _not_compared(data: Assessment) -> Iterator[Advice]:
    """The columns that one table lacks, or has otherwise, where they alone hold the clearance back."""
    if data.verdict.verdict != "cannot tell" or order.in_doubt(data):
        return
    lacking = data.verdict.without_strangers
    if lacking:
        yield Advice(
            f"Give the holdout {quoted(lacking, _MOST)} as the real table has it, or leave it out of every table.",
            "Without strangers nothing can be compared there.",
        )
    for why, columns in holding(data.verdict.not_compared).items():
        if why == NO_RELATION:
            yield Advice(
                f"Relate {quoted(columns, _MOST)} to the people by a [[relation]] in the schema file (divulge schema "
                "--tables shows its form), or do without.",
                "Nothing compares a table from which no relation leads to the people.",
            )
            continue
        yield Advice(
            f"Make {quoted(columns, _MOST)} the same in all tables, in name and in writing: {NOT_COMPARED[why]}.",
            "What was not compared is not cleared.",
        )


def _gaps(data: Assessment) -> Iterator[Advice]:
    if data.failed or data.left_out:
        which = list(dict.fromkeys([f.attack for f in data.failed] + [o.attack for o in data.left_out]))
        names = ", ".join(a.replace("_", " ") for a in which[:_MOST])
        yield Advice(
            f"Run the tests that are missing: {names}.",
            "An attack that was not made has found nothing because nobody looked.",
        )


def _policy(data: Assessment) -> Iterator[Advice]:
    if data.policy is not None and not data.policy.kept and data.verdict.verdict not in FOUND:
        yield Advice(
            "Settle the broken conditions of the policy with whoever set them.",
            "They are the organisation's own limits, and stricter than the verdict here.",
        )


_RULES: Sequence[Callable[[Assessment], Iterator[Advice]]] = (
    _mend, _strangers, _own_numbers, _copies, _joined, _close, _columns, _holes, _audit, _unfair, _people,
    _not_compared, _gaps, _policy,
)  # fmt: skip

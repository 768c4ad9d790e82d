"""Facts about people: whose record stands verbatim in the synthetic table, and whose record it repeats.

They stand beside the verdicts. A test over all people does not see three certain copies among a thousand, and a rate
does not say that one person's record is there twenty times. Counts are facts whatever a test says. A person is named
only where chance under these columns can hardly do this, and the strangers show that it does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core import records
from divulge.core.distinct_values import distinct_values
from divulge.measures._rare_records import (
    People,
    alone,
    any_alike,
    any_alike_histories,
    own_parts,
    parts_beside_others,
    people_of,
)
from divulge.stats.repeated_rows import too_often

__all__ = ["HARDLY", "PeopleFacts", "Repeated", "Verbatim", "people_facts"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

HARDLY = "chance under these columns can hardly do this"
"""What is said about records that name a person, and about a record that is repeated too often."""
_BITS = 40.0  # a record of fewer bits names nobody; start value, calibrated in test_people_facts_calibration
_SPARE = 10.0  # bits beyond those of all pairs of a person and a synthetic row
_TIMES = 2  # a repeated record stands out if no other row is repeated half as often
_ERROR = 0.01  # of a false finding on repeats: .005 for the share of the record and .005 for its draws

_NO_HOLDOUT = "there are no strangers, who would show how many such records chance makes"
_SMALLER = (
    "the holdout is smaller than the real table, so that too few strangers show how many such records chance makes"
)
_STRANGERS = "records as rare, of strangers, stand verbatim too, so that something other than copying makes them"
_ALIKE = "two people are as alike without any synthetic table, so that chance or kinship makes such records"
_COMMON = "each of these records is common enough for chance, or another person has all of it or all but one column"


@dataclass(frozen=True, slots=True, eq=False)
class Verbatim:
    """The people whose whole record stands in the synthetic table."""

    members: Bools
    """Shape (n_real,): every column but identifiers, the unit and ignored ones equals those of a synthetic row."""
    strangers: Bools | None
    """Shape (n_holdout,); None without a holdout."""
    telling: Bools
    """Shape (n_real,): of these, the records that chance under these columns can hardly make."""
    named: Bools
    """Shape (n_real,): `telling`, or nobody where `why_not_named` says so."""
    why_not_named: str | None
    """The reason why nobody is named although members stand verbatim."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """Synthetic rows that repeat. A table in which every row is repeated alike counts once."""

    member: int
    """How often the commonest synthetic row is there that equals exactly one person, a member; 0 without one."""
    stranger: int | None
    """The same for a stranger; None without a holdout."""
    nobody: int
    """The same for rows that equal nobody."""
    p_value: float | None
    """Of the commonest row of a member, corrected for the number of rows that repeat; None where it does not repeat, or
    without a holdout."""
    found: Bools
    """Shape (n_real,): members whose row stands out and is repeated more often than chance can hardly explain."""

    @property
    def elsewhere(self) -> int:
        """How often the commonest row is there that equals nobody, or one stranger."""
        return max(self.nobody, self.stranger or 0)

    @property
    def stands_out(self) -> bool:
        """Whether the commonest row of a member repeats, and more than twice as often as any that is no member's."""
        return _stands_out(self.member, self.elsewhere)


@dataclass(frozen=True, slots=True, eq=False)
class PeopleFacts:
    """What is known about single people, beside the verdicts."""

    verbatim: Verbatim
    repeated: Repeated
    person: Ints
    """Shape (n_real + n_holdout,): number of the person or household of each row, members first."""

    def to_facts(self) -> records.Facts:
        """Return the counts of people, as in assessment.json; no row number and no value."""
        v, r, n = self.verbatim, self.repeated, len(self.verbatim.members)

        def people(rows: Bools, person: Ints = self.person[:n]) -> int:
            return len(distinct_values(person[rows]))

        stranger = r.stranger or 0
        of = [who for who, times in (("member", r.member), ("stranger", stranger)) if times == max(r.member, stranger)]
        return records.Facts(
            verbatim=records.Verbatim(
                members=people(v.members),
                strangers=None if v.strangers is None else people(v.strangers, self.person[n:]),
                telling=people(v.telling),
                named=people(v.named),
                why_not_named=v.why_not_named,
            ),
            repeated=records.Repeated(
                times=max(r.member, stranger),
                of=" and ".join(of) if r.member or stranger else None,
                elsewhere=r.elsewhere,
                stands_out=r.stands_out,
                p_value=r.p_value,
                found=bool(r.found.any()),
                named=people(r.found),
            ),
        )


def people_facts(case: Case) -> PeopleFacts | None:
    """Return whose record stands verbatim in the synthetic table, whose is repeated, and who is named by it.

    A member whose record stands verbatim is named if all of this holds. The record has at least max(40, log2(n m) + 10)
    bits, were its columns independent with the frequencies that they have among members and strangers, and still
    log2(n m) + 10 bits if a column counts only for what it adds to any single other one (n and m are real and
    synthetic rows). Nobody else has all of it, or all but one column. No stranger's record that is as lonely and has
    log2(n m) + 10 bits stands verbatim, and no two people agree in columns of so many bits, all or all but one. There
    are as many strangers as members.

    Where a person has several rows and k of these r stand verbatim, their bits add up. After the first row a column
    counts for what it adds to other rows of the person: log q / log p, if two rows of one person agree in it with
    frequency q and any two rows with p. A history names the person if bits - k log2(m) - log2 C(r, k) is at least
    log2(persons) + 10, the bits are at least 40, nobody else has one of these rows or all of it but one column, and no
    two people share rows of as many bits, as where histories follow a scheme.

    A record is found repeated if its row equals exactly one person, a member; it is there more than twice as often as
    any row that equals nobody or only one stranger; and its p-value (`stats.repeated_rows`) is at most 0.01.

    Returns
    -------
    PeopleFacts or None
        Unchanged by row order, column order and names. None where rows are not in memory, or no column is left.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> real, holdout = pl.DataFrame({"age": [20.5, 30.5]}), pl.DataFrame({"age": [40.5, 50.5]})
    >>> synthetic = pl.DataFrame({"age": [20.5, 20.5, 60.5]})
    >>> facts = people_facts(build_case(real, synthetic, holdout)).to_facts()
    >>> facts.verbatim.members, facts.verbatim.strangers, facts.verbatim.named
    (1, 0, 0)
    >>> facts.repeated.times, facts.repeated.of, facts.repeated.elsewhere
    (2, 'member', 1)
    """
    columns = sorted(case.whole_record)
    if not case.in_memory or not columns:
        return None
    table = case.contingency(columns, (), binned=False)
    people = people_of(case, columns, table)
    times = table.s // (int(np.gcd.reduce(table.s)) or 1)
    return PeopleFacts(_verbatim(case, people, times), _repeated(case, people, times), people.person)


# ---------------------------------------------------------------- verbatim


def _verbatim(case: Case, people: People, times: Ints) -> Verbatim:
    n = people.n_members
    there = times[people.record] > 0
    least = math.log2(max(1, n) * max(1, int(times.sum()))) + _SPARE
    is_member, parts = np.arange(len(there)) < n, dict.fromkeys(people.columns, 1.0)
    # of a stranger's record less is asked, so that strangers speak up first
    rare = there & (people.bits() >= np.where(is_member, max(_BITS, least), least))
    if rare[:n].any():
        parts = own_parts(case, people)
        rare &= ~is_member | (people.bits(parts) >= least)
    candidates = np.flatnonzero(rare)
    rare[candidates] = alone(people, candidates)
    rare |= _histories(case, people, there, int(times.sum()))
    members, telling = there[:n], rare[:n]
    why = None
    if not case.has_holdout:
        why = _NO_HOLDOUT
    elif rare[n:].any():
        why = _STRANGERS
    elif people.n_persons(slice(n, None)) < people.n_persons(slice(n)):
        why = _SMALLER
    elif not telling.any():
        why = _COMMON
    elif any_alike(people, parts, least):
        why = _ALIKE
    return Verbatim(
        members=members,
        strangers=there[n:] if case.has_holdout else None,
        telling=telling,
        named=telling if why is None else np.zeros(n, dtype=bool),
        why_not_named=why if members.any() else None,
    )


def _histories(case: Case, people: People, there: Bools, n_synthetic: int) -> Bools:
    """Return the verbatim rows of people who have several, where chance under these columns can hardly make them all.

    Rows of one person are alike: after the first one a column counts only for what it adds to the person's other rows.
    """
    from scipy.special import gammaln

    found = np.zeros(len(there), dtype=bool)
    n_persons = int(people.person.max(initial=-1)) + 1
    # equal rows of one person count once: one synthetic row equals them all
    _, first_row = np.unique(
        people.person * (int(people.record.max(initial=-1)) + 1) + people.record, return_index=True
    )
    own = people.person[first_row]
    rows, k = (np.bincount(of, minlength=n_persons) for of in (own, own[there[first_row]]))
    several = first_row[there[first_row] & (k[own] > 1)]
    if not len(several):
        return found
    of_person, parts = people.person[several], own_parts(case, people)
    beside = {c: part * parts[c] for c, part in parts_beside_others(people).items()}
    first, more = people.bits(parts)[several], people.bits(beside)[several]
    bits, extra = np.bincount(of_person, more, minlength=n_persons), np.zeros(n_persons)
    np.maximum.at(extra, of_person, first - more)  # one row counts in full
    bits = np.round(bits + extra, 6)
    ways = (gammaln(rows + 1) - gammaln(k + 1) - gammaln(rows - k + 1)) / math.log(2)
    spare = bits - k * math.log2(max(1, n_synthetic)) - ways
    is_member = np.bincount(people.person[: people.n_members], minlength=n_persons) > 0
    # of a stranger's history less is asked, so that strangers speak up first
    enough = (spare >= math.log2(max(1, n_persons)) + _SPARE) & (~is_member | (bits >= _BITS))
    candidates = several[enough[of_person]]
    if len(candidates) and any_alike_histories(people, people.bits(parts), _SPARE):
        return found
    lonely = np.bincount(people.person[candidates[alone(people, candidates)]], minlength=n_persons) > 0
    told = np.bincount(people.person[candidates], minlength=n_persons) > 0
    return np.asarray(there & (lonely & told)[people.person])


# ---------------------------------------------------------------- repeated


def _repeated(case: Case, people: People, times: Ints) -> Repeated:
    n = people.n_members
    holders = people.holders(people.record, len(times))
    by_members = np.bincount(people.record[:n], minlength=len(times)) > 0
    by_strangers = np.bincount(people.record[n:], minlength=len(times)) > 0
    one = holders == 1
    of_member = one & by_members & ~by_strangers
    member, stranger, nobody = (
        int(times[which].max(initial=0)) for which in (of_member, one & by_strangers & ~by_members, holders == 0)
    )
    n_repeats = int((times > 1).sum())
    found, p_value = np.zeros(n, dtype=bool), None
    if case.has_holdout and member > 1:
        n_people = people.n_persons()

        def chance(k: int) -> float:
            return too_often(k, int(times.sum()), n_people, n_repeats)

        p_value = chance(member)
        # fewer repeats are likelier: the findings are the rows from some number on
        high = np.unique(times[of_member & (times > 1)])
        enough = [k for k in high.tolist() if _stands_out(k, max(stranger, nobody)) and chance(k) <= _ERROR]
        if enough:
            found = (of_member & (times >= enough[0]))[people.record[:n]]
    return Repeated(member, stranger if case.has_holdout else None, nobody, p_value, found)


def _stands_out(times: int, elsewhere: int) -> bool:
    return times > 1 and times > _TIMES * elsewhere

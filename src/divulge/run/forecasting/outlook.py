"""What a run will take and what it can find, and how this is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from divulge.report.formatting import several
from divulge.run.cost.expected_time import duration
from divulge.run.cost.memory import in_bytes

__all__ = ["FORMAT", "Given", "Outlook", "PlannedTests", "asked_in_words"]


FORMAT = "divulge-plan/1"
_WIDTH = 110
_MAPPED = "; pages of files come on top, which the system takes back where it needs them"


@dataclass(frozen=True, slots=True)
class Given:
    """One table of a run."""

    role: str
    rows: int
    columns: int
    exact: bool
    """Whether its rows were counted; else they are estimated."""


@dataclass(frozen=True, slots=True)
class PlannedTests:
    """The planned tests of one attack."""

    attack: str
    tests: int
    sampled: bool
    """Whether it asks a sample of people, where there is one; else everybody."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run will take, and what it can find."""

    tables: tuple[Given, ...]
    cells: int
    """Rows times columns, over all tables."""
    needed: int
    """Bytes of memory of its own that the process will take at its peak, about; pages of mapped files come on top."""
    there: int | None
    """Bytes that it may take; None where the system does not tell."""
    limit: str
    """What sets that limit, in words."""
    seconds: float
    """Time that the run will take, about."""
    jobs: int
    attacks: tuple[PlannedTests, ...]
    not_run: tuple[tuple[str, str], ...]
    """Attacks that will not run, and why."""
    unit: str | None
    people: int | None
    """Most members, and as many strangers, who are asked by attacks that a sample will do for; None: everybody."""
    asked: tuple[int, int]
    """Members and strangers, or units of them, whom these attacks ask."""
    of: tuple[int, int]
    """All members and strangers."""
    people_that_fit: int | None
    """Where the run does not fit: the most people asked, of some round numbers, with whom it would."""
    excesses: tuple[tuple[float, float | None], ...]
    """Rate of strangers who are hit, and the smallest excess of members that one comparison finds with 80% power."""
    reach: str
    """The smallest risk that the run can find, in words; "" without a holdout."""
    seed: int
    notes: tuple[str, ...] = ()
    engine: str = "auto"
    """What counts the tables where they are; "auto" reads them into memory."""
    disk: int = 0
    """Bytes that the run will write to a private folder and remove at the end, about."""
    disk_free: int | None = None
    """Bytes that are free on its disk; None where nothing is written, or where there is no such folder."""
    blocks: int = 0
    """Blocks of the largest index that is searched in files; 0 where indices are in memory."""
    needed_in_files: int | None = None
    """Bytes that the process would take with indices in files (--spill); None where nothing would be gained."""
    tests_at_most: bool = False
    """Whether the run may make fewer tests, because it searches key sets."""

    @property
    def fits(self) -> bool:
        """Whether the run fits into the memory that there is, as far as this is known."""
        return self.there is None or self.needed <= self.there

    @property
    def fits_on_disk(self) -> bool:
        """Whether what the run writes fits onto the disk, as far as this is known."""
        return self.disk_free is None or self.disk <= self.disk_free

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(t.rows for t in self.tables)

    @property
    def tests(self) -> int:
        """Number of planned tests."""
        return sum(a.tests for a in self.attacks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; no value of the tables is among them."""
        told = {"format": FORMAT} | asdict(self) | {"rows": self.rows, "tests": self.tests, "fits": self.fits}
        told["fits_on_disk"] = self.fits_on_disk
        told["excesses"] = [{"strangers_hit": rate, "excess": excess} for rate, excess in self.excesses]
        told["not_run"] = [{"attack": attack, "why": why} for attack, why in self.not_run]
        return told

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def __str__(self) -> str:
        """Return what a run will take and can find, a line or more each."""
        return "\n".join(
            fill(text, _WIDTH, initial_indent=f"{name:<10}", subsequent_indent=" " * 10, break_on_hyphens=False)
            for name, text in _lines(self)
        )


def _lines(told: Outlook) -> Iterator[tuple[str, str]]:
    size = "   ".join(f"{t.role} {'' if t.exact else 'about '}{t.rows:,} x {t.columns}" for t in told.tables)
    yield "tables", f"{size}   ({told.cells:,} cells)"
    yield "memory", f"needs about {in_bytes(told.needed)}" + _there(told) + (_MAPPED if told.disk else "")
    if told.disk:
        blocks = f", and indices of up to {several(told.blocks, 'block')}" if told.blocks else ""
        codes = "codes of all rows" if told.engine != "auto" else ""
        what = codes + blocks if codes else blocks.removeprefix(", and ")
        yield "disk", f"about {in_bytes(told.disk)} in a private folder, removed at the end: {what}{_free(told)}"
    yield "time", f"about {duration(told.seconds)} in {several(told.jobs, 'thread')}"
    most = ", at most: targets may share the key sets that the run searches" if told.tests_at_most else ""
    yield "tests", f"{told.tests:,} of {several(len(told.attacks), 'attack')}{most}"
    for sampled in (True, False):
        listed = ", ".join(f"{a.attack} {a.tests}" for a in told.attacks if a.sampled == sampled)
        if listed:
            yield "", f"{_who(told, sampled)}: {listed}"
    if told.not_run:
        yield "not run", ", ".join(attack for attack, _ in told.not_run)
    if told.reach:
        yield "finds", told.reach
        yield "", _excesses(told)
    for note in told.notes:
        yield "note", note


def _there(told: Outlook) -> str:
    if told.there is None:
        return "; how much there is, this system does not tell"
    verdict = "" if told.fits else f"; the run does not fit ({told.limit})"
    return f"; this process may use {in_bytes(told.there)}{verdict}"


def _free(told: Outlook) -> str:
    if told.disk_free is None:
        return ""
    verdict = "" if told.fits_on_disk else "; this is too little (--spill names a folder with more room)"
    return f"; {in_bytes(told.disk_free)} are free there{verdict}"


def _who(told: Outlook, sampled: bool) -> str:
    if not sampled:
        return "ask everybody, always"
    if told.people is None:
        return "ask everybody, or a sample (--people)"
    return f"ask {asked_in_words(told.asked, told.of)}, drawn by seed {told.seed}"


def asked_in_words(asked: tuple[int, int], of: tuple[int, int]) -> str:
    """Return how many members and strangers are asked, of how many.

    Examples
    --------
    >>> asked_in_words((1_000_000, 250_000), (100_000_000, 250_000))
    '1,000,000 of 100,000,000 members and 250,000 of 250,000 strangers'
    """
    members = f"{asked[0]:,} of {of[0]:,} members"
    return f"{members} and {asked[1]:,} of {of[1]:,} strangers" if of[1] else members


def _excesses(told: Outlook) -> str:
    found = [(f"{excess:.2g}", f"{rate:.0%}") for rate, excess in told.excesses if excess]
    if not found:
        return "no excess would be found"
    excesses, rates = (", ".join(each) for each in zip(*found, strict=True))
    return f"an excess of {excesses} would be found where {rates} of strangers are hit"

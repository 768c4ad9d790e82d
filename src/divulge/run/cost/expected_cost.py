"""How many seconds and how much memory a run will take, known roughly before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case
from divulge.case.spill import Spill
from divulge.core.coded_scores import CODED_FROM
from divulge.core.errors import SizeError
from divulge.measures.entry import Measure
from divulge.report.fidelity_model import LONG
from divulge.run.cost.measured_cost import ALONE, BYTES, SECONDS
from divulge.run.cost.memory import Room, in_bytes
from divulge.run.planning.options import Attacker, RunOptions
from divulge.run.planning.plan import Task
from divulge.tables.counting import COUNTING
from divulge.tables.frames import Table
from divulge.tables.sizes import TableSize

__all__ = [
    "TAUGHT",
    "Work",
    "bytes_of_scores",
    "bytes_parts",
    "check_work",
    "expected_bytes",
    "expected_long",
    "expected_seconds",
    "levels_of",
    "limit_of",
    "made_by_fidelity",
    "own_parts",
    "process_bytes",
    "seconds_of_fidelity",
    "seconds_of_tests",
    "seconds_parts",
    "shortened",
    "too_large",
    "unseen_levels",
    "work_of",
]

_CELL_IN = "cell in "
_LONG = 0.1  # of the CPU seconds of a run: a measure that takes less does not slow it down
_SCORE, _CODED = 8, 2  # bytes of the score of a person, and of one that is coded
_OF_TABLES, _RANKED = 4, 3  # comparisons of whole tables whose scores are kept; attacks that always rank
_BYTES_OF_RANKED = 67  # of a person, for one candidate and one attack: the scores, and copies of them
_KEPT = 2**28  # bytes of tables of counts that a case keeps at most
_IN_BLOCKS = 3 * Spill(Path()).block_rows
"""Rows of all tables up to which an index in files has a block or two, which saves nothing."""
_HELD = 0.75  # of what distances take in memory for a row, what they take beyond these blocks (docs/decisions)


TAUGHT = 40_000
"""Rows at most that models are trained on."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the cost of a run depends on."""

    rows: int
    """Of all tables."""
    synthetic: int
    """Rows of the synthetic table."""
    people: int
    """Rows of real and holdout."""
    asked: int
    """Those of the people whom attacks ask that may ask a sample."""
    columns: int
    """That are compared."""
    bits: float
    """Entropy of these columns, added up: searches among rows that are alike end sooner."""
    levels: int
    """Distinct values, over all columns."""
    table_bytes: int
    """Of the columns once read, in memory."""
    text_bytes: int
    """Of files of text."""
    attacks: bool = True
    """Whether there are attacks, or fidelity alone."""
    targets: int = 0
    """Tests of one target with all other columns known."""
    models: int = 0
    """Those of them that train models."""
    pairs: int = 0
    """Tests of keys and a target, and of keys alone."""
    sampled: int = 0
    """Tests that may ask a sample of people."""
    scores: int = 0
    """Scores that results hold: people asked, over all tests."""
    apart: tuple[str, ...] = ()
    """Parts that attacks have of their own (`Cost.measured`)."""
    fidelity: bool = False
    fidelity_models: bool = False
    in_files: bool = False
    """Whether indices of tables in memory lie in files, block by block."""
    elsewhere: bool = False
    """Whether an engine holds the tables: what people take in distances is then among `searched_bytes`."""
    searched_bytes: int = 0
    """Bytes of memory of attacks that search a synthetic table whose rows lie in files."""
    members: int = 0
    """Rows of the real table, of the people; 0 where the sides are not told apart."""

    def of_people(self, share: float) -> Work:
        """Return the work where a share of the people is asked."""
        fewer = round(self.people * share)
        return replace(self, asked=fewer, scores=self.scores - self.sampled * (self.asked - fewer))


def work_of(
    case: Case, tasks: Sequence[Task], options: RunOptions, *, text_bytes: int = 0, asked: int | None = None
) -> Work:
    """Return the work of a run.

    Parameters
    ----------
    case
        Its tables may hold some of their rows only, and state the number of all (`Table.n_rows`).
    tasks
        The planned tests.
    options
        Of the run.
    text_bytes
        Bytes of files of text that the run reads.
    asked
        Rows of the people whom attacks ask that may ask a sample; None is all.
    """
    rows = [t.n_rows for t in case.tables]
    people = sum(rows) - rows[1]
    some = people if asked is None else asked
    per = [CATALOGUE[t.attack].plan.per for t in tasks]
    sampled = sum(CATALOGUE[t.attack].sampled for t in tasks)
    return Work(
        rows=sum(rows),
        synthetic=rows[1],
        people=people,
        asked=some,
        columns=len(case.schema.usable()),
        bits=sum(_entropy(case, c) for c in case.schema.usable()),
        levels=round(sum(levels_of(case, c) for c in case.columns)),
        table_bytes=sum(_bytes(case, i) for i in range(len(rows))),
        text_bytes=text_bytes,
        targets=per.count("target"),
        models=sum("model" in t.settings.get("ways", ()) for t in tasks),
        pairs=per.count("pair") + per.count("key set"),
        sampled=sampled,
        scores=sampled * some + (len(tasks) - sampled) * people,
        apart=own_parts(t.attack for t in tasks),
        fidelity=options.fidelity,
        fidelity_models=options.fidelity and options.fidelity_models,
        in_files=options.spill is not None and options.engine not in COUNTING,
        members=rows[0],
    )


def own_parts(attacks: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of `measured_cost` that some attacks have of their own."""
    return tuple(sorted({CATALOGUE[name].cost.measured for name in attacks} - {""}))


def _entropy(case: Case, column: str) -> float:
    """Return the entropy of a column over all tables, in bits."""
    counts = np.sum(case.pooled(column).counts, axis=0)
    shares = counts[counts > 0] / counts.sum()
    return -float((shares * np.log2(shares)).sum())


def levels_of(case: Case, column: str) -> float:
    """Return about how many values of a column differ, from the rows that are there.

    The values that no row has yet are told from those that one and two rows have; all rows that are not there have one
    of their own at most.

    References
    ----------
    Chao (1984), Nonparametric estimation of the number of classes in a population.
    """
    counts = np.sum(case.pooled(column).counts, axis=0)
    found, there = int(case.pooled(column).levels.len()), int(counts.sum())
    rows, read = (sum(each) for each in zip(*((t.n_rows, _read(t)) for t in case.tables), strict=True))
    return found if not there else found + unseen_levels(counts, rows - read)


def unseen_levels(counts: NDArray[np.int64], rows: int) -> float:
    """Return about how many values further rows have that none of some rows has.

    Parameters
    ----------
    counts
        Rows with each value, of those that were read.
    rows
        The further rows; none has more than one value of its own.

    Examples
    --------
    >>> unseen_levels(np.array([1, 1, 2, 6]), 1_000)
    2.0
    """
    if rows <= 0 or not len(counts):
        return 0.0
    once, twice = int(np.count_nonzero(counts == 1)), int(np.count_nonzero(counts == 2))
    most = float(rows * once / counts.sum())
    return min(most, once**2 / (2 * twice)) if twice else most


def _read(table: Table) -> int:
    return 0 if table.frame is None else int(table.frame.height)


def _bytes(case: Case, which: int) -> int:
    table = case.tables[which]
    if table.frame is None:
        return 0
    held = sum(int(c.estimated_size()) for c in table.frame.get_columns())
    return round(held * table.n_rows / int(table.frame.height))


# ---------------------------------------------------------------- what is multiplied by measured numbers


def bytes_parts(work: Work) -> dict[str, float]:
    """Return the parts of the work that take memory, by the name of their number in `measured_cost`."""
    return {
        "process": 1.0,
        "attacks": work.attacks,
        "byte of text": work.text_bytes,
        "byte of table": work.table_bytes,
        "cell": work.rows * work.columns,
        "distinct value": work.levels,
        "cell in distances": _held(work) * work.columns * (work.attacks and not work.elsewhere),
        "byte of counts": min(_KEPT, _SCORE * work.rows * work.pairs),
        "byte of scores": _bytes_of_scores(work),
        **_apart(work),
        "fidelity": work.fidelity,
        "pair of columns in fidelity": work.columns**2 * work.fidelity,
        "cell in fidelity": work.rows * work.columns * work.fidelity,
    }


def _held(work: Work) -> float:
    """Return the rows that distances hold in memory: where indices lie in files, few beyond those of some blocks."""
    beyond = max(0, work.rows - _IN_BLOCKS) if work.in_files else 0
    return work.rows - (1 - _HELD) * beyond


def _bytes_of_scores(work: Work) -> float:
    """Return the bytes of the scores of members and of strangers; each side is coded where it is long enough."""
    out = 0.0
    for side in (work.members, work.people - work.members):
        share = side / max(1, work.people)
        out += work.scores * share * (_CODED if work.asked * share >= CODED_FROM else _SCORE)
    return out


def seconds_parts(work: Work) -> dict[str, float]:
    """Return the parts of the work that take CPU time, by the name of their number in `measured_cost`."""
    taught = min(work.synthetic, TAUGHT) + work.asked
    return {
        "process": 1.0,
        "byte of text": work.text_bytes,
        "cell": work.rows * work.columns,
        "row in distances": work.rows * work.attacks,
        "bit in distances": work.rows * work.bits * work.attacks,
        "target": work.targets,
        "bit of a target": work.targets * work.asked * work.bits,
        "model": work.models,
        "cell of a model": work.models * taught * work.columns,
        "pair": work.pairs,
        "row of a pair": work.pairs * (work.synthetic + work.asked),
        **_apart(work),
        "fidelity": work.fidelity,
        "pair of columns in fidelity": work.columns**2 * work.fidelity,
        "row of a pair of columns in fidelity": work.rows * work.columns**2 * work.fidelity,
        "models of fidelity": work.fidelity_models,
        "cell in models of fidelity": work.rows * work.columns * work.fidelity_models,
    }


def _apart(work: Work) -> dict[str, float]:
    """Return the parts of attacks that have parts of their own: the call, and each cell that it sees."""
    cells = (work.synthetic + work.asked) * work.columns
    return {f"{start}{name}": n for name in work.apart for start, n in (("", 1.0), (_CELL_IN, cells))}


def expected_bytes(work: Work) -> int:
    """Return about how much memory a process takes that makes this run, libraries and tables included."""
    return round(_cost(bytes_parts(work), BYTES)) + work.searched_bytes


def expected_seconds(work: Work, jobs: int) -> float:
    """Return about how many seconds a run will take in so many threads."""
    return _cost(seconds_parts(work), SECONDS) * shortened(jobs)


def expected_long(measure: Measure, work: Work) -> bool:
    """Return whether a measure of fidelity is expected to take a tenth of a run, or more; only some say how long.

    Parameters
    ----------
    measure
        An entry of the registry.
    work
        Of the run.
    """
    return measure.seconds is not None and measure.seconds(work.rows, work.columns) >= _LONG * expected_seconds(work, 1)


def made_by_fidelity(measures: Sequence[Measure], case: Case, *, models: bool) -> tuple[tuple[Measure, ...], list[str]]:
    """Return the measures that fidelity alone makes where none is named, and a note for each that would take too long.

    Parameters
    ----------
    measures
        Entries of the registry.
    case
        The tables.
    models
        Whether models are fitted.
    """
    options = RunOptions(fidelity_models=models)
    work = replace(work_of(case, (), options), attacks=False)
    made = tuple(m for m in measures if not expected_long(m, work))
    return made, [f"{m.name} was left out: {LONG}" for m in measures if m not in made]


def shortened(jobs: int) -> float:
    """Return the share of the CPU seconds that a run takes in so many threads."""
    return ALONE + (1 - ALONE) / jobs


def seconds_of_tests(work: Work, tasks: Sequence[Task], jobs: int) -> list[float]:
    """Return about how many seconds each test adds to a run in so many threads."""
    cost = seconds_parts(work)
    kinds = [_kinds(t) for t in tasks]
    n = Counter(kind for own in kinds for kind in own)
    of_kind = {kind: _cost({p: cost[p] for p in _parts_of(kind)}, SECONDS) / of for kind, of in n.items()}
    return [sum(of_kind[kind] for kind in own) * shortened(jobs) for own in kinds]


def seconds_of_fidelity(work: Work, jobs: int) -> float:
    """Return about how many seconds fidelity adds to a run."""
    cost = {part: n for part, n in seconds_parts(work).items() if part.endswith("fidelity")}
    return _cost(cost, SECONDS) * shortened(jobs)


_OF_TESTS = {
    "table": ("row in distances", "bit in distances"),
    "target": ("target", "bit of a target"),
    "model": ("model", "cell of a model"),
    "pair": ("pair", "row of a pair"),
}
"""The parts of the work that a kind of test makes."""


def _parts_of(kind: str) -> tuple[str, ...]:
    return _OF_TESTS.get(kind) or (kind, f"{_CELL_IN}{kind}")


def _kinds(task: Task) -> list[str]:
    """Return the kinds of work of a test."""
    entry = CATALOGUE[task.attack]
    if entry.cost.measured:
        return [entry.cost.measured]
    per = entry.plan.per
    return [{"key set": "pair"}.get(per, per), *(["model"] if "model" in task.settings.get("ways", ()) else [])]


def bytes_of_scores(sides: Sequence[int], columns: int, attacker: Attacker, *, membership: bool) -> tuple[int, int]:
    """Return about how many bytes the scores that rank one candidate take, as they are kept and while they rank.

    Parameters
    ----------
    sides
        Members asked, and strangers where there are any: without them nothing is ranked.
    columns
        Of the tables.
    attacker, membership
        Of the run.

    Examples
    --------
    >>> bytes_of_scores([1_000_000, 1_000_000], 15, Attacker(), membership=True)
    (76000000, 536000000)
    """
    named = attacker.keys is not None and attacker.targets is not None
    targets = columns if attacker.targets is None else len(attacker.targets)
    each = sum(n * (_CODED if n >= CODED_FROM else _SCORE) for n in sides)
    ranked = sum(sides) * (_RANKED + named + membership) if len(sides) > 1 else 0
    return each * ((1 + named) * targets + _OF_TABLES), _BYTES_OF_RANKED * ranked


def process_bytes() -> int:
    """Return about how much memory a process takes that has loaded the libraries and no table."""
    return round(BYTES.get("process", 0.0))


def _cost(parts: Mapping[str, float], each: Mapping[str, float]) -> float:
    return sum(each.get(name, 0.0) * part for name, part in parts.items())


def limit_of(tables: Iterable[TableSize], there: Room) -> int:
    """Return the bytes that a run on these tables may take: what is free, and what they and libraries have."""
    return there.free + min(there.used, process_bytes() + sum(s.held_bytes for s in tables))


def check_work(work: Work, tables: Sequence[TableSize], there: Room, advice: str = "") -> None:
    """Raise an error where so much work with these tables does not fit into memory.

    Raises
    ------
    SizeError
        It does not fit.
    """
    needed, limit = expected_bytes(work), limit_of(tables, there)
    if needed > limit:
        raise too_large(needed, limit, there.why, [s.rows for s in tables], advice)


def too_large(needed: int, there: int, why: str, rows: Sequence[int], advice: str = "") -> SizeError:
    """Return the error of a run that is refused: what it needs, what there is, and what to do."""
    return SizeError(
        f"memory: about {in_bytes(needed)} are needed for {' + '.join(f'{n:,}' for n in rows)} rows, and this process "
        f"may use {in_bytes(there)} ({why}). hint: {advice}take fewer rows, or begin nevertheless (--beyond-memory)."
    )

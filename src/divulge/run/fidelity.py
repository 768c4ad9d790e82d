"""`divulge.fidelity`: every measure of how much of the real table a synthetic table keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from divulge.case.case import Case, build_case
from divulge.case.comparable.overlap import overlap
from divulge.core.errors import SettingError
from divulge.core.memory import read_as_told
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema, check_columns, column_names
from divulge.measures.blocks import columns_left_out
from divulge.measures.catalogue import all_measures
from divulge.measures.entry import Measure
from divulge.measures.registry import checked_tolerance, run_measure
from divulge.measures.result import TOLERANCE, FidelityResult
from divulge.measures.verdicts import corrected
from divulge.report.fidelity import Fidelity
from divulge.run.cost.expected_cost import made_by_fidelity
from divulge.run.engines.engine_plan import codes_for_fidelity, counted_measures
from divulge.run.fidelity_of_tables import fidelity_of_tables
from divulge.run.forecasting.memory_check import check_fidelity, memory_told
from divulge.run.making.progress import Progress
from divulge.run.planning.options import Reading
from divulge.tables.counting import COUNTING, check_engine
from divulge.tables.kinds import kind_of
from divulge.tables.opening import load

__all__ = ["fidelity", "fidelity_of", "warnings_of"]

_ASKED = ("the unit", "ignored")  # the user said so
_NOT_FRESH = 0.01  # p-value of the holdout below which it is no fresh sample; start value
_NOT_LOOKED_FOR = "people who are in the real table and in the holdout were not looked for: that needs every row"


@read_as_told
@memory_told()
def fidelity(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    groups: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    measures: Sequence[str] | None = None,
    models: bool = True,
    schema: Schema | RelationalSchema | None = None,
    unit: str | None = None,
    sequence_key: str | Sequence[str] | None = None,
    sequence_index: str | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
    beyond_memory: bool = False,
    engine: str = "auto",
    progress: Progress = lambda what, done, total: None,
) -> Fidelity:
    """Return how much of the real table a synthetic table keeps, beside what a fresh sample would keep.

    Each result has a verdict: "differs", "like a fresh sample", "cannot tell", "closer than a fresh sample" (which
    points to copied rows: see `divulge.assess`), or "not measured". p-values are corrected within each measure, and
    over all measures.

    Parameters
    ----------
    real, synthetic
        Tables: a frame of any kind, or the path of a file. Dictionaries of tables by name add measures of their
        relations and sequences; a family (a row of a root table and all below it) is then dealt whole.
    holdout
        People of the same population that the synthesizer never saw. Each result then has its value for the holdout,
        and a warning says if the holdout is no fresh sample of the real table, or has people of it.
    groups
        Columns whose values define subgroups of people.
    targets
        Columns that models learn to predict.
    tolerance
        The largest difference that does not matter to you, as a distance from 0 to 1.
    measures
        Names of the measures; None takes all, and `column_rules` where it is expected to take less than a tenth of the
        time.
    models
        Whether to fit models, which takes most of the time.
    schema
        How columns are read; what it does not describe is inferred.
    unit
        The column of the person or household that rows belong to.
    sequence_key, sequence_index
        Where rows form sequences: the columns that name the sequence of a row, and those that order its rows. This adds
        measures of sequences.
    ignore
        Columns to leave out.
    missing
        Texts that stand for missing.
    seed
        Seed of every random step.
    level
        Of intervals; 1 less the chance of a false "differs".
    beyond_memory
        Whether to begin although the measures of one table are not expected to fit into the memory that this process
        may use.
    engine
        "duckdb", "polars" or "spark" count the tables where they are, as in `assess`: of the rows there are codes in
        memory alone, a byte or two for each value, and measures that fit models are left out. "auto" and "memory" read
        the rows of one table into memory.
    progress
        Called with the measure that comes next, the number of those done, and of all.

    Raises
    ------
    FrameError, TableError, ColumnError, SettingError
        A table cannot be read; the tables have no column in common; a column or measure is unknown; a setting is out
        of its range.
    SizeError
        The measures would not fit into memory (told before any is made), or they did not.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"sex": ["f", "m"] * 200, "age": [i % 70 for i in range(400)]})
    >>> found = fidelity(real, real.sample(400, shuffle=True, seed=1), measures=["column_pairs"])
    >>> [r.verdict for r in found.of("column_pairs")]
    ['closer than a fresh sample', 'closer than a fresh sample']
    """
    tolerance = checked_tolerance(tolerance)
    check_engine(engine)
    if isinstance(real, Mapping) or isinstance(synthetic, Mapping) or sequence_key is not None:
        if engine in COUNTING:
            raise SettingError(
                f"engine: {engine} counts one table, and relations and sequences need every row. hint: engine='memory'."
            )
        found = fidelity_of_tables(
            real, synthetic, holdout, measures=measures, models=models, tolerance=tolerance, progress=progress,
            of_one_table={"unit": unit, "ignore": ignore, "groups": groups, "targets": targets},
            settings={"schema": schema, "sequence_key": sequence_key, "sequence_index": sequence_index,
                      "missing": missing, "seed": seed, "level": level},
        )  # fmt: skip
        one = next(iter(real.values())) if isinstance(real, Mapping) else real
        return replace(found, warnings=warnings_of(found.results), kind=kind_of(one))
    if sequence_index is not None or isinstance(schema, RelationalSchema):
        what = "schema: it describes several tables" if sequence_index is None else "sequence_index: no sequence_key"
        raise SettingError(f"{what}. hint: pass dictionaries of tables, or name the column that tells sequences apart.")
    wanted = _chosen(measures, models)
    named = {name: None if given is None else list(column_names(name, given))
             for name, given in (("groups", groups), ("targets", targets))}  # fmt: skip
    kind, notes, elsewhere = kind_of(real), list[str](), engine in COUNTING
    if elsewhere:
        wanted, notes = counted_measures(wanted, engine, named=measures is not None)
    else:
        real, synthetic, holdout = load(real, "real"), load(synthetic, "synthetic"), load(holdout, "holdout")
        if not beyond_memory:
            reading = Reading(schema, unit, column_names("ignore", ignore), missing)
            check_fidelity(real, synthetic, holdout, reading, models=models)
    case = build_case(
        real, synthetic, holdout, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed, level=level,
        engine=engine,
    )  # fmt: skip
    for name, columns in named.items():
        check_columns(name, columns or (), case.by_table)
    if elsewhere:
        case = codes_for_fidelity(case, named["groups"] or (), beyond_memory=beyond_memory)
    case = case if elsewhere else case.collected("measures of fidelity need every row")
    if measures is None:
        wanted, late = made_by_fidelity(wanted, case, models=models and not elsewhere)
        notes = [*notes, *late]
    found = fidelity_of(case, wanted, tolerance=tolerance, progress=progress, **named)
    if elsewhere and case.has_holdout:
        notes = [*notes, _NOT_LOOKED_FOR]
    both = overlap(case)
    warned = found.warnings if both is None or both.ok else (*found.warnings, both.detail)
    return replace(found, kind=kind, notes=(*found.notes, *notes), warnings=warned)


def fidelity_of(
    case: Case,
    measures: Sequence[Measure],
    *,
    tolerance: float = TOLERANCE,
    targets: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Fidelity:
    """Return the results of some measures on a case, corrected over the measures.

    Parameters
    ----------
    case
        Two or three tables with all rows in memory.
    measures
        Entries of the registry.
    tolerance, targets, groups, progress
        As for `fidelity`.
    """
    settings = {"tolerance": tolerance, "targets": targets, "groups": groups}
    found = []
    for done, entry in enumerate(measures):
        progress(entry.name.replace("_", " "), done, len(measures))
        found.append(run_measure(entry, case, settings))
    results = tuple(r for family in corrected(found, case.level, [m.share for m in measures]) for r in family)
    told: dict[str, Any] = {
        "n_real": case.n_rows("real"), "n_synthetic": case.n_rows("synthetic"), "n_holdout": case.n_rows("holdout"),
        "tolerance": tolerance, "level": case.level, "seed": case.seed, "unit": case.unit,
    }  # fmt: skip
    silent = [f"{c!r} ({why})" for c, why in columns_left_out(case) if why not in _ASKED]
    notes = [f"columns that no measure compares, {len(silent)} in all: {', '.join(silent[:10])}"] if silent else []
    return Fidelity(results, told, (*case.notes, *notes), warnings_of(results))


def warnings_of(results: Sequence[FidelityResult]) -> tuple[str, ...]:
    """Return a sentence for the measures by which the holdout is no fresh sample of the real table."""
    tested: dict[str, float] = {}
    for r in results:
        if r.holdout is not None and r.holdout.p_adjusted is not None and not r.columns:
            tested[r.measure] = min(tested.get(r.measure, 1.0), r.holdout.p_adjusted)
    unlike = [m.replace("_", " ") for m, p in tested.items() if p < _NOT_FRESH / len(tested)]
    if not unlike:
        return ()
    return (
        f"the holdout is no fresh sample of the real table ({', '.join(unlike)}): real and holdout are different "
        "populations, and what a fresh sample shows is not what the holdout shows",
    )


def _chosen(measures: Sequence[str] | None, models: bool) -> tuple[Measure, ...]:
    known = all_measures()
    if measures is None:
        return tuple(m for m in known if models or not m.models)
    given = [measures] if isinstance(measures, str) else list(measures)
    unknown = [name for name in given if name not in {m.name for m in known}]
    if unknown or not given:
        raise SettingError(
            f"measures: no measure {unknown[0]!r}. hint: there are {', '.join(m.name for m in known)}."
            if unknown
            else "measures: the list is empty. hint: leave it out to take all."
        )
    return tuple(m for m in known if m.name in given)

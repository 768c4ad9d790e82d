"""The assessment of a run, typed, from what the run found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from msgspec.structs import replace

from divulge.attacks.entry import CATALOGUE
from divulge.attacks.membership.recognised import BY_DISTANCE
from divulge.core.result import Result, jsonable, plain
from divulge.core.schema import Schema
from divulge.core.threat_model import Actor
from divulge.measures.result import FidelityResult
from divulge.report import model
from divulge.report.claims.judged import claim_read
from divulge.report.content import RECORDS
from divulge.report.control_model import PositiveControl
from divulge.report.environment import machine_words, package_versions
from divulge.report.external.most import finding_of_most
from divulge.report.fidelity_model import FidelityScope
from divulge.report.model import EXPOSED, FORMAT, NOT_TESTED, UNTESTED, Assessment, ExposedPeople

__all__ = ["about_attacks", "assembled", "not_tested"]


def assembled(
    *,
    version: str,
    settings: model.Settings,
    started: str,
    seconds: float,
    tables: model.Tables,
    schema: Schema,
    bins: Mapping[str, str],
    checks: Sequence[model.Precondition],
    results: Sequence[Result],
    failed: Sequence[model.Failure],
    key_sets: Sequence[model.KeySet],
    minimal: Sequence[model.MinimalKeySet],
    notes: Sequence[str],
    verdict: model.Overall,
    records: pl.DataFrame | None,
    exposed: ExposedPeople,
    facts: model.Facts | None = None,
    positive_control: Sequence[PositiveControl] = (),
    left_out: Sequence[model.LeftOut] = (),
    not_run: Sequence[model.NotRun] = (),
    fidelity: Sequence[FidelityResult] = (),
    fidelity_scope: FidelityScope | None = None,
    sampling: model.Sampling | None = None,
    revealed: Sequence[str] = (),
    actors: Sequence[Actor] = (),
) -> Assessment:
    """Return the content of a run's assessment.json, as custodians see it."""
    made = Assessment(
        format=FORMAT,
        divulge=version,
        command="",
        edition="custodian",
        revealed=tuple(revealed),
        settings=settings,
        sampling=sampling,
        started=started,
        seconds=seconds,
        verdict=verdict,
        tables=tables,
        schema=_columns(schema, bins),
        preconditions=tuple(checks),
        results=tuple(r.record() for r in results),
        key_sets=tuple(key_sets),
        minimal_key_sets=tuple(minimal),
        records=_records_summary(records, exposed, results),
        facts=facts,
        positive_control=tuple(positive_control),
        failed=tuple(failed),
        left_out=tuple(left_out),
        not_run=tuple(not_run),
        fidelity=tuple(map(plain, fidelity)),
        fidelity_scope=fidelity_scope,
        policy=None,
        change=None,
        not_tested=not_tested({r.attack for r in results}, checks),
        threat=replace(schema.threat, actors=tuple(actors)),
        versions=package_versions(),
        machine=machine_words(),
        attacks=about_attacks({r.attack for r in results}),
        notes=tuple(notes),
    )
    return replace(made, verdict=replace(verdict, most=finding_of_most(made)), claim=claim_read(made))


def about_attacks(run: set[str]) -> dict[str, model.About]:
    """Return the catalogue's description of each attack that ran."""
    return {
        n: model.About(family=a.family, question=a.question, needs=a.needs, reference=a.reference)
        for n, a in CATALOGUE.items()
        if n in run
    }


def _columns(schema: Schema, bins: Mapping[str, str]) -> tuple[model.Column, ...]:
    return tuple(
        model.Column(name=c.name, kind=c.kind, roles=tuple(c.roles), why=c.why, bins=bins.get(c.name, ""))
        for c in schema.columns
    )


def not_tested(run: set[str], checks: Sequence[model.Precondition]) -> tuple[model.NotTested, ...]:
    """Return the questions that no attack of the run answers, and the preconditions that could not be tested."""
    attacks = [model.NotTested(what=w, question=q) for attack, w, q in NOT_TESTED if attack not in run]
    unknown = [model.NotTested(what=c.check, question=UNTESTED.get(c.check, "")) for c in checks if not c.tested]
    return (*attacks, *unknown)


def _recognised(records: pl.DataFrame) -> dict[str, int]:
    """Return how many records are recognised as members, and how many of them by no distance; {} where not asked."""
    if "recognised" not in records.columns:
        return {}
    found = records.filter(pl.col("recognised"))
    others = found.filter(~pl.col("recognised_by").is_in(list(BY_DISTANCE)))
    near = int(others["flagged"].fill_null(False).sum()) if "flagged" in others.columns else 0
    return {"recognised": len(found), "recognised_not_near": len(others) - near}


def _records_summary(
    records: pl.DataFrame | None, beside: ExposedPeople, results: Sequence[Result]
) -> model.Records | None:
    if records is None:
        return None
    hit = next((r for r in results if (r.attack, r.variant) == ("exposure", "hit") and r.real is not None), None)
    run = {r.attack for r in results}
    least = [] if hit is None else [v for n, v in hit.context.items() if n.startswith("fewest ") and v is not None]
    exposed = records.filter(pl.any_horizontal(pl.col(*EXPOSED).cast(pl.Boolean)))
    return model.Records(
        n=len(records),
        flagged=None if hit is None else int(records["flagged"].sum()),
        fdr=None if hit is None else hit.settings["fdr"],
        smallest_flaggable=int(least[0]) if least else None,
        file=RECORDS,
        copied=int(records["copied"].sum()) if "copies" in run else None,
        replicated_unique=int(records["replicated_unique"].sum()) if "replicated_uniques" in run else None,
        disclosed=int((records["n_disclosed"] > 0).sum()) if "disco" in run else None,
        exposed=len(exposed),
        exposed_share=len(exposed) / len(records),
        exposed_share_strangers=jsonable(beside.strangers),
        exposed_people=beside.people,
        exposed_people_share_strangers=jsonable(beside.people_strangers),
        named_in_texts=int(records["named_in_texts"].sum()) if "named_in_texts" in records.columns else None,
        **_recognised(records),
    )

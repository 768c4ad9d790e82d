"""The exposure of each real record, one row each; only the custodian of the real table may see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.entry import CATALOGUE, Record
from divulge.attacks.membership.exposure import People as Neighbours
from divulge.attacks.membership.exposure import people_of
from divulge.attacks.membership.recognised import BY_DISTANCE, FDR, Recognised, recognised
from divulge.case.asked import Asked
from divulge.case.case import Case
from divulge.case.distances import distances_of
from divulge.core.records import Facts
from divulge.core.result import Result
from divulge.measures.people_facts import HARDLY, PeopleFacts
from divulge.report.model import EXPOSED, ExposedPeople
from divulge.run.judging.named_people import named_people
from divulge.run.judging.whole_histories import WholeHistories, whole_histories
from divulge.run.planning.people import People

__all__ = ["exposed_people", "per_record", "told_facts"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_UNUSUAL = 0.01
"""A record is reported as unusual if at most this share of real records is at least as exposed. Start value."""
_CLOSER = 2.0  # a synthetic row is closer than another person by at least this factor; start value
_SETTINGS = ("k", "fdr", "neighbour")
_NAMED = 2  # column sets that a reason names at most


def per_record(
    case: Case, results: Sequence[Result], facts: PeopleFacts | None = None, asked: Asked | None = None
) -> pl.DataFrame | None:
    """Return one row for each real record, most exposed first: its row number and its scores, never a value.

    Columns: `row` (from 0, in the order of the real table); `copied` (a synthetic row equals the whole record); `named`
    (it does, and chance under these columns can hardly do this) and `repeated` (the synthetic table has it more often
    than chance can explain), see `divulge.measures.people_facts`;
    `replicated_unique` (its key in a tested key set is unique, also among strangers where there are any, and exactly
    one synthetic row has this key); `n_disclosed` and `disclosed` (targets for which the synthetic class of the record
    has one value, and the right one); `highest_cap` and `highest_cap_target`; `singled_out` (a guess of `singling_out`
    fits this record's person and nobody else in the real table), `linked` (the highest probability, at k = 1, that two
    halves of the record are linked to one synthetic row) and `n_inferred` (targets that the nearest synthetic row gives
    with certainty); these three happen to strangers as well and are no sign of a leak; `reasons` (why the record is
    reported, in words and with column names only). None when rows are not in memory.

    Columns from the results of `exposure`: `exposure` (V_k, the mean distance to the nearest other people) and
    `exposure_rank` (share of real records at least as exposed); `distance_to_synthetic` and `distance_to_person`
    (distance to the nearest synthetic row, and to the nearest other person of real and holdout); `hit_score`, `p_value`
    and `flagged` (see `divulge.exposure`; null without a holdout); `nearest_synthetic` (number of the nearest synthetic
    row, the lowest in ties); `attraction` (number of synthetic rows whose nearest person this is, ties shared).

    Columns from the results of `membership`: `membership` (the mean rank of its scores, 1 most like a member),
    `membership_p_value` (share of strangers who score at least as high), `recognised` (flagged at a false discovery
    rate of 10%) and `recognised_by` (of the scores in the mean rank the one that ranks the record highest).

    Of linked tables: `whole_history` (all rows of the person in one table stand under one synthetic person); `named`
    then holds for those too whom this names, see `whole_histories`.

    From the results of `named_in_texts`: `own_words` (forms of words of the person's own that recur in synthetic texts,
    which happens by chance to strangers too) and `named_in_texts` (flagged at a false discovery rate of 10%).

    Of a schema file with actors: `disclosed_to` (the actors to whose knowledge DiSCO discloses a target).

    Where a sample of people was asked, `asked` says who, and what only they were asked is null for the others.

    Named and repeated records come first, then flagged ones, then records with graver signs, then records with higher
    scores.
    """
    if not case.in_memory:
        return None
    people, n = People(case, asked), case.n_rows("real")
    copied, unique, hits = _signs(n, results, "real")
    nobody = np.zeros(n, dtype=bool)
    n_disclosed = sum((h.astype(np.int64) for h in hits.values()), np.zeros(n, dtype=np.int64))
    together, named = histories_of(case, results), nobody if facts is None else facts.verbatim.named
    best, of = _highest_cap(n, [r for r in results if r.attack == "cap"], people.of_everybody)
    frame = pl.DataFrame(
        {
            "row": np.arange(n),
            "copied": copied,
            "named": (nobody if facts is None else facts.verbatim.named)
            | (nobody if together is None else together.named),
            "repeated": nobody if facts is None else facts.repeated.found,
            "replicated_unique": unique,
            "n_disclosed": n_disclosed,
            "disclosed": _names(hits, n),
            "highest_cap": best,
            "highest_cap_target": of,
            **_recorded(people, results),
        }
    )
    order = ["named", "repeated", "copied", "replicated_unique", "n_disclosed", "highest_cap", "row"]
    told = [
        _where(named, "stands verbatim, and chance under these columns can hardly do this"),
        _where(frame["repeated"].to_numpy(), "the synthetic table repeats this record"),
        _copy_reasons(n, copied, results),
    ]
    if together is not None:
        frame = frame.with_columns(whole_history=pl.Series(together.members))
        told.insert(2, _history_reasons(together))
        order = [*order[:2], "whole_history", *order[2:]]
    found = next((r for r in results if (r.attack, r.variant) == ("exposure", "hit")), None)
    if found is not None:
        neighbours = people_of(case, columns=found.keys or None, **{s: found.settings[s] for s in _SETTINGS})
        attraction = distances_of(case, found.keys or None).attraction()[:n]
        frame = pl.concat([frame, _exposure_columns(neighbours, attraction)], how="horizontal")
        told.append(_distance_reasons(neighbours, copied, found.settings["fdr"]))
        # flagged records are ordered by score, the others by their gravest sign
        frame = frame.with_columns(_score=pl.when("flagged").then("hit_score"))
        order = ["named", "repeated", "_score", *order[2:-1], "hit_score", "row"]
        unusual = (frame["exposure_rank"] <= _UNUSUAL).fill_null(False).to_numpy()
        told.append(_where(unusual, f"among the {_UNUSUAL:.0%} who stand furthest apart from other people"))
    found_out = _recognised(people, results)
    if found_out is not None:
        frame = pl.concat([frame, _recognised_columns(found_out)], how="horizontal")
        told.append(_recognised_reasons(found_out, frame))
        order = [*order[:2], "recognised", *order[2:]]
    in_texts = named_people(results, case.units("real"), case.units("holdout"))
    if in_texts is not None:
        frame = frame.with_columns(named_in_texts=pl.Series(in_texts.flagged))
        text = [f"a synthetic text has the person's own {by} (flagged at FDR {FDR:g})" for by in in_texts.by]
        told.append(pl.select(pl.when(pl.Series(in_texts.flagged)).then(pl.Series(text))).to_series())
        order = [*order[:2], "named_in_texts", *order[2:]]
    told.append(_sets_reason("alone on ", [(r.keys, _hit(n, r, "real")) for r in _uniques(results)], n))
    told.append(frame.select(pl.when(pl.col("n_disclosed") > 0).then(pl.col("disclosed") + " disclosed")).to_series())
    frame = _only_of_asked(frame.with_columns(reasons=_joined(told)), people)
    down = [name != "row" for name in order]
    return frame.sort(order, descending=down, nulls_last=True).drop("_score", strict=False)


def histories_of(case: Case, results: Sequence[Result]) -> WholeHistories | None:
    """Return whose rows of linked tables all stand under one synthetic person; found once for a case."""
    return case.cache.once("whole histories", lambda: whole_histories(case, results))


def told_facts(case: Case, results: Sequence[Result], facts: PeopleFacts | None) -> Facts | None:
    """Return the counts of people, as in assessment.json."""
    if facts is None:
        return None
    together = histories_of(case, results)
    return replace(facts.to_facts(), histories=None if together is None else together.to_facts())


def _recognised(people: People, results: Sequence[Result]) -> Recognised | None:
    """Return who is recognised, of all real records; only who was asked can be."""
    case = people.of("membership")
    found = recognised(results, case.units("real"), case.units("holdout"))
    if found is None or people.asked is None:
        return found
    return found.among(people.asked.real, people.case.n_rows("real"))


def _only_of_asked(frame: pl.DataFrame, people: People) -> pl.DataFrame:
    """Return the records with a column `asked`, and null for the scores of attacks that did not ask the record."""
    if people.asked is None:
        return frame
    asked = np.isin(np.arange(len(frame)), people.asked.real)
    entries = [entry.record for entry in CATALOGUE.values() if entry.sampled and entry.record is not None]
    scores = {record.column for record in entries} | {"highest_cap_target", "recognised", "recognised_by"}
    known = pl.Series("asked", asked)
    return frame.with_columns(
        known, *(pl.when(known).then(pl.col(name)).alias(name) for name in frame.columns if name in scores)
    )


def exposed_people(case: Case, results: Sequence[Result], records: pl.DataFrame | None) -> ExposedPeople:
    """Return the share of strangers with any sign for which a record is reported, and both sides counted as people.

    People are counted where a column tells them apart: whoever has a record with a sign.
    """
    members, others = case.units("real"), _exposed_strangers(case, results)
    strangers = None if others is None else float(others.mean())
    if members is None or records is None:
        return ExposedPeople(strangers=strangers)
    exposed = records.filter(pl.any_horizontal(pl.col(*EXPOSED).cast(pl.Boolean)))["row"].to_numpy()
    people, apart = len(np.unique(members[exposed])), case.units("holdout")
    if others is None or apart is None:
        return ExposedPeople(strangers=strangers, people=people)
    share = len(np.unique(apart[others])) / len(np.unique(apart))
    return ExposedPeople(strangers=strangers, people=people, people_strangers=share)


def _exposed_strangers(case: Case, results: Sequence[Result]) -> Bools | None:
    """Return which strangers have any of the signs for which a record is reported; None without a holdout."""
    n = case.n_rows("holdout")
    if not n or not case.in_memory:
        return None
    copied, unique, hits = _signs(n, results, "holdout")
    for hit in hits.values():
        copied = copied | hit
    return copied | unique


# ---------------------------------------------------------------- columns


_OWN = ("copied", "replicated_unique", "n_disclosed", "highest_cap")
"""Columns that are computed together with others, so that `_recorded` leaves them out."""


def _recorded(people: People, results: Sequence[Result]) -> dict[str, NDArray[np.generic] | pl.Series]:
    """Return the columns of the other attacks that score people, as declared in their entries, and of actors."""
    entries = [
        (name, a.record) for name, a in CATALOGUE.items() if a.record is not None and a.record.column not in _OWN
    ]
    found = {
        record.column: _column(people, record, [r for r in results if r.attack == name]) for name, record in entries
    }
    return found | _disclosed_to(people.case.n_rows("real"), results)


def _column(people: People, record: Record, results: Sequence[Result]) -> NDArray[np.generic]:
    n = people.case.n_rows("real")
    # one after the other: the scores of all real records under hundreds of results would fill the memory
    whole = (people.of_everybody(r) for r in results if r.individual is not None and record.of(r.variant))
    if record.how == "any":
        return _any_hit(n, whole, "real")
    if record.how == "count":
        return sum((_hit(n, r, "real").astype(np.int64) for r in whole), np.zeros(n, dtype=np.int64))
    scores = (r.individual.real for r in whole if r.individual is not None)
    highest = next(scores, np.zeros(n))
    for other in scores:
        highest = np.maximum(highest, other)
    return highest


def _exposure_columns(people: Neighbours, attraction: Floats) -> pl.DataFrame:
    own = people.real
    n = len(own.score)
    frame = pl.DataFrame(
        {
            "exposure": own.outlierness,
            "exposure_rank": _share_at_least(own.outlierness),
            "distance_to_synthetic": own.to_synthetic,
            "distance_to_person": own.to_person,
            "hit_score": own.score,
            "p_value": pl.Series([None] * n, dtype=pl.Float64) if people.p_value is None else people.p_value,
            "flagged": pl.Series([None] * n, dtype=pl.Boolean) if people.flagged is None else people.flagged,
            "nearest_synthetic": own.synthetic_row,
            "attraction": attraction,
        }
    )
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def _share_at_least(values: Floats) -> Floats:
    """Return for each value the share of records whose value is at least as high; nan where there is none."""
    known = np.sort(values[~np.isnan(values)])
    rank = (len(known) - np.searchsorted(known, values, side="left")) / max(1, len(values))
    return np.where(np.isnan(values), np.nan, rank)


def _signs(n: int, results: Sequence[Result], role: str) -> tuple[Bools, Bools, dict[str, Bools]]:
    """Return which records are copied, which are replicated uniques, and for each target which are disclosed."""
    hits = _disclosed(n, results, role, lambda r: [str(r.target)])
    unique = _any_hit(n, _uniques(results), role)
    copied = _any_hit(n, [r for r in results if (r.attack, r.variant) == ("copies", "exact")], role)
    return copied, unique, hits


def _disclosed(n: int, results: Sequence[Result], role: str, of: Callable[[Result], Iterable[str]]) -> dict[str, Bools]:
    """Return which records DiSCO discloses, by target or by whoever asks, given what a result is of."""
    hits: dict[str, Bools] = {}
    for r in results:
        if (r.attack, r.variant) == ("disco", "DiSCO"):
            own = _hit(n, r, role)
            hits |= {name: own | hits[name] if name in hits else own for name in of(r)}
    return hits


def _disclosed_to(n: int, results: Sequence[Result]) -> dict[str, pl.Series]:
    """Return the actors to whom each record is disclosed, as a column; {} where there is one attacker."""
    hits = _disclosed(n, results, "real", lambda r: r.actors)
    return {"disclosed_to": _names(hits, n)} if hits else {}


def _uniques(results: Sequence[Result]) -> list[Result]:
    """Return the results that tell replicated uniques; uniqueness is among all people where there are strangers."""
    found = [r for r in results if r.attack == "replicated_uniques"]
    wanted = "repU pooled" if any(r.variant == "repU pooled" for r in found) else "repU"
    return [r for r in found if r.variant == wanted]


def _any_hit(n: int, results: Iterable[Result], role: str) -> Bools:
    out = np.zeros(n, dtype=bool)
    for result in results:
        out |= _hit(n, result, role)
    return out


def _hit(n: int, result: Result, role: str) -> Bools:
    scores = None if result.individual is None else getattr(result.individual, role)
    return np.zeros(n, dtype=bool) if scores is None else scores >= 1


def _highest_cap(
    n: int, results: Sequence[Result], whole: Callable[[Result], Result] = lambda r: r
) -> tuple[NDArray[np.float64], pl.Series]:
    best, which = np.full(n, -1.0), np.full(n, -1, dtype=np.int64)
    results = sorted(results, key=lambda r: str(r.target))  # in ties the first by name, so column order does not enter
    for i, result in enumerate(results):
        individual = whole(result).individual
        if individual is None:
            continue
        score = individual.real
        better = score > best  # nobody who is skipped
        best[better], which[better] = score[better], i
    names = pl.Series([str(r.target) for r in results] or [""], dtype=pl.String)
    index = pl.Series(which)
    of = names.gather(index.set(index < 0, None))
    return np.where(best < 0, np.nan, best), of


def _names(hits: dict[str, Bools], n: int) -> pl.Series:
    if not hits:
        return pl.Series([""] * n)
    parts = [
        pl.Series(h).replace_strict({True: name + ", ", False: ""}, return_dtype=pl.String)
        for name, h in sorted(hits.items())
    ]
    frame = pl.DataFrame([p.rename(str(i)) for i, p in enumerate(parts)])
    return frame.select(pl.concat_str(pl.all()).str.strip_chars_end(", ")).to_series()


def _recognised_columns(found: Recognised) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "membership": found.score,
            "membership_p_value": found.p_value,
            "recognised": found.flagged,
            "recognised_by": pl.select(pl.when(pl.Series(found.flagged)).then(pl.Series(found.by))).to_series(),
        }
    )


# ---------------------------------------------------------------- reasons


_RECOGNISED = {
    "ratio": "it lies nearer to synthetic rows than to people",
    "hit": "it lies nearer to a synthetic row than to people",
    "classifier": "a classifier takes it for a synthetic row",
    "3-way margins": "its values on sets of three columns are commoner in the synthetic table than among people",
}


def _recognised_reasons(found: Recognised, frame: pl.DataFrame) -> pl.Series:
    """Return the reasons of the members who are recognised, by the attack that ranks each highest."""
    flagged = frame["flagged"].fill_null(False).to_numpy() if "flagged" in frame.columns else ~found.flagged
    near = np.isin(found.by, BY_DISTANCE)
    why = {by: _RECOGNISED.get(by, f"by membership, {by}") for by in set(found.by)}
    told = [f"recognised as a member: {why[by]} (flagged at FDR {FDR:g})" for by in found.by]
    # a flag by distance has said so already
    return pl.select(pl.when(pl.Series(found.flagged & ~(near & flagged))).then(pl.Series(told))).to_series()


def _history_reasons(together: WholeHistories) -> pl.Series:
    """Return which rows of each member stand under one synthetic person, and whether this names the member."""
    told = pl.Series(together.reasons, dtype=pl.String)
    named = pl.lit(f", and {HARDLY}".replace("under these columns ", ""))
    return pl.select(told + pl.when(pl.Series(together.named)).then(named).otherwise(pl.lit(""))).to_series()


def _copy_reasons(n: int, copied: Bools, results: Sequence[Result]) -> pl.Series:
    """Return the reasons that say a record is copied exactly, nearly, or nearly on some columns."""
    near = [(r.keys, _hit(n, r, "real")) for r in results if r.attack == "copies" and r.variant.startswith("near")]
    whole = copied.copy()
    for keys, hit in near:
        if not keys:
            whole |= hit
    on_some = _sets_reason("near-copied on ", [(keys, hit) for keys, hit in near if keys], n)
    texts = {"a": _where(copied, "whole record copied"), "b": _where(whole, "whole record near-copied"), "c": on_some}
    return pl.DataFrame(texts).select(pl.coalesce("a", "b", "c")).to_series()


def _distance_reasons(people: Neighbours, copied: Bools, fdr: float) -> pl.Series:
    """Return the reasons that compare the nearest synthetic row with the nearest other person, and name a flag."""
    own = people.real
    flagged = np.zeros(len(own.score), dtype=bool) if people.flagged is None else people.flagged
    equal, alone = own.to_synthetic == 0, own.to_person > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = own.to_person / own.to_synthetic
    frame = pl.DataFrame({"ratio": ratio, "flagged": flagged, "equal": equal, "alone": alone, "copied": copied})
    times = pl.when(pl.col("ratio") >= 10).then(pl.col("ratio").round(0).cast(pl.Int64, strict=False).cast(pl.String))
    times = times.otherwise(pl.col("ratio").round(1).cast(pl.String))
    text = (
        pl.when(pl.col("equal") & pl.col("copied"))
        .then(pl.when("alone").then(pl.lit("nobody else has it")).otherwise(pl.lit("another person has it too")))
        .when("equal")
        .then(
            pl.lit("a synthetic row equals it on the columns compared, ")
            + pl.when("alone").then(pl.lit("nobody else does")).otherwise(pl.lit("another person does too"))
        )
        .when((pl.col("ratio") >= _CLOSER) | (pl.col("flagged") & (pl.col("ratio") > 1)))
        .then(pl.format("nearest synthetic row is {} times closer than the nearest other person", times))
        .when(pl.col("flagged"))
        .then(pl.lit("synthetic rows lie closer than to strangers"))
    )
    told = frame.select(text + pl.when("flagged").then(pl.lit(f" (flagged at FDR {fdr:g})")).otherwise(pl.lit("")))
    return told.to_series()


def _sets_reason(what: str, sets: Sequence[tuple[tuple[str, ...], Bools]], n: int) -> pl.Series:
    """Return the column sets on which a record was hit: the smallest are named, the others counted."""
    hits = np.zeros(n, dtype=np.int64)
    texts = []
    for keys, hit in sorted(sets, key=lambda s: (len(s[0]), s[0])):
        texts.append(_where(hit & (hits < _NAMED), " + ".join(keys)))
        hits += hit
    if not texts:
        return pl.Series([None] * n, dtype=pl.String)
    frame = pl.DataFrame([t.rename(str(i)) for i, t in enumerate(texts)])
    named = pl.concat_str(pl.all(), separator=", ", ignore_nulls=True)
    more = pl.lit(pl.Series(hits - _NAMED))
    rest = pl.when(more > 0).then(pl.format(" and {} more sets of columns", more)).otherwise(pl.lit(""))
    return frame.select(pl.when(pl.lit(pl.Series(hits > 0))).then(pl.lit(what) + named + rest)).to_series()


def _where(mask: Bools, text: str) -> pl.Series:
    return pl.select(pl.when(pl.Series(mask)).then(pl.lit(text))).to_series()


def _joined(told: Sequence[pl.Series]) -> pl.Series:
    """Return the reasons of each record as one text, "" where there is none."""
    frame = pl.DataFrame([t.rename(str(i)) for i, t in enumerate(told)])
    return frame.select(pl.concat_str(pl.all(), separator="; ", ignore_nulls=True)).to_series()

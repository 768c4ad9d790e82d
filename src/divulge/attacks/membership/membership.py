"""Membership: is a person, whose record the attacker holds, one of those the synthesizer was trained on?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.entry import (
    Cost,
    EngineWork,
    Exact,
    Primary,
    SearchBytes,
    Settings,
    Withheld,
    Words,
    indexed,
    per_table,
)
from divulge.attacks.membership.blind import NOTES as BLIND_NOTES
from divulge.attacks.membership.blind import blind_check
from divulge.attacks.membership.edit_score import EDIT_NOTES, edit_columns, edit_notes
from divulge.attacks.membership.edit_score import NAME as EDITS
from divulge.attacks.membership.known_members import KNOWN, check_known, stacked
from divulge.attacks.membership.results import (
    CONTEXT,
    GAIN,
    NO_HOLDOUT,
    NOTES,
    RATES,
    WHOLE,
    Scored,
    judgement,
    judgements,
    shown,
    three,
)
from divulge.attacks.membership.scores import MEAN_RANK, STACKED, checked_scores, person_scores, shares_of
from divulge.attacks.membership.several_tables import (
    BEST_TABLE,
    BY_NUMBER,
    GAIN_OF_ALL,
    TABLES,
    by_number_of_tables,
)
from divulge.attacks.membership.whole_people.tables import NOTES as PEOPLE_NOTES
from divulge.attacks.membership.whole_people.tables import has_rows
from divulge.attacks.membership.whole_people.whole_person import no_holdout, whole_person
from divulge.attacks.other_people import UNIT_NOTE, by_unit, pooled_units
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import distance_columns, distances_of
from divulge.core.errors import SettingError
from divulge.core.result import Individual, Result
from divulge.kernels.edits import LONGEST
from divulge.stats.roc import auc, auc_gain
from divulge.stats.score_tests import score_tests

__all__ = ["membership"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BEST = "the best single score is chosen on these people, which makes the gain over it smaller, not larger"

_BEST_AUC = "AUC of the best single score"
_LEAST_P = "smallest p-value of the permutations"

_WORDS = Words(
    says="I know this person's record, and I say that the person was in the training data.",
    knows="The record of the person, the whole synthetic table, and records of other people of the population; for "
    '"known members" also who of these people are members.',
    data=(
        "Columns of numbers, dates or categories, every row in memory, and a holdout. Distances: "
        + MIXED
        + " Margins: "
        "numbers and dates are put into bins. The classifier takes numbers by rank and categories by frequency. The "
        "edit distance takes values as texts: whole numbers without a point, others with the fewest digits that read "
        f"back, missing ones empty; columns with values of more than {LONGEST} letters are left out, and where people "
        "are many a random sample is asked. Several linked tables, as dictionaries: whole people, see the formula."
    ),
    formula=(
        "W = real and holdout without the person (or the person's unit), S = synthetic table\n"
        "d_k = distance to the k-th nearest row; a person scores the higher, the more like a member\n"
        "ratio: log d_1(x, W) - log d_1(x, S)      hit: log d_5(x, W) - log d_1(x, S)\n"
        "ratio of 5, of 20: mean over k = 1 to 5, to 20 of log d_k(x, W) - log d_k(x, S)\n"
        "dpi: share of S over shares of S and W within the distance of the 20th neighbour of both\n"
        "classifier: share of synthetic rows in the leaves of trees grown without the person\n"
        "k-way margins: mean over sets of k columns of log share in S - log share in W of x's values\n"
        "rare 4-way margins: the sum over those sets of 4 on which at most 2 others equal x\n"
        "edit distance: log(e(x, W) + 1/2) - log(e(x, S) + 1/2), e = smallest sum over columns of the\n"
        "    letters to change, add or drop (Levenshtein) until x is a row\n"
        "mean rank: mean of the ranks of ratio, hit, classifier and 3-way margins\n"
        "known members: ridge regression on ranks of the scores, fitted on four fifths of the people\n"
        "dcr: -d_1(x, S)      dcr difference: d_1(x, W) - d_1(x, S)\n"
        "monte carlo: number of rows of S within the median of d_1(x, S)\n"
        "domias: log density of S at x - log density of W at x\n"
        "gen-lra: gain in log density of W at the 200 nearest rows of S if x is added\n"
        "whole person, of several linked tables: hit of the row of the person, of the rows below, and of\n"
        "    sets of rows (mean distance to the nearest row, both ways; bags of cells), as -log of the part\n"
        "    of null twins above it, added up; a twin has one half of W in place of S, one in place of W\n"
        "AUC = P(member scores higher than stranger)\n"
        "TPR = share of members claimed where the share FPR of strangers is\n"
        "risk = (TPR - FPR) / (1 - FPR) at FPR = 10%\n"
        "p = max-T over the scores and, of each, AUC and members among the highest 10% and 1%\n"
        "    of all people (edit distance: 1, 2, 5, 10, 20, 50%); the labels are permuted."
    ),
    reading=(
        "Rates are the share of members claimed where one stranger in ten is claimed. Risk 0 means that members are "
        "claimed as often as strangers, which is the baseline; 1 means that every member is claimed. It estimates the "
        "share of members that were copied, if copies score highest. A negative risk means that members are claimed "
        "less often. An AUC of 0.5 is chance. The context has the rates at 10, 1 and 0.1%; their intervals allow for "
        "the error of the threshold too. Where a classifier tells members from strangers without the synthetic table, "
        "the verdict is that nobody can tell."
    ),
    silent=(
        "An attacker with the generator's code, or with several synthetic tables, may do better.",
        "It is an average over people: single people may be recognised surely where few are.",
        "No single score sees every leak: distances miss what margins keep, and the reverse.",
        "Edit distances see values that keep most of their letters; where numbers are interpolated they see nothing.",
    ),
)


_BYTES_OF_HASH = 8  # of a row, by which rows are ordered


def _seconds(work: EngineWork, settings: Settings) -> float:
    """Return the seconds of trees of blocks, orders of rows and margins; of searches of each person, and of scores."""
    of_rows = 3.3e-7 * work.synthetic * work.columns
    return 4.5 + of_rows + 5.3e-5 * work.searches + 2.3e-6 * work.asked * work.columns


def _disk(columns: int, in_blocks: bool) -> int:
    return indexed(columns) + 6 * columns + 12  # values as numbers and codes, and their order


@attack(
    family="membership",
    question="Was this person in the training data?",
    needs="a holdout, and columns of numbers or categories",
    reference="Houssiau et al. 2022, TAPAS; Ward et al. 2025, Synth-MIA (scores side by side). ratio, dcr, dcr "
    "difference: Chen et al. 2020, GAN-Leaks. monte carlo: Hilprecht et al. 2019, Monte Carlo and reconstruction "
    "membership inference attacks. domias: van Breugel et al. 2023. dpi: Ward et al. 2024, Data plagiarism index. "
    "gen-lra: Ward et al. 2025, Gen-LRA. margins: Golob et al. 2024, MAMA-MIA. classifier: Stadler et al. 2022. "
    "edit distance: LevAtt, arXiv 2512.08875 (2025). Blind check: Das et al. 2024, Blind baselines. max-T: Westfall "
    "and Young 1993.",
    words=_WORDS,
    sampled=True,
    plan=per_table(strangers=True),
    cost=Cost(
        measured="membership",
        seconds=_seconds,
        memory=SearchBytes(12, 300, 1_100, 250_000_000),
        disk=_disk,
        kept=_BYTES_OF_HASH,
    ),
    weight=3,
    primary=Primary("membership", lambda variant: variant in (MEAN_RANK, WHOLE), placed=True),
    hit={"": "taken for members:"},
    claimed=lambda variant: None if variant.startswith((WHOLE, KNOWN)) else "TPR",  # learnt from who is a member
    context={
        **dict.fromkeys(CONTEXT, Withheld()),
        _BEST_AUC: Withheld(),
        _LEAST_P: Exact(),
        TABLES: Exact(),
        BEST_TABLE: Withheld(),
        **{f"{GAIN_OF_ALL}{limit}": Withheld() for limit in ("", ", lower limit", ", upper limit")},
    },
    notes=(*NOTES, *EDIT_NOTES, *BLIND_NOTES, *PEOPLE_NOTES, UNIT_NOTE.format("'…'"), NO_HOLDOUT, _BEST, BY_NUMBER),
)
def membership(
    case: Case,
    *,
    columns: Sequence[str] | None = None,
    scores: Sequence[str] | str | None = None,
    known_members: bool = False,
) -> tuple[Result, ...]:
    """Return how well members are told from strangers by membership scores, one result for each score.

    Every score compares a person with the synthetic table and with all other people, real and holdout together. So it
    looks at no label, and a permutation of the labels is an exact test of any number of scores. The p-values are
    corrected over all scores of the call; "mean rank" is the headline, fixed in advance, and the family says whether
    any other score does better than chance.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that a distance can compare.
    scores
        Names of the scores. None takes ten: mean rank, ratio, hit, dpi, classifier, 2-way, 3-way, 4-way margins, rare
        4-way margins and edit distance. On request also: ratio of 5, ratio of 20, dcr, dcr difference, monte carlo,
        domias, gen-lra.
    known_members
        Whether to add the attacker who knows who most members and strangers are, and learns from them which scores to
        trust. Needs 100 of each.

    Raises
    ------
    SettingError
        A score is unknown, the rows are not in memory, there is no column to compare, or too few members or strangers
        are known.

    Notes
    -----
    With units (`unit`), a unit is scored as its highest record, no record of it is a reference for another one, and
    labels are permuted by unit. Without a holdout nothing is compared.

    Of several linked tables (dictionaries) there is one score of each whole person, and one of each of its parts: the
    row of the person, the rows below one by one, as sets, and both together. `individual` is in the order of the table
    of people.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> draw = np.random.default_rng(0).normal
    >>> people = pl.DataFrame({c: draw(size=240) for c in "abc"})
    >>> real, holdout = people[:120], people[120:]
    >>> synthetic = pl.concat([real[:40], pl.DataFrame({c: draw(size=80) for c in "abc"})])
    >>> (found,) = membership(real, synthetic, holdout=holdout, scores=["ratio"])
    >>> found.real.hits, found.real.n, found.verdict
    (46.0, 120, 'excess found')
    """
    if case.persons is not None and has_rows(case.persons.linked, case.persons.table):
        ours, theirs = case.units("real"), case.units("holdout")
        together = None if ours is None or theirs is None else {"real": ours, "holdout": theirs}
        linked, table = case.persons.linked, case.persons.table
        return whole_person(linked, table, together) if case.has_holdout else (no_holdout(),)
    wanted = checked_scores(scores)
    compared, left_out = distance_columns(case, columns)
    keys = () if columns is None else compared
    if not case.has_holdout:
        none = Result(attack="membership", variant=wanted[0], keys=keys, verdict="no holdout", notes=(NO_HOLDOUT,))
        return (none,)
    long = [] if EDITS not in wanted or edit_columns(case, compared) else edit_notes(case, compared)
    wanted = tuple(name for name in wanted if not long or name != EDITS)
    if not wanted:
        raise SettingError(f"scores: {long[0]}. hint: name other scores.")
    units = pooled_units(case, ("real", "holdout"))
    if known_members:
        check_known(case, units)
    blind = blind_check(case, compared, units)
    every = person_scores(case, compared, (*wanted, *(STACKED if known_members else ())))
    settings = {"columns": len(compared), "reference": "real and holdout without the person"}
    visible = _visible(case, compared)
    notes = [*left_out, *long, *([] if units is None else [UNIT_NOTE.format(repr(case.unit))])]
    n = case.n_rows("real")
    sides = {name: by_unit(score, n, units) for name, score in every.items()}
    scored = [
        Scored(name, *sides[name], settings, keys, blind, case.level, visible, Individual(real=s[:n], holdout=s[n:]))
        for name, s in every.items()
        if name in wanted
    ]
    shares = shares_of(s.variant for s in scored)
    tests = score_tests(
        np.column_stack([s.members for s in scored]), np.column_stack([s.strangers for s in scored]),
        shares=shares, level=case.level, rng=case.rng("membership labels"),
    )  # fmt: skip
    told = edit_notes(case, compared) if EDITS in wanted else []
    out = [
        shown(s, test, [*notes, *told] if s.variant == EDITS else notes)
        for s, test in zip(scored, judgements(scored, tests, shares), strict=True)
    ]
    if len(case.synthetic_parts) > 1:
        out = by_number_of_tables(case, compared, every, out, lambda score: by_unit(score, n, units))
    if known_members:
        out.append(_known(case, scored, [sides[name] for name in STACKED], notes))
    return tuple(out)


def _visible(case: Case, columns: tuple[str, ...]) -> float:
    """Return the risk of a full copy for somebody who claims whoever stands in the table word for word.

    Where more than 10% of strangers have the record of a member, only some of those who match can be claimed.
    """
    members, strangers = distances_of(case, columns).alike()
    matched, a = float(strangers[members > 0].sum() / strangers.sum()), RATES[0]
    return 1.0 if matched <= a else (a / matched - a) / (1 - a)


def _known(
    case: Case, scored: Sequence[Scored], parts: Sequence[tuple[Floats, Floats]], notes: Sequence[str]
) -> Result:
    """Return the result of the attacker who knows who most of the people are, a family of its own."""
    first = scored[0]
    n = len(first.members)
    together = [np.concatenate(part) for part in parts]
    fitted = stacked(together, np.arange(len(together[0])) < n, case.rng("membership known members"))
    mine = dataclasses.replace(
        first, variant=KNOWN, members=fitted.score[:n], strangers=fitted.score[n:], individual=None
    )
    test = judgement(mine, fitted.p_value, fitted.p_value, 1, case.level, fitted.spread)
    areas = [auc(s.members, s.strangers).value for s in scored]
    best = scored[int(np.argmax(areas))]
    gain = auc_gain((mine.members, mine.strangers), (best.members, best.strangers), case.level, fitted.spread)
    result = shown(mine, test, [*notes, _BEST])
    more = three(GAIN, gain) | {_BEST_AUC: max(areas), _LEAST_P: fitted.least_p}
    return replace(result, context=result.context | more)

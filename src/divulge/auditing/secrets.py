"""Swapped secrets: does the synthetic table tell whose secret is whose?

Pairs of people who are alike in what predicts a secret exchange it by a fair coin before the generator is trained. An
attacker who knows everything but the coins, and sees the synthetic table, guesses the coins. If the table does not
depend on the coins, right guesses are Binomial(pairs, 1/2): for every generator and attack, without a holdout, and
whoever the people are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE
from divulge.auditing.design import Evidence
from divulge.auditing.evidence import KINDS, guessing, row_evidence
from divulge.auditing.hits import between_trainings, counted, named_people, verdict_on
from divulge.auditing.pairs import Secret, exchanged, neighbours, pair_up, secret_of, widened
from divulge.auditing.pool import Pool, Training
from divulge.auditing.predicted import STRATA, Odds, out_of_bag, strata_of
from divulge.auditing.result import AuditResult, Epsilon, PerTraining, Run
from divulge.auditing.sentences import about_pairs
from divulge.auditing.worlds import Encoded, case_of, encoded
from divulge.case.case import Case
from divulge.case.features import features_of
from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.core.schema import check_columns
from divulge.stats.epsilon import pairs_epsilon
from divulge.stats.fair_coins import luck, needed_for_none, smallest_rate
from divulge.stats.intervals import holm
from divulge.tables.frames import Table

__all__ = ["FEWEST_PAIRS", "SHARE", "SwapTrial", "SwappedSecrets"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_PAIRS = 20
SHARE = 1 / 3
"""Share of the people who may exchange a secret in one training; few enough that the table stays natural."""
_TOP = 0.1
_LISTED = 30  # columns that an error names
_KEPT = 64
_NOTHING = "no training gave a table"
_STALE, _TIMES = 20, 19  # real records of people who had exchanged; how many to one that was trained on
_NAMING = 8  # trainings in which a person must take part before a name is possible


@dataclass(frozen=True, slots=True)
class SwappedSecrets:
    """The design with its settings.

    Parameters
    ----------
    secrets
        Columns that an attacker wants to learn. Each has pairs and coins of its own; the people are split among them.
    share
        Share of the people who may exchange a secret, in (0, 1]; None is a third, or what the secrets leave to each.
    strata
        Classes of how well the secret is predicted by the other columns. Who finds no near partner exchanges within a
        class; 1 lets everybody exchange with everybody.
    level, acceptable
        Level of intervals and tests; largest upper limit of the risk that counts as none found.
    """

    secrets: tuple[str, ...]
    share: float | None = None
    strata: int = STRATA
    level: float = 0.95
    acceptable: float = ACCEPTABLE
    name: str = "secrets"
    n_least: int = 1

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool."""
        return {"secrets": self.secrets, "share": self.share, "strata": self.strata, "level": self.level}

    def prepare(self, pool: Pool) -> SwapTrial:
        """Return the design for a pool.

        Raises
        ------
        ColumnError, SettingError
            A secret is no column or has one value; nothing is left that the attacker could know; there are fewer than
            20 pairs.
        """
        if self.share is not None and not 0 < self.share <= 1:
            raise SettingError(f"share: {self.share} is outside (0, 1]. hint: leave it out for a third of the people.")
        if self.strata < 1:
            raise SettingError(f"strata: {self.strata} is below 1. hint: 5 is the default.")
        people = encoded(pool)
        check_columns("secrets", list(self.secrets), people.case.columns, people.case.levels)
        settled = self if self.secrets else replace(self, secrets=(_usual_secret(people.case),))
        about = tuple(_prepared(people, secret, self.strata) for secret in settled.secrets)
        share = min(self.share or SHARE, 1 / len(about))
        trial = SwapTrial(pool, people, about, share, self.level, self.acceptable, settled, chosen=not self.secrets)
        for i, one in enumerate(about):
            if (found := len(trial.pairs(0, i))) < FEWEST_PAIRS:
                raise SettingError(
                    f"secrets: {tidy(one.name)!r} has {found} pairs of people whose secrets differ; "
                    f"{FEWEST_PAIRS} are needed. hint: give more people, or a larger share of them."
                )
        return trial


@dataclass(frozen=True, slots=True, eq=False)
class About:
    """One secret: whose is whose, how natural it is for whom, and who may exchange with whom."""

    name: str
    secret: Secret
    odds: Odds
    own: Floats
    """Shape (n_rows,): the secret of each row, in the numbers of the odds."""
    strata: Ints
    near: Ints | None
    notes: tuple[str, ...]


def _usual_secret(case: Case) -> str:
    """Return the secret where none is named: the last column of few values, else of numbers or dates.

    Identifiers, texts, columns of one value, the unit and ignored columns are left out, and so are numbers that all
    differ, which may be those of rows.
    """
    facts = {name: case.facts(name) for name in case.schema.usable()}
    differ = [n for n, f in facts.items() if f.n_distinct + (f.n_missing > 0) > 1 and not (f.integer and f.all_differ)]
    few = [name for name in differ if case.schema[name].kind not in ("numeric", "datetime")]
    if not differ:
        names = ", ".join(repr(tidy(c)) for c in case.columns[:_LISTED])
        more = ", ..." if len(case.columns) > _LISTED else ""
        raise SettingError(
            f"--secrets: no column is named that nobody should learn, and none suggests itself; there are "
            f"{names}{more}. hint: --secrets income."
        )
    return (few or differ)[-1]


def _prepared(people: Encoded, name: str, strata: int) -> About:
    case = people.case
    if case.facts(name).n_distinct + (case.facts(name).n_missing > 0) < 2:
        raise SettingError(f"secrets: {tidy(name)!r} has one value. hint: name a column in which people differ.")
    block = (name, *widened(case, name))
    columns = tuple(sorted({*case.schema.usable(), *block}))
    keys = [i for i, c in enumerate(columns) if c not in block]
    if not keys:
        raise SettingError(f"secrets: nothing is left that is known besides {tidy(name)!r}. hint: name another column.")
    features, j = features_of(case, columns), columns.index(name)
    rows = features.people
    seed = int(case.rng(f"natural odds {j}").integers(2**31))
    odds = out_of_bag(rows[:, keys], rows[:, j], features.numeric[j], seed)
    with_it = ", ".join(repr(tidy(c)) for c in block[1:])
    note = f"exchanged with it, as one determines the other: {with_it}"
    secret = secret_of(case, block, people.units)
    near = neighbours(case, [columns[i] for i in keys])
    return About(
        name, secret, odds, rows[:, j], strata_of(odds, people.units, strata), near, (note,) if with_it else ()
    )


@dataclass(frozen=True, slots=True, eq=False)
class SwapTrial:
    """The design for one pool."""

    pool: Pool
    people: Encoded
    about: tuple[About, ...]
    share: float
    level: float
    acceptable: float
    design: SwappedSecrets
    """The design with its secrets."""
    chosen: bool = False
    """Whether the secret was chosen here, as none was named."""
    _pairs: dict[tuple[int, int], Ints] = field(default_factory=dict)

    def pairs(self, run: int, which: int) -> Ints:
        """Return the pairs of units of one secret in one training, shape (n_pairs, 2); no coin enters."""
        if (run, which) not in self._pairs:
            order = self.pool.rng("swap who", run).permutation(self.people.n_units)
            size = int(self.share * len(order))
            taking_part = np.sort(order[which * size : (which + 1) * size])
            one = self.about[which]
            if len(self._pairs) > _KEPT:
                self._pairs.clear()
            self._pairs[run, which] = pair_up(
                one.secret, one.strata, taking_part, self.pool.rng(f"swap pairs {which}", run), one.near
            )
        return self._pairs[run, which]

    def coins(self, run: int, which: int) -> Bools:
        """Return which pairs exchange their secrets."""
        n = len(self.pairs(run, which))
        return self.pool.rng(f"swap coins {which}", run).integers(0, 2, n).astype(np.bool_)

    def training(self, run: int) -> Training:
        """Return the people with the secrets exchanged that the coins say."""
        columns: dict[str, Ints] = {}
        for which, one in enumerate(self.about):
            moved = exchanged(self.people.units, one.secret, self.pairs(run, which)[self.coins(run, which)])
            for column in one.secret.columns:
                # a column of two blocks: people take part for one secret alone, so that no cell is moved twice
                before = columns.get(column, np.arange(len(moved)))
                columns[column] = np.where(moved != np.arange(len(moved)), moved, before)
        return Training(np.arange(len(self.people.units)), columns)

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return for each secret the evidence about each pair, positive for "not exchanged"; no coin enters."""
        out: dict[str, Floats] = {}
        for which, one in enumerate(self.about):
            pairs = self.pairs(run, which)
            if not len(pairs):
                out[f"guess {which}"] = np.zeros(0)
                continue
            full = exchanged(self.people.units, one.secret, pairs)
            place = np.full(self.people.n_units, -1)
            place[pairs] = np.arange(len(pairs))[:, None]
            rows = np.flatnonzero(place[self.people.units] >= 0)
            pair = place[self.people.units[rows]]
            other = Training(rows, dict.fromkeys(one.secret.columns, full[rows]))
            case = case_of(self.pool, self.people.schema, Training(rows), synthetic, other)
            natural = (one.odds.of(one.own) - one.odds.of(one.own[full]))[rows]
            odds = np.bincount(pair, weights=natural).astype(np.float64)
            by_row = row_evidence(case, one.secret.columns)
            found = {k: np.bincount(pair, weights=v).astype(np.float64) for k, v in by_row.items()}
            out[f"guess {which}"] = guessing(found, odds)
            out[f"real records {which}"] = found["copies"]
            out |= {f"{kind} {which}": guessing({kind: found[kind]}, odds) for kind in KINDS}
        return out

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return one result for each secret; p-values are adjusted by Holm's rule over the secrets."""
        plain = [self._counted(which, evidence) for which in range(len(self.about))]
        adjusted = holm([p.fields.get("p_value", 1.0) for p in plain])
        return tuple(self._result(which, p, float(q)) for which, (p, q) in enumerate(zip(plain, adjusted, strict=True)))

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""
        out = []
        if self.chosen:
            out.append(f"{tidy(self.about[0].name)!r} is the secret, as none was named: --secrets names others")
        for which, one in enumerate(self.about):
            n = n_runs * len(self.pairs(0, which))
            rate, needed = smallest_rate(n, level=self.level), needed_for_none(self.acceptable, self.level)
            smallest = "no number of right guesses is enough" if rate is None else f"finds {100 * rate:.1f}% right"
            out.append(
                f"{tidy(one.name)!r}: about {n:,} pairs in {n_runs} trainings: {smallest} (50% is nothing) with "
                f"probability 0.8; `none found` needs about {needed:,} pairs"
            )
        taken = n_runs * self.share
        if taken < _NAMING:
            out.append(f"no person can be named: that needs about {round(_NAMING / self.share)} trainings")
        return tuple(out)

    # ------------------------------------------------------------ results

    def _right(self, run: int, which: int, evidence: Floats, kind: str) -> Bools:
        """Return which pairs are guessed right; where the evidence says nothing a coin of the auditor decides."""
        tie = self.pool.rng(f"swap ties {kind} {which}", run).integers(0, 2, len(evidence)).astype(np.bool_)
        guess = np.where(evidence == 0, tie, evidence < 0)
        return np.asarray(guess == self.coins(run, which))

    def _counted(self, which: int, evidence: Mapping[int, Evidence]) -> _Counted:
        n_units = self.people.n_units
        hits, n = np.zeros(n_units, dtype=np.int64), np.zeros(n_units, dtype=np.int64)
        trainings, top, copied = [], [0, 0], [0, 0]
        kinds = dict.fromkeys(KINDS, 0)
        for run in sorted(evidence):
            found = np.asarray(evidence[run][f"guess {which}"], dtype=np.float64)
            right = self._right(run, which, found, "guess")
            units = self.pairs(run, which)
            np.add.at(hits, units, right[:, None].astype(np.int64))
            np.add.at(n, units, 1)
            trainings.append(PerTraining(run=run, n=len(right), hits=float(right.sum())))
            surest = np.argsort(-np.abs(found), kind="stable")[: int(_TOP * len(found))]
            top[0], top[1] = top[0] + int(right[surest].sum()), top[1] + len(surest)
            real = np.asarray(evidence[run].get(f"real records {which}", ()), dtype=np.float64)
            moved = real[self.coins(run, which)[: len(real)]]
            copied = [copied[0] + int((moved > 0).sum()), copied[1] + int((moved < 0).sum())]
            for kind in KINDS:
                own = np.asarray(evidence[run][f"{kind} {which}"], dtype=np.float64)
                kinds[kind] += int(self._right(run, which, own, kind).sum())
        return _Counted(
            counted(trainings, self.level, len(self.about), self.acceptable), kinds, (top[0], top[1]), hits, n,
            (copied[0], copied[1]),
        )  # fmt: skip

    def _result(self, which: int, found: _Counted, adjusted: float) -> AuditResult:
        one, fields = self.about[which], found.fields
        verdict, notes = verdict_on(fields, adjusted, self.level, self.acceptable)
        stale = "" if verdict == "excess found" else _stale(*found.copied)
        if stale:
            verdict, notes, fields = "cannot tell", [], {**fields, "findable": None}
        named, p = named_people(found.hits, found.n)
        top_hits, top_n = found.top
        n = fields["n"]
        context: dict[str, float | None] = {f"right by {k} alone": v / n if n else None for k, v in found.kinds.items()}
        context |= {
            "right among the surest tenth": top_hits / top_n if top_n else None,
            "p-value of the surest tenth": luck(top_hits, top_n) if top_n else None,
            "people who may exchange": self.share,
        }
        units = self.people.units
        return AuditResult(
            test="swapped_secrets",
            target=" + ".join(one.secret.columns),
            counts="pairs",
            p_adjusted=adjusted,
            epsilon=self._epsilon(fields),
            people=named,
            verdict=verdict,
            sentence=stale or (about_pairs(one.name, n, fields["hits"], len(fields["trainings"])) if n else _NOTHING),
            context=context | between_trainings(fields["trainings"], self.level),
            notes=(*one.notes, *notes),
            persons={"hits": found.hits[units], "n": found.n[units], "p_value": p[units]},
            **fields,
        )

    def _epsilon(self, fields: Mapping[str, Any]) -> Epsilon | None:
        n, hits = fields["n"], fields["hits"]
        if not n:
            return None
        return Epsilon(
            low=pairs_epsilon(n, int(hits), level=self.level),
            ceiling=pairs_epsilon(n, n, level=self.level),
            delta=0.0,
            level=self.level,
            neighbour="one secret replaced",
            method="guesses about pairs, halved because an exchange changes two records",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """What was guessed about one secret over all trainings."""

    fields: dict[str, Any]
    kinds: Mapping[str, int]
    top: tuple[int, int]
    hits: Ints
    n: Ints
    copied: tuple[int, int]
    """Of pairs who had exchanged: those with real records in the synthetic table, those with trained-on ones."""


def _stale(real: int, trained: int) -> str:
    """Return a note where the generator seems to have read the real table in place of the training table, else ""."""
    if real < _STALE or real <= _TIMES * trained:
        return ""
    return (
        f"of pairs who had exchanged the secret, the synthetic tables hold the real records in {real:,} cases and "
        f"those of the training table in {trained:,}: does the generator read {{train}}, or the real table? Nothing is "
        "concluded"
    )

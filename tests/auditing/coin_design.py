"""The smallest design: pairs of rows exchange a column as a coin falls, and a hit is a copy of the row as trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from divulge.auditing.design import Evidence
from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Interval, PerTraining, Run
from divulge.tables.frames import Table


@dataclass(frozen=True)
class Coins:
    """Exchange one column."""

    secret: str
    name: str = "coins"
    n_least: int = 1

    @property
    def settings(self) -> Mapping[str, str]:
        """What the trial depends on."""
        return {"secret": self.secret}

    def prepare(self, pool: Pool) -> "CoinTrial":
        """Return the design for a pool."""
        return CoinTrial(pool, self.secret)


@dataclass(frozen=True)
class CoinTrial:
    """Rows 2k and 2k + 1 are a pair."""

    pool: Pool
    secret: str

    def _other(self, run: int) -> np.ndarray:
        n = self.pool.table.n_rows // 2
        heads = self.pool.rng("coins", run).random(n) < 0.5
        rows = np.arange(2 * n).reshape(n, 2)
        return np.where(heads[:, None], rows[:, ::-1], rows).ravel()

    def training(self, run: int) -> Training:
        """Return the exchanged table."""
        other = self._other(run)
        return Training(np.arange(len(other)), {self.secret: other})

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return, for each pair, copies of both rows as they are minus copies of both as exchanged."""
        names = [c for c in self.pool.table.columns if c != self.secret]
        seen = {tuple(map(str, row)) for row in synthetic.named().select(*names, self.secret).iter_rows()}
        keys = [tuple(map(str, row)) for row in self.pool.table.named().select(names).iter_rows()]
        secrets = [str(v) for v in self.pool.table.series(self.secret)]
        n = len(keys) // 2
        e = [sum((keys[a], secrets[b]) in seen_of(seen) for a, b in ((2 * k, 2 * k), (2 * k + 1, 2 * k + 1)))
             - sum((keys[a], secrets[b]) in seen_of(seen) for a, b in ((2 * k, 2 * k + 1), (2 * k + 1, 2 * k)))
             for k in range(n)]  # fmt: skip
        return {"evidence": np.array(e, dtype=np.float64)}

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Count hits; ties are guessed by a coin."""
        per = []
        for run, found in evidence.items():
            heads = self._other(run)[::2] % 2 == 1
            guess = self.pool.rng("ties", run).random(len(heads)) < 0.5
            guess = np.where(found["evidence"] == 0, guess, found["evidence"] < 0)
            per.append(PerTraining(run=run, n=len(heads), hits=float((guess == heads).sum())))
        n, hits = sum(t.n for t in per), sum(t.hits for t in per)
        p = float(binom.sf(hits - 1, n, 0.5))
        rate = hits / n
        return (
            AuditResult(
                test="swapped_secrets", target=self.secret, n=n, hits=hits, rate=rate, p_value=p,
                interval=Interval(low=rate - 0.1, high=min(1.0, rate + 0.1), level=0.95, method="rough"),
                verdict="excess found" if p < 0.05 else "none found", trainings=tuple(per),
                sentence=f"Of {n} pairs whose secret was exchanged, the attacker gets {hits:.0f} right.",
                persons={"pairs": np.arange(self.pool.table.n_rows)},
            ),
        )  # fmt: skip

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Say how many pairs there are."""
        return (f"{n_runs * (self.pool.table.n_rows // 2)} pairs in all",)


def seen_of(seen: set) -> set:
    """Return the rows as pairs of keys and secret."""
    return {(row[:-1], row[-1]) for row in seen}

"""Write twenty reports of this version, of simulated people: `python tests/corpus/remake_corpus.py`.

They are in tests/corpus/VERSION/, gzipped JSON. Later versions read them (tests/report/test_corpus.py). The folder of a
version that was released stays as it is; a new version adds its own.
"""

import dataclasses
import gzip
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.demo import tables as demo_tables
from divulge.release.baseline import change
from divulge.release.conditions import judge_policy
from divulge.release.policy import read_policy

HERE = Path(__file__).parent
POLICY = HERE.parent.parent / "examples" / "policy.toml"
N = 160

STATED = """
[attacker]
who = "a data broker"
knows = "age and region of the neighbours"
effort = "an afternoon"

[release]
dataset = "a simulated survey"
generator = "none: fresh people"
setting = "licensed"
tables_released = "one"
legal_basis = ["Art. 6(1)(e) GDPR", "statute of the office"]
holdout = ["half of the people, drawn at random before the training"]

[decision]
acceptable_why = "agreed with the officer beforehand"
"""


def people(seed, n=N):
    """Return people whose income depends on age, schooling and chance; some incomes are missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    school = rng.choice(["none", "middle", "high"], n)
    income = np.round(1000 * np.exp(0.01 * age + 0.4 * (school == "high") + 0.3 * rng.standard_normal(n)), -1)
    frame = pl.DataFrame({"age": age, "school": school, "income": income, "region": rng.choice(list("ABCDEF"), n)})
    return frame.with_columns(pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise("income").alias("income"))


REAL, HOLDOUT, FRESH = people(1), people(2), people(3)
COPIED = pl.concat([REAL.head(60), FRESH.tail(N - 60)])
KEYED = {"keys": ["age", "region"], "targets": ["income", "school"], "models": False}


PLAIN = KEYED | {"targets": ["income"], "fidelity": False, "membership": False}


def copied(**settings):
    """Return the report on a table that copies people."""
    return divulge.assess(REAL, COPIED, holdout=HOLDOUT, **PLAIN | settings)


def clean(**settings):
    """Return the report on a table of fresh people."""
    return divulge.assess(REAL, FRESH, holdout=HOLDOUT, **PLAIN | settings)


def deficit():
    """Return the report on a table without rows near to people."""
    rows = pl.concat([people(seed) for seed in range(10, 20)])
    near = divulge.nearest(rows, REAL).distances[:, 0]
    return divulge.assess(REAL, rows.filter(pl.Series(near > np.quantile(near, 0.85))), holdout=HOLDOUT, **PLAIN)


def households():
    """Return the report on people in households, which the schema states; a column has a hostile name."""

    def of(seed, first):
        rows = people(seed).rename({"region": '<b>re\ngion\x1b[31m "ü"'})
        return rows.with_columns(pl.Series("house", np.arange(N) // 2 + first))

    return divulge.assess(
        of(1, 0), of(3, 5000), holdout=of(2, 9000), unit="house", search="off", models=False, fidelity=False
    )


def failed():
    """Return the report of a run in which an attack fails."""

    def broken(case, **settings):
        raise ValueError("broken on purpose")

    with patch.dict(CATALOGUE, {"cap": dataclasses.replace(CATALOGUE["cap"], run=broken)}):
        return clean()


def counted(folder):
    """Return the report of a run in which DuckDB counts Parquet files, and a sample of people is asked."""
    paths = {}
    for name, table in {"real": REAL, "synthetic": COPIED, "holdout": HOLDOUT}.items():
        table.write_parquet(paths.setdefault(name, folder / f"{name}.parquet"))
    return divulge.assess(*paths.values(), engine="duckdb", people=120, **KEYED)


def stated(folder):
    """Return the report on people who are in both tables; what the schema states of attacker and release is shown."""
    (folder / "schema.toml").write_text(STATED)
    schema = divulge.read_schema(folder / "schema.toml")
    return divulge.assess(REAL, FRESH, holdout=pl.concat([REAL.head(40), HOLDOUT.tail(N - 40)]), schema=schema, **PLAIN)


def judged(report, previous):
    """Return a report with its policy and what changed since another one."""
    report = report.replaced(change=change(report.assessment, previous.assessment), command="divulge assess ...")
    return report.replaced(policy=judge_policy(report.assessment, read_policy(POLICY), ["excess"]))


def audit():
    """Return the audit of a generator that copies its training data."""
    return divulge.audit(REAL, lambda rows, seed: rows, secrets=["school"], runs=3, jobs=1)


def corpus(folder):
    """Yield name and text of each report."""
    reports = {
        "excess": divulge.assess(REAL, COPIED, holdout=HOLDOUT, **KEYED),
        "cannot-tell": divulge.assess(REAL, FRESH, holdout=HOLDOUT, **KEYED), "none-found": clean(acceptable=0.9),
        "deficit": deficit(), "no-holdout": divulge.assess(REAL, COPIED, **KEYED), "households": households(),
        "subgroups": copied(subgroups=["region"], reveal=["values"]), "searched": clean(keys=None, search="full"),
        "positive-control": clean(positive_control=0.2), "failed": failed(), "out-of-time": clean(budget=0),
        "duckdb": counted(folder), "in-doubt": stated(folder),
        "together": divulge.assess(REAL, [COPIED, people(4)], holdout=HOLDOUT, **PLAIN),
        "demo": divulge.assess(*demo_tables(), targets=["vote"], search="off", models=True),
    }  # fmt: skip
    reports["judged"] = judged(reports["excess"], reports["cannot-tell"])
    reports["external"] = reports["judged"].external()
    reports["external-columns"] = reports["judged"].external(["columns"])
    yield from ((name, report.to_json()) for name, report in reports.items())
    ranked = divulge.compare(
        REAL, {"copied": COPIED, "fresh": FRESH}, holdout=HOLDOUT, keys=["age"], targets=["income"]
    )
    yield "comparison", ranked.to_json()
    yield "audit", audit().to_json()


def main():
    """Write the reports of this version."""
    place = HERE / divulge.__version__
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in corpus(Path(folder)):
            (place / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
            print(name, len(text), (place / f"{name}.json.gz").stat().st_size)


if __name__ == "__main__":
    sys.exit(main())

"""What the tests of audits share: a table, the command of the fake generator, and one audit."""

import random
import sys
from pathlib import Path

import polars as pl
from coin_design import Coins

import divulge
from divulge.auditing.report import AuditReport

FAKE = Path(__file__).with_name("fake_train.py")


def people(n: int = 60) -> pl.DataFrame:
    """Return people with a secret."""
    rng = random.Random(1)
    return pl.DataFrame(
        {
            "age": [rng.randint(18, 90) for _ in range(n)],
            "zip": [f"{rng.randint(1000, 99999):05d}" for _ in range(n)],
            "ill": [rng.choice(["yes", "no"]) for _ in range(n)],
        }
    )


def command(more: str = "") -> str:
    """Return the command of the fake generator."""
    return f"{sys.executable} -I {FAKE} {{train}} {{synthetic}} --seed {{seed}} {more}"


def audited(more: str = "", **options: object) -> AuditReport:
    """Return an audit of the fake generator with the smallest design."""
    data = options.pop("data", people())
    return divulge.audit(data, command(more), **{"design": Coins("ill"), "runs": 3, **options})


def same(a: AuditReport, b: AuditReport) -> bool:
    """Return whether two audits are byte for byte equal but for times."""
    return _timeless(a) == _timeless(b)


def _timeless(report: AuditReport) -> str:
    from msgspec.structs import replace

    found = report.audit
    runs = tuple(replace(r, seconds=0.0) for r in found.runs)
    trained = replace(found.trainings, seconds=0.0)
    return report.replaced(started="", seconds=0.0, runs=runs, trainings=trained).to_json()

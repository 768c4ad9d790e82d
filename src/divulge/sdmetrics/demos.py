"""Small tables to try the metrics on: the shapes, names and metadata of SDMetrics' demos, with people made up here.

The synthetic tables come from the same simulation with weaker dependences, and with some gaps of their own.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

from divulge.core.errors import SettingError

__all__ = ["download_demo", "load_demo", "load_multi_table_demo", "load_single_table_demo", "load_timeseries_demo"]

Table = dict[str, list[Any]]
Tables = dict[str, Any]
_N_STUDENTS, _N_STORES, _N_DAYS, _N_ROWS = 215, 100, 7, 10


def load_demo(modality: str = "multi_table") -> tuple[Tables, Tables, dict[str, Any]]:
    """Return real tables, synthetic tables, both by name, and their metadata.

    Parameters
    ----------
    modality
        "multi_table": users, sessions and transactions, 10 rows each. "single_table": 215 students. "timeseries": a
        week of 100 stores.

    Raises
    ------
    SettingError
        There is no such demo, or pandas is not installed.

    Examples
    --------
    >>> real, synthetic, metadata = load_demo("single_table")
    >>> real["student_placements"].shape, list(metadata["tables"])
    ((215, 17), ['student_placements'])
    """
    if modality not in _DEMOS:
        raise SettingError(f"load_demo: there is no demo {modality!r}. hint: one of {', '.join(_DEMOS)}.")
    make, metadata = _DEMOS[modality]
    real, synthetic = ({name: _frame(table) for name, table in make(noise).items()} for noise in (0.0, 0.35))
    return real, synthetic, metadata()


def load_multi_table_demo() -> tuple[Tables, Tables, dict[str, Any]]:
    """Return `load_demo("multi_table")`."""
    return load_demo("multi_table")


def load_single_table_demo() -> tuple[Tables, Tables, dict[str, Any]]:
    """Return `load_demo("single_table")`."""
    return load_demo("single_table")


def load_timeseries_demo() -> tuple[Tables, Tables, dict[str, Any]]:
    """Return `load_demo("timeseries")`."""
    return load_demo("timeseries")


def download_demo(modality: str, dataset_name: str | None = None) -> tuple[Any, dict[str, Any]]:
    """Return the real table of a demo (or the tables, by name) and its metadata, as SDV does; nothing is downloaded.

    Parameters
    ----------
    modality
        "single_table", "sequential" or "multi_table".
    dataset_name
        None, or the name of a table of the demo. SDV's own data sets are not here.

    Raises
    ------
    SettingError
        There is no such demo.
    """
    real, _, metadata = load_demo("timeseries" if modality == "sequential" else modality)
    if dataset_name is not None and dataset_name not in real:
        raise SettingError(
            f"download_demo: {dataset_name!r} is not here, and nothing is downloaded. hint: one of {', '.join(real)}; "
            "sdv.datasets.demo has SDV's data sets."
        )
    return (real if len(real) > 1 else next(iter(real.values()))), metadata


def _frame(table: Table) -> Any:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise SettingError("The demos are pandas frames. hint: pip install pandas.") from error
    return pd.DataFrame(table)


# ---------------------------------------------------------------- the simulations


def _draws(noise: float, seed: int) -> tuple[random.Random, Callable[[Any, Any], Any]]:
    """Return a generator, and a function that takes a value, or another one in its place with a probability."""
    rng = random.Random(seed + round(1000 * noise))
    return rng, lambda value, other: other if rng.random() < noise else value


def _date(day: int) -> str:
    return (datetime.date(2020, 1, 1) + datetime.timedelta(days=day)).isoformat()


def _students(noise: float) -> dict[str, Table]:
    rng, mixed = _draws(noise, 1)
    rows = []
    for i in range(_N_STUDENTS):
        level = rng.gauss(0, 1)
        years = max(0, round(rng.gauss(0.3, 0.7) + 0.2 * level))
        placed = mixed(level + 0.6 * years + rng.gauss(0, 0.6) > -0.4, rng.random() < 0.7)
        months, start = rng.choice((3, 3, 6, 12)), rng.randrange(210)
        in_work = placed and rng.random() > 0.1 * (noise > 0)
        rows.append(
            {
                "student_id": 17264 + i,
                "gender": rng.choices("MF", (2, 1))[0],
                "second_perc": _percent(rng, 67, 8, level, 7),
                "high_perc": _percent(rng, 66, 8, mixed(level, rng.gauss(0, 1)), 7),
                "high_spec": rng.choices(("Commerce", "Science", "Arts"), (5, 4, 1))[0],
                "degree_perc": _percent(rng, 66, 5, mixed(level, rng.gauss(0, 1)), 5),
                "degree_type": rng.choices(("Comm&Mgmt", "Sci&Tech", "Others"), (6, 3, 1))[0],
                "work_experience": mixed(years > 0, rng.random() < 0.3),
                "experience_years": years,
                "employability_perc": _percent(rng, 72, 12, level, 3),
                "mba_spec": rng.choice(("Mkt&Fin", "Mkt&HR")),
                "mba_perc": _percent(rng, 62, 5, mixed(level, rng.gauss(0, 1)), 3),
                "salary": float(round(max(20000, 28000 + 4000 * level + rng.gauss(0, 5000)), -2)) if in_work else None,
                "placed": placed,
                "start_date": _date(start) if in_work else None,
                "end_date": _date(start + 30 * months + rng.randrange(15)) if in_work else None,
                "duration": float(months) if in_work else None,
            }
        )
    return {"student_placements": {name: [row[name] for row in rows] for name in rows[0]}}


def _percent(rng: random.Random, mean: float, spread: float, level: float, slope: float) -> float:
    return round(min(98.0, max(37.0, mean + slope * level + rng.gauss(0, spread))), 2)


def _stores(noise: float) -> dict[str, Table]:
    rng, mixed = _draws(noise, 2)
    table: Table = {c: [] for c in ("date", "store_id", "region", "day_of_week", "total_sales", "nb_customers")}
    for i in range(_N_STORES):
        region, size = ("New York", 50) if i % 2 else ("California", 190)
        level = rng.gauss(0, 0.1)
        for day in range(_N_DAYS):
            customers = max(1, round(size * (1 + level + 0.05 * mixed(day, rng.randrange(7)) + rng.gauss(0, 0.05))))
            row = (
                _date(152 + day),
                10149 + 899 * i,
                region,
                day,
                round(17.1 * customers + rng.gauss(0, 20), 2),
                customers,
            )
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
    return {"timeseries": table}


def _shop(noise: float) -> dict[str, Table]:
    rng, mixed = _draws(noise, 3)
    n = range(_N_ROWS)
    devices = [rng.choice(("mobile", "tablet")) for _ in n]
    when = datetime.datetime(2019, 1, 1, 12, 34, 32)
    amounts = [round(rng.uniform(55, 135), 1) for _ in n]
    return {
        "users": {
            "user_id": list(n),
            "country": [rng.choice(("US", "UK", "ES", "DE", "FR", "BG")) for _ in n],
            "gender": [None if i % 4 == 2 else rng.choice("MF") for i in n],
            "age": [rng.randrange(20, 60) for _ in n],
        },
        "sessions": {
            "session_id": list(n),
            "user_id": sorted(rng.randrange(_N_ROWS) for _ in n),
            "device": devices,
            "os": [mixed("android" if d == "mobile" else "ios", rng.choice(("android", "ios"))) for d in devices],
        },
        "transactions": {
            "transaction_id": list(n),
            "session_id": sorted(rng.randrange(_N_ROWS) for _ in n),
            "timestamp": [str(when + datetime.timedelta(seconds=rng.randrange(86400 * 30))) for _ in n],
            "amount": amounts,
            "approved": [mixed(amount < 110, rng.random() < 0.7) for amount in amounts],
        },
    }


# ---------------------------------------------------------------- their metadata

_WHOLE, _DECIMAL = ({"sdtype": "numerical", "computer_representation": kind} for kind in ("Int64", "Float"))
_KEY, _CATEGORY, _BOOLEAN = (
    {"sdtype": "id", "regex_format": r"\d{1,30}"},
    {"sdtype": "categorical"},
    {"sdtype": "boolean"},
)
_DAY, _SECOND = ({"sdtype": "datetime", "datetime_format": f} for f in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S"))


def _described(**columns: dict[str, str]) -> dict[str, Any]:
    return {name: dict(entry) for name, entry in columns.items()}


def _of_students() -> dict[str, Any]:
    columns = _described(
        start_date=_DAY, end_date=_DAY, salary=_WHOLE, duration=_WHOLE, student_id=_KEY, high_perc=_DECIMAL,
        high_spec=_CATEGORY, mba_spec=_CATEGORY, second_perc=_DECIMAL, gender=_CATEGORY, degree_perc=_DECIMAL,
        placed=_BOOLEAN, experience_years=_DECIMAL, employability_perc=_DECIMAL, mba_perc=_DECIMAL,
        work_experience=_BOOLEAN, degree_type=_CATEGORY,
    )  # fmt: skip
    tables = {"student_placements": {"primary_key": "student_id", "columns": columns}}
    return {"tables": tables, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}


def _of_stores() -> dict[str, Any]:
    columns = _described(
        region=_CATEGORY, store_id=_WHOLE, nb_customers=_WHOLE, total_sales=_DECIMAL, date=_DAY, day_of_week=_WHOLE
    )
    table = {"columns": columns, "sequence_key": "store_id", "sequence_index": "date"}
    return {"tables": {"timeseries": table}, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}


def _of_shop() -> dict[str, Any]:
    users = _described(user_id=_KEY, country=_CATEGORY, gender=_CATEGORY, age=_WHOLE)
    sessions = _described(session_id=_KEY, user_id=_KEY, device=_CATEGORY, os=_CATEGORY)
    paid = _described(transaction_id=_KEY, session_id=_KEY, timestamp=_SECOND, amount=_DECIMAL, approved=_BOOLEAN)
    return {
        "tables": {
            "users": {"primary_key": "user_id", "columns": users},
            "sessions": {"primary_key": "session_id", "columns": sessions},
            "transactions": {"primary_key": "transaction_id", "columns": paid},
        },
        "relationships": [
            _relation("users", "sessions", "user_id"),
            _relation("sessions", "transactions", "session_id"),
        ],
        "METADATA_SPEC_VERSION": "MULTI_TABLE_V1",
    }


def _relation(parent: str, child: str, key: str) -> dict[str, str]:
    return {
        "parent_table_name": parent,
        "parent_primary_key": key,
        "child_table_name": child,
        "child_foreign_key": key,
    }


_DEMOS: dict[str, tuple[Callable[[float], dict[str, Table]], Callable[[], dict[str, Any]]]] = {
    "multi_table": (_shop, _of_shop),
    "single_table": (_students, _of_students),
    "timeseries": (_stores, _of_stores),
}

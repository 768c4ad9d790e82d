"""Columns in unusual dtypes, and the calls that `remake_readings.py` makes of SDMetrics and `test_readings.py` of ours."""

import datetime
import decimal

import numpy as np
import pandas as pd

N = 60


def objects(values):
    return pd.Series(values, dtype=object)


KINDS = {
    "timedelta64[s]": lambda v: pd.Series(v.astype("m8[s]")),
    "timedelta64[ns]": lambda v: pd.Series(v.astype("m8[s]").astype("m8[ns]")),
    "timedeltas of which some are missing": lambda v: pd.Series(v.astype("m8[s]")).where(pd.Series(v % 7 > 0)),
    "timedeltas of Python": lambda v: objects([datetime.timedelta(seconds=int(n)) for n in v]),
    "durations of Arrow": lambda v: pd.Series(v.astype("m8[us]")).astype("duration[us][pyarrow]"),
    "periods": lambda v: pd.Series(pd.PeriodIndex.from_ordinals(v, freq="M")),
    "periods of which some are missing": lambda v: pd.Series(pd.PeriodIndex.from_ordinals(v, freq="M")).where(
        pd.Series(v % 7 > 0)
    ),
    "times of Python": lambda v: objects([datetime.time(int(n) // 60, int(n) % 60) for n in v]),
    "decimals": lambda v: objects([decimal.Decimal(int(n)).scaleb(-2) for n in v]),
    "numbers of Python": lambda v: objects([int(n) for n in v]),
    "numbers of 22 digits": lambda v: objects([int(n) + 10**21 for n in v]),
    "numbers of 22 digits and None": lambda v: objects([int(n) + 10**21 if n % 7 else None for n in v]),
    "numbers near 2**62": lambda v: pd.Series(v + 2**62),
    "numbers near 2**62 as objects": lambda v: objects([int(n) + 2**62 for n in v]),
    "numbers near 2**62, nullable": lambda v: pd.Series(v + 2**62).astype("Int64").where(pd.Series(v % 7 > 0)),
    "unsigned numbers above 2**63": lambda v: pd.Series(v.astype(np.uint64) + np.uint64(2**63)),
    "nullable numbers": lambda v: pd.Series(v).astype("Int64").where(pd.Series(v % 7 > 0)),
    "nullable truth values": lambda v: pd.Series(v % 2 == 0).astype("boolean").where(pd.Series(v % 7 > 0)),
    "category dtype of numbers": lambda v: pd.Series(v).astype("category"),
}
"""What makes a column of whole numbers from 0 to 299."""

BESIDE = {
    "numbers beside truth values": ("int64", "bool"),
    "floats beside truth values": ("float64", "bool"),
    "nullable numbers beside nullable truth values": ("Int64", "boolean"),
}


def numbers(seed):
    rng = np.random.default_rng(seed)
    v = rng.integers(0, 300, N)
    v[:2] = 0, 299 - seed
    return v, rng.normal(size=N).round(3) + v / 100


def column(kind, seed):
    return KINDS[kind](numbers(seed)[0])


def table(kind, seed):
    return pd.DataFrame({"v": column(kind, seed), "x": numbers(seed)[1]})


def lists(seed):
    v, x = numbers(seed)
    return pd.DataFrame({"v": objects([[int(n) // 40] for n in v]), "x": x})


def metadata(sdtype):
    return {"columns": {"v": {"sdtype": sdtype}, "x": {"sdtype": "numerical"}}}


def calls(single_column, column_pairs, single_table):
    """Return each call by its name."""
    found = {}
    for kind in KINDS:
        pair = [lambda s=seed, k=kind: column(k, s) for seed in (0, 1)]
        for name in ("KSComplement", "BoundaryAdherence", "RangeCoverage", "MissingValueSimilarity"):
            found[f"{name} | {kind}"] = one(getattr(single_column, name), pair)
        for statistic in ("mean", "median", "std"):
            found[f"StatisticSimilarity {statistic} | {kind}"] = one(single_column.StatisticSimilarity, pair, statistic)
        tables = [lambda s=seed, k=kind: table(k, s) for seed in (0, 1)]
        found[f"CorrelationSimilarity | {kind}"] = one(column_pairs.CorrelationSimilarity, tables)
        found[f"DCROverfittingProtection | {kind}"] = overfitting(single_table, tables, "numerical")
        for name in ("KSComplement", "RangeCoverage", "StatisticSimilarity", "BoundaryAdherence"):
            found[f"{name} of a table | {kind}"] = one(getattr(single_table, name), tables, metadata("numerical"))
        found[f"LinearRegression | {kind}"] = lambda t=tables: single_table.LinearRegression.compute(
            t[0](), t[1](), metadata("numerical"), target="x"
        )
    for kind, dtypes in BESIDE.items():
        pair = [
            lambda d=dtypes[0]: pd.Series(numbers(0)[0]).astype(d),
            lambda d=dtypes[1]: pd.Series(numbers(1)[0] % 3 == 0).astype(d),
        ]
        for name in ("RangeCoverage", "StatisticSimilarity"):
            found[f"{name} | {kind}"] = one(getattr(single_column, name), pair)
    for sdtype in ("categorical", "boolean"):
        tables = [lambda: lists(0), lambda: lists(1)]
        found[f"DCROverfittingProtection | lists | {sdtype}"] = overfitting(single_table, tables, sdtype)
    return found


def one(metric, pair, *more):
    return lambda: metric.compute_breakdown(pair[0](), pair[1](), *more)


def overfitting(single_table, tables, sdtype):
    def call():
        held = tables[0]().iloc[::-1].iloc[:40].reset_index(drop=True)
        held["x"] += 0.01
        return single_table.DCROverfittingProtection.compute_breakdown(
            tables[0](), tables[1](), held, metadata(sdtype), table_name=None
        )

    return call


def plain(value):
    """Return numbers, durations as seconds; nan as None, and the type of an error."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Exception):
        return type(value).__name__
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(seconds=1)
    return None if value != value else float(value)

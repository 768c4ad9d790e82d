"""The calls that `remake_columns.py` makes of SDMetrics and `test_column_metrics.py` of `divulge.sdmetrics`, as data.

Every metric of one column meets every pair of columns, every metric of two columns every pair of frames, every wrapper
of a table every pair of tables. A column is a pandas dtype and its values, so that pandas 2.3 (the newest that SDMetrics
takes) and pandas 3 build the same one; numbers come from `random.Random`, whose stream Python guarantees.
"""

import datetime
import decimal
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

NAN, INF = math.nan, math.inf
Spec = tuple[str, list]
"""A dtype and values."""


@dataclass(frozen=True)
class Case:
    kind: str
    """single_column, column_pairs, keys (pairs of columns as tuples) or single_table."""
    metric: str
    data: str
    """Name of the data."""
    kwargs: dict = field(default_factory=dict)
    call: str = "compute_breakdown"

    @property
    def id(self) -> str:
        options = ",".join(f"{k}={v}" for k, v in self.kwargs.items())
        return " | ".join(
            [
                self.kind,
                self.metric,
                self.data,
                *([options] if options else []),
                *([self.call] if self.call == "compute" else []),
            ]
        )


def series(spec: Spec) -> pd.Series:
    dtype, values = spec
    if dtype.startswith("category"):
        seen = sorted({v for v in values if v is not None}, key=lambda v: (type(v).__name__, v))
        more = ["zz"] if dtype == "category unused" and "zz" not in seen else []
        return pd.Series(
            pd.Categorical(values, categories=pd.Index(seen + more, dtype=object), ordered="ordered" in dtype)
        )
    return pd.Series(values, dtype=dtype)


def frame(columns: dict[Any, Spec]) -> pd.DataFrame:
    return pd.DataFrame({name: series(spec) for name, spec in columns.items()})


# --- values -----------------------------------------------------------------------------------------------------------


def gauss(seed: int, n: int, mean: float = 0, sd: float = 1, digits: int = 3) -> list[float]:
    rng = random.Random(seed)
    return [round(rng.gauss(mean, sd), digits) for _ in range(n)]


def whole(seed: int, n: int, low: int = 0, high: int = 20) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(low, high) for _ in range(n)]


def pick(seed: int, n: int, *levels: object) -> list:
    rng = random.Random(seed)
    return [levels[min(int(rng.expovariate(1)), len(levels) - 1)] for _ in range(n)]


def holes(seed: int, values: list, share: float = 0.2, hole: object = None) -> list:
    rng = random.Random(seed)
    return [hole if rng.random() < share else v for v in values]


def days(seed: int, n: int, year: int = 2020) -> list[datetime.datetime]:
    rng = random.Random(seed)
    return [
        datetime.datetime(year, 1, 1) + datetime.timedelta(days=rng.randrange(400), seconds=rng.randrange(86400))
        for _ in range(n)
    ]


def texts(values: list, pattern: str = "%Y-%m-%d") -> list:
    return [v if v is None else v.strftime(pattern) for v in values]


LEVELS = ("a", "b", "c", "d", "e")
NS = "datetime64[ns]"

# --- one column -------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, tuple[Spec, Spec]] = {
    "floats": (("float64", gauss(1, 60)), ("float64", gauss(2, 45, 0.4, 1.3))),
    "floats with nan": (("float64", holes(3, gauss(3, 60), 0.2, NAN)), ("float64", holes(4, gauss(4, 45), 0.4, NAN))),
    "nan in synthetic only": (("float64", gauss(5, 30)), ("float64", holes(6, gauss(6, 30), 0.3, NAN))),
    "nan in real only": (("float64", holes(6, gauss(7, 30), 0.3, NAN)), ("float64", gauss(8, 30))),
    "integers": (("int64", whole(1, 70)), ("int64", whole(2, 50, 3, 26))),
    "a copy": (("int64", whole(3, 40)), ("int64", whole(3, 40))),
    "integers of two values": (("int64", whole(4, 40, 0, 2)), ("int64", whole(5, 30, 0, 2))),
    "negative integers": (("int64", whole(6, 40, -50, -3)), ("int64", whole(7, 30, -60, 5))),
    "unsigned": (("uint8", whole(8, 40, 0, 200)), ("uint8", whole(9, 30, 50, 256))),
    "integers against floats": (("int64", whole(10, 40)), ("float64", holes(10, [float(v) for v in whole(11, 30)], 0.2, NAN))),
    "float32": (("float32", gauss(12, 40)), ("float32", gauss(13, 30))),
    "far apart": (("float64", gauss(14, 20)), ("float64", gauss(15, 20, 100))),
    "both constant, equal": (("float64", [5.0] * 6), ("float64", [5.0] * 4)),
    "both constant, other": (("int64", [5] * 6), ("int64", [7] * 4)),
    "real constant": (("int64", [5] * 6), ("int64", [5, 6, 7])),
    "synthetic constant": (("float64", gauss(16, 12)), ("float64", [0.1] * 5)),
    "constant with nan": (("float64", [5.0, NAN, 5.0]), ("float64", [5.0, 6.0, NAN])),
    "infinite": (("float64", [1.0, INF, 2.0]), ("float64", [1.0, 2.0, 3.0])),
    "infinite in both": (("float64", [1.0, INF, 2.0, -INF]), ("float64", [INF, 2.0, 3.0])),
    "above 2**53": (("int64", [2**60 + i for i in (0, 1, 2, 3)]), ("int64", [2**60 + i for i in (1, 2, 5)])),
    "differences below 1e-14": (("float64", [0.1, 0.2, 0.3]), ("float64", [0.1 + 4e-15, 0.2 - 4e-15, 0.3])),
    "differences of 1e-13": (("float64", [0.1, 0.2, 0.3]), ("float64", [0.1 + 1e-13, 0.2 - 1e-13, 0.3])),
    "skewed": (("float64", [round(math.exp(v), 2) for v in gauss(17, 50, 0, 2)]), ("float64", [round(math.exp(v), 2) for v in gauss(18, 50, 0.3, 2)])),
    "one row each": (("float64", [1.5]), ("float64", [2.5])),
    "two rows each": (("int64", [1, 2]), ("int64", [2, 2])),
    "no synthetic row": (("float64", [1.0, 2.0, 3.0]), ("float64", [])),
    "no real row": (("float64", []), ("float64", [1.0, 2.0])),
    "no row": (("float64", []), ("float64", [])),
    "real all nan": (("float64", [NAN] * 4), ("float64", [1.0, 2.0, NAN])),
    "synthetic all nan": (("float64", [1.0, NAN, 2.0]), ("float64", [NAN] * 3)),
    "both all nan": (("float64", [NAN] * 3), ("float64", [NAN] * 3)),
    "nullable integers": (("Int64", holes(19, whole(19, 30))), ("Int64", holes(20, whole(20, 25, 2, 24), 0.4))),
    "nullable integers, none missing": (("Int64", whole(21, 30)), ("Int64", whole(22, 25))),
    "nullable floats": (("Float64", holes(23, gauss(23, 30))), ("Float64", holes(24, gauss(24, 25), 0.4))),
    "nullable integers, all missing": (("Int64", [1, 2, 3]), ("Int64", [None, None])),
    "booleans": (("bool", [True, False, True, True]), ("bool", [False, True, False, False])),
    "booleans, one value": (("bool", [True] * 4), ("bool", [True] * 3)),
    "nullable booleans": (("boolean", [True, None, False, True, True]), ("boolean", [False, None, None, False])),
    "booleans with None": (("object", [True, None, False, True]), ("object", [False, True, None])),
    "booleans against integers": (("bool", [True, False, True]), ("int64", [1, 0, 0, 2])),
    "dates": ((NS, days(25, 40)), (NS, days(26, 30, 2020))),
    "dates with NaT": ((NS, holes(27, days(27, 40))), (NS, holes(28, days(28, 30), 0.4))),
    "dates, synthetic all NaT": ((NS, days(29, 5)), (NS, [None] * 3)),
    "dates, real all NaT": ((NS, [None] * 3), (NS, days(29, 5))),
    "dates in seconds": (("datetime64[s]", days(30, 40)), ("datetime64[s]", days(31, 30, 2021))),
    "dates, constant": ((NS, [datetime.datetime(2020, 5, 5)] * 4), (NS, days(31, 4))),
    "dates with a zone": (("datetime64[ns, Europe/Paris]", days(32, 20)), ("datetime64[ns, Europe/Paris]", days(33, 20))),
    "dates as text": (("object", texts(days(34, 30))), ("object", texts(days(35, 20, 2021)))),
    "dates as text with gaps": (("object", holes(36, texts(days(36, 30)))), ("object", [*holes(37, texts(days(37, 20))), "2020-13-45", "no date"])),
    "dates out of bounds": (("object", ["2020-01-01", "1677-01-01"]), ("object", ["2020-01-01", "9999-12-31", "1600-05-05", "2262-04-12", "2262-04-11"])),
    "dates of Python": (("object", [d.date() for d in days(38, 10)]), ("object", [d.date() for d in days(39, 10)])),
    "instants as objects": (("object", days(38, 10)), ("object", days(39, 10))),
    "durations": (("timedelta64[ns]", [datetime.timedelta(seconds=s) for s in whole(38, 12)]), ("timedelta64[ns]", [datetime.timedelta(seconds=s) for s in whole(39, 12)])),
    "text": (("object", pick(40, 60, *LEVELS)), ("object", pick(41, 45, *LEVELS))),
    "text with None": (("object", holes(42, pick(42, 50, *LEVELS))), ("object", holes(43, pick(43, 40, *LEVELS), 0.4))),
    "text with nan": (("object", holes(44, pick(44, 50, *LEVELS), 0.2, NAN)), ("object", holes(45, pick(45, 40, *LEVELS), 0.4, NAN))),
    "None against nan": (("object", ["a", None, "b"]), ("object", ["a", NAN, "b", NAN])),
    "new and lost categories": (("object", pick(46, 40, "a", "b", "c", "d")), ("object", pick(47, 40, "b", "x", "y", "a"))),
    "disjoint categories": (("object", ["a", "b", "a"]), ("object", ["x", "y", "z"])),
    "numbers, none in common": (("float64", [5.0] * 4), ("float64", [1.0, 2.0, 3.0, NAN])),
    "one value of three": (("object", ["a", "b", "a"]), ("object", ["a", "z", "z"])),
    "number against its text": (("int64", [1, 2]), ("object", ["1", "2"])),
    "numbers and text": (("object", [1, "a", 2.5, None, "a"]), ("object", ["a", 1.0, True, "b"])),
    "text, all missing": (("object", ["a", "b", None]), ("object", [None, None])),
    "no text": (("object", ["a", "b"]), ("object", [])),
    "text, one value": (("object", ["a"] * 3), ("object", ["a"] * 5)),
    "empty text and blanks": (("object", ["", " ", "a", ""]), ("object", ["", "a", "A", " a"])),
    "category dtype": (("category", pick(48, 40, *LEVELS)), ("category", pick(49, 30, *LEVELS))),
    "category dtype with gaps": (("category", holes(50, pick(50, 40, *LEVELS))), ("category", holes(51, pick(51, 30, *LEVELS)))),
    "category dtype, ordered": (("category ordered", pick(52, 40, *LEVELS)), ("category ordered", pick(53, 30, *LEVELS))),
    "category dtype, unused": (("category unused", pick(54, 40, "a", "b", "c")), ("category unused", pick(55, 30, "a", "b", "zz"))),
    "category dtype of numbers": (("category", whole(56, 40, 0, 5)), ("category", whole(57, 30, 0, 6))),
    "string dtype": (("string", holes(58, pick(58, 40, *LEVELS))), ("string", holes(59, pick(59, 30, *LEVELS)))),
    "many levels": (("object", [f"v{i}" for i in whole(60, 200, 0, 150)]), ("object", [f"v{i}" for i in whole(61, 180, 40, 190)])),
    "lists": (("object", [[1], [2]]), ("object", [[1], [3]])),
    "numbers as objects": (("object", whole(62, 20)), ("object", whole(63, 20))),
    "numbers as objects with None": (("object", holes(64, whole(64, 20))), ("object", holes(65, whole(65, 20)))),
    "decimals": (("object", [decimal.Decimal(v) / 4 for v in whole(66, 12)]), ("object", [decimal.Decimal(v) / 4 for v in whole(67, 12)])),
    "complex": (("complex128", [1 + 1j, 2, 3]), ("complex128", [1, 2 + 1j])),
    "keys": (("object", [f"ID_{i:03d}" for i in range(20)]), ("object", [f"ID_{i:03d}" for i in range(15, 40)])),
    "keys that repeat": (("object", [f"ID_{i:03d}" for i in range(20)]), ("object", [f"ID_{i:03d}" for i in whole(68, 20)])),
    "keys with gaps": (("object", ["AA-1", "AB-2", None, "BA-1"]), ("object", ["AA-2", None, None, "AB-1", "CC-1", "aa-1"])),
    "keys as numbers": (("int64", list(range(10))), ("int64", [1, 2, 2, 3, 11])),
    "keys off the pattern": (("object", ["ID_001", "x", "y", "z"]), ("object", ["ID_1", "ID_0001", "ID_002", "id_003"])),
    "times with an offset": (("object", ["2020-01-01 10:00:00+0100", "2020-07-01 10:00:00+0200"]), ("object", ["2020-01-01 10:00:00+0000", "2020-01-01"])),
}  # fmt: skip

ONE_COLUMN: dict[str, list[dict]] = {
    "KSComplement": [{}],
    "TVComplement": [{}],
    "CSTest": [{}],
    "StatisticSimilarity": [{}, {"statistic": "median"}, {"statistic": "std"}],
    "BoundaryAdherence": [{}],
    "CategoryAdherence": [{}],
    "CategoryCoverage": [{}],
    "RangeCoverage": [{}],
    "MissingValueSimilarity": [{}],
    "KeyUniqueness": [{}],
    "DatetimeFormatAdherence": [{"datetime_format": "%Y-%m-%d"}],
    "RegexFormatAdherence": [{"regex_format": r"ID_\d{3}"}],
}

FURTHER: list[Case] = [
    Case("single_column", metric, data, kwargs)
    for metric, data, kwargs in [
        ("StatisticSimilarity", "floats", {"statistic": "mode"}),
        ("BoundaryAdherence", "floats", {"range_min": -1.0, "range_max": 1.0}),
        ("BoundaryAdherence", "floats", {"range_min": -1}),
        ("BoundaryAdherence", "floats", {"range_max": 0.5, "range_is_nullable": True}),
        ("BoundaryAdherence", "nan in synthetic only", {"range_is_nullable": True}),
        ("BoundaryAdherence", "nan in real only", {"range_is_nullable": False}),
        ("BoundaryAdherence", "floats with nan", {"range_is_nullable": False, "range_min": -0.5}),
        ("BoundaryAdherence", "dates", {"range_min": "2020-03-01", "range_max": "2020-12-31"}),
        ("BoundaryAdherence", "dates with NaT", {"range_min": datetime.datetime(2020, 3, 1)}),
        ("BoundaryAdherence", "no real row", {"range_min": 0, "range_max": 1}),
        ("BoundaryAdherence", "integers", {"range_min": 30, "range_max": 10}),
        ("CategoryAdherence", "text", {"range_values": ["a", "b"]}),
        ("CategoryAdherence", "text with None", {"range_values": ["a", "b", None]}),
        ("CategoryAdherence", "text with None", {"range_values": ["a", "b"]}),
        ("CategoryAdherence", "text with None", {"range_values": ["a", "b"], "range_is_nullable": False}),
        ("CategoryAdherence", "text with nan", {"range_is_nullable": False}),
        ("CategoryAdherence", "text", {"range_values": [], "range_is_nullable": True}),
        ("CategoryAdherence", "integers", {"range_values": [3, 4, 5.0]}),
        ("CategoryAdherence", "integers", {"range_values": ["3", "4"]}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": "%-m/%-d/%Y"}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": "%Y-%-m-%-d"}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": "%Q"}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": "%"}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": 5}),
        ("DatetimeFormatAdherence", "dates as text with gaps", {"datetime_format": "%Y-%d-%m"}),
        ("DatetimeFormatAdherence", "dates as text", {"datetime_format": "%Y"}),
        ("DatetimeFormatAdherence", "integers", {"datetime_format": "%Y"}),
        ("DatetimeFormatAdherence", "times with an offset", {"datetime_format": "%Y-%m-%d %H:%M:%S%z"}),
        ("RegexFormatAdherence", "keys", {"regex_format": "("}),
        ("RegexFormatAdherence", "keys", {"regex_format": 3}),
        ("RegexFormatAdherence", "keys", {"regex_format": "ID_.*5"}),
        ("RegexFormatAdherence", "keys", {"regex_format": r"ID_(\d)(\d)(\d)"}),
        ("RegexFormatAdherence", "keys", {"regex_format": r"ID_(?P<a>\d)(?P<b>\d)(\d)"}),
        ("RegexFormatAdherence", "keys", {"regex_format": r"ID_(?P<a>\d)\d(?P<b>\d)"}),
        ("RegexFormatAdherence", "keys with gaps", {"regex_format": r"(?P<one>[A-Z]+)-(?P<two>\d)"}),
        ("RegexFormatAdherence", "keys with gaps", {"regex_format": r"(?i)[a-z]+-\d"}),
        ("RegexFormatAdherence", "keys with gaps", {"regex_format": r"(?P<one>A)?[A-Z]+-(?P<two>\d)"}),
        ("RegexFormatAdherence", "disjoint categories", {"regex_format": r"(?P<one>[x-z])"}),
        ("RegexFormatAdherence", "text", {"regex_format": ""}),
        ("RegexFormatAdherence", "empty text and blanks", {"regex_format": "a?"}),
    ]
]  # fmt: skip

# --- keys -------------------------------------------------------------------------------------------------------------


def keys(parent: Spec | dict, child: Spec | dict) -> tuple:
    return parent, child


KEYS: dict[str, tuple[tuple, tuple]] = {
    "plain": (keys(("int64", [1, 2, 3]), ("int64", [1, 1, 2])), keys(("int64", [1, 2, 3]), ("int64", [3, 1, 2, 2]))),
    "orphans": (keys(("int64", [1, 2, 3]), ("int64", [1, 1, 2])), keys(("int64", [1, 2, 3]), ("int64", [1, 9, 3, 3]))),
    "all orphans": (keys(("int64", [1, 2]), ("int64", [1, 2])), keys(("int64", [1, 2]), ("int64", [7, 8, 9]))),
    "real orphans": (keys(("int64", [1, 2]), ("int64", [1, 5])), keys(("int64", [1, 2]), ("int64", [1, 2, 5]))),
    "missing in real": (keys(("float64", [1, 2, 3]), ("float64", [1, NAN, 2])), keys(("float64", [1, 2, 3]), ("float64", [1, NAN, 9, 3]))),
    "missing in synthetic": (keys(("float64", [1, 2, 3]), ("float64", [1, 2])), keys(("float64", [1, 2, 3]), ("float64", [1, NAN, 9, 3]))),
    "missing in the parent": (keys(("float64", [1, 2, 3]), ("float64", [1, 2])), keys(("float64", [1, NAN, 3]), ("float64", [1, NAN, 9, 3]))),
    "missing in both parents": (keys(("float64", [1, NAN, 3]), ("float64", [1, NAN, NAN])), keys(("float64", [1, NAN, 3]), ("float64", [1, NAN, 9, NAN]))),
    "text keys": (keys(("object", ["a", "b", "c"]), ("object", ["a", "c", "c"])), keys(("object", ["a", "b", "c"]), ("object", ["a", "x", "c", "b"]))),
    "text keys with None": (keys(("object", ["a", "b", "c"]), ("object", ["a", None, "c"])), keys(("object", ["a", "b"]), ("object", ["a", None, "c", "b"]))),
    "parents that repeat": (keys(("int64", [1, 1, 2]), ("int64", [1, 2])), keys(("int64", [1, 1, 2, 2]), ("int64", [1, 1, 2, 3]))),
    "no children": (keys(("int64", [1, 2]), ("int64", [1, 2])), keys(("int64", [1, 2]), ("int64", []))),
    "no parents": (keys(("int64", [1, 2]), ("int64", [1, 2])), keys(("int64", []), ("int64", [1, 2]))),
    "no real children": (keys(("int64", [1, 2]), ("int64", [])), keys(("int64", [1, 2]), ("int64", [1, 2]))),
    "nothing real": (keys(("int64", []), ("int64", [])), keys(("int64", [1, 2]), ("int64", [1, 2]))),
    "a number against its text": (keys(("int64", [1, 2]), ("int64", [1, 2])), keys(("int64", [1, 2]), ("object", ["1", "2"]))),
    "integers against floats": (keys(("int64", [1, 2]), ("float64", [1, NAN])), keys(("int64", [1, 2]), ("float64", [1, 2, NAN, 2.5]))),
    "nullable keys": (keys(("Int64", [1, 2, 3]), ("Int64", [1, None, 2])), keys(("Int64", [1, 2, 3]), ("Int64", [1, None, 9, 3]))),
    "dates": (keys((NS, days(1, 5)), (NS, days(1, 5))), keys((NS, days(1, 5)), (NS, [*days(1, 3), *days(2, 2)]))),
    "booleans": (keys(("bool", [True, False]), ("bool", [True, True])), keys(("bool", [True]), ("bool", [True, False]))),
    "many": (keys(("int64", list(range(50))), ("int64", whole(1, 120, 0, 50))), keys(("int64", list(range(40))), ("int64", whole(2, 150, 0, 45)))),
    "more children than ever": (keys(("int64", [1, 2, 3]), ("int64", [1, 2, 2, 3])), keys(("int64", [1, 2, 3]), ("int64", [1, 1, 1, 2, 2]))),
    "no child of some": (keys(("int64", [1, 2, 3]), ("int64", [1, 1, 2, 3])), keys(("int64", [1, 2, 3, 4]), ("int64", [1, 2, 2]))),
    "as many children each": (keys(("int64", [1, 2]), ("int64", [1, 2])), keys(("int64", [5, 6]), ("int64", [5, 6]))),
    "category keys": (keys(("category", ["a", "b"]), ("category", ["a", "b", "b"])), keys(("category", ["a", "b"]), ("category", ["a", "b", "c"]))),
    "string keys": (keys(("string", ["a", "b"]), ("string", ["a", None])), keys(("string", ["a", "b"]), ("string", ["a", "b", None, "c"]))),
    "two columns": (
        keys({"a": ("int64", [1, 1, 2]), "b": ("object", ["x", "y", "x"])}, {"a": ("int64", [1, 2]), "b": ("object", ["x", "x"])}),
        keys({"a": ("int64", [1, 1, 2]), "b": ("object", ["x", "y", "x"])}, {"a": ("int64", [1, 2, 2]), "b": ("object", ["x", "x", "y"])}),
    ),
    "two columns, other numbers of children": (
        keys({"a": ("int64", [1, 1]), "b": ("object", ["x", "y"])}, {"a": ("int64", [1, 1]), "b": ("object", ["x", "y"])}),
        keys({"a": ("int64", [1, 1]), "b": ("object", ["x", "y"])}, {"a": ("int64", [1, 1, 1]), "b": ("object", ["x", "x", "x"])}),
    ),
    "two columns with gaps": (
        keys({"a": ("float64", [1, 1, 2]), "b": ("object", ["x", "y", "x"])}, {"c": ("float64", [1, NAN]), "d": ("object", ["x", None])}),
        keys({"a": ("float64", [1, 1, 2]), "b": ("object", ["x", "y", "x"])}, {"c": ("float64", [1, NAN, 2, 2]), "d": ("object", ["x", "x", None, "x"])}),
    ),
}  # fmt: skip

# --- two columns ------------------------------------------------------------------------------------------------------

Pair = tuple[dict[str, Spec], dict[str, Spec]]


def two(a: Spec, b: Spec, c: Spec, d: Spec) -> Pair:
    return {"x": a, "y": b}, {"x": c, "y": d}


def related(seed: int, n: int, rho: float, **more: Any) -> tuple[Spec, Spec]:
    first, noise = gauss(seed, n), gauss(seed + 500, n)
    return ("float64", first), (
        "float64",
        [round(rho * a + math.sqrt(1 - rho**2) * b, 3) for a, b in zip(first, noise, strict=True)],
    )


def leveled(spec: Spec, *levels: str) -> Spec:
    return ("object", [levels[min(max(int(v + len(levels) / 2), 0), len(levels) - 1)] for v in spec[1]])


def gap(seed: int, spec: Spec, share: float = 0.2, hole: object = None) -> Spec:
    return spec[0], holes(seed, spec[1], share, hole)


X1, Y1 = related(1, 60, 0.8)
X2, Y2 = related(2, 50, 0.3)
A1, B1, A2, B2 = (
    leveled(X1, "p", "q", "r", "s"),
    leveled(Y1, "u", "v", "w"),
    leveled(X2, "p", "q", "r", "s"),
    leveled(Y2, "u", "v", "w", "z"),
)
I1, I2 = ("int64", [int(4 * v) for v in X1[1]]), ("int64", [int(5 * v) for v in X2[1]])
D1, D2 = (NS, days(3, 60)), (NS, days(4, 50))

PAIRS: dict[str, Pair] = {
    "floats": two(X1, Y1, X2, Y2),
    "a copy": two(X1, Y1, X1, Y1),
    "the other sign": two(X1, Y1, X2, ("float64", [-v for v in Y2[1]])),
    "floats with nan": two(gap(1, X1, 0.2, NAN), gap(2, Y1, 0.1, NAN), gap(3, X2, 0.3, NAN), Y2),
    "nan in synthetic only": two(X1, Y1, gap(4, X2, 0.3, NAN), Y2),
    "integers": two(I1, ("int64", whole(5, 60)), I2, ("int64", whole(6, 50))),
    "integer and float": two(I1, Y1, I2, Y2),
    "dates": two(D1, (NS, days(5, 60)), D2, (NS, days(6, 50))),
    "date and float": two(D1, Y1, D2, Y2),
    "date with NaT and float": two(gap(5, D1), Y1, gap(6, D2), gap(7, Y2, 0.1, NAN)),
    "real constant": two(("float64", [1.0] * 60), Y1, X2, Y2),
    "both real constant": two(("float64", [1.0] * 60), ("int64", [2] * 60), X2, Y2),
    "synthetic constant": two(X1, Y1, X2, ("float64", [3.0] * 50)),
    "constant where both are there": two(("float64", [1.0, 1.0, 2.0]), ("float64", [1.0, 2.0, NAN]), ("float64", [1.0, 2.0]), ("float64", [3.0, 4.0])),
    "one row": two(("float64", [1.0]), ("float64", [2.0]), ("float64", [1.0]), ("float64", [2.0])),
    "two rows": two(("float64", [1.0, 2.0]), ("float64", [2.0, 5.0]), ("float64", [1.0, 3.0]), ("float64", [2.0, 1.0])),
    "no synthetic row": two(X1, Y1, ("float64", []), ("float64", [])),
    "no real row": two(("float64", []), ("float64", []), X1, Y1),
    "all nan": two(X1, ("float64", [NAN] * 60), X2, Y2),
    "infinite": two(("float64", [1.0, INF, 2.0]), ("float64", [1.0, 2.0, 3.0]), ("float64", [1.0, 2.0, 3.0]), ("float64", [1.0, 2.0, 3.0])),
    "infinite in synthetic": two(X1, Y1, ("float64", [1.0, INF, 2.0]), ("float64", [1.0, 2.0, 3.0])),
    "text": two(A1, B1, A2, B2),
    "text with None": two(gap(8, A1), gap(9, B1), gap(10, A2), gap(11, B2)),
    "text with nan": two(gap(8, A1, 0.2, NAN), B1, gap(10, A2, 0.2, NAN), B2),
    "independent text": two(("object", pick(20, 60, *LEVELS)), ("object", pick(21, 60, *LEVELS)), ("object", pick(22, 50, *LEVELS)), ("object", pick(23, 50, *LEVELS))),
    "one level": two(("object", ["a"] * 60), B1, A2, B2),
    "other levels": two(A1, B1, ("object", [f"{v}!" for v in A2[1]]), B2),
    "no synthetic text": two(A1, B1, ("object", []), ("object", [])),
    "no real text": two(("object", []), ("object", []), A2, B2),
    "text and float": two(A1, Y1, A2, Y2),
    "text and float with nan": two(gap(12, A1), gap(13, Y1, 0.2, NAN), gap(14, A2), gap(15, Y2, 0.3, NAN)),
    "text and date": two(A1, D1, A2, D2),
    "booleans": two(("bool", [v > 0 for v in X1[1]]), ("bool", [v > 0.5 for v in Y1[1]]), ("bool", [v > 0 for v in X2[1]]), ("bool", [v > 0.5 for v in Y2[1]])),
    "boolean and text": two(("bool", [v > 0 for v in X1[1]]), B1, ("bool", [v > 0 for v in X2[1]]), B2),
    "booleans with None": two(gap(16, ("object", [v > 0 for v in X1[1]])), B1, gap(17, ("object", [v > 0 for v in X2[1]])), B2),
    "category dtype": two(("category", A1[1]), ("category", B1[1]), ("category", A2[1]), ("category", B2[1])),
    "category and object": two(("category", A1[1]), B1, ("category", A2[1]), B2),
    "nullable integers": two(gap(18, ("Int64", I1[1])), ("Int64", whole(5, 60)), gap(19, ("Int64", I2[1])), ("Int64", whole(6, 50))),
    "string dtype": two(gap(18, ("string", A1[1])), ("string", B1[1]), gap(19, ("string", A2[1])), ("string", B2[1])),
    "number against its text": two(("int64", whole(7, 30, 0, 3)), ("object", pick(8, 30, *LEVELS)), ("object", [str(v) for v in whole(9, 30, 0, 3)]), ("object", pick(10, 30, *LEVELS))),
    "an outlier": two(X1, Y1, ("float64", [*X2[1][:-1], 1e6]), Y2),
    "huge integers": two(("int64", [2**60 + v for v in whole(1, 20)]), ("int64", whole(2, 20)), ("int64", [2**60 + v for v in whole(3, 20)]), ("int64", whole(4, 20))),
}  # fmt: skip

TWO_COLUMNS: dict[str, list[dict]] = {
    "CorrelationSimilarity": [{}, {"coefficient": "Spearman"}, {"real_correlation_threshold": 0.5}],
    "ContingencySimilarity": [{}, {"continuous_column_names": ["y"]}, {"continuous_column_names": ["x", "y"], "num_discrete_bins": 4}, {"real_association_threshold": 0.3}],
    "ContinuousKLDivergence": [{}],
    "DiscreteKLDivergence": [{}],
}  # fmt: skip
FURTHER += [
    Case("column_pairs", metric, data, kwargs)
    for metric, data, kwargs in [
        ("CorrelationSimilarity", "floats", {"coefficient": "Kendall"}),
        ("CorrelationSimilarity", "floats", {"real_correlation_threshold": 1.5}),
        ("CorrelationSimilarity", "floats", {"real_correlation_threshold": "a"}),
        ("CorrelationSimilarity", "floats", {"real_correlation_threshold": 0.99}),
        ("ContingencySimilarity", "text", {"continuous_column_names": ["z"]}),
        ("ContingencySimilarity", "text", {"num_discrete_bins": 0}),
        ("ContingencySimilarity", "text", {"num_discrete_bins": 2.5}),
        ("ContingencySimilarity", "text", {"num_rows_subsample": 0}),
        ("ContingencySimilarity", "text", {"num_rows_subsample": "5"}),
        ("ContingencySimilarity", "text", {"num_rows_subsample": 1000}),
        ("ContingencySimilarity", "text", {"real_association_threshold": 2}),
        ("ContingencySimilarity", "text", {"real_association_threshold": 0.99}),
        ("ContingencySimilarity", "text", {"real_association_threshold": 0.01}),
        ("ContingencySimilarity", "text and float", {"continuous_column_names": ["y"], "real_association_threshold": 0.1}),
        ("ContingencySimilarity", "text and float with nan", {"continuous_column_names": ["y"], "real_association_threshold": 0.1}),
    ]
]  # fmt: skip

# --- one table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tables:
    real: dict
    synthetic: dict
    metadata: dict | None = None


def meta(words: str, **extra: object) -> dict:
    return {"columns": {k: {"sdtype": v} for k, v in (word.split(":") for word in words.split())}, **extra}


R1 = {
    "id": ("int64", list(range(60))),
    "n": X1,
    "m": Y1,
    "i": I1,
    "d": D1,
    "c": A1,
    "e": B1,
    "b": ("bool", [v > 0 for v in X1[1]]),
}
S1 = {
    "id": ("int64", list(range(50))),
    "n": X2,
    "m": Y2,
    "i": I2,
    "d": D2,
    "c": A2,
    "e": B2,
    "b": ("bool", [v > 0 for v in X2[1]]),
}
KINDS = "id:id n:numerical m:numerical i:numerical d:datetime c:categorical e:categorical b:boolean"


def only(table: dict, *names: str) -> dict:
    return {n: table[n] for n in names}


def both(*names: str) -> tuple[dict, dict]:
    return only(R1, *names), only(S1, *names)


G1, G2 = (
    {k: gap(30 + i, v, 0.2, NAN if v[0] == "float64" else None) if v[0] in ("float64", "object", NS) else v for i, (k, v) in enumerate(t.items())}
    for t in (R1, S1)
)  # fmt: skip
TEXT_DATES = ({**R1, "d": ("object", texts(D1[1]))}, {**S1, "d": ("object", texts(D2[1]))})
TABLES: dict[str, Tables] = {
    "without metadata": Tables(R1, S1),
    "all kinds": Tables(R1, S1, meta(KINDS, primary_key="id")),
    "in the shape of SDV": Tables(R1, S1, {"tables": {"people": meta(KINDS, primary_key="id")}, "relationships": []}),
    "two tables in metadata": Tables(R1, S1, {"tables": {"people": meta(KINDS), "others": meta("k:id")}}),
    "with gaps": Tables(G1, G2, meta(KINDS, primary_key="id")),
    "gaps without metadata": Tables(G1, G2),
    "dates as text": Tables(*TEXT_DATES, {"columns": {**meta(KINDS)["columns"], "d": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}}}),
    "dates as text, no format": Tables(*TEXT_DATES, meta(KINDS)),
    "dates as text, without metadata": Tables(*TEXT_DATES),
    "numbers only": Tables(*both("n", "m", "i"), meta("n:numerical m:numerical i:numerical")),
    "one number": Tables(*both("n"), meta("n:numerical")),
    "text only": Tables(*both("c", "e"), meta("c:categorical e:categorical")),
    "one text": Tables(*both("c"), meta("c:categorical")),
    "dates only": Tables(*both("d"), meta("d:datetime")),
    "a key of numbers": Tables(*both("i", "n", "c"), meta("i:numerical n:numerical c:categorical", primary_key="i")),
    "alternate keys": Tables(*both("i", "n", "c", "e"), meta("i:numerical n:numerical c:categorical e:categorical", alternate_keys=["i", ["c"]])),
    "pii": Tables(*both("n", "m", "c", "e"), {"columns": {"n": {"sdtype": "numerical", "pii": False}, "m": {"sdtype": "numerical"}, "c": {"sdtype": "categorical", "pii": True}, "e": {"sdtype": "categorical"}}}),
    "ordinal": Tables(*both("n", "c", "e"), meta("n:numerical c:ordinal e:categorical")),
    "ids only": Tables(*both("id", "c"), meta("id:id c:id")),
    "numbers as categories": Tables(*both("i", "b", "c"), meta("i:categorical b:categorical c:categorical")),
    "a constant number": Tables({**both("n", "m")[0], "k": ("float64", [1.0] * 60)}, {**both("n", "m")[1], "k": X2}, meta("n:numerical m:numerical k:numerical")),
    "all missing": Tables({**both("n", "c")[0], "k": ("float64", [NAN] * 60)}, {**both("n", "c")[1], "k": X2}, meta("n:numerical c:categorical k:numerical")),
    "a column of nothing": Tables({**both("c", "e")[0], "k": ("object", [None] * 60)}, {**both("c", "e")[1], "k": A2}, meta("c:categorical e:categorical k:categorical")),
    "no synthetic row": Tables(R1, {n: (s[0], []) for n, s in S1.items()}, meta(KINDS, primary_key="id")),
    "no real row": Tables({n: (s[0], []) for n, s in R1.items()}, S1, meta(KINDS, primary_key="id")),
    "other columns": Tables(R1, both("n", "c")[1], meta(KINDS)),
    "a column that metadata lacks": Tables(*both("n", "c"), meta("n:numerical")),
    "metadata of a column that is not there": Tables(*both("n", "c"), meta("n:numerical c:categorical z:numerical")),
    "metadata without columns": Tables(*both("n", "c"), {"primary_key": "n"}),
    "metadata that is a list": Tables(*both("n", "c"), []),
    "other dtypes": Tables(R1, {**S1, "i": ("float64", [float(v) for v in I2[1]]), "b": ("object", [str(v) for v in S1["b"][1]])}, meta(KINDS)),
    "other order of columns": Tables(R1, {n: S1[n] for n in reversed(S1)}, meta(KINDS)),
    "awkward names": Tables({"a b": X1, "": A1, "ü'": B1, "x" * 50: Y1}, {"a b": X2, "": A2, "ü'": B2, "x" * 50: Y2}, {"columns": {"a b": {"sdtype": "numerical"}, "": {"sdtype": "categorical"}, "ü'": {"sdtype": "categorical"}, "x" * 50: {"sdtype": "numerical"}}}),
    "numbers as names": Tables({0: X1, 1: A1, 2: Y1}, {0: X2, 1: A2, 2: Y2}, {"columns": {0: {"sdtype": "numerical"}, 1: {"sdtype": "categorical"}, 2: {"sdtype": "numerical"}}}),
}  # fmt: skip

WRAPPERS: dict[str, list[dict]] = {
    "KSComplement": [{}],
    "StatisticSimilarity": [{}, {"statistic": "median"}],
    "BoundaryAdherence": [{}],
    "MissingValueSimilarity": [{}],
    "RangeCoverage": [{}],
    "TVComplement": [{}],
    "CategoryCoverage": [{}],
    "CSTest": [{}],
    "CorrelationSimilarity": [{}, {"coefficient": "Spearman"}],
    "ContingencySimilarity": [{}, {"real_association_threshold": 0.1}],
    "ContinuousKLDivergence": [{}],
    "DiscreteKLDivergence": [{}],
    "TableStructure": [{}],
}


def cases() -> Iterator[Case]:
    for metric, settings in ONE_COLUMN.items():
        yield from (Case("single_column", metric, data, kwargs) for kwargs in settings for data in COLUMNS)
    for metric, settings in TWO_COLUMNS.items():
        yield from (Case("column_pairs", metric, data, kwargs) for kwargs in settings for data in PAIRS)
    for metric in ("ReferentialIntegrity", "CardinalityBoundaryAdherence"):
        yield from (Case("keys", metric, data) for data in KEYS)
    for metric, settings in WRAPPERS.items():
        calls = ("compute", "compute_breakdown")
        yield from (
            Case("single_table", metric, data, kwargs, call) for kwargs in settings for data in TABLES for call in calls
        )
    yield from FURTHER


def built(thing: Any) -> Any:
    """Return the series of a spec, the frame of a dictionary of specs, the tuple of a pair of keys."""
    if isinstance(thing, dict):
        return frame(thing)
    return series(thing) if isinstance(thing[0], str) else tuple(map(built, thing))


def arguments(case: Case) -> tuple[tuple, dict]:
    """Return new arguments for the call of a case."""
    if case.kind != "single_table":
        home = {"single_column": COLUMNS, "column_pairs": PAIRS, "keys": KEYS}[case.kind]
        real, synthetic = home[case.data]
        return (built(real), built(synthetic)), dict(case.kwargs)
    tables = TABLES[case.data]
    metadata = () if tables.metadata is None or case.metric == "TableStructure" else (tables.metadata,)
    return (frame(tables.real), frame(tables.synthetic), *metadata), dict(case.kwargs)


MODULES = {"keys": "column_pairs"}
"""Module of the metrics of a kind, where it is not called like the kind."""
CASES = list(cases())

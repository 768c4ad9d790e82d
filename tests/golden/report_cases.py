"""The reports that `remake_reports.py` has from SDMetrics and `test_reports.py` from `divulge.sdmetrics`, as data."""

import datetime
import importlib
import math
import random
import warnings
from dataclasses import dataclass, field
from typing import Any

from relational_cases import INF, NAN, Table, days, frame, gauss, holes, keys, whole

Entries = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    id: str
    real: dict[str, Table]
    synthetic: dict[str, Table]
    metadata: dict[str, Any]
    reports: tuple[str, ...] = ("QualityReport", "DiagnosticReport")
    settings: dict[str, float] = field(default_factory=dict)
    constraints: list[dict[str, Any]] | None = None


def arguments(case: Case) -> tuple[Any, Any, Any]:
    real, synthetic = ({name: frame(t) for name, t in side.items()} for side in (case.real, case.synthetic))
    return real, synthetic, case.metadata


CASES: list[Case] = []


def entry(sdtype: str, **more: Any) -> dict[str, Any]:
    return {"sdtype": sdtype, **more}


NUM, CAT, BOOL, DATE, ID, ORD = (entry(s) for s in ("numerical", "categorical", "boolean", "datetime", "id", "ordinal"))


def one(name: str, real: Table, synthetic: Table, columns: Entries, *, settings: Any = None, **metadata: Any) -> None:
    meta = {"tables": {"t": {"columns": columns, **metadata}}}
    CASES.append(Case(name, {"t": real}, {"t": synthetic}, meta, settings=settings or {}))


def words(seed: int, n: int, of: str = "abcd", weights: Any = None) -> list[str]:
    return random.Random(seed).choices(list(of), weights, k=n)


def dates(seed: int, n: int, form: str = "%Y-%m-%d") -> list[str]:
    return [d.strftime(form) for d in days(seed, n)]


def people(seed: int, n: int = 40) -> Table:
    """Return a table in which most pairs of columns are dependent."""
    rng = random.Random(seed)
    level = [rng.gauss(0, 1) for _ in range(n)]
    job = ["low" if v < -0.4 else "mid" if v < 0.6 else "high" for v in level]
    return {
        "id": ("int64", rng.sample(range(1000), n)),
        "age": ("int64", [40 + round(10 * v + rng.gauss(0, 4)) for v in level]),
        "pay": ("float64", [round(30 + 12 * v + rng.gauss(0, 6), 3) for v in level]),
        "job": ("object", job),
        "grade": ("int64", [int(v > 0) + int(v > 1) for v in level]),
        "owner": ("bool", [v + rng.gauss(0, 0.5) > 0 for v in level]),
        "since": (
            "datetime64[ns]",
            [datetime.datetime(2000, 1, 1) + datetime.timedelta(days=round(400 * v)) for v in level],
        ),
        "mail": ("object", [f"p{rng.randrange(300)}@x.org" for _ in range(n)]),
    }


PEOPLE: Entries = {
    "id": ID,
    "age": NUM,
    "pay": NUM,
    "job": CAT,
    "grade": ORD,
    "owner": BOOL,
    "since": DATE,
    "mail": entry("email", pii=True),
}


def without(table: Table, *names: str) -> Table:
    return {n: s for n, s in table.items() if n not in names}


def changed(table: Table, **columns: Any) -> Table:
    return {**table, **columns}


def gaps(table: Table, seed: int, share: float) -> Table:
    holed: Table = {}
    for i, (name, (dtype, values)) in enumerate(table.items()):
        kept = {"int64": "float64", "bool": "object"}.get(dtype, dtype)
        hole = NAN if kept == "float64" else None
        holed[name] = (kept, holes(seed + i, values, share, hole))
    return holed


# --- one table --------------------------------------------------------------------------------------------------------

R, S = people(1), people(2, 55)
one("every sdtype", R, S, PEOPLE, primary_key="id")
one("itself", R, R, PEOPLE, primary_key="id")
one(
    "shuffled columns",
    R,
    {n: (d, random.Random(i).sample(v, len(v))) for i, (n, (d, v)) in enumerate(R.items())},
    PEOPLE,
)
one("thresholds 0", R, S, PEOPLE, settings={"real_correlation_threshold": 0, "real_association_threshold": 0})
one("thresholds high", R, S, PEOPLE, settings={"real_correlation_threshold": 0.9, "real_association_threshold": 0.8})
one("missing values", gaps(R, 5, 0.2), gaps(S, 25, 0.35), PEOPLE, primary_key="id")
one(
    "missing values, thresholds 0",
    gaps(R, 5, 0.2),
    gaps(S, 25, 0.35),
    PEOPLE,
    settings={"real_correlation_threshold": 0, "real_association_threshold": 0},
)
one("missing in real only", gaps(R, 7, 0.3), S, without(PEOPLE))
one("missing in synthetic only", R, gaps(S, 9, 0.3), without(PEOPLE))
_empty = {"pay": ("float64", [NAN] * 55), "job": ("object", [None] * 55)}
one("all missing in synthetic", R, changed(S, **_empty), PEOPLE)
one("all missing in real", changed(R, pay=("float64", [NAN] * 40), job=("object", [None] * 40)), S, PEOPLE)
one(
    "all missing in both",
    changed(R, pay=("float64", [NAN] * 40), job=("object", [None] * 40)),
    changed(S, **_empty),
    PEOPLE,
)
one("constants", changed(R, age=("int64", [5] * 40), job=("object", ["x"] * 40)), S, PEOPLE)
one("constants in synthetic", R, changed(S, age=("int64", [41] * 55), job=("object", ["mid"] * 55)), PEOPLE)
one(
    "equal constants",
    changed(R, age=("int64", [5] * 40), job=("object", ["x"] * 40)),
    changed(S, age=("int64", [5] * 55), job=("object", ["x"] * 55)),
    PEOPLE,
)
one("new and lost categories", R, changed(S, job=("object", words(3, 55, ["low", "new", "other"]))), PEOPLE)
one("one row", {n: (d, v[:1]) for n, (d, v) in R.items()}, {n: (d, v[:1]) for n, (d, v) in S.items()}, PEOPLE)
one("two rows", {n: (d, v[:2]) for n, (d, v) in R.items()}, {n: (d, v[:2]) for n, (d, v) in S.items()}, PEOPLE)
one("one synthetic row", R, {n: (d, v[:1]) for n, (d, v) in S.items()}, PEOPLE)
one("no synthetic row", R, {n: (d, []) for n, (d, _) in S.items()}, PEOPLE)
one("no real row", {n: (d, []) for n, (d, _) in R.items()}, S, PEOPLE)
one("no row", {n: (d, []) for n, (d, _) in R.items()}, {n: (d, []) for n, (d, _) in S.items()}, PEOPLE)
one("stretched and shifted", R, changed(R, age=("int64", [7 * v + 90 for v in R["age"][1]])), PEOPLE)
one(
    "other dtypes",
    R,
    changed(S, age=("float64", [float(v) for v in S["age"][1]]), grade=("float64", [float(v) for v in S["grade"][1]])),
    PEOPLE,
)
one(
    "text where numbers are",
    changed(R, age=("object", list(map(str, R["age"][1])))),
    changed(S, age=("object", list(map(str, S["age"][1])))),
    PEOPLE,
)
one("text in synthetic numbers", R, changed(S, age=("object", list(map(str, S["age"][1])))), PEOPLE)
one("categories as numbers in one", changed(R, grade=("object", list(map(str, R["grade"][1])))), S, PEOPLE)
one("an infinite number", R, changed(S, pay=("float64", [*S["pay"][1][:-1], INF])), PEOPLE)
one("infinite real numbers", changed(R, pay=("float64", [*R["pay"][1][:-2], INF, -INF])), S, PEOPLE)
one(
    "huge numbers",
    {
        "a": ("int64", [2**53 + v for v in whole(1, 30, 0, 99)]),
        "b": ("float64", gauss(2, 30)),
        "c": ("object", words(3, 30)),
    },
    {
        "a": ("int64", [2**53 + v for v in whole(4, 30, 0, 99)]),
        "b": ("float64", gauss(5, 30)),
        "c": ("object", words(6, 30)),
    },
    {"a": NUM, "b": NUM, "c": CAT},
)
one(
    "tiny numbers",
    {"a": ("float64", [v * 1e-16 for v in gauss(1, 30)]), "b": ("object", words(3, 30))},
    {"a": ("float64", [v * 1e-16 for v in gauss(2, 30)]), "b": ("object", words(4, 30))},
    {"a": NUM, "b": CAT},
)
one("category dtype", changed(R, job=("category", R["job"][1])), changed(S, job=("category", S["job"][1])), PEOPLE)
one(
    "nullable dtypes",
    changed(R, age=("Int64", R["age"][1]), owner=("boolean", R["owner"][1])),
    changed(S, age=("Int64", S["age"][1]), owner=("boolean", S["owner"][1])),
    PEOPLE,
)
_truth = {"owner": ("object", holes(4, R["owner"][1], 0.3))}
one("truth values with gaps", changed(R, **_truth), S, PEOPLE)
one(
    "awkward names",
    {
        "a b": ("int64", whole(1, 20)),
        "é\"'": ("object", words(2, 20)),
        "": ("float64", gauss(3, 20)),
        "%s{}": ("object", words(7, 20, "xy")),
    },
    {
        "a b": ("int64", whole(4, 20)),
        "é\"'": ("object", words(5, 20)),
        "": ("float64", gauss(6, 20)),
        "%s{}": ("object", words(8, 20, "xy")),
    },
    {"a b": NUM, "é\"'": CAT, "": NUM, "%s{}": CAT},
)
one("one column", {"a": ("int64", whole(1, 20))}, {"a": ("int64", whole(2, 20))}, {"a": NUM})
one("only ids", {"a": ("int64", whole(1, 20))}, {"a": ("int64", whole(2, 20))}, {"a": ID})
one(
    "many values",
    {"a": ("object", [f"v{i % 211}" for i in whole(1, 300, 0, 999)]), "b": ("int64", whole(2, 300, 0, 250))},
    {"a": ("object", [f"v{i % 211}" for i in whole(3, 300, 0, 999)]), "b": ("int64", whole(4, 300, 0, 250))},
    {"a": CAT, "b": CAT},
)
_form = entry("datetime", datetime_format="%Y-%m-%d")
D, E = (
    {"d": ("object", dates(1, 30)), "x": ("float64", gauss(2, 30)), "c": ("object", words(3, 30, "ab"))},
    {"d": ("object", dates(4, 30)), "x": ("float64", gauss(5, 30)), "c": ("object", words(6, 30, "ab"))},
)
_dated = {"d": _form, "x": NUM, "c": CAT}
_all = {"real_correlation_threshold": 0, "real_association_threshold": 0}
one("dates as text", D, E, _dated, settings=_all)
one("dates as text with gaps", gaps(D, 3, 0.3), gaps(E, 8, 0.2), _dated, settings=_all)
one("dates without a format", D, E, {"d": DATE, "x": NUM, "c": CAT}, settings=_all)
one("a date that is none", D, changed(E, d=("object", ["2021-13-45", *E["d"][1][1:]])), _dated, settings=_all)
one("dates of another format", D, changed(E, d=("object", dates(4, 30, "%d/%m/%Y"))), _dated, settings=_all)
one(
    "dates as numbers",
    changed(D, d=("int64", [int(d.replace("-", "")) for d in D["d"][1]])),
    changed(E, d=("int64", [int(d.replace("-", "")) for d in E["d"][1]])),
    {"d": entry("datetime", datetime_format="%Y%m%d"), "x": NUM, "c": CAT},
    settings=_all,
)
one("dates in one, text in the other", changed(D, d=("datetime64[ns]", days(1, 30))), E, _dated, settings=_all)
one(
    "ranges in the metadata",
    R,
    S,
    {
        **PEOPLE,
        "age": entry("numerical", range_min=30, range_max=50),
        "pay": entry("numerical", range_min=20.5),
        "job": entry("categorical", range_values=["low", "mid"]),
        "since": entry("datetime", range_min="1999-01-01", range_max="2002-01-01"),
    },
)
one(
    "nullable in the metadata",
    R,
    gaps(S, 9, 0.3),
    {
        **PEOPLE,
        "age": entry("numerical", range_is_nullable=True),
        "pay": entry("numerical", range_is_nullable=False),
        "job": entry("categorical", range_is_nullable=True),
    },
)
K = {
    "k": ("object", [f"K-{i:03d}" for i in range(20)]),
    "n": ("int64", list(range(20))),
    "w": ("object", words(1, 20)),
    "m": ("object", words(2, 20, "xyz")),
}
L = {
    "k": ("object", [f"K-{i:03d}" if i % 4 else "bad" for i in range(20)]),
    "n": ("int64", whole(4, 20, 0, 15)),
    "w": ("object", words(5, 20)),
    "m": ("object", words(2, 20, "xyz")),
}
_keyed = {"k": entry("id", regex_format=r"K-\d{3}"), "n": ID, "w": CAT, "m": entry("email")}
one("keys and patterns", K, L, _keyed, primary_key="k", alternate_keys=["n", "m"])
one("missing keys and patterns", gaps(K, 3, 0.3), gaps(L, 6, 0.3), _keyed, primary_key="k")
one("composite key", K, L, _keyed, primary_key=["w", "n"])
one("composite key of one", K, L, _keyed, primary_key=["k"], alternate_keys=[["w", "m"]])
one("a numerical key", R, changed(S, age=("int64", [30] * 55)), PEOPLE, primary_key="age")
one(
    "a sequence",
    {"s": ("int64", keys(1, 30)), "i": ("int64", whole(2, 30)), "v": ("float64", gauss(3, 30))},
    {"s": ("int64", keys(4, 30)), "i": ("int64", whole(5, 30, 0, 20)), "v": ("float64", gauss(6, 30))},
    {"s": ID, "i": NUM, "v": NUM},
    sequence_key="s",
    sequence_index="i",
    settings=_all,
)
one("a column that metadata lack", changed(R, more=("int64", whole(1, 40))), S, PEOPLE)
one("a column that data lack", R, S, {**PEOPLE, "more": NUM})

# --- several tables ---------------------------------------------------------------------------------------------------


def shop(
    seed: int, n: int = 12, orders: int = 40, orphans: bool = False, prefix: str | None = None
) -> dict[str, Table]:
    rng = random.Random(seed)
    ids = [i if prefix is None else f"{prefix}{i}" for i in range(n)]
    dtype = "int64" if prefix is None else "object"
    age = [rng.randrange(20, 70) for _ in ids]
    buyer = [rng.randrange(n) for _ in range(orders)]
    own = [ids[b] for b in buyer]
    if orphans:
        own[::7] = [999 if prefix is None else "none"] * len(own[::7])
    return {
        "users": {
            "uid": (dtype, ids),
            "age": ("int64", age),
            "land": ("object", ["x" if a < 45 else "y" for a in age]),
        },
        "orders": {
            "oid": ("int64", list(range(orders))),
            "user": (dtype, own),
            "sum": ("float64", [round(age[b] * 2 + rng.gauss(0, 8), 2) for b in buyer]),
            "kind": ("object", ["a" if age[b] + rng.gauss(0, 8) < 45 else "b" for b in buyer]),
        },
    }


_USERS: Entries = {"uid": ID, "age": NUM, "land": CAT}
_ORDERS: Entries = {"oid": ID, "user": ID, "sum": NUM, "kind": CAT}


def relation(parent: str, key: Any, child: str, foreign: Any) -> dict[str, Any]:
    return {
        "parent_table_name": parent,
        "parent_primary_key": key,
        "child_table_name": child,
        "child_foreign_key": foreign,
    }


SHOP = {
    "tables": {
        "users": {"columns": _USERS, "primary_key": "uid"},
        "orders": {"columns": _ORDERS, "primary_key": "oid"},
    },
    "relationships": [relation("users", "uid", "orders", "user")],
}


def several(
    name: str, real: dict[str, Table], synthetic: dict[str, Table], metadata: Any = SHOP, **settings: float
) -> None:
    CASES.append(Case(name, real, synthetic, metadata, settings=settings))


A, B = shop(1), shop(2, 15, 50)
several("two tables", A, B)
several("two tables, thresholds 0", A, B, **_all)
several("orphans", shop(3, orphans=True), shop(4, 15, 50, orphans=True))
several("orphans in synthetic", A, shop(4, 15, 50, orphans=True), **_all)
several("keys as text", shop(5, prefix="u"), shop(6, 9, 30, prefix="u"), **_all)
several("keys of other types", shop(5, prefix="u"), shop(5), **_all)
several("key types that differ", {**A, "users": shop(5, prefix="u")["users"]}, B)
_lost = {t: dict(c) for t, c in A.items()}
_lost["orders"]["user"] = ("float64", holes(3, list(map(float, A["orders"]["user"][1])), 0.3, NAN))
several("missing foreign keys", _lost, B, **_all)
_both = {t: dict(c) for t, c in B.items()}
_both["orders"]["user"] = ("float64", holes(4, list(map(float, B["orders"]["user"][1])), 0.2, NAN))
several("missing foreign keys in both", _lost, _both, **_all)
_twice = {t: dict(c) for t, c in B.items()}
_twice["users"]["uid"] = ("int64", [i // 2 for i in range(15)])
several("repeated parents", A, _twice, **_all)
several("no relation", A, B, {"tables": SHOP["tables"]})
_two = {
    "tables": {**SHOP["tables"], "orders": {"columns": {**_ORDERS, "giver": ID}}},
    "relationships": [*SHOP["relationships"], relation("users", "uid", "orders", "giver")],
}
several(
    "two keys to one parent",
    {**A, "orders": changed(A["orders"], giver=("int64", whole(3, 40, 0, 12)))},
    {**B, "orders": changed(B["orders"], giver=("int64", whole(4, 50, 0, 15)))},
    _two,
    **_all,
)
_pairs = {
    "tables": {
        "p": {"columns": {"a": ID, "b": ID, "x": NUM}, "primary_key": ["a", "b"]},
        "c": {"columns": {"a": ID, "b": ID, "y": CAT, "z": NUM}},
    },
    "relationships": [relation("p", ["a", "b"], "c", ["a", "b"])],
}


def pairs(seed: int) -> dict[str, Table]:
    return {
        "p": {
            "a": ("int64", [i // 3 for i in range(9)]),
            "b": ("object", ["uvw"[i % 3] for i in range(9)]),
            "x": ("float64", gauss(seed, 9)),
        },
        "c": {
            "a": ("int64", whole(seed + 1, 30, 0, 3)),
            "b": ("object", words(seed + 2, 30, "uvwq")),
            "y": ("object", words(seed + 3, 30, "ab")),
            "z": ("float64", gauss(seed + 4, 30)),
        },
    }


several("composite relation", pairs(1), pairs(10), _pairs, **_all)
several(
    "composite relation of other length",
    pairs(1),
    pairs(10),
    {**_pairs, "relationships": [relation("p", ["a", "b"], "c", "a")]},
)
_chain = {
    "tables": {**SHOP["tables"], "items": {"columns": {"order": ID, "price": NUM, "color": CAT, "on": _form}}},
    "relationships": [*SHOP["relationships"], relation("orders", "oid", "items", "order")],
}


def items(seed: int, n: int, orders: int) -> Table:
    return {
        "order": ("int64", whole(seed, n, 0, orders)),
        "price": ("float64", gauss(seed + 1, n)),
        "color": ("object", words(seed + 2, n, "rgb")),
        "on": ("object", dates(seed + 3, n)),
    }


several("three tables in a row", {**A, "items": items(1, 70, 40)}, {**B, "items": items(5, 90, 50)}, _chain, **_all)
several("three tables, default thresholds", {**A, "items": items(1, 70, 40)}, {**B, "items": items(5, 90, 50)}, _chain)
several("no child", A, {**B, "orders": {n: (d, []) for n, (d, _) in B["orders"].items()}}, **_all)
several("no parent", A, {**B, "users": {n: (d, []) for n, (d, _) in B["users"].items()}}, **_all)
several("a constant in a parent", {**A, "users": changed(A["users"], age=("int64", [5] * 12))}, B, **_all)
several(
    "an unknown sdtype",
    A,
    B,
    {**SHOP, "tables": {**SHOP["tables"], "users": {"columns": {**_USERS, "age": entry("unknown"), "uid": NUM}}}},
    **_all,
)

# --- constraints ------------------------------------------------------------------------------------------------------


def rule(class_name: str, **parameters: Any) -> dict[str, Any]:
    return {"class_name": class_name, "parameters": parameters}


_IN_T = [
    rule("Inequality", low_column_name="age", high_column_name="pay", table_name="t"),
    rule("FixedCombinations", column_names=["job", "grade"], table_name="t"),
    rule("FixedIncrements", column_name="age", increment_value=2, table_name="t"),
    rule("Inequality", low_column_name="age", high_column_name="wages", table_name="t"),
    rule("Inequality", low_column_name="age", table_name="t"),
    rule("Equality", column_names=["age"]),
    {"parameters": None},
]
_META = {"tables": {"t": {"columns": PEOPLE, "primary_key": "id"}}}
for _name, _rules in (("constraints", _IN_T), ("one constraint", _IN_T[1:2]), ("no constraint", [])):
    CASES.append(Case(_name, {"t": R}, {"t": S}, _META, constraints=_rules))
CASES.append(Case("constraints that are no list", {"t": R}, {"t": S}, _META, constraints=("Inequality",)))  # type: ignore[arg-type]
_KEYS = {"child_table_name": "orders", "child_foreign_key": "user", "parent_table_name": "users"}
_OF_SHOP = [
    rule("ForeignToPrimaryKeySubset", **_KEYS, conditional_column_name="age", conditional_values=[30, 40, 50]),
    rule("ReferenceTable", reference_table_names=["users"]),
    rule("DenormalizedTable", table_name="orders", denormalized_primary_key="user", denormalized_column_names=["kind"]),
]
CASES.append(Case("constraints of two tables", A, B, SHOP, settings=_all, constraints=_OF_SHOP))

# --- deprecated paths -------------------------------------------------------------------------------------------------

_SINGLE = ("single_table.QualityReport", "single_table.DiagnosticReport")
_MULTI = ("multi_table.QualityReport", "multi_table.DiagnosticReport")
CASES.append(Case("single table path", {"t": R}, {"t": S}, {"columns": PEOPLE, "primary_key": "id"}, _SINGLE))
CASES.append(Case("multi table path", A, B, SHOP, _MULTI, _all))
CASES.append(Case("multi table path, one table", {"t": R}, {"t": S}, {"tables": {"t": {"columns": PEOPLE}}}, _MULTI))
assert len({c.id for c in CASES}) == len(CASES)
assert not math.isfinite(INF)

# --- what a package answers -------------------------------------------------------------------------------------------


def plain(value: Any, column: str = "") -> Any:
    if isinstance(value, (list, dict)) or value is None:
        return value
    if isinstance(value, str):
        return value.split(":")[0] if column == "Error" else value
    if value != value or str(value) == "<NA>":
        return None
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    return float(value) if math.isfinite(float(value)) else str(value)


def rows(frame: Any) -> dict[str, Any]:
    """Return a frame as columns of lists; null for nan and NA."""
    found = {}
    for name in frame.columns:
        try:
            found[name] = [plain(v, name) for v in frame[name].tolist()]
        except TypeError:
            found[name] = [None if str(v) == "<NA>" else plain(v, name) for v in frame[name]]
    return found


def found(module: str, name: str, case: Case) -> dict[str, Any]:
    path, _, kind = f"{module}.{name}".rpartition(".")
    real, synthetic, metadata = arguments(case)
    if "single" in path:
        real, synthetic = real["t"], synthetic["t"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = getattr(importlib.import_module(path), kind)()
        for setting, value in case.settings.items():
            setattr(report, setting, value)
        try:
            more = {} if case.constraints is None else {"constraints": case.constraints}
            report.generate(real, synthetic, metadata, verbose=False, **more)
        except Exception as error:
            return {"raised": [type(error).__name__, str(error)[:200]]}
        properties = rows(report.get_properties())
        return {
            "score": plain(report.get_score()),
            "properties": properties,
            "details": {p: rows(report.get_details(p)) for p in properties["Property"]},
            "info": sorted(report.get_info()),
        }

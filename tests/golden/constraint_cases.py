"""The constraints that `remake_constraints.py` checks with SDMetrics and `test_constraints.py` with ours, as data.

A case is a constraint on a small database; columns are pandas dtypes and values, as in `relational_cases.py`.
"""

import random
from dataclasses import dataclass
from typing import Any

from relational_cases import INF, NAN, Table, days, frame, gauss, holes, keys, relation, whole
from report_cases import dates, entry, words

N, M = 40, 55
T = {"table_name": "t"}
NUM, CAT, BOOL, DATE, ID = (entry(s) for s in ("numerical", "categorical", "boolean", "datetime", "id"))


@dataclass(frozen=True)
class Case:
    id: str
    real: dict[str, Table]
    synthetic: dict[str, Table]
    metadata: dict[str, Any]
    constraint: Any


CASES: list[Case] = []
# fmt: off  # a case a line


def add(name: str, real: dict, synthetic: dict, tables: dict, constraint: Any, relationships: Any = ()) -> None:
    title = constraint.get("class_name") if isinstance(constraint, dict) else "none"
    metadata = {"tables": tables, "relationships": list(relationships)}
    CASES.append(Case(f"{title} | {name}", real, synthetic, metadata, constraint))


def one(name: str, real: Table, synthetic: Table, columns: dict, class_name: str, **parameters: Any) -> None:
    constraint = {"class_name": class_name, "parameters": parameters}
    add(name, {"t": real}, {"t": synthetic}, {"t": {"columns": columns}}, constraint)


def double(frame: Any) -> Any:
    """Return twice the first column."""
    return frame.iloc[:, 0] * 2


def total(frame: Any) -> Any:
    """Return the sum of the columns, missing where one is."""
    return frame.sum(axis=1, skipna=False)


def no_series(frame: Any) -> Any:
    """Return something that is no column."""
    return [1] * len(frame)


# --- order ------------------------------------------------------------------------------------------------------------


def shifted(seed: int, values: list, low: int, high: int) -> list:
    rng = random.Random(seed)
    return [None if v is None else v + rng.randrange(low, high) for v in values]


A, B = whole(1, N, 0, 30), whole(2, M, 0, 30)
LOW, HIGH = {"low_column_name": "a", "high_column_name": "b"}, {"a": NUM, "b": NUM}
KEPT = {"a": ("int64", A), "b": ("int64", shifted(3, A, 0, 6))}
BROKEN = {"a": ("int64", B), "b": ("int64", shifted(4, B, -3, 6))}
GAPS = {
    "a": ("float64", holes(5, list(map(float, B)), 0.3, NAN)),
    "b": ("float64", holes(6, [float(v + 1 - 3 * (v % 3)) for v in B], 0.3, NAN)),
}
for strict in (False, True):
    one(f"whole numbers, strict {strict}", KEPT, BROKEN, HIGH, "Inequality", **LOW, **T, strict_boundaries=strict)
    one(f"missing, strict {strict}", KEPT, GAPS, HIGH, "Inequality", **LOW, **T, strict_boundaries=strict)
one("a real table that breaks it", BROKEN, KEPT, HIGH, "Inequality", **LOW, **T)
one(
    "texts",
    {"a": ("object", words(7, N)), "b": ("object", words(8, N))},
    {"a": ("object", words(9, M)), "b": ("object", words(10, M))},
    {"a": CAT, "b": CAT},
    "Inequality",
    **LOW,
    **T,
)
one(
    "texts beside gaps",
    {"a": ("object", words(7, N)), "b": ("object", words(8, N))},
    {"a": ("object", holes(9, words(9, M))), "b": ("object", words(10, M))},
    {"a": CAT, "b": CAT},
    "Inequality",
    **LOW,
    **T,
)
one(
    "whole numbers against floats",
    {"a": ("int64", A), "b": ("float64", gauss(11, N, 30))},
    {"a": ("int64", B), "b": ("float64", [*gauss(12, M - 2, 30), INF, -INF])},
    HIGH,
    "Inequality",
    **LOW,
    **T,
)
one(
    "nullable numbers",
    {"a": ("Int64", A), "b": ("Int64", A)},
    {"a": ("Int64", B), "b": ("Int64", shifted(13, B, -1, 2))},
    HIGH,
    "Inequality",
    **LOW,
    **T,
)
one(
    "nullable numbers with gaps",
    {"a": ("Int64", A), "b": ("Int64", A)},
    {"a": ("Int64", holes(14, B)), "b": ("Int64", B)},
    HIGH,
    "Inequality",
    **LOW,
    **T,
)
one(
    "dates",
    {"a": ("datetime64[ns]", days(15, N)), "b": ("datetime64[ns]", days(16, N))},
    {"a": ("datetime64[ns]", holes(17, days(17, M))), "b": ("datetime64[ns]", days(18, M))},
    {"a": DATE, "b": DATE},
    "Inequality",
    **LOW,
    **T,
)
DAY, MONTH = entry("datetime", datetime_format="%Y-%m-%d"), entry("datetime", datetime_format="%Y-%m")
GERMAN = entry("datetime", datetime_format="%d.%m.%Y %H:%M")
TEXT_DATES = (
    {"a": ("object", dates(19, N)), "b": ("object", dates(20, N))},
    {"a": ("object", holes(21, dates(22, M))), "b": ("object", dates(23, M))},
)
for first, second, forms in (
    (DAY, DAY, ("%Y-%m-%d", "%Y-%m-%d")),
    (DAY, MONTH, ("%Y-%m-%d", "%Y-%m")),
    (MONTH, DAY, ("%Y-%m", "%Y-%m-%d")),
    (GERMAN, DAY, ("%d.%m.%Y %H:%M", "%Y-%m-%d")),
):
    sides = [
        {"a": ("object", holes(s, dates(s + 1, n, forms[0]))), "b": ("object", dates(s + 2, n, forms[1]))}
        for s, n in ((24, N), (28, M))
    ]
    one(f"dates as text, {forms[0]} and {forms[1]}", *sides, {"a": first, "b": second}, "Inequality", **LOW, **T)
one("dates without a format", *TEXT_DATES, {"a": DATE, "b": DATE}, "Inequality", **LOW, **T)
one(
    "text that is no date",
    TEXT_DATES[0],
    {"a": ("object", [*dates(22, M - 2), "soon", "2020-13-45"]), "b": ("object", dates(23, M))},
    {"a": DAY, "b": DAY},
    "Inequality",
    **LOW,
    **T,
)
one(
    "dates out of range",
    TEXT_DATES[0],
    {"a": ("object", [*dates(22, M - 1), "1501-01-01"]), "b": ("object", ["2999-01-01", *dates(23, M - 1)])},
    {"a": DAY, "b": DAY},
    "Inequality",
    **LOW,
    **T,
)
one(
    "a format with zero and sign",
    TEXT_DATES[0],
    TEXT_DATES[1],
    {"a": entry("datetime", datetime_format="%Y-%-m-%-d"), "b": DAY},
    "Inequality",
    **LOW,
    **T,
)
one("no synthetic row", KEPT, {"a": ("int64", []), "b": ("int64", [])}, HIGH, "Inequality", **LOW, **T)
one(
    "one row",
    {"a": ("int64", [1]), "b": ("int64", [1])},
    {"a": ("int64", [1]), "b": ("int64", [0])},
    HIGH,
    "Inequality",
    **LOW,
    **T,
)
one("a column that the synthetic table lacks", KEPT, {"a": ("int64", B)}, HIGH, "Inequality", **LOW, **T)
one("columns that the real table lacks", {"c": ("int64", A)}, BROKEN, HIGH, "Inequality", **LOW, **T)
one("a table that is not there", KEPT, BROKEN, HIGH, "Inequality", **LOW, table_name="u")
one("no name of a table", KEPT, BROKEN, HIGH, "Inequality", **LOW)
one("a name that is no text", KEPT, BROKEN, HIGH, "Inequality", low_column_name=1, high_column_name="b", **T)
one("strict that is no truth value", KEPT, BROKEN, HIGH, "Inequality", **LOW, **T, strict_boundaries=1)
one("a parameter that is missing", KEPT, BROKEN, HIGH, "Inequality", low_column_name="a", **T)
one("a parameter too many", KEPT, BROKEN, HIGH, "Inequality", **LOW, **T, hight_column_name="b")
add(
    "a table of two",
    {"t": KEPT, "u": BROKEN},
    {"t": BROKEN, "u": BROKEN},
    {"t": {"columns": HIGH}, "u": {"columns": HIGH}},
    {"class_name": "Inequality", "parameters": {**LOW, "table_name": "u"}},
)

ABC = {"a": NUM, "b": NUM, "c": NUM}
THREE = {"low_column_name": "a", "middle_column_name": "b", "high_column_name": "c"}


def three(seed: int, n: int, share: float = 0.0, slip: int = 0) -> Table:
    low = whole(seed, n, 0, 20)
    middle = shifted(seed + 1, low, -slip, 8)
    high = shifted(seed + 2, middle, -slip, 8)
    if not share:
        return {"a": ("int64", low), "b": ("int64", middle), "c": ("int64", high)}
    return {
        k: ("float64", holes(seed + i, [float(x) for x in v], share, NAN))
        for i, (k, v) in enumerate({"a": low, "b": middle, "c": high}.items())
    }


for strict in (False, True):
    one(
        f"whole numbers, strict {strict}",
        three(30, N),
        three(33, M, slip=3),
        ABC,
        "Range",
        **THREE,
        **T,
        strict_boundaries=strict,
    )
    one(
        f"missing, strict {strict}",
        three(30, N),
        three(36, M, 0.4, 3),
        ABC,
        "Range",
        **THREE,
        **T,
        strict_boundaries=strict,
    )
DATED = {"a": DAY, "b": DAY, "c": DAY}
one(
    "dates as text",
    {k: ("object", dates(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("object", holes(s, dates(s, M))) for s, k in enumerate("abc", 44)},
    DATED,
    "Range",
    **THREE,
    **T,
    strict_boundaries=True,
)
one(
    "dates",
    {k: ("datetime64[ns]", days(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("datetime64[ns]", holes(s, days(s, M))) for s, k in enumerate("abc", 44)},
    DATED,
    "Range",
    **THREE,
    **T,
    strict_boundaries=False,
)
one(
    "dates of other formats",
    {"a": ("object", dates(40, N)), "b": ("object", dates(41, N, "%d/%m/%Y")), "c": ("object", dates(42, N))},
    {"a": ("object", dates(43, M)), "b": ("object", dates(44, M, "%d/%m/%Y")), "c": ("object", dates(45, M))},
    {"a": DAY, "b": entry("datetime", datetime_format="%d/%m/%Y"), "c": DAY},
    "Range",
    **THREE,
    **T,
    strict_boundaries=False,
)
one(
    "objects with gaps",
    {k: ("object", whole(s, N)) for s, k in enumerate("abc", 48)},
    {k: ("object", holes(s, whole(s, M))) for s, k in enumerate("abc", 51)},
    ABC,
    "Range",
    **THREE,
    **T,
    strict_boundaries=False,
)
one("strict is missing", three(30, N), three(33, M), ABC, "Range", **THREE, **T)
one("no name of a table", three(30, N), three(33, M), ABC, "Range", **THREE, strict_boundaries=True)
one(
    "a column that is not there",
    three(30, N),
    three(33, M),
    ABC,
    "Range",
    low_column_name="a",
    middle_column_name="z",
    high_column_name="c",
    strict_boundaries=True,
    **T,
)
for strict in (False, True):
    one(
        f"whole numbers, strict {strict}",
        three(30, N),
        three(33, M, slip=3),
        ABC,
        "ChainedInequality",
        column_names=["a", "b", "c"],
        **T,
        strict_boundaries=strict,
    )
    one(
        f"missing, strict {strict}",
        three(30, N),
        three(36, M, 0.4, 3),
        ABC,
        "ChainedInequality",
        column_names=["a", "b", "c"],
        **T,
        strict_boundaries=strict,
    )
one(
    "dates as text",
    {k: ("object", dates(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("object", holes(s, dates(s, M))) for s, k in enumerate("abc", 44)},
    DATED,
    "ChainedInequality",
    column_names=["a", "b", "c"],
    **T,
)
one(
    "dates without a format",
    {k: ("object", dates(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("object", holes(s, dates(s, M))) for s, k in enumerate("abc", 44)},
    dict.fromkeys("abc", DATE),
    "ChainedInequality",
    column_names=["a", "b", "c"],
    **T,
)
one(
    "dates that are words",
    {k: ("object", words(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("object", words(s, M)) for s, k in enumerate("abc", 44)},
    DATED,
    "ChainedInequality",
    column_names=["a", "b", "c"],
    **T,
)
one(
    "dates and a column of numbers",
    {k: ("int64", whole(s, N)) for s, k in enumerate("abc", 40)},
    {k: ("int64", whole(s, M)) for s, k in enumerate("abc", 44)},
    DATED,
    "ChainedInequality",
    column_names=["a", "b", "c"],
    **T,
)
one("one column", three(30, N), three(33, M), ABC, "ChainedInequality", column_names=["a"], **T)
one("no list", three(30, N), three(33, M), ABC, "ChainedInequality", column_names="abc", **T)
one("a column that is not there", three(30, N), three(33, M), ABC, "ChainedInequality", column_names=["a", "q"], **T)

# --- combinations -----------------------------------------------------------------------------------------------------

PAIR = {"x": CAT, "y": CAT, "z": NUM}


def pairs(seed: int, n: int, of: str = "abcd", share: float = 0.0) -> Table:
    x = words(seed, n, of)
    y = [v.upper() if i % 4 else "Q" for i, v in enumerate(x)]
    table = {"x": ("object", x), "y": ("object", y), "z": ("int64", whole(seed + 2, n, 0, 4))}
    return (
        {k: (d, holes(seed + i, v, share) if k != "z" else v) for i, (k, (d, v)) in enumerate(table.items())}
        if share
        else table
    )


for class_name in ("FixedCombinations", "FixedNullCombinations"):
    more: dict[str, Any] = {"column_names": ["x", "y"], **T}
    one("two columns", pairs(60, 12), pairs(63, M), PAIR, class_name, **more)
    one("itself", pairs(60, N), pairs(60, N), PAIR, class_name, **more)
    one("missing in both", pairs(60, N, share=0.3), pairs(63, M, share=0.3), PAIR, class_name, **more)
    one("missing in the synthetic table", pairs(60, N), pairs(63, M, share=0.3), PAIR, class_name, **more)
    one(
        "nan and None",
        {"x": ("object", [NAN, None, "a"]), "y": ("object", ["b", "c", NAN])},
        {"x": ("object", [None, NAN, "a", NAN]), "y": ("object", ["b", "c", None, None])},
        PAIR,
        class_name,
        **more,
    )
    one("numbers too", pairs(60, 25), pairs(63, M), PAIR, class_name, column_names=["x", "z"], **T)
    one(
        "numbers of another dtype",
        pairs(60, 25),
        {**pairs(63, M), "z": ("float64", [float(v) for v in whole(65, M, 0, 4)])},
        PAIR,
        class_name,
        column_names=["x", "z"],
        **T,
    )
    one(
        "text against numbers",
        pairs(60, 25),
        {**pairs(63, M), "z": ("object", words(65, M))},
        PAIR,
        class_name,
        column_names=["x", "z"],
        **T,
    )
    one(
        "truth values",
        {"x": ("bool", [v > 4 for v in whole(70, 6)]), "y": ("bool", [v > 2 for v in whole(71, 6)])},
        {"x": ("bool", [v > 4 for v in whole(72, M)]), "y": ("bool", [v > 6 for v in whole(73, M)])},
        {"x": BOOL, "y": BOOL},
        class_name,
        **more,
    )
    one(
        "dates",
        {"x": ("datetime64[ns]", days(74, N)), "y": ("object", words(75, N))},
        {"x": ("datetime64[ns]", days(74, N)), "y": ("object", words(76, N))},
        {"x": DATE, "y": CAT},
        class_name,
        **more,
    )
    one("no synthetic row", pairs(60, 12), {k: (d, []) for k, (d, _) in pairs(60, 1).items()}, PAIR, class_name, **more)
    one("no real row", {k: (d, []) for k, (d, _) in pairs(60, 1).items()}, pairs(60, 9), PAIR, class_name, **more)
    one("a column that the real table lacks", {"x": ("object", words(77, N))}, pairs(63, M), PAIR, class_name, **more)
    one(
        "a column that the synthetic table lacks",
        pairs(63, M),
        {"x": ("object", words(77, N))},
        PAIR,
        class_name,
        **more,
    )
    one("one column", pairs(60, N), pairs(63, M), PAIR, class_name, column_names=["x"], **T)
    one("no list", pairs(60, N), pairs(63, M), PAIR, class_name, column_names="xy", **T)
    one("no name of a table", pairs(60, N), pairs(63, M), PAIR, class_name, column_names=["x", "y"])
one(
    "missing, categories not fixed",
    pairs(60, 20, share=0.1),
    pairs(63, M, share=0.5),
    PAIR,
    "FixedNullCombinations",
    column_names=["x", "y"],
    fix_category_values=False,
    **T,
)
one(
    "missing of three columns",
    {**pairs(60, 30, share=0.2), "z": ("float64", holes(78, gauss(79, 30), 0.2, NAN))},
    {**pairs(63, M, share=0.3), "z": ("float64", holes(80, gauss(81, M), 0.5, NAN))},
    PAIR,
    "FixedNullCombinations",
    column_names=["x", "y", "z"],
    **T,
)
one(
    "numbers alone",
    {"z": ("float64", holes(78, gauss(79, 30), 0.2, NAN)), "w": ("float64", gauss(80, 30))},
    {"z": ("float64", holes(78, gauss(79, 30), 0.2, NAN)), "w": ("float64", holes(82, gauss(80, 30), 0.3, NAN))},
    {"z": NUM, "w": NUM},
    "FixedNullCombinations",
    column_names=["z", "w"],
    **T,
)
one(
    "no truth value",
    pairs(60, N),
    pairs(63, M),
    PAIR,
    "FixedNullCombinations",
    column_names=["x", "y"],
    fix_category_values=1,
    **T,
)

CITY: Table = {"city": ("object", ["x", "y", "z", "y"]), "size": ("float64", [1.0, 2.0, NAN, 2.0])}
CITIES = {"columns": {"city": CAT, "size": NUM}}


def reference(name: str, real: dict, synthetic: dict, tables: dict, names: Any, relationships: Any = ()) -> None:
    add(
        name,
        real,
        synthetic,
        tables,
        {"class_name": "ReferenceTable", "parameters": {"reference_table_names": names}},
        relationships,
    )


MORE: Table = {"city": ("object", ["z", "x", "q", "y"]), "size": ("float64", [NAN, 2.0, 1.0, 2.0])}
reference("one table", {"t": CITY}, {"t": MORE}, {"t": CITIES}, ["t"])
reference("columns in another order", {"t": CITY}, {"t": dict(reversed(MORE.items()))}, {"t": CITIES}, ["t"])
reference("other columns", {"t": CITY}, {"t": {"city": MORE["city"]}}, {"t": CITIES}, ["t"])
reference("two tables", {"t": CITY, "u": MORE}, {"t": MORE, "u": MORE}, {"t": CITIES, "u": CITIES}, ["t", "u"])
reference("a table that the metadata lack", {"t": CITY, "u": MORE}, {"t": MORE, "u": MORE}, {"u": CITIES}, ["t"])
reference("a table that is not there", {"t": CITY}, {"t": MORE}, {"t": CITIES}, ["v"])
reference(
    "a child of another table",
    {"t": CITY, "u": MORE},
    {"t": MORE, "u": MORE},
    {"t": CITIES, "u": CITIES},
    ["t"],
    [relation("u", "city", "t", "city")],
)
reference(
    "a parent of another table",
    {"t": CITY, "u": MORE},
    {"t": MORE, "u": MORE},
    {"t": CITIES, "u": CITIES},
    ["t"],
    [relation("t", "city", "u", "city")],
)
reference("no list", {"t": CITY}, {"t": MORE}, {"t": CITIES}, "t")

DENORMAL = {"k": ID, "x": CAT, "y": NUM}


def denormal(seed: int, n: int, slips: int, key: str | None = "k", share: float = 0.0) -> Table:
    rng = random.Random(seed)
    own = keys(seed, n, 8, key)
    x, y = [f"v{k}" for k in own], [float(len(str(k))) for k in own]
    for _ in range(slips):
        x[rng.randrange(n)] = "slip"
        y[rng.randrange(n)] = NAN
    return {
        "k": ("object" if key else "int64", holes(seed, own, share) if share else own),
        "x": ("object", x),
        "y": ("float64", y),
    }


DE = {"denormalized_primary_key": "k", "denormalized_column_names": ["x", "y"], **T}
one("kept", denormal(90, N, 0), denormal(91, M, 0), DENORMAL, "DenormalizedTable", **DE)
one("broken", denormal(90, N, 0), denormal(91, M, 3), DENORMAL, "DenormalizedTable", **DE)
one("broken in the real table", denormal(90, N, 2), denormal(91, M, 1), DENORMAL, "DenormalizedTable", **DE)
one("missing keys", denormal(90, N, 0), denormal(92, M, 1, share=0.2), DENORMAL, "DenormalizedTable", **DE)
one(
    "no columns",
    denormal(90, N, 0),
    denormal(91, M, 3),
    DENORMAL,
    "DenormalizedTable",
    denormalized_primary_key="k",
    **T,
)
one(
    "no row",
    denormal(90, N, 0),
    {k: (d, []) for k, (d, _) in denormal(90, 1, 0).items()},
    DENORMAL,
    "DenormalizedTable",
    **DE,
)
one(
    "the key among the columns",
    denormal(90, N, 0),
    denormal(91, M, 3),
    DENORMAL,
    "DenormalizedTable",
    denormalized_primary_key="k",
    denormalized_column_names=["k", "x"],
    **T,
)
one(
    "a column that is not there",
    denormal(90, N, 0),
    denormal(91, M, 3),
    DENORMAL,
    "DenormalizedTable",
    denormalized_primary_key="k",
    denormalized_column_names=["q"],
    **T,
)
one(
    "no list",
    denormal(90, N, 0),
    denormal(91, M, 3),
    DENORMAL,
    "DenormalizedTable",
    denormalized_primary_key="k",
    denormalized_column_names="x",
    **T,
)


def carried(name: str, real: dict, synthetic: dict, *parts: Any) -> None:
    info = [dict(zip(("table_name", "key_column_name", "carryover_column_name"), p, strict=True)) for p in parts]
    add(
        name,
        real,
        synthetic,
        {"t": {"columns": DENORMAL}, "u": {"columns": DENORMAL}},
        {"class_name": "CarryOverColumns", "parameters": {"common_column_info": info}},
    )


KX, UX = ("t", "k", "x"), ("u", "k", "x")
FINE = {"t": denormal(93, N, 0), "u": denormal(94, 30, 0)}
OTHER = {"k": ("object", ["k1", "k2", "k0", "k1", "k9"]), "x": ("object", ["v1", "w2", None, "v1", "v9"])}
carried("kept", FINE, {"t": denormal(95, M, 0), "u": denormal(96, 20, 0)}, KX, UX)
carried("other values in the second table", FINE, {"t": denormal(95, M, 0), "u": OTHER}, KX, UX)
carried("other values in the first table", FINE, {"t": OTHER, "u": denormal(95, M, 0)}, KX, UX)
carried("one table", FINE, {"t": denormal(95, M, 0), "u": OTHER}, KX)
carried(
    "missing values and keys",
    FINE,
    {"t": {"k": ("object", [None, "k1", None, "k2"]), "x": ("object", [None, None, None, "v2"])}, "u": OTHER},
    KX,
    UX,
)
carried("two values of a key of text", FINE, {"t": denormal(95, M, 2), "u": OTHER}, KX, UX)
NUMBERED = {"t": denormal(97, N, 0, None), "u": denormal(98, N, 0, None)}
carried(
    "two values of a key of numbers", NUMBERED, {"t": denormal(97, M, 2, None), "u": denormal(98, M, 0, None)}, KX, UX
)
carried(
    "two values of keys of numbers in both",
    NUMBERED,
    {"t": denormal(97, M, 4, None), "u": denormal(99, M, 3, None)},
    KX,
    UX,
)
carried("a table that is not there", FINE, {"t": OTHER}, KX, UX)
carried("a column that is not there", FINE, FINE, KX, ("u", "k", "q"))
carried("no texts", FINE, FINE, ("t", "k", 1))
for wrong in ("t", ["t"], [{"table_name": "t"}]):
    add(
        f"no list of parts: {wrong}",
        FINE,
        FINE,
        {"t": {"columns": DENORMAL}},
        {"class_name": "CarryOverColumns", "parameters": {"common_column_info": wrong}},
    )

# --- numbers ----------------------------------------------------------------------------------------------------------

STEP = {"column_name": "a", "increment_value": 5, **T}
one("whole numbers", {"a": ("int64", [5 * v for v in A])}, {"a": ("int64", B)}, {"a": NUM}, "FixedIncrements", **STEP)
one(
    "floats with gaps",
    {"a": ("float64", [5.0, NAN])},
    {"a": ("float64", [5.0, 5.5, NAN, -10.0, 0.0, INF])},
    {"a": NUM},
    "FixedIncrements",
    **STEP,
)
one(
    "a step as float",
    {"a": ("float64", [5.0])},
    {"a": ("float64", [4.0, 3.0, 8.0])},
    {"a": NUM},
    "FixedIncrements",
    column_name="a",
    increment_value=4.0,
    **T,
)
one(
    "nullable numbers",
    {"a": ("Int64", [5, None])},
    {"a": ("Int64", [5, 6, None])},
    {"a": NUM},
    "FixedIncrements",
    **STEP,
)
one("objects", {"a": ("object", [5, 10])}, {"a": ("object", [5, 7, 15])}, {"a": NUM}, "FixedIncrements", **STEP)
one(
    "objects with gaps",
    {"a": ("object", [5, 10])},
    {"a": ("object", [5, None, 7])},
    {"a": NUM},
    "FixedIncrements",
    **STEP,
)
one("text", {"a": ("int64", [5, 10])}, {"a": ("object", ["a", "b"])}, {"a": NUM}, "FixedIncrements", **STEP)
one("a category", {"a": ("int64", A)}, {"a": ("int64", B)}, {"a": CAT}, "FixedIncrements", **STEP)
one("a column that is not there", {"b": ("int64", A)}, {"b": ("int64", B)}, {"b": NUM}, "FixedIncrements", **STEP)
for step in (0, -5, 2.5, "5", None):
    one(
        f"a step of {step!r}",
        {"a": ("int64", A)},
        {"a": ("int64", B)},
        {"a": NUM},
        "FixedIncrements",
        column_name="a",
        increment_value=step,
        **T,
    )
one("no row", {"a": ("int64", [])}, {"a": ("int64", [])}, {"a": NUM}, "FixedIncrements", **STEP)

HOT = {"column_names": ["a", "b", "c"], **T}
ONE_HOT = {"a": ("int64", [1, 0, 0]), "b": ("int64", [0, 1, 0]), "c": ("int64", [0, 0, 1])}
one(
    "whole numbers",
    ONE_HOT,
    {"a": ("int64", [1, 1, 0, 2, 0]), "b": ("int64", [0, 1, 0, 0, 1]), "c": ("int64", [0, 0, 0, -1, 0])},
    ABC,
    "OneHotEncoding",
    **HOT,
)
one(
    "floats",
    ONE_HOT,
    {
        "a": ("float64", [1.0, 0.5, NAN, 0.0]),
        "b": ("float64", [0.0, 0.5, 1.0, 1.0]),
        "c": ("float64", [0.0, 0.0, 0.0, 1e-20]),
    },
    ABC,
    "OneHotEncoding",
    **HOT,
)
one(
    "truth values",
    ONE_HOT,
    {k: ("bool", [i == j for i in range(3)]) for j, k in enumerate("abc")},
    ABC,
    "OneHotEncoding",
    **HOT,
)
one("one column", ONE_HOT, ONE_HOT, ABC, "OneHotEncoding", column_names=["a"], **T)
one("no column", ONE_HOT, ONE_HOT, ABC, "OneHotEncoding", column_names=[], **T)
one("a real table that breaks it", {k: ("int64", [1, 0]) for k in "abc"}, ONE_HOT, ABC, "OneHotEncoding", **HOT)
one("no row", ONE_HOT, {k: ("int64", []) for k in "abc"}, ABC, "OneHotEncoding", **HOT)
one("a column that is not there", ONE_HOT, {"a": ONE_HOT["a"]}, ABC, "OneHotEncoding", **HOT)

MIX = {"mixed_scale_column_name": "z", "segment_column_names": ["x"], **T}
MIX2 = {**MIX, "segment_column_names": ["x", "y"]}


def scaled(seed: int, n: int, of: str = "ab", share: float = 0.0) -> Table:
    x = words(seed, n, of)
    z = [round(v * (10 if s == "a" else 1), 2) for v, s in zip(gauss(seed + 1, n), x, strict=True)]
    return {
        "x": ("object", holes(seed, x, share)),
        "y": ("bool", [v > 4 for v in whole(seed + 2, n)]),
        "z": ("float64", holes(seed + 3, z, share, NAN)),
    }


MIXED = {"x": CAT, "y": BOOL, "z": NUM}
one(
    "worked",
    {"x": ("object", ["a", "a", "b", "b"]), "z": ("int64", [1, 2, 10, 20])},
    {"x": ("object", ["a", "a", "b", "b"]), "z": ("int64", [1, 5, 10, 30])},
    {"x": CAT, "z": NUM},
    "MixedScales",
    **MIX,
)
one("floats", scaled(100, N), scaled(104, M), MIXED, "MixedScales", **MIX)
one("two columns of segments", scaled(100, N), scaled(104, M), MIXED, "MixedScales", **MIX2)
one("missing", scaled(100, N, share=0.2), scaled(104, M, share=0.2), MIXED, "MixedScales", **MIX)
one(
    "missing, two columns of segments",
    scaled(100, N, share=0.2),
    scaled(104, M, share=0.2),
    MIXED,
    "MixedScales",
    **MIX2,
)
one("a new segment", scaled(100, N), scaled(104, M, "abc"), MIXED, "MixedScales", **MIX)
one(
    "a segment without a number",
    {"x": ("object", ["a", "b"]), "z": ("float64", [1.0, NAN])},
    {"x": ("object", ["a", "b", "b"]), "z": ("float64", [1.0, 2.0, NAN])},
    {"x": CAT, "z": NUM},
    "MixedScales",
    **MIX,
)
one("text to scale", scaled(100, N), scaled(104, M), {**MIXED, "z": CAT}, "MixedScales", **MIX)
one("numbers as segments", scaled(100, N), scaled(104, M), {**MIXED, "x": NUM}, "MixedScales", **MIX)
one(
    "no list",
    scaled(100, N),
    scaled(104, M),
    MIXED,
    "MixedScales",
    mixed_scale_column_name="z",
    segment_column_names="x",
    **T,
)

SUM = {
    "input_column_names": ["a", "b"],
    "output_column_name": "c",
    "formula_function_name": "total",
    "module_name": "constraint_cases",
    **T,
}
SUMMED = {"a": ("int64", [1, 2]), "b": ("int64", [3, 4]), "c": ("int64", [4, 6])}
one(
    "a sum",
    SUMMED,
    {
        "a": ("float64", [1.0, 2.0, NAN, NAN, 1.0]),
        "b": ("float64", [3.0, 4.0, 1.0, 1.0, 1.0]),
        "c": ("float64", [4.0, 7.0, NAN, 1.0, NAN]),
    },
    ABC,
    "ColumnFormula",
    **SUM,
)
one(
    "one column",
    SUMMED,
    {"a": ("int64", [1, 2]), "b": ("int64", [2, 5]), "c": ("int64", [2, 5])},
    ABC,
    "ColumnFormula",
    **{**SUM, "input_column_names": ["a"], "formula_function_name": "double"},
)
one("no column comes back", SUMMED, SUMMED, ABC, "ColumnFormula", **{**SUM, "formula_function_name": "no_series"})
one("a column that is not there", SUMMED, {"a": SUMMED["a"], "c": SUMMED["c"]}, ABC, "ColumnFormula", **SUM)
one("no input", SUMMED, SUMMED, ABC, "ColumnFormula", **{**SUM, "input_column_names": []})
one("no output", SUMMED, SUMMED, ABC, "ColumnFormula", **{**SUM, "output_column_name": None})

# --- keys -------------------------------------------------------------------------------------------------------------

SHOP = {
    "users": {"columns": {"uid": ID, "kind": CAT}, "primary_key": "uid"},
    "firms": {"columns": {"fid": ID, "kind": CAT}, "primary_key": "fid"},
    "orders": {"columns": {"oid": ID, "owner": ID, "of": CAT}, "primary_key": "oid"},
}


def shop(
    seed: int, n: int = 30, orphans: int = 0, share: float = 0.0, prefix: str | None = None, overlap: bool = False
) -> dict[str, Table]:
    rng = random.Random(seed)

    def named(numbers: Any, letter: str) -> list:
        return [f"{letter}{v}" for v in numbers] if prefix else list(numbers)

    users, firms = named(range(8), "u"), named(range(8 if overlap else 20, 26), "f")
    if overlap:
        firms = [*users[6:], *firms]
    of = [rng.random() < 0.6 for _ in range(n)]
    owner = [rng.choice(users if u else firms) for u in of]
    for i in range(orphans):
        owner[3 * i] = named([90 + i], "z")[0]
    kind = "object" if prefix else "float64" if share else "int64"
    hole = None if prefix else NAN
    return {
        "users": {
            "uid": ("object" if prefix else "int64", users),
            "kind": ("object", words(seed + 1, len(users), "pq")),
        },
        "firms": {
            "fid": ("object" if prefix else "int64", firms),
            "kind": ("object", words(seed + 2, len(firms), "pq")),
        },
        "orders": {
            "oid": ("int64", list(range(n))),
            "owner": (
                kind,
                holes(seed, [float(v) if kind == "float64" else v for v in owner], share, hole) if share else owner,
            ),
            "of": ("object", ["users" if u else "firms" for u in of]),
        },
    }


def keyed(name: str, real: dict, synthetic: dict, class_name: str, **parameters: Any) -> None:
    add(name, real, synthetic, SHOP, {"class_name": class_name, "parameters": parameters})


def with_(tables: dict[str, Table], table: str, **columns: Any) -> dict[str, Table]:
    return {**tables, table: {**tables[table], **columns}}


F2F = [{"table_name": "orders", "foreign_key": "owner"}, {"table_name": "firms", "foreign_key": "fid"}]
for how in ("new", "reuse"):
    keyed(
        f"{how}, numbers",
        shop(110),
        shop(111, orphans=3),
        "ForeignToForeignKey",
        columns=F2F,
        foreign_key_generation=how,
    )
keyed(
    "reuse, text",
    shop(110, prefix="k"),
    shop(111, orphans=3, prefix="k"),
    "ForeignToForeignKey",
    columns=F2F,
    foreign_key_generation="reuse",
)
keyed(
    "reuse, missing keys",
    shop(110),
    shop(111, orphans=2, share=0.3),
    "ForeignToForeignKey",
    columns=F2F,
    foreign_key_generation="reuse",
)
keyed(
    "reuse, two columns",
    shop(110),
    shop(111, orphans=3),
    "ForeignToForeignKey",
    columns=[{"table_name": "orders", "foreign_key": ("owner", "of")}],
    foreign_key_generation="reuse",
)
keyed("the default", shop(110), shop(111, orphans=3), "ForeignToForeignKey", columns=F2F)
keyed(
    "a table that the real data lack",
    {"firms": shop(110)["firms"]},
    shop(111),
    "ForeignToForeignKey",
    columns=F2F,
    foreign_key_generation="reuse",
)
keyed(
    "other lengths",
    shop(110),
    shop(111),
    "ForeignToForeignKey",
    columns=[F2F[0], {"table_name": "firms", "foreign_key": ("fid", "kind")}],
)
keyed("another word", shop(110), shop(111), "ForeignToForeignKey", columns=F2F, foreign_key_generation="old")
keyed("a number as word", shop(110), shop(111), "ForeignToForeignKey", columns=F2F, foreign_key_generation=1)
for wrong in (
    "orders",
    ["orders"],
    [{"foreign_key": "owner"}],
    [{"table_name": "orders"}],
    [{"table_name": "orders", "foreign_key": ["owner"]}],
):
    keyed(f"no parts: {wrong}", shop(110), shop(111), "ForeignToForeignKey", columns=wrong)

SUBSET = {
    "parent_table_name": "users",
    "child_table_name": "orders",
    "child_foreign_key": "owner",
    "conditional_column_name": "kind",
    "conditional_values": ["p"],
}
ALL_P = {"kind": ("object", ["p"] * 8)}
keyed("broken in both", shop(112), shop(113), "ForeignToPrimaryKeySubset", **SUBSET)
keyed(
    "kept",
    with_(shop(112), "users", **ALL_P),
    with_(shop(113), "users", **ALL_P),
    "ForeignToPrimaryKeySubset",
    **SUBSET,
)
keyed(
    "kept, with orphans",
    with_(shop(112), "users", **ALL_P),
    with_(shop(113, orphans=4), "users", **ALL_P),
    "ForeignToPrimaryKeySubset",
    **SUBSET,
)
keyed("broken, with orphans", shop(112), shop(113, orphans=4), "ForeignToPrimaryKeySubset", **SUBSET)
keyed("missing keys", shop(112, share=0.2), shop(113, share=0.4), "ForeignToPrimaryKeySubset", **SUBSET)
keyed("text", shop(112, prefix="k"), shop(113, prefix="k", share=0.2), "ForeignToPrimaryKeySubset", **SUBSET)
keyed("two values", shop(112), shop(113), "ForeignToPrimaryKeySubset", **{**SUBSET, "conditional_values": ["p", "q"]})
keyed("no value", shop(112), shop(113), "ForeignToPrimaryKeySubset", **{**SUBSET, "conditional_values": []})
keyed(
    "a missing condition",
    shop(112),
    with_(shop(113), "users", kind=("object", ["p", None, "p", "q", None, "p", "q", "p"])),
    "ForeignToPrimaryKeySubset",
    **SUBSET,
)
keyed(
    "a key of two columns",
    shop(112),
    shop(113),
    "ForeignToPrimaryKeySubset",
    **{**SUBSET, "child_foreign_key": ["owner", "of"]},
)
keyed(
    "a column that is not there",
    shop(112),
    shop(113),
    "ForeignToPrimaryKeySubset",
    **{**SUBSET, "conditional_column_name": "q"},
)
keyed("a table that is not there", shop(112), {"users": shop(113)["users"]}, "ForeignToPrimaryKeySubset", **SUBSET)
keyed("a number as table", shop(112), shop(113), "ForeignToPrimaryKeySubset", **{**SUBSET, "parent_table_name": 1})
keyed("no list of values", shop(112), shop(113), "ForeignToPrimaryKeySubset", **{**SUBSET, "conditional_values": "p"})
add(
    "no primary key",
    shop(112),
    shop(113),
    {**SHOP, "users": {"columns": SHOP["users"]["columns"]}},
    {"class_name": "ForeignToPrimaryKeySubset", "parameters": SUBSET},
)

PRIMARY = {"main_table_name": "users", "conditional_column_name": "kind", "relationships": {"firms": ["p"]}}


def subset(seed: int, n: int = 12, twice: bool = False, odd: int = 0) -> dict[str, Table]:
    rng = random.Random(seed)
    main = [*range(n), *([2, 5] if twice else [])]
    rng.shuffle(main)
    kind = words(seed + 1, len(main), "ppq")
    own = [k for k, v in zip(main, kind, strict=True) if v == "p"]
    own = list(dict.fromkeys(own))[: n // 2] + list(range(100, 100 + odd))
    return {
        "users": {"uid": ("int64", main), "kind": ("object", kind)},
        "firms": {"fid": ("int64", own), "kind": ("object", words(seed, len(own)))},
    }


keyed("kept", subset(120), subset(121), "PrimaryToPrimaryKeySubset", **PRIMARY)
keyed("keys that are not there", subset(120), subset(121, odd=3), "PrimaryToPrimaryKeySubset", **PRIMARY)
keyed(
    "other values",
    subset(120),
    subset(121),
    "PrimaryToPrimaryKeySubset",
    **{**PRIMARY, "relationships": {"firms": ["q"]}},
)
keyed("no value", subset(120), subset(121), "PrimaryToPrimaryKeySubset", **{**PRIMARY, "relationships": {"firms": []}})
keyed(
    "a key twice in the main table", subset(120), subset(122, twice=True, odd=2), "PrimaryToPrimaryKeySubset", **PRIMARY
)
keyed("no table", subset(120), subset(121), "PrimaryToPrimaryKeySubset", **{**PRIMARY, "relationships": {}})
keyed(
    "two tables",
    {**subset(120), "orders": shop(120)["orders"]},
    {**subset(121), "orders": shop(121)["orders"]},
    "PrimaryToPrimaryKeySubset",
    **{**PRIMARY, "relationships": {"firms": ["p"], "orders": ["p", "q"]}},
)
keyed(
    "a column that is not there",
    subset(120),
    subset(121),
    "PrimaryToPrimaryKeySubset",
    **{**PRIMARY, "conditional_column_name": "q"},
)
keyed("a table that is not there", subset(120), {"users": subset(121)["users"]}, "PrimaryToPrimaryKeySubset", **PRIMARY)
keyed("no lists", subset(120), subset(121), "PrimaryToPrimaryKeySubset", **{**PRIMARY, "relationships": {"firms": "p"}})
keyed(
    "a number as column",
    subset(120),
    subset(121),
    "PrimaryToPrimaryKeySubset",
    **{**PRIMARY, "conditional_column_name": 1},
)

POLY = {"table_name": "orders", "foreign_key": "owner", "parent_table_names": ["users", "firms"]}
TYPED = {**POLY, "type_column_name": "of"}
for name, more in (("no type", POLY), ("a type", TYPED)):
    keyed(f"{name}, kept", shop(130), shop(131), "PolymorphicRelationship", **more)
    keyed(f"{name}, orphans", shop(130), shop(131, orphans=4), "PolymorphicRelationship", **more)
    keyed(f"{name}, missing keys", shop(130), shop(131, orphans=2, share=0.3), "PolymorphicRelationship", **more)
    keyed(
        f"{name}, text",
        shop(130, prefix="k"),
        shop(131, orphans=2, share=0.2, prefix="k"),
        "PolymorphicRelationship",
        **more,
    )
    keyed(f"{name}, keys of both parents", shop(130), shop(131, overlap=True), "PolymorphicRelationship", **more)
ODD = ("object", [["users", "firms", None, "other"][v % 4] for v in whole(132, 30, 0, 30)])
keyed("odd types", shop(130), with_(shop(131), "orders", of=ODD), "PolymorphicRelationship", **TYPED)
keyed(
    "odd types, missing keys",
    shop(130),
    with_(shop(131, share=0.4), "orders", of=ODD),
    "PolymorphicRelationship",
    **TYPED,
)
TYPES = {"A": "users", "B": "firms", "C": "users"}
LETTERS = ("object", words(133, 30, "ABC"))
keyed(
    "types by letter",
    with_(shop(130), "orders", of=LETTERS),
    with_(shop(131), "orders", of=LETTERS),
    "PolymorphicRelationship",
    **TYPED,
    type_value_to_table=TYPES,
)
keyed(
    "types without a column",
    shop(130),
    shop(131, orphans=2),
    "PolymorphicRelationship",
    **POLY,
    type_value_to_table=TYPES,
)
keyed(
    "a type of no parent",
    shop(130),
    shop(131),
    "PolymorphicRelationship",
    **TYPED,
    type_value_to_table={"A": "users", "B": "moon"},
)
keyed(
    "a parent without a type",
    shop(130),
    shop(131),
    "PolymorphicRelationship",
    **TYPED,
    type_value_to_table={"A": "users"},
)
keyed("no dictionary of types", shop(130), shop(131), "PolymorphicRelationship", **TYPED, type_value_to_table=["A"])
keyed(
    "its own parent",
    shop(130),
    shop(131),
    "PolymorphicRelationship",
    **{**POLY, "parent_table_names": ["orders", "firms"]},
)
keyed("the key as type", shop(130), shop(131), "PolymorphicRelationship", **POLY, type_column_name="owner")
keyed("a number as type", shop(130), shop(131), "PolymorphicRelationship", **POLY, type_column_name=1)
keyed(
    "a key of two columns", shop(130), shop(131), "PolymorphicRelationship", **{**POLY, "foreign_key": ["owner", "of"]}
)
keyed(
    "a parent that is not there",
    {k: v for k, v in shop(130).items() if k != "firms"},
    {k: v for k, v in shop(131).items() if k != "firms"},
    "PolymorphicRelationship",
    **POLY,
)

TREE = {"table_name": "t", "base_column_name": "base", "parent_column_name": "parent"}
BRANCHES = {"base": ID, "parent": ID, "grand": ID, "root": ID}


def tree(
    seed: int, n: int = 30, slips: int = 0, outside: int = 0, own_roots: bool = False, text: bool = False
) -> Table:
    rng = random.Random(seed)
    up: list[int | None] = [None, None, *(rng.randrange(i) for i in range(2, n))]
    if own_roots:
        up[:2] = [0, 1]
    for i in range(outside):
        up[3 + i] = 500 + i

    def above(i: int | None) -> int | None:
        return None if i is None or i >= n or up[i] == i else up[i]

    def top(i: int) -> int:
        while (found := above(i)) is not None:
            i = found
        return i

    grand: list[int | None] = []
    for i in range(n):
        parent = above(i)
        over = None if parent is None or parent >= n else above(parent)
        grand.append(over)
    root: list[int | None] = [top(i) for i in range(n)]
    for column in (grand, root):
        for _ in range(slips):
            column[rng.randrange(n)] = rng.choice([None, 1, 7])

    def spec(values: list) -> Any:
        if text:
            return "object", [None if v is None else f"k{v}" for v in values]
        return "float64", [NAN if v is None else float(v) for v in values]

    order = rng.sample(range(n), n)
    return {
        k: spec([v[i] for i in order])
        for k, v in (("base", list(range(n))), ("parent", up), ("grand", grand), ("root", root))
    }


LOOP = {"base": ("int64", [1, 2, 3, 4, 5]), "parent": ("float64", [NAN, 3.0, 2.0, 1.0, 2.0])}
TWICE = {"base": ("float64", [1.0, 2.0, 2.0, NAN, 3.0, NAN]), "parent": ("float64", [NAN, 1.0, 1.0, 1.0, 2.0, NAN])}
FULL = {"grandparent_column_name": "grand", "root_column_name": "root"}
for name, real, synthetic in (
    ("kept", tree(140), tree(141)),
    ("text", tree(140, text=True), tree(141, text=True, slips=2)),
    ("roots that name themselves", tree(140, own_roots=True), tree(142, own_roots=True, slips=2)),
    ("parents outside", tree(140), tree(143, outside=4, slips=3)),
    ("slips", tree(140), tree(144, slips=6)),
    ("slips in the real table", tree(145, slips=4), tree(141)),
):
    one(name, real, synthetic, BRANCHES, "SelfReferentialHierarchy", **TREE)
    one(
        f"{name}, grandparents",
        real,
        synthetic,
        BRANCHES,
        "SelfReferentialHierarchy",
        **TREE,
        grandparent_column_name="grand",
    )
    one(f"{name}, roots", real, synthetic, BRANCHES, "SelfReferentialHierarchy", **TREE, root_column_name="root")
    one(f"{name}, both", real, synthetic, BRANCHES, "SelfReferentialHierarchy", **TREE, **FULL)
one("a loop", tree(140), LOOP, BRANCHES, "SelfReferentialHierarchy", **TREE)
one("keys twice and missing", tree(140), TWICE, BRANCHES, "SelfReferentialHierarchy", **TREE)
one("no row", tree(140), {k: (d, []) for k, (d, _) in tree(140).items()}, BRANCHES, "SelfReferentialHierarchy", **TREE)
one("a method", tree(140), tree(141), BRANCHES, "SelfReferentialHierarchy", **TREE, scaling_method="depth")
one("another method", tree(140), tree(141), BRANCHES, "SelfReferentialHierarchy", **TREE, scaling_method="wide")
one(
    "one column twice",
    tree(140),
    tree(141),
    BRANCHES,
    "SelfReferentialHierarchy",
    **{**TREE, "parent_column_name": "base"},
)
one(
    "a number as column",
    tree(140),
    tree(141),
    BRANCHES,
    "SelfReferentialHierarchy",
    **{**TREE, "parent_column_name": 1},
)
one("a number as root", tree(140), tree(141), BRANCHES, "SelfReferentialHierarchy", **TREE, root_column_name=1)
one(
    "a column that is not there",
    tree(140),
    tree(141),
    BRANCHES,
    "SelfReferentialHierarchy",
    **TREE,
    root_column_name="q",
)

# --- descriptions -----------------------------------------------------------------------------------------------------

for name, wrong in {
    "no dictionary": ["Inequality"],
    "no class": {"parameters": {}},
    "a number as class": {"class_name": 1, "parameters": {}},
    "an unknown class": {"class_name": "Equality", "parameters": {}},
    "another key": {"class_name": "Inequality", "parameters": {}, "name": "x"},
    "parameters as list": {"class_name": "Inequality", "parameters": ["a"]},
    "no parameters": {"class_name": "Inequality", "parameters": {}},
    "without parameters": {"class_name": "Inequality"},
}.items():
    add(name, {"t": KEPT}, {"t": BROKEN}, {"t": {"columns": HIGH}}, wrong)
# fmt: on
assert len({c.id for c in CASES}) == len(CASES), sorted(c.id for c in CASES)


def arguments(case: Case) -> tuple[Any, ...]:
    real, synthetic = ({name: frame(t) for name, t in side.items()} for side in (case.real, case.synthetic))
    return real, synthetic, case.metadata, case.constraint

"""The calls that `remake_drop_in.py` makes of SDMetrics and `test_drop_in.py` of `divulge.sdmetrics`, as data.

Tables come from `random.Random`, whose stream Python guarantees, or are written out. Every column carries a pandas
dtype, so that pandas 2.3 (the newest that SDMetrics takes) and pandas 3.1 build the same table: "object" for text,
where pandas 3 would choose a dtype of its own. Missing is None, nan (one shared object) or NaT, as the dtype has it.
A case has at most a few hundred rows, because SDMetrics loops over them.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

NAN = math.nan
INF = math.inf
BOTH = ("compute", "compute_breakdown")
BREAKDOWN = ("compute_breakdown",)
Maker = Callable[[random.Random, float], object]


@dataclass(frozen=True)
class Frame:
    """A table of pandas: each column is a dtype and its values."""

    columns: dict[Any, tuple[str, list]]
    index: list | None = None


@dataclass(frozen=True)
class Class:
    """A class of the package under test, by its name: an attacker, a weight or a loss."""

    name: str


@dataclass(frozen=True)
class Case:
    metric: str
    name: str
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    calls: tuple[str, ...] = ("compute",)
    seed: int | None = None
    """Seed of ours; SDMetrics runs right after np.random.seed(seed). None leaves ours at its default, 0."""
    raw: tuple = ()
    """Raw scores for normalize; where there are any, nothing else is called."""

    @property
    def id(self) -> str:
        return f"{self.metric}: {self.name}"


WHOLE_CALL = "a slip in the call, which Python or pandas stumbles over"
NO_ROWS = "an empty table, over which a mean or a model is taken"
NA = "missing in a nullable dtype, which is neither equal nor unequal to anything"
RELEASED_CALL = "the call of the documentation, which the release refuses; ours takes both"
SAME_DTYPE = "a dtype that pandas cannot compare, fill or draw"
NOT_FOR_MODEL = "scikit-learn or copulas cannot take such values"
PLAIN_NUMBERS = "a column that pandas cannot cut into bins"

DIFFERS = {
    "an unknown column": WHOLE_CALL, "a tuple of key_fields": WHOLE_CALL, "tuples of fields": WHOLE_CALL, "key_fields as text": WHOLE_CALL,
    "tables in dictionaries": "checked as a dictionary of tables, then used as one table", "arrays in place of tables": WHOLE_CALL,
    "unknown model_kwargs": WHOLE_CALL, "an entry beside the attackers": WHOLE_CALL, "tuples of columns": WHOLE_CALL, "known columns as text": WHOLE_CALL,
    "a synthetic table that is none": "the real table is checked twice, the synthetic one never", "num_rows_subsample of True": "True passes for a whole number, then not for a number of rows",
    "no synthetic row": NO_ROWS, "no synthetic row, generalized_cap": NO_ROWS, "no real row": NO_ROWS, "no real row, continuous": NO_ROWS, "no validation row": NO_ROWS, "a sample of 0 rows": NO_ROWS,
    "nullable integers with missing": NA, "nullable booleans with missing": NA, "string dtype with missing": NA,
    "category dtype": SAME_DTYPE, "category dtype with missing": SAME_DTYPE, "category dtype with other categories": SAME_DTYPE, "bool declared a number": SAME_DTYPE, "text declared a number": SAME_DTYPE,
    "continuous text": PLAIN_NUMBERS, "continuous dates as text": PLAIN_NUMBERS, "infinity in the real table": PLAIN_NUMBERS, "all missing in the real table": PLAIN_NUMBERS,
    "without table_name": RELEASED_CALL, "the documentation's call": RELEASED_CALL,
    "an absent date": "a date of the metadata is read before absent columns are passed over", "a column named index": "a name that its distances use inside",
    "a subsample larger than training": "the subsample is compared with the synthetic table only", "a subsample larger than validation": "the subsample is compared with the synthetic table only",
    "infinity in training": "the random table cannot be drawn", "all missing in training": "the random table cannot be drawn", "all missing categories in training": "the random table cannot be drawn",
    "an unused column that cannot be drawn": "the random table has every column, also those that are not compared",
    "a sample of a float": WHOLE_CALL, "a back-tick in a name": "rows are found by a query in text", "names that are numbers": "rows are found by a query in text",
    "no column to compare": "rows are found by a query in text", "unsigned integers": "no sdtype is known for this dtype",
    "nan in a key of floats": NOT_FOR_MODEL, "nan in a target of floats": NOT_FOR_MODEL, "one synthetic row": NOT_FOR_MODEL, "constant target": NOT_FOR_MODEL, "number beside text": NOT_FOR_MODEL,
    "numbers and text in one column": NOT_FOR_MODEL, "an index of text": "rows are found by label where a place is meant",
    "nan in a real key": NOT_FOR_MODEL, "nan in a synthetic key": NOT_FOR_MODEL, "nan in a real target": NOT_FOR_MODEL,
}  # fmt: skip
"""Why SDMetrics crashes in pandas, numpy or scikit-learn, by the name of the case; ours answers or refuses in words.

A name counts only for the metrics in which it does crash: "no synthetic row" is a score for CategoricalCAP.
"""

DIFFERS_BY_ID = {
    "DCRBaselineProtection: integers with a wide range": "the range wraps around 2**63: distances below 0",
    "DCROverfittingProtection: a validation table in a dictionary": "the first table is taken, as for the other two",
}
"""Why ours gives another number, by id."""

SETTLED_BY_THE_PROCESSOR = {
    *(
        f"CategoricalKNN: {name}"
        for name in (
            "one key", "three keys", "two targets", "booleans", "missing as None", "missing as nan of objects",
            "missing keys as None", "a copy", "constant key", "one real row", "integer beside float",
            "metadata with tables", "key_fields inside the metadata", "category dtype", "string dtype",
            "nullable integers", "breakdown by metadata", "many rows and ties", "many rows and ties, one key",
        )
    ),
    "CategoricalEnsemble: missing as None",
}  # fmt: skip
"""More than five rows are equally near, and scikit-learn takes those that `numpy.argpartition` puts first, which depends
on the processor: SDMetrics' own score moves when numpy runs with NPY_DISABLE_CPU_FEATURES="X86_V4 X86_V3".
`test_attackers.py` compares such cases with scikit-learn itself, on the processor that runs it."""

QUOTES_DATA = {"dates as text in another format": "Error converting column 'd' to timestamp"}
"""Cases whose message quotes a value of the table, which ours never does, and how both begin."""

# --- tables into pandas -----------------------------------------------------------------------------------------------


def series(dtype: str, values: list, index: list | None) -> pd.Series:
    if dtype == "category":
        # pandas 3 would make categories of text its own dtype of text
        seen = sorted({v for v in values if v is not None}, key=lambda v: (type(v).__name__, v))
        return pd.Series(pd.Categorical(values, categories=pd.Index(seen, dtype=object)), index=index)
    return pd.Series(values, dtype=dtype, index=index)


def built(thing: Any, package: Callable[[str], Any]) -> Any:
    """Return the table for a Frame, the class for a Class, also inside dicts, lists and tuples; else the thing."""
    if isinstance(thing, Frame):
        columns = {c: series(dtype, values, thing.index) for c, (dtype, values) in thing.columns.items()}
        return pd.DataFrame(columns, index=thing.index)
    if isinstance(thing, Class):
        return package(thing.name)
    if isinstance(thing, dict):
        return {k: built(v, package) for k, v in thing.items()}
    if isinstance(thing, list | tuple):
        return type(thing)(built(v, package) for v in thing)
    return thing


# --- tables -----------------------------------------------------------------------------------------------------------


def pick(*levels: object, noise: float = 0.3) -> Maker:
    """Return a level at the row's own place, or at random: so that columns depend on one another."""
    return lambda rng, u: levels[int((rng.random() if rng.random() < noise else u) * len(levels))]


def normal(mean: float, sd: float, digits: int = 2) -> Maker:
    return lambda rng, u: round(mean + sd * (3 * u - 1.5) + rng.gauss(0, sd / 2), digits)


def skewed(scale: float, digits: int = 2) -> Maker:
    return lambda rng, u: round(scale * math.exp(2 * u + rng.gauss(0, 0.3)), digits)


def uniform(low: float, high: float, digits: int = 3) -> Maker:
    return lambda rng, u: round(low + (high - low) * (0.5 * u + 0.5 * rng.random()), digits)


def whole(low: int, high: int) -> Maker:
    return lambda rng, u: low + int((0.6 * u + 0.4 * rng.random()) * (high - low))


def day(year: int = 2020, days: int = 900, pattern: str = "{:04d}-{:02d}-{:02d}") -> Maker:
    """Return a day as text: 30-day months, 12-month years, days up to 28, so that every one is a date."""

    def make(rng: random.Random, u: float) -> str:
        n = int((0.6 * u + 0.4 * rng.random()) * days)
        return pattern.format(year + n // 360, n // 30 % 12 + 1, n % 28 + 1)

    return make


def holes(maker: Maker, share: float = 0.2, hole: object = None) -> Maker:
    return lambda rng, u: hole if rng.random() < share else maker(rng, u)


Spec = dict[Any, tuple[str, Maker]]


def drawn(seed: int, n: int, spec: Spec, index: list | None = None) -> Frame:
    rng = random.Random(seed)
    values: dict[Any, list] = {c: [] for c in spec}
    for _ in range(n):
        place = rng.random()
        for c, (_dtype, maker) in spec.items():
            values[c].append(maker(rng, place))
    return Frame({c: (spec[c][0], values[c]) for c in spec}, index)


def pair(spec: Spec, n: int = 50, m: int = 40, seed: int = 1) -> tuple[Frame, Frame]:
    return drawn(seed, n, spec), drawn(seed + 1000, m, spec)


def three(spec: Spec, n: int = 40, m: int = 45, v: int = 35, seed: int = 1) -> tuple[Frame, Frame, Frame]:
    return drawn(seed, n, spec), drawn(seed + 1000, m, spec), drawn(seed + 2000, v, spec)


def hand(**columns: tuple[str, list]) -> Frame:
    return Frame(columns)


def objects(**columns: list) -> Frame:
    return Frame({c: ("object", v) for c, v in columns.items()})


def ahead(whole: Frame, source: Frame, rows: int) -> Frame:
    """Return `whole` with its first rows replaced by those of `source`."""
    return Frame({c: (d, source.columns[c][1][:rows] + v[rows:]) for c, (d, v) in whole.columns.items()})


def nothing(table: Frame) -> Frame:
    return Frame({c: (dtype, []) for c, (dtype, _) in table.columns.items()})


def only(table: Frame, *names: str) -> Frame:
    return Frame({c: table.columns[c] for c in names}, table.index)


def changed(table: Frame, **columns: tuple[str, list]) -> Frame:
    return Frame(table.columns | columns, table.index)


def stretched(table: Frame, rows: int) -> Frame:
    return Frame({c: (d, (v * (rows // len(v) + 1))[:rows]) for c, (d, v) in table.columns.items()})


def meta(kinds: str | dict, **extra: object) -> dict:
    """Return metadata of one table; "x:numerical c:categorical" or a dict of whole entries."""
    if isinstance(kinds, str):
        kinds = {k: {"sdtype": v} for k, v in (word.split(":") for word in kinds.split())}
    return {"columns": kinds, **extra}


def unified(*tables: dict, names: Sequence[str] = ("people", "homes", "cars")) -> dict:
    """Return metadata in the shape that SDV writes."""
    return {"tables": dict(zip(names, tables, strict=False)), "relationships": [], "METADATA_SPEC_VERSION": "V1"}


LETTERS = ("a", "b", "c", "d", "e")
FEW: Spec = {"k": ("object", pick(*LETTERS)), "t": ("object", pick("x", "y", "z"))}
MORE: Spec = {f"k{i}": ("object", pick(*LETTERS[: i + 2])) for i in range(4)} | {"t": ("object", pick("x", "y", "z"))}
TWICE: Spec = {"k": ("object", pick(*LETTERS)), "t": ("object", pick("x", "y")), "u": ("int64", pick(3, 5, 7))}
BOOLS: Spec = {"k": ("bool", pick(True, False)), "j": ("object", pick("p", "q")), "t": ("bool", pick(False, True))}
INTS: Spec = {"k": ("int64", whole(0, 8)), "j": ("int64", pick(10, 20, 30)), "t": ("int64", pick(0, 1))}
FLOATS: Spec = {
    "k": ("float64", pick(0.1, 0.25, 1e300)),
    "j": ("float64", pick(-1.0, -0.0)),
    "t": ("float64", pick(1.5, 2.5)),
}
NONES: Spec = {
    "k": ("object", pick("a", "b", None)),
    "j": ("object", pick("p", None, "q")),
    "t": ("object", pick("x", None, "y")),
}
NANS: Spec = {
    "k": ("object", pick("a", "b", NAN)),
    "j": ("object", pick("p", NAN, "q")),
    "t": ("object", pick("x", NAN, "y")),
}
FLOAT_KEY: Spec = {
    "k": ("float64", pick(1.5, 2.5, NAN)),
    "j": ("object", pick("p", "q")),
    "t": ("object", pick("x", "y")),
}
FLOAT_TARGET: Spec = {"k": ("object", pick("p", "q")), "t": ("float64", pick(0.5, 1.5, NAN))}
KT = {"key_fields": ["k"], "sensitive_fields": ["t"]}
KJT = {"key_fields": ["k", "j"], "sensitive_fields": ["t"]}
ONE = (objects(k=["a"], t=["x"]), objects(k=["a"], t=["x"]))
FEW_KINDS = "k:categorical t:categorical"
KEYS_INSIDE = meta(FEW_KINDS, key_fields=["k"], sensitive_fields=["t"])
FOUR = {"key_fields": ["k0", "k1", "k2", "k3"], "sensitive_fields": ["t"]}

# --- the CAP metrics --------------------------------------------------------------------------------------------------

CAPS = ("CategoricalCAP", "CategoricalZeroCAP", "CategoricalGeneralizedCAP")

CAP_VALUES: list[tuple[str, tuple, dict]] = [
    ("one key", pair(FEW), KT),
    ("four keys, some unseen", pair(MORE), FOUR),
    ("four keys, few synthetic rows", pair(MORE, m=7), FOUR),
    ("two targets at once", pair(TWICE), {"key_fields": ["k"], "sensitive_fields": ["t", "u"]}),
    ("a column is key and target", pair(TWICE), {"key_fields": ["k", "t"], "sensitive_fields": ["t"]}),
    ("booleans", pair(BOOLS), KJT),
    ("integers", pair(INTS), KJT),
    ("floats without metadata", pair(FLOATS), KJT),
    ("missing as None", pair(NONES), KJT),
    ("missing as None, few synthetic rows", pair(NONES, m=5, seed=3), KJT),
    ("missing as one nan in columns of objects", pair(NANS), KJT),
    ("nan in a key of floats", pair(FLOAT_KEY), KJT),
    ("nan in a key of floats alone", pair(FLOAT_KEY), KT),
    ("nan in a target of floats", pair(FLOAT_TARGET), KT),
    ("nan of objects beside a float column", pair(FLOAT_KEY | {"j": ("object", pick("p", NAN))}), KJT),
    ("nan as different objects", (objects(k=["a", float("nan"), float("nan")], t=["x", "y", "x"]), objects(k=["a", float("nan"), "b"], t=["x", "y", "x"])), KT),
    ("nan as different objects in the target", (objects(k=["a", "a", "b"], t=["x", float("nan"), float("nan")]), objects(k=["a", "a", "b"], t=["x", float("nan"), "y"])), KT),
    ("missing real keys only", (drawn(5, 30, NONES), drawn(6, 30, BOOLS | dict.fromkeys("kj", FEW["k"]) | {"t": FEW["t"]})), KJT),
    ("number beside text", (objects(k=[1, 2, 3], t=["x", "y", "x"]), objects(k=["1", "2", "3"], t=["x", "y", "x"])), KT),
    ("True beside 1", (objects(k=[True, False, True], t=[1, 0, 0]), hand(k=("int64", [1, 1, 0]), t=("bool", [True, False, False]))), KT),
    ("integer beside float", (drawn(7, 40, INTS), drawn(8, 30, INTS | {"k": ("float64", whole(0, 8)), "t": ("float64", pick(0.0, 1.0))})), KJT),
    ("integers that collide as floats", (
        hand(k=("int64", [2**53, 2**53 + 1, 5, 2**53 + 2]), j=("float64", [0.5, 0.5, 1.5, 0.5]), t=("object", ["x", "y", "x", "y"])),
        hand(k=("int64", [2**53, 2**53 + 1, 5]), j=("float64", [0.5, 0.5, 1.5]), t=("object", ["x", "y", "x"])),
    ), KJT),
    ("integers that do not collide alone", (
        hand(k=("int64", [2**53, 2**53 + 1, 5]), t=("object", ["x", "y", "x"])), hand(k=("int64", [2**53, 2**53 + 1, 5]), t=("object", ["x", "y", "y"])),
    ), KT),
    ("boolean beside integer keys", pair(INTS | {"j": BOOLS["k"]}), KJT),
    ("boolean beside float keys", pair(FLOAT_KEY | {"j": BOOLS["k"]}), KJT),
    ("constant key", pair({"k": ("object", pick("a")), "t": FEW["t"]}), KT),
    ("constant target", pair({"k": FEW["k"], "t": ("object", pick("x"))}), KT),
    ("all keys unseen", (drawn(1, 30, FEW), drawn(2, 20, {"k": ("object", pick("v", "w")), "t": FEW["t"]})), KT),
    ("one row each", ONE, KT),
    ("one row each, wrong target", (ONE[0], objects(k=["a"], t=["y"])), KT),
    ("one row each, unseen", (ONE[0], objects(k=["b"], t=["x"])), KT),
    ("a copy", (drawn(5, 60, MORE), drawn(5, 60, MORE)), FOUR),
    ("duplicates of one row", (stretched(ONE[0], 9), stretched(objects(k=["a", "a", "b"], t=["x", "y", "x"]), 8)), KT),
    ("no real row", (nothing(ONE[0]), ONE[1]), KT),
    ("no synthetic row", (ONE[0], nothing(ONE[1])), KT),
    ("an index of text", (drawn(1, 20, FEW, [f"r{i}" for i in range(20)]), drawn(2, 15, FEW, list(range(30, 15, -1)))), KT),
    ("other order of columns", (drawn(1, 20, FEW), only(drawn(2, 20, FEW), "t", "k")), KT),
    ("metadata", (*pair(FEW), meta(FEW_KINDS)), KT),
    ("metadata of three kinds", (*pair(TWICE | {"k": BOOLS["k"]}), meta("k:boolean t:categorical u:numerical")), {"key_fields": ["k", "u"], "sensitive_fields": ["t"]}),
    ("metadata with tables", (*pair(FEW), unified(meta(FEW_KINDS))), KT),
    ("metadata with two tables", (*pair(FEW), unified(meta(FEW_KINDS), meta("x:numerical")), "people"), KT),
    ("table_name beside metadata of one table", (*pair(FEW), meta(FEW_KINDS), "anything"), KT),
    ("metadata as SDV writes it", (
        *pair(TWICE | {"id": ("object", day()), "d": ("datetime64[ns]", holes(day()))}),
        meta({
            "k": {"sdtype": "categorical"}, "t": {"sdtype": "categorical"}, "u": {"sdtype": "numerical", "computer_representation": "Int64"},
            "id": {"sdtype": "id", "pii": True}, "d": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
        }, primary_key="id", METADATA_SPEC_VERSION="SINGLE_TABLE_V1"),
    ), KT),
    ("dates as text beside the keys", (*pair(FEW | {"d": ("object", holes(day()))}), meta({"k": {"sdtype": "categorical"}, "t": {"sdtype": "categorical"}, "d": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}})), KT),
    ("category dtype", pair(FEW | {"k": ("category", pick(*LETTERS))}), KT),
    ("category dtype with other categories", (drawn(1, 20, FEW | {"k": ("category", pick("a", "b"))}), drawn(2, 20, FEW | {"k": ("category", pick("b", "c"))})), KT),
    ("category dtype with missing", pair(FEW | {"k": ("category", pick("a", "b", None))}), KT),
    ("string dtype", pair(FEW | {"k": ("string", pick("a", "b", "c"))}), KT),
    ("nullable integers", pair(INTS | {"k": ("Int64", whole(0, 4))}), KJT),
    ("nullable booleans", pair(BOOLS | {"k": ("boolean", pick(True, False))}), KJT),
    ("nullable integers with missing", pair(INTS | {"k": ("Int64", pick(1, 2, None))}), KT),
    ("string dtype with missing", pair(FEW | {"k": ("string", pick("a", "b", None))}), KT),
    ("model_kwargs without entries", pair(FEW), KT | {"model_kwargs": {}}),
    ("key_fields inside the metadata win", (*pair(TWICE), meta("k:categorical t:categorical u:numerical", key_fields=["u"], sensitive_fields=["t"])), {"key_fields": ["k"], "sensitive_fields": ["u"]}),
]  # fmt: skip

PAIR = pair(FEW, 12, 10)
DATES = pair({"d": ("datetime64[ns]", day()), "t": FEW["t"]}, 12, 10)
DATES_AS_TEXT = pair({"k": FEW["k"], "t": FEW["t"], "d": ("object", day())}, 12, 10)

FIELD_ERRORS: list[tuple[str, tuple, dict]] = [
    ("no key_fields", PAIR, {"sensitive_fields": ["t"]}),
    ("no sensitive_fields", PAIR, {"key_fields": ["k"]}),
    ("empty key_fields", PAIR, {"key_fields": [], "sensitive_fields": ["t"]}),
    ("empty sensitive_fields", PAIR, {"key_fields": ["k"], "sensitive_fields": []}),
    ("an unknown column", PAIR, {"key_fields": ["nope"], "sensitive_fields": ["t"]}),
    ("a tuple of key_fields", PAIR, {"key_fields": ("k",), "sensitive_fields": ["t"]}),
    ("tuples of fields", PAIR, {"key_fields": ("k",), "sensitive_fields": ("t",)}),
    ("key_fields as text", PAIR, {"key_fields": "k", "sensitive_fields": ["t"]}),
    ("other columns", (PAIR[0], only(PAIR[1], "k")), KT),
    ("a column without metadata", (*PAIR, meta("k:categorical")), KT),
    ("metadata of a column without data", (*PAIR, meta(FEW_KINDS + " z:categorical")), KT),
    ("metadata without columns", (*PAIR, {}), KT),
    ("metadata that is no dictionary", (*PAIR, [FEW_KINDS]), KT),
    ("two tables and no name", (*PAIR, unified(meta(FEW_KINDS), meta("x:numerical"))), KT),
    ("no table in the metadata", (*PAIR, unified()), KT),
    ("an unknown table", (*PAIR, unified(meta(FEW_KINDS)), "houses"), KT),
    ("a table_name of numbers", (*PAIR, unified(meta(FEW_KINDS)), 3), KT),
    ("table_name of numbers without metadata", (*PAIR, None, 3), KT),
    ("a table without columns", (*PAIR, unified({"primary_key": "k"})), KT),
    ("dates as text without a format", (*DATES_AS_TEXT, meta("k:categorical t:categorical d:datetime")), KT),
    ("dates as text in another format", (*DATES_AS_TEXT, meta({"k": {"sdtype": "categorical"}, "t": {"sdtype": "categorical"}, "d": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"}})), KT),
    ("a date as key", DATES, {"key_fields": ["d"], "sensitive_fields": ["t"]}),
    ("tables in dictionaries", ({"people": PAIR[0]}, {"people": PAIR[1]}), KT),
    ("arrays in place of tables", ([1, 2], [1, 2]), KT),
]  # fmt: skip

CAP_ERRORS: list[tuple[str, tuple, dict]] = [
    *FIELD_ERRORS,
    ("an ordinal key", (*PAIR, meta("k:ordinal t:categorical")), KT),
    ("an id as key", (*PAIR, meta("k:id t:categorical")), KT),
    ("a key with a computer_representation", (*pair(INTS), meta({"k": {"sdtype": "numerical", "computer_representation": "Int64"}, "j": {"sdtype": "numerical"}, "t": {"sdtype": "numerical"}})), KT),
    ("unsigned integers", pair({"k": ("uint8", whole(0, 8)), "t": FEW["t"]}), KT),
    ("unknown model_kwargs", PAIR, KT | {"model_kwargs": {"depth": 3}}),
]  # fmt: skip


def fan(metrics: Sequence[str], rows: list[tuple[str, tuple, dict]], **more: Any) -> list[Case]:
    return [Case(metric, name, args, kwargs, **more) for metric in metrics for name, args, kwargs in rows]


INSIDE: list[tuple[str, tuple, dict]] = [
    ("breakdown by metadata", (*pair(FEW), KEYS_INSIDE), {}),
    ("breakdown by metadata, two targets", (*pair(TWICE), meta("k:categorical t:categorical u:numerical", key_fields=["k"], sensitive_fields=["t", "u"])), {}),
    ("breakdown by metadata with tables", (*pair(FEW), unified(KEYS_INSIDE), "people"), {}),
    ("breakdown without fields", (*PAIR, meta(FEW_KINDS)), {}),
]  # fmt: skip

UNIT = (0, 0.0, 0.25, 1, 1.0, NAN, -0.1, 1.5)
OPEN = (0, 0.0, 0.25, 1.0, 30.0, INF, NAN, -0.1)

CASES: list[Case] = [
    *fan(CAPS, CAP_VALUES),
    *fan(CAPS, CAP_ERRORS),
    *fan(CAPS, INSIDE, calls=BOTH),
]

# --- DisclosureProtection ---------------------------------------------------------------------------------------------

METHODS = ("cap", "zero_cap", "generalized_cap")
MIXED: Spec = {
    "k": ("object", holes(pick(*LETTERS))), "x": ("float64", holes(normal(40, 15), 0.15, NAN)), "n": ("int64", whole(0, 90)),
    "d": ("datetime64[ns]", day()), "b": ("bool", pick(True, False)), "t": ("object", holes(pick("x", "y", "z"), 0.1, NAN)), "u": ("float64", skewed(3.0)),
}  # fmt: skip
GAPS: Spec = {
    "k": ("object", pick("a", "b", None, NAN)),
    "j": ("float64", pick(1.0, 2.0, NAN)),
    "t": ("object", pick("x", "y", None)),
}


def numbers(*values: float) -> tuple[str, list]:
    return "float64", list(values)


OUTSIDE = (
    hand(x=numbers(0, 1, 2, 3, 4, 5, 6, 10), t=("object", list("abababcc"))),
    hand(x=numbers(-50, 0.5, 2.5, 99, INF, -INF, NAN, 10), t=("object", list("abcabcab"))),
)
DAYS_WITH_NAT = pair({"d": ("datetime64[ns]", holes(day(), 0.1)), "t": FEW["t"]}, 60, 50)
WITH_NAT = {"continuous_column_names": ["d"]}

DISCLOSURE: list[tuple[str, tuple, dict]] = [
    ("one key", (*pair(FEW), ["k"], ["t"]), {}),
    ("four keys", (*pair(MORE), ["k0", "k1", "k2", "k3"], ["t"]), {}),
    ("two targets", (*pair(TWICE), ["k"], ["t", "u"]), {}),
    ("booleans", (*pair(BOOLS), ["k", "j"], ["t"]), {}),
    ("integers as categories", (*pair(INTS), ["k", "j"], ["t"]), {}),
    ("missing as None, nan and nan of floats", (*pair(GAPS), ["k", "j"], ["t"]), {}),
    ("missing in a target of floats", (*pair(FLOAT_TARGET), ["k"], ["t"]), {}),
    ("continuous key and target", (*pair(MIXED, 80, 70), ["x", "k"], ["u"]), {"continuous_column_names": ["x", "u"]}),
    ("continuous, three bins", (*pair(MIXED, 80, 70), ["x", "n"], ["u"]), {"continuous_column_names": ["x", "u", "n"], "num_discrete_bins": 3}),
    ("continuous date", (*pair(MIXED, 80, 70), ["d"], ["t"]), {"continuous_column_names": ["d"]}),
    ("synthetic values outside the range", (*OUTSIDE, ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 4}),
    ("synthetic values outside the range, target", (*OUTSIDE, ["t"], ["x"]), {"continuous_column_names": ["x"], "num_discrete_bins": 4}),
    ("all keys unseen", (drawn(1, 30, FEW), drawn(2, 20, {"k": ("object", pick("v", "w")), "t": FEW["t"]}), ["k"], ["t"]), {}),
    ("no synthetic row", (drawn(1, 9, FEW), nothing(drawn(1, 9, FEW)), ["k"], ["t"]), {}),
]  # fmt: skip

BINS: list[tuple[str, tuple, dict]] = [
    ("method in capital letters", (*pair(MORE), ["k0"], ["t"], "Generalized_CAP"), {}),
    ("all by position", (*pair(MIXED), ["x"], ["t"], "zero_cap", ["x"], 4), {}),
    ("all by keyword", (), dict(zip(("real_data", "synthetic_data"), pair(FEW), strict=True)) | {"known_column_names": ["k"], "sensitive_column_names": ["t"]}),
    ("the text for missing is taken", (objects(k=["__NULL_VALUE__", None, "a"], t=["x", "y", "x"]), objects(k=[None, "__NULL_VALUE__", "__NULL_VALUE___"], t=["x", "y", "y"]), ["k"], ["t"]), {}),
    ("one bin", (*pair(MIXED), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 1}),
    ("one bin, target", (*pair(MIXED), ["k"], ["u"]), {"continuous_column_names": ["u"], "num_discrete_bins": 1}),
    ("a bin of True", (*pair(MIXED), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": True}),
    ("more bins than values", (*pair(MIXED), ["x"], ["u"]), {"continuous_column_names": ["u", "x"], "num_discrete_bins": 200}),
    ("values on the edges", (hand(x=numbers(0, 1, 2, 3, 4, 5), t=("object", list("aabbcc"))), hand(x=numbers(1, 2, 3, 4, 5, 0), t=("object", list("aabbcc"))), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 5}),
    ("edges that round", (hand(x=numbers(*[i / 10 for i in range(31)]), t=("object", list("abc" * 10 + "a"))), hand(x=numbers(*[i * 0.1 for i in range(31)]), t=("object", list("cab" * 10 + "a"))), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 30}),
    ("constant continuous key", (hand(x=numbers(3, 3, 3), t=("object", list("aab"))), hand(x=numbers(3, 2, 4), t=("object", list("abb"))), ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("constant zero", (hand(x=numbers(0, 0, 0), t=("object", list("aab"))), hand(x=numbers(0, 0, -1e-9), t=("object", list("abb"))), ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("constant continuous target", (hand(x=numbers(3, 3, 3), t=("object", list("aab"))), hand(x=numbers(3, 2, 4), t=("object", list("abb"))), ["t"], ["x"]), {"continuous_column_names": ["x"]}),
    ("continuous key with missing, constant else", (hand(x=numbers(3, NAN, 3), t=("object", list("aab"))), hand(x=numbers(3, NAN, 4), t=("object", list("abb"))), ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("continuous integers", (*pair(MIXED), ["n"], ["t"]), {"continuous_column_names": ["n"]}),
    ("continuous integers beside floats", (drawn(1, 30, INTS), drawn(2, 30, INTS | {"k": ("float64", normal(4, 2))}), ["k"], ["t"]), {"continuous_column_names": ["k"], "num_discrete_bins": 4}),
    ("continuous numbers as text", (objects(x=["1", "2.5", "7"], t=list("abb")), objects(x=["1.5", "3", "9"], t=list("abb")), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 3}),
    ("continuous numbers in a column of objects", (objects(x=[1, 2.5, None, 7], t=list("abba")), objects(x=[1.5, None, 3, 9], t=list("abba")), ["x"], ["t"]), {"continuous_column_names": ["x"], "num_discrete_bins": 3}),
    ("continuous booleans", (*pair(BOOLS), ["k"], ["t"]), {"continuous_column_names": ["k"]}),
    ("a continuous column that is not used", (*pair(MIXED), ["k"], ["t"]), {"continuous_column_names": ["x"]}),
    ("continuous date with NaT in both", (*DAYS_WITH_NAT, ["d"], ["t"]), WITH_NAT),
    ("continuous date with NaT in both, target", (*DAYS_WITH_NAT, ["t"], ["d"]), WITH_NAT),
    ("continuous date with NaT in the synthetic table", (drawn(3, 60, {"d": ("datetime64[ns]", day()), "t": FEW["t"]}), DAYS_WITH_NAT[1], ["d"], ["t"]), WITH_NAT),
    ("continuous date with NaT in the real table", (DAYS_WITH_NAT[0], drawn(3, 60, {"d": ("datetime64[ns]", day()), "t": FEW["t"]}), ["t"], ["d"]), WITH_NAT),
    ("date with NaT as a category", (*DAYS_WITH_NAT, ["d"], ["t"]), {}),
    ("date with NaT as a category, target", (*DAYS_WITH_NAT, ["t"], ["d"]), {}),
    ("date with NaT in one table as a category", (DAYS_WITH_NAT[0], drawn(3, 60, {"d": ("datetime64[ns]", day()), "t": FEW["t"]}), ["t"], ["d"]), {}),
    ("dates as text are categories", (*pair({"d": ("object", holes(day(days=90))), "t": FEW["t"]}), ["d"], ["t"]), {}),
    ("a date column that is not used", (*pair(MIXED), ["k"], ["t"]), {}),
    ("constant target", (*pair({"k": FEW["k"], "t": ("object", pick("x"))}), ["k"], ["t"]), {}),
    ("constant target with missing", (*pair({"k": FEW["k"], "t": ("object", pick("x", None))}), ["k"], ["t"]), {}),
    ("one constant target of two", (*pair({"k": FEW["k"], "t": ("object", pick("x")), "u": TWICE["u"]}), ["k"], ["t", "u"]), {}),
    ("one row each", (*ONE, ["k"], ["t"]), {}),
    ("one synthetic row", (drawn(1, 20, FEW), ONE[1], ["k"], ["t"]), {}),
    ("no real row", (nothing(ONE[0]), ONE[1], ["k"], ["t"]), {}),
    ("number beside text", (objects(k=[1, 2, 3], t=list("xyx")), objects(k=["1", "2", "3"], t=list("xyx")), ["k"], ["t"]), {}),
    ("True beside 1", (objects(k=[True, False, True], t=[1, 0, 0]), hand(k=("int64", [1, 1, 0]), t=("bool", [True, False, False])), ["k"], ["t"]), {}),
    ("True and 1 in one column", (objects(k=list("abc"), t=[1, True, "1"]), objects(k=list("abc"), t=[True, 1, 1]), ["k"], ["t"]), {}),
    ("a copy", (drawn(5, 60, MORE), drawn(5, 60, MORE), ["k0", "k1", "k2", "k3"], ["t"]), {}),
    ("a column is known and sensitive", (*pair(TWICE), ["k", "t"], ["t"]), {}),
    ("a known column twice", (*pair(TWICE), ["k", "k"], ["t"]), {}),
    ("nullable integers", (*pair(INTS | {"k": ("Int64", whole(0, 5))}), ["k"], ["t"]), {}),
    ("nullable booleans", (*pair(BOOLS | {"k": ("boolean", pick(True, False))}), ["k"], ["t"]), {}),
    ("category dtype", (*pair(FEW | {"k": ("category", pick(*LETTERS))}), ["k"], ["t"]), {}),
    ("string dtype with missing", (*pair(FEW | {"k": ("string", pick("a", "b", None))}), ["k"], ["t"]), {}),
    ("nullable integers, continuous", (*pair(INTS | {"k": ("Int64", whole(0, 50))}), ["k"], ["t"]), {"continuous_column_names": ["k"]}),
    ("more than ten thousand rows", (stretched(drawn(1, 97, FEW), 10001), drawn(2, 30, FEW), ["k"], ["t"]), {}),
]  # fmt: skip

DISCLOSURE_ERRORS: list[tuple[str, tuple, dict]] = [
    ("no known column", (*PAIR, [], ["t"]), {}),
    ("no sensitive column", (*PAIR, ["k"], []), {}),
    ("an unknown known column", (*PAIR, ["k", "nope"], ["t"]), {}),
    ("an unknown sensitive column", (*PAIR, ["k"], ["nope"]), {}),
    ("an unknown continuous column", (*PAIR, ["k"], ["t"]), {"continuous_column_names": ["nope"]}),
    ("an unknown method", (*PAIR, ["k"], ["t"], "nearest"), {}),
    ("no bins", (*PAIR, ["k"], ["t"]), {"num_discrete_bins": 0}),
    ("bins of a float", (*PAIR, ["k"], ["t"]), {"num_discrete_bins": 10.0}),
    ("a real table that is none", ([1], PAIR[1], ["k"], ["t"]), {}),
    ("a synthetic table that is none", (PAIR[0], [1], ["k"], ["t"]), {}),
    ("other columns", (PAIR[0], changed(PAIR[1], z=("int64", [1] * 10)), ["k"], ["t"]), {}),
    ("tuples of columns", (*PAIR, ("k",), ["t"]), {}),
    ("known columns as text", (*PAIR, "k", ["t"]), {}),
    ("a date as a category", (*DATES, ["d"], ["t"]), {}),
    ("continuous text", (*PAIR, ["k"], ["t"]), {"continuous_column_names": ["k"]}),
    ("continuous dates as text", (*pair({"d": ("object", day()), "t": FEW["t"]}, 9, 9), ["d"], ["t"]), {"continuous_column_names": ["d"]}),
    ("infinity in the real table", (OUTSIDE[1], OUTSIDE[0], ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("all missing in the real table", (hand(x=numbers(NAN, NAN), t=("object", list("ab"))), hand(x=numbers(1, 2), t=("object", list("ab"))), ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("no real row, continuous", (nothing(OUTSIDE[0]), OUTSIDE[1], ["x"], ["t"]), {"continuous_column_names": ["x"]}),
    ("nullable integers with missing", (*pair(INTS | {"k": ("Int64", pick(1, 2, None))}), ["k"], ["t"]), {}),
    ("nullable booleans with missing", (*pair(BOOLS | {"k": ("boolean", pick(True, False, None))}), ["k"], ["t"]), {}),
    ("category dtype with missing", (*pair(FEW | {"k": ("category", pick("a", "b", None))}), ["k"], ["t"]), {}),
    ("unsigned integers", (*pair({"k": ("uint8", whole(0, 8)), "t": FEW["t"]}, 9, 9), ["k"], ["t"]), {}),
]  # fmt: skip

CASES += [
    Case(
        "DisclosureProtection",
        f"{name}, {method}",
        args,
        kwargs | {"computation_method": method},
        BREAKDOWN if method != "cap" else BOTH,
    )
    for name, args, kwargs in DISCLOSURE
    for method in METHODS
]
CASES += fan(["DisclosureProtection"], BINS, calls=BREAKDOWN)
CASES += fan(["DisclosureProtection"], DISCLOSURE_ERRORS)

# --- DisclosureProtectionEstimate -------------------------------------------------------------------------------------

SAMPLED = {"num_rows_subsample": 20, "num_iterations": 4, "verbose": False}

ESTIMATE: list[tuple[str, tuple, dict, int]] = [
    ("one key", (*pair(FEW), ["k"], ["t"]), SAMPLED, 1),
    ("one key, another seed", (*pair(FEW), ["k"], ["t"]), SAMPLED, 2),
    ("one key, zero_cap", (*pair(FEW), ["k"], ["t"], "zero_cap"), SAMPLED, 3),
    ("four keys, generalized_cap", (*pair(MORE), ["k0", "k1", "k2", "k3"], ["t"], "generalized_cap"), SAMPLED, 4),
    ("four keys, cap", (*pair(MORE), ["k0", "k1", "k2", "k3"], ["t"], "Cap"), SAMPLED, 5),
    ("two targets", (*pair(TWICE), ["k"], ["t", "u"]), SAMPLED, 6),
    ("continuous", (*pair(MIXED, 80, 70), ["x", "k"], ["u"]), SAMPLED | {"continuous_column_names": ["x", "u"], "num_discrete_bins": 5}, 7),
    ("continuous date with NaT", (*DAYS_WITH_NAT, ["d"], ["t"], "zero_cap"), SAMPLED | WITH_NAT, 8),
    ("missing", (*pair(GAPS), ["k", "j"], ["t"]), SAMPLED, 9),
    ("booleans and integers", (*pair(INTS | {"j": BOOLS["k"]}), ["k", "j"], ["t"], "generalized_cap"), SAMPLED, 10),
    ("more rows asked than there are", (*pair(FEW), ["k"], ["t"]), SAMPLED | {"num_rows_subsample": 45}, 11),
    ("one row, one iteration", (*pair(FEW), ["k"], ["t"]), SAMPLED | {"num_rows_subsample": 1, "num_iterations": 1}, 12),
    ("one row, some iterations without a match", (*pair(FEW), ["k"], ["t"]), SAMPLED | {"num_rows_subsample": 1}, 13),
    ("constant target", (*pair({"k": FEW["k"], "t": ("object", pick("x"))}), ["k"], ["t"]), SAMPLED, 14),
    ("no synthetic row, zero_cap", (ONE[0], nothing(ONE[1]), ["k"], ["t"], "zero_cap"), SAMPLED, 15),
    ("an index of text", (drawn(1, 30, FEW, [f"r{i}" for i in range(30)]), drawn(2, 25, FEW), ["k"], ["t"]), SAMPLED, 16),
    ("by default", (*pair(FEW), ["k"], ["t"]), {}, 17),
]  # fmt: skip

CASES += [Case("DisclosureProtectionEstimate", n, a, k, BREAKDOWN, s) for n, a, k, s in ESTIMATE]
CASES += [
    Case("DisclosureProtectionEstimate", "compute drops the subsample", (*pair(FEW), ["k"], ["t"]), SAMPLED, seed=1),
    Case("DisclosureProtectionEstimate", "compute drops wrong values too", (*pair(FEW), ["k"], ["t"]), {"num_rows_subsample": -5, "num_iterations": 0}, seed=1),
    Case("DisclosureProtectionEstimate", "compute samples a thousand rows", (stretched(drawn(1, 97, MORE), 1100), stretched(drawn(2, 89, MORE), 1050), ["k0", "k1", "k2", "k3"], ["t"]), seed=18),
]  # fmt: skip
CASES += [
    Case("DisclosureProtectionEstimate", name, (*PAIR, ["k"], ["t"]), {"verbose": False} | kwargs, BREAKDOWN)
    for name, kwargs in (
        ("no num_rows_subsample", {"num_rows_subsample": None}),
        ("num_rows_subsample of 0", {"num_rows_subsample": 0}),
        ("num_rows_subsample of a float", {"num_rows_subsample": 5.0}),
        ("num_iterations of 0", {"num_iterations": 0}),
        ("num_iterations of a float", {"num_iterations": 2.0}),
        ("num_rows_subsample of True", {"num_rows_subsample": True, "computation_method": "zero_cap"}),
    )
]
CASES += fan(["DisclosureProtectionEstimate"], DISCLOSURE_ERRORS[:11], calls=BREAKDOWN)

# --- distance to the closest record -----------------------------------------------------------------------------------

ALL: Spec = {
    "x": ("float64", normal(50, 20)), "n": ("int64", whole(0, 1000)), "c": ("object", pick("p", "q", "r", "s")),
    "b": ("bool", pick(True, False)), "d": ("datetime64[ns]", day()),
}  # fmt: skip
ALL_META = meta("x:numerical n:numerical c:categorical b:boolean d:datetime")
GAPPY: Spec = {
    "x": ("float64", holes(normal(50, 20), 0.2, NAN)), "c": ("object", holes(pick("p", "q", "r"))), "e": ("object", holes(pick("g", "h"), 0.2, NAN)),
    "b": ("object", holes(pick(True, False))), "d": ("datetime64[ns]", holes(day())),
}  # fmt: skip
GAPPY_META = meta("x:numerical c:categorical e:categorical b:boolean d:datetime")
TEXT_DATES: Spec = {"d": ("object", holes(day(pattern="{2:02d}/{1:02d}/{0:04d}"))), "x": ("float64", normal(0, 1))}
TEXT_META = meta({"d": {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"}, "x": {"sdtype": "numerical"}})
SDV: Spec = {
    "id": ("int64", whole(0, 10**6)),
    "name": ("object", day()),
    "x": ("float64", skewed(2.0)),
    "o": ("object", pick("low", "high")),
    "c": ("object", pick("p", "q")),
}
SDV_META = meta({
    "id": {"sdtype": "numerical", "computer_representation": "Int64"}, "name": {"sdtype": "first_name", "pii": True},
    "x": {"sdtype": "numerical", "computer_representation": "Float"}, "o": {"sdtype": "ordinal"}, "c": {"sdtype": "categorical"},
}, primary_key="id", METADATA_SPEC_VERSION="SINGLE_TABLE_V1")  # fmt: skip
X_META, C_META, D_META = meta("x:numerical"), meta("c:categorical"), meta("d:datetime")
XS, CS, DS = ({c: ALL[c]} for c in "xcd")
COPY = three(ALL)
# every value is drawn from the same few, so that the ranges are equal and distances tie but for rounding
GRID: Spec = {c: ("float64", pick(*[i / 10 for i in range(11)], noise=0.8)) for c in "xyz"}
GRID_MIXED: Spec = {
    "c": ("object", pick("p", "q", noise=0.8)), "x": GRID["x"], "n": ("int64", pick(0, 1, 3, 7, noise=0.8)), "b": ("bool", pick(True, False, noise=0.8)),
    "y": GRID["y"], "d": ("datetime64[ns]", pick("2020-01-01", "2020-01-02", "2020-01-04", "2020-01-08", noise=0.8)), "e": ("object", pick("g", "h", noise=0.8)), "z": GRID["z"],
}  # fmt: skip
GRID_MIXED_META = meta(
    "z:numerical c:categorical x:numerical n:numerical b:boolean y:numerical d:datetime e:categorical"
)
TWENTY: Spec = {
    f"v{i}": (("float64", pick(0.0, 0.1, 0.3, 1.0)), ("object", pick("p", "q")), ("int64", pick(0, 1, 3, 7)))[i % 3]
    for i in range(20)
}
TWENTY_META = meta({f"v{i}": {"sdtype": ("numerical", "categorical", "numerical")[i % 3]} for i in range(20)})
LARGE = {"num_rows_subsample": 500, "num_iterations": 3}

# tables (training, synthetic, validation), what follows them, keywords, seed; DCRBaselineProtection leaves validation out
DCR: list[tuple[str, tuple[Frame, Frame, Frame], tuple, dict, int]] = [
    ("all kinds", three(ALL), (ALL_META, None), {}, 1),
    ("numbers", three({c: ALL[c] for c in "xn"}), (meta("x:numerical n:numerical"), None), {}, 2),
    ("one number", three(XS), (X_META, None), {}, 3),
    ("categories", three({c: ALL[c] for c in "cb"} | {"e": ("object", pick("g", "h", "i"))}), (meta("c:categorical b:boolean e:categorical"), None), {}, 4),
    ("dates", three(DS), (D_META, None), {}, 5),
    ("missing of every kind", three(GAPPY), (GAPPY_META, None), {}, 6),
    ("missing numbers", three({"x": GAPPY["x"]}), (X_META, None), {}, 7),
    ("missing categories", three({"c": GAPPY["c"], "e": GAPPY["e"]}), (meta("c:categorical e:categorical"), None), {}, 8),
    ("missing dates", three({"d": GAPPY["d"]}), (D_META, None), {}, 9),
    ("dates as text", three(TEXT_DATES), (TEXT_META, None), {}, 10),
    ("dates with a time of day", three({"d": ("datetime64[ns]", day(pattern="{:04d}-{:02d}-{:02d} 13:45:07.123456789"))}), (D_META, None), {}, 11),
    ("metadata as SDV writes it", three(SDV), (SDV_META, None), {}, 12),
    ("metadata with tables", three(ALL), (unified(ALL_META), None), {}, 13),
    ("metadata with two tables", three(ALL), (unified(C_META, ALL_META), "homes"), {}, 14),
    ("tables in dictionaries", tuple({"people": t, "homes": 3} if i < 2 else t for i, t in enumerate(COPY)), (unified(ALL_META), None), {}, 15),
    ("data beside the metadata", three(ALL), (meta("x:numerical c:categorical"), None), {}, 16),
    ("metadata beside the data", three(XS), (meta("x:numerical c:categorical n:numerical"), None), {}, 17),
    ("data and metadata beside each other", three({c: ALL[c] for c in "xn"}), (meta("x:numerical c:categorical"), None), {}, 18),
    ("a column in one table only", (drawn(1, 20, ALL), only(drawn(2, 20, ALL), *"xcbd"), drawn(3, 20, ALL)), (ALL_META, None), {}, 19),
    ("other order of columns", (drawn(1, 20, ALL), only(drawn(2, 20, ALL), *"dcbnx"), only(drawn(3, 20, ALL), *"bdncx")), (ALL_META, None), {}, 20),
    ("a subsample", three(ALL), (ALL_META, None), {"num_rows_subsample": 15}, 21),
    ("a subsample, four times", three(ALL), (ALL_META, None, 12, 4), {}, 22),
    ("a subsample with missing, three times", three(GAPPY), (GAPPY_META, None, 12, 3), {}, 23),
    ("a subsample of all rows", three(ALL, 30, 30, 30), (ALL_META, None, 30, 2), {}, 24),
    ("a subsample larger than the table", three(ALL), (ALL_META, None), LARGE, 25),
    ("a full copy", (COPY[0], COPY[0], COPY[2]), (ALL_META, None), {}, 26),
    ("some copies", (COPY[0], ahead(COPY[1], COPY[0], 20), COPY[2]), (ALL_META, None), {}, 27),
    ("duplicates", (stretched(drawn(1, 6, ALL), 20), stretched(drawn(2, 5, ALL), 20), drawn(3, 20, ALL)), (ALL_META, None), {}, 28),
    ("few cells", three({"c": ("object", pick("p", "q")), "b": ALL["b"]}), (meta("c:categorical b:boolean"), None), {}, 29),
    ("constant columns", three({"x": ("float64", pick(4.0)), "c": ("object", pick("p")), "n": ALL["n"]}), (meta("x:numerical c:categorical n:numerical"), None), {}, 30),
    ("constant in training, other values else", (hand(x=numbers(3, 3, 3)), hand(x=numbers(3, 3.5, NAN, 9)), hand(x=numbers(1, 9, 5))), (X_META, None), {}, 31),
    ("an outlier in training", (hand(x=numbers(*range(20), 1e6)), drawn(2, 20, {"x": ("float64", uniform(0, 20))}), drawn(3, 20, {"x": ("float64", uniform(0, 20))})), (X_META, None), {}, 32),
    ("an outlier in the synthetic table", (drawn(1, 20, XS), changed(drawn(2, 20, XS), x=numbers(*range(19), -1e9)), drawn(3, 20, XS)), (X_META, None), {}, 33),
    ("infinity in the synthetic table", (drawn(1, 9, XS), hand(x=numbers(1, INF, -INF, 50, NAN)), drawn(3, 9, XS)), (X_META, None), {}, 34),
    ("number beside text", (objects(c=[1, 2, 3]), objects(c=["1", "2", "7"]), objects(c=[1, "2", 7])), (C_META, None), {}, 35),
    ("True beside 1", (objects(c=[True, False]), objects(c=[1, 0, "True"]), objects(c=["True", 1])), (C_META, None), {}, 36),
    ("integer beside float", (drawn(1, 20, {"x": ("int64", whole(0, 9))}), drawn(2, 20, XS), drawn(3, 20, {"x": ("int64", whole(0, 9))})), (X_META, None), {}, 37),
    ("integers as categories", three({"c": ("int64", whole(0, 9)), "x": XS["x"]}), (meta("c:categorical x:numerical"), None), {}, 38),
    ("floats as categories with missing", three({"c": ("float64", pick(1.0, 2.5, NAN)), "x": XS["x"]}), (meta("c:categorical x:numerical"), None), {}, 39),
    ("dates as categories", three({"c": ("datetime64[ns]", holes(day(days=60)))}, 60, 60, 60), (C_META, None), {}, 40),
    ("nullable integers", three({"x": ("Int64", whole(0, 90))}), (X_META, None), {}, 41),
    ("unsigned integers", three({"x": ("uint8", whole(0, 200))}), (X_META, None), {}, 42),
    ("string dtype with missing", three({"c": ("string", holes(pick("p", "q", "r"))), "x": XS["x"]}), (meta("c:categorical x:numerical"), None), {}, 43),
    ("category dtype", three({"c": ("category", pick("p", "q")), "x": XS["x"]}), (meta("c:categorical x:numerical"), None), {}, 44),
    ("one row each", (drawn(1, 1, ALL), drawn(2, 1, ALL), drawn(3, 1, ALL)), (ALL_META, None), {}, 45),
    ("one synthetic row", (drawn(1, 20, ALL), drawn(2, 1, ALL), drawn(3, 20, ALL)), (ALL_META, None), {}, 46),
    ("an index of text", (drawn(1, 9, ALL, list("abcdefghi")), drawn(2, 9, ALL, list(range(9, 0, -1))), drawn(3, 9, ALL, [0] * 9)), (ALL_META, None), {}, 47),
    ("numbers as objects", (objects(x=[1, 2.5, 7]), objects(x=[2, 3.5]), objects(x=[4, 5])), (X_META, None), {}, 48),
    ("all missing in the synthetic table", (drawn(1, 9, {"x": GAPPY["x"], "c": GAPPY["c"]}), hand(x=numbers(NAN, NAN), c=("object", [None, None])), drawn(3, 9, {"x": GAPPY["x"], "c": GAPPY["c"]})), (meta("x:numerical c:categorical"), None), {}, 49),
    ("ties that rounding breaks", three(GRID | {"g": ("float64", pick(0.0, 0.1, 0.3, 1.0))}, 60, 60, 60, seed=50), (meta("x:numerical y:numerical z:numerical g:numerical"), None), {}, 50),
    ("ties that rounding breaks, between categories", three(GRID_MIXED, 60, 60, 60, seed=51), (GRID_MIXED_META, None), {}, 51),
    ("ties that rounding breaks, other order", (drawn(58, 60, GRID_MIXED), drawn(1058, 60, dict(reversed(GRID_MIXED.items()))), drawn(2058, 60, GRID_MIXED)), (GRID_MIXED_META, None), {}, 52),
    ("twenty columns", three(TWENTY, 60, 60, 60, seed=53), (TWENTY_META, None), {}, 53),
    # the errors
    ("only ordinal columns", three({"c": ALL["c"]}), (meta("c:ordinal"), None), {}, 0),
    ("no column of the metadata", three({"c": ALL["c"]}), (meta("z:categorical"), None), {}, 0),
    ("an absent date", three(XS), (meta("x:numerical d:datetime"), None), {}, 0),
    ("dates as text without a format", three({"d": ("object", day())}), (D_META, None), {}, 0),
    ("dates as text in another format", three({"d": ("object", day())}), (meta({"d": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"}}), None), {}, 0),
    ("two tables and no name", three(XS), (unified(X_META, C_META), None), {}, 0),
    ("an unknown table", three(XS), (unified(X_META), "houses"), {}, 0),
    ("a table_name of numbers", three(XS), (X_META, 3), {}, 0),
    ("no table in the metadata", three(XS), (unified(), None), {}, 0),
    ("metadata that is no dictionary", three(XS), ("x", None), {}, 0),
    ("no metadata", three(XS), (None, None), {}, 0),
    ("without table_name", three(XS), (X_META,), {}, 0),
    ("subsample of 0", three(XS), (X_META, None, 0), {}, 0),
    ("subsample of a float", three(XS), (X_META, None, 5.0), {}, 0),
    ("subsample below 0", three(XS), (X_META, None, -1), {}, 0),
    ("iterations without a subsample", three(XS), (X_META, None, None, 2), {}, 0),
    ("no iteration", three(XS), (X_META, None, None, 0), {}, 0),
    ("iterations of a float", three(XS), (X_META, None, 5, 2.0), {}, 0),
    ("a subsample larger than training", three(XS, 10, 40, 40), (X_META, None, 20), {}, 0),
    ("a real table that is none", ([1], *three(XS)[1:]), (X_META, None), {}, 0),
    ("no real row", (nothing(COPY[0]), *COPY[1:]), (ALL_META, None), {}, 0),
    ("no synthetic row", (COPY[0], nothing(COPY[1]), COPY[2]), (ALL_META, None), {}, 0),
    ("nullable integers with missing", three({"x": ("Int64", holes(whole(0, 9)))}), (X_META, None), {}, 0),
    ("nullable booleans with missing", three({"b": ("boolean", holes(pick(True, False)))}), (meta("b:boolean"), None), {}, 0),
    ("category dtype with other categories", (drawn(1, 9, {"c": ("category", pick("p", "q"))}), drawn(2, 9, {"c": ("category", pick("q", "r"))}), drawn(3, 9, {"c": ("category", pick("p", "q"))})), (C_META, None), {}, 0),
    ("bool declared a number", three({"x": ALL["b"]}), (X_META, None), {}, 0),
    ("text declared a number", three({"x": ALL["c"]}), (X_META, None), {}, 0),
    ("a column named index", three({"index": ALL["x"]}), (meta("index:numerical"), None), {}, 0),
    ("infinity in training", (hand(x=numbers(1, INF, 3), c=("object", list("pqr"))), hand(x=numbers(1, 2, NAN), c=("object", list("pqr"))), hand(x=numbers(1, 5, 3), c=("object", list("ppp")))), (meta("x:numerical c:categorical"), None), {}, 0),
    ("all missing in training", (hand(x=numbers(NAN, NAN, NAN)), hand(x=numbers(1, 2, NAN)), hand(x=numbers(1, 5, NAN))), (X_META, None), {}, 0),
    ("all missing categories in training", (objects(c=[None, None]), objects(c=["p", None, None]), objects(c=["p", "q"])), (C_META, None), {}, 0),
]  # fmt: skip

CASES += [
    Case("DCROverfittingProtection", n, (*tables, *rest), k, BOTH if s in (1, 6, 22, 25) else BREAKDOWN, s or None)
    for n, tables, rest, k, s in DCR
]
CASES += [
    Case("DCRBaselineProtection", n, (*tables[:2], *rest), k, BOTH if s in (1, 6, 22, 25) else BREAKDOWN, s or None)
    for n, tables, rest, k, s in DCR
]

LESS = three(ALL, 40, 30, 19)
CASES += [
    Case("DCROverfittingProtection", "validation less than half", (*LESS, ALL_META, None), {}, BOTH),
    Case("DCROverfittingProtection", "validation of just half", (*three(ALL, 40, 30, 20), ALL_META, None), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "two warnings", (*LESS, ALL_META, None), LARGE, BREAKDOWN),
    Case("DCROverfittingProtection", "a subsample larger than validation", (*LESS, ALL_META, None, 25), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "a validation table that is none", (*COPY[:2], [1], ALL_META, None), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "a validation table in a dictionary", (*COPY[:2], {"people": COPY[2]}, ALL_META, None), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "infinity in validation", (drawn(1, 9, XS), drawn(2, 9, XS), hand(x=numbers(1, INF, 40, 50, 60)), X_META, None), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "no validation row", (*COPY[:2], nothing(COPY[2]), ALL_META, None), {}, BREAKDOWN),
    Case("DCROverfittingProtection", "all by keyword", (), dict(zip(("real_training_data", "synthetic_data", "real_validation_data"), COPY, strict=True)) | {"metadata": ALL_META, "table_name": None}, BOTH),
    Case("DCROverfittingProtection", "the documentation's call", (), dict(zip(("real_training_data", "synthetic_data", "real_validation_data"), COPY, strict=True)) | {"metadata": ALL_META}, BOTH),
    Case("DCRBaselineProtection", "all by keyword", (), dict(zip(("real_data", "synthetic_data"), COPY, strict=False)) | {"metadata": ALL_META, "table_name": None}, BOTH, 3),
    Case("DCRBaselineProtection", "the documentation's call", (), dict(zip(("real_data", "synthetic_data"), COPY, strict=False)) | {"metadata": ALL_META}, BOTH, 3),
    Case("DCRBaselineProtection", "default seed", (*pair(ALL), ALL_META, None), {}, BOTH),
    Case("DCRBaselineProtection", "default seed, missing", (*pair(GAPPY), GAPPY_META, None), {}, BOTH),
    Case("DCRBaselineProtection", "more synthetic rows than real", (*pair(GAPPY, 20, 90), GAPPY_META, None), {}, BREAKDOWN, 8),
    Case("DCRBaselineProtection", "integers with a wide range", (*pair({"x": ("int64", pick(-(2**62), 0, 5, 2**62))}), X_META, None), {}, BREAKDOWN, 9),
    Case("DCRBaselineProtection", "an unused column that cannot be drawn", (changed(drawn(1, 9, XS), z=("object", [None] * 9)), changed(drawn(2, 9, XS), z=("object", [None] * 9)), X_META, None), {}, BREAKDOWN),
    Case("DCRBaselineProtection", "an unused column draws too", (*pair(XS | {"z": ("object", holes(pick("p", "q")))}), X_META, None), {}, BREAKDOWN, 10),
]  # fmt: skip

# --- NewRowSynthesis --------------------------------------------------------------------------------------------------

TWO_LETTERS: Spec = {"c": ("object", pick(*LETTERS)), "e": ("object", holes(pick("g", "h")))}
NEAR: Spec = {"x": ("float64", uniform(0, 9, 1)), "n": ("int64", whole(0, 9))}
NUMERIC = {"x": numbers(1.0, 100.0, -50.0, 0.0, NAN), "y": numbers(1, 2, 3, 4, 5)}
NEIGHBOURS = {"x": numbers(1.01, 99.0, -50.5, 0.0, NAN, 0.001, 101.5), "y": numbers(1, 2, 3, 4, 5, 4, 2)}
STRANGE = ("it's", "a.b", "ab", "two\nlines", 'say "so"', "with space", "class", "1st", "é", "x-y")
STRANGE_SPEC: Spec = {
    n: ("object", pick("g", "h", noise=0.05)) if i % 2 else ("float64", pick(1.0, 2.0, noise=0.05))
    for i, n in enumerate(STRANGE)
}
WIDE: Spec = {f"c{i}": ("object", pick("p", "q", noise=0.02)) for i in range(35)}
WIDE_NUMBERS: Spec = {f"x{i}": ("float64", pick(1.0, 2.0, noise=0.02)) for i in range(33)}
DAYS: Spec = {"d": ("datetime64[ns]", holes(day(days=800), 0.1)), "c": ("object", pick("p", "q"))}
QUOTES: Spec = {
    "c": ("object", pick("it's", 'say "so"', "back\\slash", "new\nline", "é", "@x", "`b`", "{0}", "")),
    "e": ("object", pick("g", "h")),
}
NRS_ID: Spec = {"id": ("int64", whole(0, 30)), "c": ("object", pick("p", "q", "r")), "x": ("float64", uniform(0, 9, 0))}


def tagged(entry: dict, **extra: object) -> dict:
    """Return metadata in which the id carries one more entry."""
    return meta(
        {"id": {"sdtype": "numerical"} | entry, "c": {"sdtype": "categorical"}, "x": {"sdtype": "numerical"}}, **extra
    )


NRS: list[tuple[str, tuple, dict, int | None]] = [
    ("categories", pair(TWO_LETTERS), {}, None),
    ("numbers within the tolerance", (hand(**NUMERIC), hand(**NEIGHBOURS)), {}, None),
    ("tolerance of 0", (hand(**NUMERIC), hand(**NEIGHBOURS)), {"numerical_match_tolerance": 0}, None),
    ("tolerance of 0.5", (hand(**NUMERIC), hand(**NEIGHBOURS)), {"numerical_match_tolerance": 0.5}, None),
    ("tolerance of 1", pair(NEAR), {"numerical_match_tolerance": 1}, None),
    ("tolerance below 0", (hand(**NUMERIC), hand(**NEIGHBOURS)), {"numerical_match_tolerance": -0.01}, None),
    ("floats and integers", pair(NEAR, 80, 60), {}, None),
    ("dates", (*pair(DAYS), meta("d:datetime c:categorical")), {}, None),
    ("dates, small tolerance", (*pair(DAYS, 80, 80), meta("d:datetime c:categorical")), {"numerical_match_tolerance": 0.0001}, None),
    ("dates as text", (*pair(TEXT_DATES | {"x": NEAR["x"]}), TEXT_META), {}, None),
    ("missing of every kind", (*pair(GAPPY | {"x": ("float64", holes(uniform(0, 9, 0), 0.2, NAN))}), GAPPY_META), {}, None),
    ("booleans", pair({"b": BOOLS["k"], "c": ("object", pick("p", "q", "r"))}), {}, None),
    ("booleans as objects", (*pair({"b": GAPPY["b"], "x": NEAR["x"]}), meta("b:boolean x:numerical")), {}, None),
    ("a full copy", (drawn(4, 40, ALL), drawn(4, 40, ALL), ALL_META), {}, None),
    ("some copies", (drawn(4, 40, ALL), ahead(drawn(5, 40, ALL), drawn(4, 40, ALL), 13), ALL_META), {}, None),
    ("duplicates", (stretched(drawn(1, 5, TWO_LETTERS), 20), stretched(drawn(2, 5, TWO_LETTERS), 20)), {}, None),
    ("a sample", pair(TWO_LETTERS), {"synthetic_sample_size": 15}, 1),
    ("a sample, another seed", pair(NEAR, 80, 60), {"synthetic_sample_size": 15}, 2),
    ("a sample of all rows", pair(NEAR, 80, 60), {"synthetic_sample_size": 60}, 3),
    ("a sample of 0 rows", pair(TWO_LETTERS), {"synthetic_sample_size": 0}, None),
    ("a sample of a float", pair(TWO_LETTERS), {"synthetic_sample_size": 2.5}, None),
    ("a sample larger than the table", pair(TWO_LETTERS), {"synthetic_sample_size": 41}, None),
    ("strange names", pair(STRANGE_SPEC), {}, None),
    ("strange names with metadata", (*pair(STRANGE_SPEC), meta({n: {"sdtype": "categorical" if i % 2 else "numerical"} for i, n in enumerate(STRANGE)})), {}, None),
    ("names that clash once stripped", pair({"a.b": ALL["c"], "ab": NEAR["n"], "ab_": BOOLS["k"], "a'b": ("object", pick("g", "h"))}), {}, None),
    ("a back-tick in a name", pair({"a`b": ALL["c"]}), {}, None),
    ("names that are numbers", pair({0: ALL["c"], 1: ALL["x"]}), {}, None),
    ("values with quotes", pair(QUOTES), {}, None),
    ("thirty-five columns", pair(WIDE, 30, 30), {}, None),
    ("thirty-three columns of numbers", pair(WIDE_NUMBERS, 30, 30), {}, None),
    ("constant columns", pair({"c": ("object", pick("p")), "x": ("float64", pick(2.0))}), {}, None),
    ("one row each", ONE, {}, None),
    ("one row each, new", (ONE[0], objects(k=["b"], t=["x"])), {}, None),
    ("no real row", (nothing(ONE[0]), ONE[1]), {}, None),
    ("no synthetic row", (ONE[0], nothing(ONE[1])), {}, None),
    ("number beside text", (objects(c=[1, 2, 3]), objects(c=["1", "2", "3"])), {}, None),
    ("text beside number", (objects(c=["1", "2", "3"]), objects(c=[1, 2, 3])), {}, None),
    ("True beside 1", (objects(c=[True, 2, "True"]), objects(c=[1, 2, "True", False])), {}, None),
    ("integer beside float", (hand(x=("int64", [1, 100, 7])), hand(x=numbers(1.004, 101.5, 7.0))), {}, None),
    ("integers as categories", (*pair(NEAR), meta("x:numerical n:categorical")), {}, None),
    ("floats as categories", (*pair({"x": ("float64", pick(0.1, 0.25, NAN, 1e22)), "c": ALL["c"]}), meta("x:categorical c:categorical")), {}, None),
    ("large integers beside floats", (hand(n=("int64", [2**53, 2**53 + 1]), x=numbers(0.5, 0.5)), hand(n=("int64", [2**53 + 1, 7]), x=numbers(0.5, 0.5))), {"numerical_match_tolerance": 0}, None),
    ("large integers alone", (hand(n=("int64", [2**53, 2**53 + 3])), hand(n=("int64", [2**53 + 1, 7]))), {"numerical_match_tolerance": 0}, None),
    ("infinity in the synthetic table", (hand(x=numbers(1, 2, 3)), hand(x=numbers(1, INF, 3))), {}, None),
    ("infinity in the real table", (hand(x=numbers(1, INF, 3)), hand(x=numbers(1, 2, 3))), {}, None),
    ("metadata as SDV writes it", (*pair(SDV | {"x": NEAR["x"]}), SDV_META), {}, None),
    ("a primary key is left out", (*pair(NRS_ID), tagged({}, primary_key="id")), {}, None),
    ("pii is left out", (*pair(NRS_ID), tagged({"pii": False})), {}, None),
    ("alternate keys are left out", (*pair(NRS_ID), tagged({}, alternate_keys=["id"])), {}, None),
    ("an id is left out", (*pair(NRS_ID), tagged({"sdtype": "id"})), {}, None),
    ("nothing left out", (*pair(NRS_ID), tagged({})), {}, None),
    ("ordinal counts", (*pair({"o": ("int64", whole(0, 5)), "c": ALL["c"]}), meta("o:ordinal c:ordinal")), {}, None),
    ("no column to compare", (*pair({"c": ALL["c"]}), meta("c:id")), {}, None),
    ("metadata with tables", (*pair(ALL), unified(ALL_META)), {}, None),
    ("metadata with two tables", (*pair(ALL), unified(C_META, ALL_META), "homes"), {"numerical_match_tolerance": 0.2}, None),
    ("tables in dictionaries", tuple({"people": t} for t in pair(TWO_LETTERS)), {}, None),
    ("category dtype", pair({"c": ("category", pick("p", "q"))}), {}, None),
    ("string dtype with missing", pair({"c": ("string", holes(pick("p", "q")))}), {}, None),
    ("nullable integers with missing", pair({"x": ("Int64", holes(whole(0, 90)))}), {}, None),
    ("nullable booleans", pair({"b": ("boolean", holes(pick(True, False)))}), {}, None),
    ("unsigned integers", pair({"x": ("uint8", whole(0, 50)), "c": ALL["c"]}), {}, None),
    ("an index of text", (drawn(1, 9, NEAR, list("abcdefghi")), drawn(2, 9, NEAR, list(range(9, 0, -1)))), {}, None),
    ("other order of columns", (drawn(1, 40, TWO_LETTERS), only(drawn(2, 40, TWO_LETTERS), "e", "c")), {}, None),
    ("unseen categories", (drawn(1, 30, FEW), drawn(2, 20, {"k": ("object", pick("v", "a")), "t": FEW["t"]})), {}, None),
    ("dates without metadata", pair(DAYS), {}, None),
    ("other columns", (PAIR[0], only(PAIR[1], "k")), {}, None),
    ("a column without metadata", (*PAIR, meta("k:categorical")), {}, None),
    ("metadata of a column without data", (*PAIR, meta(FEW_KINDS + " z:categorical")), {}, None),
    ("metadata without columns", (*PAIR, {}), {}, None),
    ("metadata that is no dictionary", (*PAIR, [FEW_KINDS]), {}, None),
    ("two tables and no name", (*PAIR, unified(meta(FEW_KINDS), meta("x:numerical"))), {}, None),
    ("an unknown table", (*PAIR, unified(meta(FEW_KINDS)), "houses"), {}, None),
    ("dates as text without a format", (*DATES_AS_TEXT, meta("k:categorical t:categorical d:datetime")), {}, None),
]  # fmt: skip

CASES += [Case("NewRowSynthesis", n, a, k, BOTH if s or n == "categories" else BREAKDOWN, s) for n, a, k, s in NRS]

# --- attackers that learn ---------------------------------------------------------------------------------------------

LEARNERS = ("CategoricalKNN", "CategoricalNB", "CategoricalRF", "CategoricalSVM")
THREE: Spec = {
    "k0": ("object", pick("a", "b", "c")),
    "k1": ("object", pick(*LETTERS)),
    "k2": ("object", pick("p", "q")),
    "t": FEW["t"],
}
THREE_FIELDS = {"key_fields": ["k0", "k1", "k2"], "sensitive_fields": ["t"]}

LEARNT: list[tuple[str, tuple, dict]] = [
    ("one key", pair(FEW, 30, 40), KT),
    ("three keys", pair(THREE, 30, 40), THREE_FIELDS),
    ("three keys, some unseen", (drawn(1, 30, THREE), drawn(2, 12, THREE | {"k1": ("object", pick("a", "b"))})), THREE_FIELDS),
    ("two targets", pair(TWICE, 30, 40), {"key_fields": ["k"], "sensitive_fields": ["t", "u"]}),
    ("booleans", pair(BOOLS, 30, 40), KJT),
    ("integers", pair(INTS, 30, 40), KJT),
    ("floats without metadata", pair(FLOATS, 30, 40), KJT),
    ("missing as None", pair(NONES, 30, 40), KJT),
    ("missing as nan of objects", pair(NANS, 30, 40), KJT),
    ("missing keys as None", pair(NONES | {"t": FEW["t"]}, 30, 40), KJT),
    ("nan in a key of floats", pair(FLOAT_KEY, 30, 40), KJT),
    ("nan in a target of floats", pair(FLOAT_TARGET, 30, 40), KT),
    ("a copy", (drawn(5, 30, THREE), drawn(5, 30, THREE)), THREE_FIELDS),
    ("constant key", pair({"k": ("object", pick("a")), "t": FEW["t"]}, 20, 30), KT),
    ("constant target", pair({"k": FEW["k"], "t": ("object", pick("x"))}, 20, 30), KT),
    ("all keys unseen", (drawn(1, 20, FEW), drawn(2, 20, {"k": ("object", pick("v", "w")), "t": FEW["t"]})), KT),
    ("one real row", (ONE[0], drawn(2, 20, FEW)), KT),
    ("one synthetic row", (drawn(2, 10, FEW), ONE[1]), KT),
    ("no real row", (nothing(ONE[0]), drawn(2, 20, FEW)), KT),
    ("no synthetic row", (drawn(2, 10, FEW), nothing(ONE[1])), KT),
    ("number beside text", (drawn(1, 20, {"k": ("object", pick(1, 2, 3)), "t": FEW["t"]}), drawn(2, 20, {"k": ("object", pick("1", "2", "3")), "t": FEW["t"]})), KT),
    ("integer beside float", (drawn(7, 20, INTS), drawn(8, 30, INTS | {"k": ("float64", whole(0, 8)), "t": ("float64", pick(0.0, 1.0))})), KJT),
    ("numbers and text in one column", pair({"k": ("object", pick(1, "b", 3)), "t": FEW["t"]}, 20, 20), KT),
    ("an index of text", (drawn(1, 20, FEW, [f"r{i}" for i in range(20)]), drawn(2, 20, FEW, list(range(40, 20, -1)))), KT),
    ("metadata with tables", (*pair(FEW, 20, 30), unified(meta(FEW_KINDS), meta("x:numerical")), "people"), KT),
    ("key_fields inside the metadata", (*pair(FEW, 20, 30), KEYS_INSIDE), {}),
    ("category dtype", pair(FEW | {"k": ("category", pick(*LETTERS))}, 20, 30), KT),
    ("string dtype", pair(FEW | {"k": ("string", pick(*LETTERS))}, 20, 30), KT),
    ("nullable integers", pair(INTS | {"k": ("Int64", whole(0, 5))}, 20, 30), KT),
    ("unknown model_kwargs", PAIR, KT | {"model_kwargs": {"n_neighbors": 3}}),
    *[row for row in FIELD_ERRORS if row[0] in ("no key_fields", "empty key_fields", "a column without metadata", "a date as key", "an unknown column")],
]  # fmt: skip

CASES += fan(LEARNERS, LEARNT)
CASES += fan(LEARNERS, INSIDE[:1], calls=BREAKDOWN)
CASES += [
    Case("CategoricalRF", "three keys, another seed", pair(THREE, 30, 40), THREE_FIELDS, seed=7),
    Case(
        "CategoricalRF",
        "two targets, another seed",
        pair(TWICE, 30, 40),
        {"key_fields": ["k"], "sensitive_fields": ["t", "u"]},
        seed=8,
    ),
    Case("CategoricalKNN", "many rows and ties", pair(THREE, 40, 300, seed=3), THREE_FIELDS),
    Case("CategoricalKNN", "many rows and ties, one key", pair(FEW, 40, 600, seed=4), KT),
]


def attackers(*names: str) -> dict:
    return {"model_kwargs": {"attackers": [Class(n + "Attacker") for n in names]}}


EVERY = ("CAP", "ZeroCAP", "GeneralizedCAP", "CategoricalKNN", "CategoricalNB", "CategoricalRF", "CategoricalSVM")
ENSEMBLE: list[tuple[str, tuple, dict, int | None]] = [
    ("all attackers", pair(THREE, 25, 40), THREE_FIELDS | attackers(*EVERY), None),
    ("CAP attackers", pair(THREE, 30, 25), THREE_FIELDS | attackers("CAP", "ZeroCAP", "GeneralizedCAP"), None),
    ("CAP alone, some unseen", pair(THREE, 30, 10), THREE_FIELDS | attackers("CAP"), None),
    ("GeneralizedCAP alone", pair(THREE, 30, 10), THREE_FIELDS | attackers("GeneralizedCAP"), None),
    ("two that disagree", pair(THREE, 30, 25), THREE_FIELDS | attackers("GeneralizedCAP", "CategoricalSVM"), None),
    ("two that disagree, in turn", pair(THREE, 30, 25), THREE_FIELDS | attackers("CategoricalSVM", "GeneralizedCAP"), None),
    ("KNN, NB and SVM", pair(FEW, 30, 40), KT | attackers("CategoricalKNN", "CategoricalNB", "CategoricalSVM"), None),
    ("NB and RF", pair(INTS, 30, 40), KJT | attackers("CategoricalNB", "CategoricalRF"), 5),
    ("two targets", pair(TWICE, 30, 40), {"key_fields": ["k"], "sensitive_fields": ["t", "u"]} | attackers("CAP", "CategoricalNB", "CategoricalSVM"), None),
    ("booleans", pair(BOOLS, 30, 40), KJT | attackers("CAP", "CategoricalNB", "CategoricalKNN"), None),
    ("missing as None", pair(NONES, 30, 40), KJT | attackers("CAP", "CategoricalNB", "CategoricalKNN"), None),
    ("missing as nan of objects", pair(NANS, 30, 40), KJT | attackers("GeneralizedCAP", "CAP"), None),
    ("constant target", pair({"k": FEW["k"], "t": ("object", pick("x"))}, 20, 30), KT | attackers("CAP", "CategoricalNB"), None),
    ("all keys unseen", (drawn(1, 20, FEW), drawn(2, 20, {"k": ("object", pick("v", "w")), "t": FEW["t"]})), KT | attackers("CAP", "CategoricalNB"), None),
    ("one row each", ONE, KT | attackers("CAP", "ZeroCAP"), None),
    ("no real row", (nothing(ONE[0]), ONE[1]), KT | attackers("CAP"), None),
    ("no synthetic row", (ONE[0], nothing(ONE[1])), KT | attackers("CAP"), None),
    ("no synthetic row, nearest", (ONE[0], nothing(ONE[1])), KT | attackers("GeneralizedCAP"), None),
    ("key_fields inside the metadata", (*pair(FEW, 20, 30), KEYS_INSIDE), attackers("CAP"), None),
    ("no model_kwargs", PAIR, KT, None),
    ("model_kwargs without attackers", PAIR, KT | {"model_kwargs": {"depth": 3}}, None),
    ("an empty list of attackers", PAIR, KT | {"model_kwargs": {"attackers": []}}, None),
    ("a tuple of attackers", PAIR, KT | {"model_kwargs": {"attackers": (Class("CAPAttacker"),)}}, None),
    ("an entry beside the attackers", PAIR, KT | {"model_kwargs": {"attackers": [Class("CAPAttacker")], "depth": 3}}, None),
    ("no key_fields", PAIR, {"sensitive_fields": ["t"]} | attackers("CAP"), None),
]  # fmt: skip

CASES += [Case("CategoricalEnsemble", n, a, k, seed=s) for n, a, k, s in ENSEMBLE]
CASES += fan(["CategoricalEnsemble"], INSIDE[:1], calls=BREAKDOWN)

# --- attackers on numbers ---------------------------------------------------------------------------------------------

REGRESSIONS = ("NumericalLR", "NumericalMLP", "NumericalSVR", "NumericalRadiusNearestNeighbor")
XYT: Spec = {
    "x": ("float64", normal(10, 4)),
    "y": ("float64", skewed(2.0)),
    "t": ("float64", normal(0, 1, 3)),
    "u": ("float64", uniform(0, 1)),
}
XYN: Spec = {
    "x": ("int64", whole(0, 40)),
    "y": ("int64", whole(-5, 5)),
    "t": ("int64", whole(0, 100)),
    "u": ("int64", whole(1, 9)),
}
XT = {"key_fields": ["x"], "sensitive_fields": ["t"]}
XY_T = {"key_fields": ["x", "y"], "sensitive_fields": ["t"]}
XYT_META = "x:numerical y:numerical t:numerical u:numerical"

REGRESSED: list[tuple[str, tuple, dict]] = [
    ("one key", pair(XYT, 20, 22), XT),
    ("two keys", pair(XYT, 20, 22, seed=2), XY_T),
    ("two targets", pair(XYT, 20, 22, seed=3), {"key_fields": ["x", "y"], "sensitive_fields": ["t", "u"]}),
    ("a skewed target", pair(XYT, 20, 22, seed=4), {"key_fields": ["x"], "sensitive_fields": ["y"]}),
    ("a target in an interval", pair(XYT, 20, 22, seed=5), {"key_fields": ["t"], "sensitive_fields": ["u"]}),
    ("integers", pair(XYN, 20, 22, seed=6), XY_T),
    ("integers and floats", pair(XYT | {"x": XYN["x"], "u": XYN["u"]}, 20, 22, seed=7), {"key_fields": ["x", "y"], "sensitive_fields": ["t", "u"]}),
    ("a copy", (drawn(8, 20, XYT), drawn(8, 20, XYT)), XY_T),
    ("constant key", pair(XYT | {"x": ("float64", pick(4.0))}, 20, 22, seed=9), XT),
    ("constant target", pair(XYT | {"t": ("float64", pick(4.0))}, 20, 22, seed=10), XT),
    ("one real row", (drawn(1, 1, XYT), drawn(2, 20, XYT)), XT),
    ("one synthetic row", (drawn(1, 20, XYT), drawn(2, 1, XYT)), XT),
    ("loss to the power of one", pair(XYT, 20, 22), XT | {"loss_function_kwargs": {"p": 1}}),
    ("metadata", (*pair(XYT, 20, 22), meta(XYT_META)), XT),
    ("metadata with tables", (*pair(XYT, 20, 22), unified(meta("c:categorical"), meta(XYT_META)), "homes"), XT),
    ("key_fields inside the metadata", (*pair(XYT, 20, 22), meta(XYT_META, key_fields=["x"], sensitive_fields=["t"])), {"key_fields": ["y"], "sensitive_fields": ["u"]}),
    ("an index of text", (drawn(1, 20, XYT, [f"r{i}" for i in range(20)]), drawn(2, 20, XYT, list(range(40, 20, -1)))), XT),
    ("nan in a real key", (drawn(1, 20, XYT | {"x": ("float64", holes(XYT["x"][1], 0.2, NAN))}), drawn(2, 20, XYT)), XT),
    ("nan in a synthetic key", (drawn(1, 20, XYT), drawn(2, 20, XYT | {"x": ("float64", holes(XYT["x"][1], 0.2, NAN))})), XT),
    ("nan in a real target", (drawn(1, 20, XYT | {"t": ("float64", holes(XYT["t"][1], 0.2, NAN))}), drawn(2, 20, XYT)), XT),
    ("no real row", (nothing(drawn(1, 1, XYT)), drawn(2, 20, XYT)), XT),
    ("no synthetic row", (drawn(2, 20, XYT), nothing(drawn(1, 1, XYT))), XT),
    ("a key of text", pair(XYT | {"x": FEW["k"]}, 20, 20), XT),
    ("a boolean key", pair(XYT | {"x": BOOLS["k"]}, 20, 20), XT),
    ("a date as target", pair(XYT | {"t": ("datetime64[ns]", day())}, 20, 20), XT),
    ("a key with a computer_representation", (*pair(XYT, 20, 20), meta({c: {"sdtype": "numerical"} for c in "ytu"} | {"x": {"sdtype": "numerical", "computer_representation": "Float"}})), XT),
    ("unsigned integers", pair(XYT | {"x": ("uint8", whole(0, 40))}, 20, 20), XT),
    ("no key_fields", pair(XYT, 20, 20), {"sensitive_fields": ["t"]}),
    ("no sensitive_fields", pair(XYT, 20, 20), {"key_fields": ["x"]}),
    ("empty key_fields", pair(XYT, 20, 20), XT | {"key_fields": []}),
    ("an unknown column", pair(XYT, 20, 20), XT | {"key_fields": ["nope"]}),
    ("other columns", (drawn(1, 20, XYT), only(drawn(2, 20, XYT), "x", "t")), XT),
    ("a column without metadata", (*pair(XYT, 20, 20), meta("x:numerical t:numerical")), XT),
    ("two tables and no name", (*pair(XYT, 20, 20), unified(meta(XYT_META), meta(XYT_META))), XT),
    ("unknown model_kwargs", pair(XYT, 20, 20), XT | {"model_kwargs": {"depth": 3}}),
]  # fmt: skip

CASES += fan(REGRESSIONS, REGRESSED)
CASES += fan(
    REGRESSIONS,
    [("breakdown by metadata", (*pair(XYT, 20, 22), meta(XYT_META, key_fields=["x"], sensitive_fields=["t"])), {})],
    calls=BREAKDOWN,
)
CASES += [
    Case("NumericalMLP", "one key, another seed", pair(XYT, 20, 22), XT, seed=7),
    Case("NumericalMLP", "two targets, another seed", pair(XYT, 20, 22, seed=3), {"key_fields": ["x", "y"], "sensitive_fields": ["t", "u"]}, seed=8),
    *[
        Case("NumericalRadiusNearestNeighbor", f"cut-off {cutoff}, power {p}", pair(XYT, 20, 22), XY_T | {"model_kwargs": {"weight_func": Class("InverseCDFCutoff"), "weight_func_kwargs": {"p": p, "cutoff": cutoff}}})
        for cutoff, p in ((0.05, 2), (0.9, 2), (0.2, 1))
    ],
]  # fmt: skip

# --- normalize --------------------------------------------------------------------------------------------------------

METRICS = (*CAPS, "DisclosureProtection", "DisclosureProtectionEstimate", "DCROverfittingProtection", "DCRBaselineProtection", "NewRowSynthesis", *LEARNERS, "CategoricalEnsemble", *REGRESSIONS)  # fmt: skip
CASES += [Case(m, "normalize", raw=OPEN if m in REGRESSIONS else UNIT) for m in METRICS]

"""Hostile triples (real, synthetic, holdout), each with a call: one for each seed, so that a failure has a number."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

CANARY = "Canarybird"
"""Part of texts in the tables; it must not occur in an error or a document."""
CANARY_NUMBER = 7341905263
"""A number in the tables, likewise."""

N_ROWS = (1, 2, 3, 5, 12, 25, 25, 40, 40, 60, 60, 110)
PLAIN = ("age", "sex", "job", "income", "zip", "ill", "b", "c")
HOSTILE = (
    "", " ", "c0", "c1", "n_rows", "^a$", "*", "a.b", "a,b", "a\nb", "\x1b[31mred", "=1+1", "<script>alert(1)</script>",
    "\u00e9", "\u202ertl", "\0", '"q"', "it's", "x" * 300, "long name " * 200, "None", "nan", "row", "copied", "reasons",
    "_score", "hit_score", "real", "keys", "{{ 7 }}", "%s", "\\", "\ud800", "\U0001f600", "a\u0301", "\x85",
    1, 1.5, None, ("a", "b"), True, np.datetime64("2020-01-01"), "patient_id",
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "\0", "a\0b", "nan", "NaN", "inf", "1e400", "None", "null", "true", "FALSE", "0x1F", "01", "1.0", "1,5", "1.234,5",
    "2020-01-02", "31/12/2020", "2020-13-45", "9999-12-31", "0001-01-01", "12:30", "\U0001f468\u200d\U0001f469", "\u0130", "\ufeff",
    "\u202e", "a" * 2000, "word " * 60, "\t", "\r\n", '"', "'", ",", ";", "=cmd()", "<b>", "\x1b[0m", "٣", "½",
)  # fmt: skip


@dataclass(frozen=True)
class Triple:
    """Three tables and how divulge is called with them."""

    seed: int
    way: str
    """Which door: "assess", "attack", "files" (the command line), ..."""
    real: Any
    synthetic: Any
    holdout: Any
    kinds: tuple[str, str, str]
    """The kind of each table."""
    names: tuple[Any, ...]
    """Columns of the real table."""
    settings: dict[str, Any]

    def __str__(self) -> str:
        told = {name: value for name, value in self.settings.items() if value not in (None, ())}
        return f"seed {self.seed}: {self.way}, {', '.join(self.kinds)}, {told!r}"[:400]


# ---------------------------------------------------------------- columns


def _choices(r: random.Random, n: int, values: Any) -> list[Any]:
    return [r.choice(values) for _ in range(n)]


def _day(r: random.Random) -> dt.date:
    return dt.date(2000, 1, 1) + dt.timedelta(days=r.randrange(9000))


def _texts(form: str) -> Any:
    return lambda r, n: [_day(r).strftime(form) for _ in range(n)]


AMOUNTS = (
    "{:.2f}", "{:,.2f}", "${:,.2f}", "{:,.0f}", "({:,.2f})", "{:.2f}-", "{:.2f} %", "EUR {:.2f}", "{:.1f}k", "{:.3e}",
    " {:.2f} ", "\u2212{:.2f}", "{:.2f} kg", "\u20ac{:,.2f}", "{:,.2f} USD", "+{:.1f}", "{:09.2f}", "{:.0f}.", "#{:.0f}",
)  # fmt: skip
DAYS = (
    "%d.%m.%Y", "%m/%d/%y", "%d %b %Y", "%B %d, %Y", "%Y-%jT%H", "%Y%m%d", "%d-%b-%y %I:%M %p", "%Y-%m-%d %H:%M:%S-05:00",
    "%A, %d %B %Y", "%Y-%m", "%b %Y", "%d/%m/%Y 25:00",
)  # fmt: skip
SPANS = (
    "{h:02}:{m:02}:{s:02}",
    "{h}:{m:02}",
    "{d} days {h:02}:{m:02}:{s:02}",
    "P{d}DT{h}H{m}M",
    "-1 days +{h:02}:00:00",
)
ABSENT = ("?", "-", "NA", "N/A", "nan", "NULL", "unknown", ".", "0000-00-00", " ", "<5", "soon")


def _written(r: random.Random, n: int) -> list[Any]:
    """Return numbers, dates or times in one of the ways in which tables write them, or two, and texts for missing."""
    kind, german, blank = r.randrange(3), r.random() < 0.3, r.choice([",", " ", "\u00a0", "'"])
    forms = r.sample((AMOUNTS, DAYS, SPANS)[kind], 1 if r.random() < 0.8 else 2)
    absent, share = r.choice(ABSENT), r.choice([0, 0, 0.02, 0.3])

    def one() -> str:
        form = r.choice(forms)
        if kind == 1:
            return _day(r).strftime(form)
        if kind == 2:
            return form.format(d=r.randrange(40), h=r.randrange(24), m=r.randrange(60), s=r.randrange(60))
        text = form.format(r.choice([1, -1, 1]) * r.lognormvariate(6, 2)).replace(",", blank)
        return text.replace(",", "_").replace(".", ",").replace("_", ".") if german else text

    return [absent if r.random() < share else one() for _ in range(n)]


def _mixed(r: random.Random, n: int) -> list[Any]:
    odd = [
        1,
        "1",
        2.5,
        None,
        True,
        b"x",
        dt.date(2020, 1, 1),
        float("nan"),
        (1, 2),
        Decimal("NaN"),
        10**30,
        -0.0,
        pd.NaT,
    ]
    return _choices(r, n, odd)


UTC = dt.UTC
COLUMNS = {
    "few": lambda r, n: [r.randrange(4) for _ in range(n)],
    "some": lambda r, n: [r.randrange(30) for _ in range(n)],
    "many": lambda r, n: [r.randrange(10**6) for _ in range(n)],
    "numbers": lambda r, n: [r.gauss(0, 1) for _ in range(n)],
    "decimals": lambda r, n: [round(r.gauss(50, 20), 1) for _ in range(n)],
    "canaries": lambda r, n: [CANARY_NUMBER if r.random() < 0.3 else r.randrange(99) for _ in range(n)],
    "texts": lambda r, n: _choices(r, n, [f"{CANARY}A", f"{CANARY}B", "no", "yes"]),
    "rare texts": lambda r, n: [f"{CANARY}{r.randrange(10**6)}" for _ in range(n)],
    "sentences": lambda r, n: [" ".join(_choices(r, 14, [CANARY, "was", "ill", "at", "home", "then"])) for _ in range(n)],
    "booleans": lambda r, n: _choices(r, n, [True, False]),
    "missing": lambda r, n: [None] * n,
    "mostly missing": lambda r, n: [r.choice([1, 2]) if r.random() < 0.05 else None for _ in range(n)],
    "nan": lambda r, n: [float("nan")] * n,
    "nat": lambda r, n: [pd.NaT] * n,
    "blank": lambda r, n: [""] * n,
    "constant": lambda r, n: [7] * n,
    "infinite": lambda r, n: _choices(r, n, [float("inf"), float("-inf"), 0.0, 1.5, float("nan")]),
    "extreme": lambda r, n: _choices(r, n, [1.7e308, -1.7e308, 5e-324, 0.0, -0.0, 1e-300]),
    "huge": lambda r, n: _choices(r, n, [2**63 - 1, -(2**63), 2**53 + 1, 0, 1]),
    "beyond": lambda r, n: _choices(r, n, [10**40, -(10**40), 2**64, 3]),
    "dates": lambda r, n: [_day(r) for _ in range(n)],
    "times": lambda r, n: [dt.datetime.combine(_day(r), dt.time(r.randrange(24), r.randrange(60))) for _ in range(n)],
    "zoned": lambda r, n: [dt.datetime.combine(_day(r), dt.time(1), tzinfo=UTC) for _ in range(n)],
    "edge dates": lambda r, n: _choices(r, n, [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None]),
    "clock": lambda r, n: [dt.time(r.randrange(24), r.randrange(60)) for _ in range(n)],
    "spans": lambda r, n: [dt.timedelta(seconds=r.randrange(10**6)) for _ in range(n)],
    "iso text": _texts("%Y-%m-%d"), "european text": _texts("%d/%m/%Y"), "american text": _texts("%m/%d/%Y"),
    "number text": lambda r, n: [f"{r.gauss(0, 9):.2f}" for _ in range(n)],
    "comma text": lambda r, n: [f"{r.gauss(0, 9):.2f}".replace(".", ",") for _ in range(n)],
    "written": _written, "written otherwise": _written,
    "codes": lambda r, n: [f"{r.randrange(300):05d}" for _ in range(n)],
    "codes and words": lambda r, n: _choices(r, n, ["1", "2", "3.5", "N", "-8", "?", *map(str, range(20, 50))]),
    "odd texts": lambda r, n: _choices(r, n, ODD_TEXTS),
    "broken texts": lambda r, n: _choices(r, n, [f"{CANARY}\ud800", "a", "b"]),
    "rows": lambda r, n: list(range(n)),
    "bytes": lambda r, n: _choices(r, n, [b"a", b"\xff\0", b""]),
    "lists": lambda r, n: _choices(r, n, [[1, 2], [1], [], None]),
    "dicts": lambda r, n: _choices(r, n, [{"a": 1}, {"a": None}, {}]),
    "complex": lambda r, n: _choices(r, n, [1j, 2 + 0j, complex("nan")]),
    "exact": lambda r, n: _choices(r, n, [Decimal("1.10"), Decimal("2.5"), Decimal("NaN"), Decimal("1e30")]),
    "mixed": _mixed,
    "objects": lambda r, n: _choices(r, n, [{1}, {2, 3}, object, ValueError]),
}  # fmt: skip
"""Makers of columns."""

COMMON = (
    "few",
    "some",
    "numbers",
    "decimals",
    "canaries",
    "texts",
    "booleans",
    "dates",
    "many",
    "rare texts",
    "written",
)


def _maker(r: random.Random, hostility: float) -> str:
    return r.choice(list(COLUMNS)) if r.random() < hostility else r.choice(COMMON)


def _column(r: random.Random, maker: str, n: int) -> list[Any]:
    values = COLUMNS[maker](r, n)
    if r.random() < 0.2:
        values = [None if r.random() < 0.15 else v for v in values]
    return values


# ---------------------------------------------------------------- tables


def _pandas(names: list[Any], columns: list[list[Any]]) -> pd.DataFrame:
    frame = pd.concat([pd.Series(c, dtype=object) for c in columns], axis=1)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _inferred(names: list[Any], columns: list[list[Any]]) -> pd.DataFrame:
    frame = pd.concat([pd.Series(c) for c in columns], axis=1)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _categories(names: list[Any], columns: list[list[Any]]) -> pd.DataFrame:
    return _inferred(names, columns).astype("category")


def _nullable(names: list[Any], columns: list[list[Any]]) -> pd.DataFrame:
    return _inferred(names, columns).convert_dtypes()


def _polars(names: list[Any], columns: list[list[Any]]) -> pl.DataFrame:
    clean = [[None if v is pd.NaT else v for v in c] for c in columns]
    return pl.DataFrame([pl.Series(str(n), c) for n, c in zip(names, clean, strict=True)])


def _short(names: list[Any], columns: list[list[Any]]) -> pl.DataFrame:
    """Return narrow types, and categories for texts."""
    frame = _polars(names, columns)
    narrow = {pl.Int64: pl.Int8, pl.Float64: pl.Float32, pl.String: pl.Categorical, pl.Null: pl.Int64}
    return frame.select(pl.col(c).cast(narrow.get(frame[c].dtype, frame[c].dtype), strict=False) for c in frame.columns)


def _csv(r: random.Random, names: list[Any], columns: list[list[Any]]) -> bytes:
    """Return a file that is often not as it should be."""
    mark = r.choice([",", ",", ";", "\t", "|"])

    def cell(v: Any) -> str:
        text = "" if v is None or v is pd.NaT else str(v)
        if r.random() < 0.02:
            return r.choice(['"', 'a"b', mark, f'"{text}"x', text])
        return '"' + text.replace('"', '""') + '"' if set(text) & {mark, '"', "\n", "\r"} else text

    lines = [mark.join(map(cell, names))] + [mark.join(map(cell, row)) for row in zip(*columns, strict=True)]
    if r.random() < 0.1:
        lines.insert(r.randrange(len(lines) + 1), r.choice(["", mark, "x", mark * 9, '"']))
    text = r.choice(["\n", "\n", "\r\n", "\r"]).join(lines) + r.choice(["\n", "", "\n\n"])
    data = text.encode(r.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]), "replace")
    if r.random() < 0.05:
        at = r.randrange(len(data))
        data = data[:at] + r.choice([b"", b"\0", b"\xff\xfe", b"\x1f\x8b", b'"']) + data[at + r.choice([0, 1, 99]) :]
    return data


@dataclass(frozen=True)
class File:
    """The content of a file, and its suffix."""

    content: bytes
    suffix: str


def _parquet(names: list[Any], columns: list[list[Any]]) -> File:
    import io

    out = io.BytesIO()
    _polars(names, columns).write_parquet(out)
    return File(out.getvalue(), ".parquet")


def _damaged(names: list[Any], columns: list[list[Any]]) -> File:
    content = bytearray(_parquet(names, columns).content)
    r = random.Random(bytes(content))
    for _ in range(r.choice([1, 1, 3])):
        content[r.randrange(4, len(content))] ^= 1 << r.randrange(8)
    return File(bytes(content[: r.choice([-1, len(content), len(content), r.randrange(len(content))])]), ".parquet")


def _excel(names: list[Any], columns: list[list[Any]]) -> File:
    import io

    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for row in (names, *zip(*columns, strict=True)):
        book.active.append(row)
    book.save(out)
    return File(out.getvalue(), ".xlsx")


MAKERS = {
    "pandas": _inferred, "pandas object": _pandas, "pandas categories": _categories, "pandas nullable": _nullable,
    "polars": _polars, "polars short": _short, "polars lazy": lambda n, c: _polars(n, c).lazy(),
    "pyarrow": lambda n, c: _polars(n, c).to_arrow(), "parquet": _parquet,
    "damaged": _damaged, "excel": _excel,
}  # fmt: skip


def _table(r: random.Random, kind: str, names: list[Any], columns: list[list[Any]]) -> tuple[Any, str]:
    """Return the columns as this kind of table; as pandas objects where the library cannot hold them."""
    if kind == "csv":
        return File(_csv(r, names, columns), r.choice([".csv", ".csv", ".txt", ".tsv"])), kind
    try:
        return MAKERS[kind](names, columns), kind
    except (Exception, pl.exceptions.PanicException):  # each library refuses something else
        return _pandas(names, columns), "pandas object"


NO_TABLES = ([], {}, "real.csv", 5, np.zeros((2, 2)), pd.DataFrame(), pl.DataFrame({"a": []}), pd.Series([1]), object())


# ---------------------------------------------------------------- calls


def _some(r: random.Random, names: tuple[Any, ...], wrong: float = 0.04) -> Any:
    """Return some columns by name; seldom something else."""
    if r.random() < wrong:
        return r.choice([[], ["nope"], "age", ["x" * 600], [None], [1], ["\ud800"], 5, [*map(str, names[:1])] * 2])
    chosen = r.sample(names, min(len(names), r.choice([1, 1, 2, 2, 3])))
    return [str(name) for name in chosen]


def _settings(r: random.Random, names: tuple[Any, ...]) -> dict[str, Any]:
    def sometimes(chance: float, make: Any, otherwise: Any) -> Any:
        return make() if r.random() < chance else otherwise

    keys = sometimes(0.45, lambda: _some(r, names), None)
    left = tuple(n for n in names if not isinstance(keys, list) or str(n) not in keys) or names
    return {
        "keys": keys,
        "targets": sometimes(0.5, lambda: _some(r, left), None),
        "subgroups": sometimes(0.08, lambda: _some(r, names), ()),
        "unit": sometimes(0.08, lambda: r.choice([str(r.choice(names)), "nope", 5]), None),
        "ignore": sometimes(0.08, lambda: _some(r, left), ()),
        "missing": sometimes(0.1, lambda: r.choice([["?", "-8"], ["1"], ["no"], [""], "-8", [-8], ["\ud800"]]), ()),
        "search": sometimes(0.3, lambda: r.choice(["off", "off", "full", "deep", None]), "default"),
        "models": r.random() < 0.12,
        "acceptable": sometimes(0.05, lambda: r.choice([0, 1, 5, -1, float("nan"), "a", None]), 0.05),
        "positive_control": sometimes(0.04, lambda: r.choice([0.1, 0.5, 0, 2, "a", float("nan")]), None),
        "seed": sometimes(0.05, lambda: r.choice([1, 2**70, -1, 1.5, "a", None]), 0),
        "level": sometimes(0.05, lambda: r.choice([0.9, 0.999999, 1, 0, float("nan"), "a"]), 0.95),
        "budget": sometimes(0.04, lambda: r.choice([0, 0.05, -1, float("nan"), "a"]), None),
        "jobs": sometimes(0.02, lambda: r.choice([0, -1, "a"]), 1),
        "reveal": sometimes(0.03, lambda: r.choice([["columns"], ["all"], "values", 5]), ()),
    }


COMMANDS = ("quality", "diagnose", "fidelity", "membership", "plan", "changes")
"""Those that write no report of an assessment."""
WAYS = (
    ("assess",) * 10 + ("attack",) * 3 + ("command",) * 4 + ("schema", "split", "compare", "render", "facts", *COMMANDS)
)


def triple(seed: int) -> Triple:
    """Return the triple of a seed."""
    r = random.Random(seed)
    hostility = r.choice([0, 0.1, 0.3, 1])
    n_columns = r.choice([1, 2, 3, 3, 4, 4, 5, 6])
    pool = PLAIN if r.random() < 0.6 else PLAIN[:4] + HOSTILE
    names = r.sample(pool, n_columns)
    if r.random() < 0.02:
        names[-1] = names[0]
    makers = [_maker(r, hostility) for _ in names]
    kinds = [*MAKERS, "csv"]
    usual = r.choice(kinds)
    tables, told, made = [], [], []
    for role in range(3):
        n = r.choice(N_ROWS)
        own = list(names)
        columns = [_column(r, _maker(r, 1) if r.random() < 0.06 else maker, n) for maker in makers]
        if role and r.random() < 0.25:  # rows of the real table, in whole or in part
            copied = made[0][1]
            take = range(len(copied[0])) if r.random() < 0.5 else [r.randrange(len(copied[0])) for _ in range(n)]
            columns = [[c[i] for i in take] for c in copied]
        if role and len(own) > 1 and r.random() < 0.06:
            del own[-1], columns[-1]
        if role and r.random() < 0.1:
            order = r.sample(range(len(own)), len(own))
            own, columns = [own[i] for i in order], [columns[i] for i in order]
        made.append((own, columns))
        table, kind = _table(r, usual if r.random() < 0.8 else r.choice(kinds), own, columns)
        tables.append(table)
        told.append(kind)
    if r.random() < 0.03:
        which = r.randrange(3)
        tables[which], told[which] = r.choice(NO_TABLES), "no table"
    if r.random() < 0.3:
        tables[2], told[2] = None, "none"
    return Triple(seed, r.choice(WAYS), *tables, tuple(told), tuple(names), _settings(r, tuple(names)))

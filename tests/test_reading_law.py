"""The law of reading: however a column is written, every result is that of the plain column, to the last digit.

What is not read stands in `NOT_READ` with its reason; a sentence says so, and "none found" is held back.
"""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.run.splitting.holdout_split import split_rows
from divulge.sdmetrics.reports import QualityReport
from divulge.tables.frames import table_of


def german(text):
    return text.replace(",", "_").replace(".", ",").replace("_", ".")


def blanks(text, blank):
    return text.replace(",", blank)


def full_width(text):
    return text.translate({ord(c): 0xFF10 + int(c) for c in "0123456789"})


AMOUNTS = {
    "1234.50": lambda v: f"{v:.2f}",
    "1,234.50": lambda v: f"{v:,.2f}",
    "1.234,50": lambda v: german(f"{v:,.2f}"),
    "1234,50": lambda v: german(f"{v:.2f}"),
    "1 234.50": lambda v: blanks(f"{v:,.2f}", " "),
    "1 234,50 by no-break spaces": lambda v: german(f"{v:,.2f}").replace(".", "\u00a0"),
    "1'234.50": lambda v: blanks(f"{v:,.2f}", "'"),
    "$1,234.50": lambda v: f"${v:,.2f}",
    "1.234,50 €": lambda v: german(f"{v:,.2f}") + " €",
    "EUR 1234.50": lambda v: f"EUR {v:.2f}",
    "1,234.50 USD": lambda v: f"{v:,.2f} USD",
    "12.50 %": lambda v: f"{v * 100:.2f} %",  # a percent is a hundredth
    "72.50 kg": lambda v: f"{v:.2f} kg",
    "exponents": lambda v: f"{v:.9e}",
    "exponents and a decimal comma": lambda v: german(f"{v:.9E}"),
    "blanks around": lambda v: f"  {v:.2f} ",
    "a plus": lambda v: f"+{v:.2f}",
    "digits of full width": lambda v: full_width(f"{v:.2f}"),
    "1.1k": lambda v: f"{v / 1000:.5f}k",
}
LOSSES = {
    "brackets": lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}",
    "a minus behind": lambda v: f"{-v:,.2f}-" if v < 0 else f"{v:,.2f}",
    "the minus of typography": lambda v: f"{v:.2f}".replace("-", "\u2212"),
    "-$5": lambda v: f"-${-v:.2f}" if v < 0 else f"${v:.2f}",
}
WHOLE = {
    "text": str,
    "text with .0": lambda v: f"{v}.0",
    "1,234": lambda v: f"{v:,}",
    "integers and text mixed": lambda v: v if v % 2 else str(v),
}
DAYS = {
    form: (lambda v, form=form: v.strftime(form))
    for form in (
        "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%Y/%m/%d", "%d %b %Y", "%B %d, %Y", "%d-%b-%y",
        "%A, %d %B %Y", "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %I:%M %p", "%Y-%m-%d 00:00:00+00:00",
    )
}  # fmt: skip
DAYS["two forms in one column"] = lambda v: v.strftime("%d.%m.%Y" if v.day % 2 else "%Y-%m-%d")
TIMES = {
    "13:45:00": lambda v: str(dt.timedelta(microseconds=v)).rjust(8, "0"),
    "0 days 13:45:00": lambda v: "0 days " + str(dt.timedelta(microseconds=v)).rjust(8, "0"),
    "PT13H45M": lambda v: f"PT{v // 3_600_000_000}H{v // 60_000_000 % 60}M{v // 1_000_000 % 60}S",
}
NOT_READ = {
    "days and months that no value tells apart": (lambda v: f"{v % 12 + 1:02}/{v // 12 % 12 + 1:02}/{2000 + v // 144}"),
    "two currencies": (lambda v: f"{'$' if v % 3 else '€'}{v + 0.5:.2f}"),
}
"""Forms that are not read: neither a day nor a rate of exchange may be guessed."""


def people(n, seed):
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 900, n)
    amounts = np.round(rng.lognormal(7, 1, n), 2)
    return pl.DataFrame(
        {
            "group": rng.choice(["a", "b", "c"], n).tolist(),
            "amount": amounts,
            "loss": np.where(rng.random(n) < 0.5, -amounts, amounts),
            "whole": rng.integers(1, 5000, n),
            "day": [dt.datetime(2019, 12, 27) + dt.timedelta(days=int(d)) for d in days],
            "time": (rng.integers(0, 86400, n) * 1_000_000).tolist(),
        }
    )


REAL, SYNTHETIC, HOLDOUT = people(90, 1), people(60, 2), people(70, 3)
SYNTHETIC = pl.concat([SYNTHETIC, REAL.head(20)])
TABLES = REAL, SYNTHETIC, HOLDOUT
COLUMNS = {"amount": AMOUNTS, "loss": LOSSES, "whole": WHOLE, "day": DAYS, "time": TIMES}
WRITTEN = [pytest.param(column, form, id=f"{column}-{form}") for column, forms in COLUMNS.items() for form in forms]
SOME = [("amount", "1.234,50 €"), ("loss", "brackets"), ("whole", "1,234"), ("day", "%d %b %Y"), ("time", "13:45:00")]


def subset(column):
    return [t.select("group", column) for t in TABLES]


def as_written(column, form, absent=None):
    """Return three tables with a column in a form; a fiftieth of the values is `absent`, where it is given."""
    write = COLUMNS[column][form]
    out = []
    for table in subset(column):
        values = [write(v) for v in table[column].to_list()]
        if absent is not None:
            values = [absent if i % 50 == 7 else v for i, v in enumerate(values)]
        if len({type(v) for v in values}) > 1:
            out.append(table.to_pandas().assign(**{column: values}))
        else:
            out.append(table.with_columns(pl.Series(column, values)))
    return out


def with_gaps(column):
    kept = pl.when(pl.int_range(pl.len()) % 50 != 7).then(pl.col(column)).alias(column)
    return [t.with_columns(kept) for t in subset(column)]


def numbers(found):
    """Return what results say, without their notes, which tell how the column was read."""
    return [{**r.to_dict(), "seconds": 0, "notes": ()} for r in (found if isinstance(found, tuple) else (found,))]


def cap(tables, column, **settings):
    return numbers(divulge.cap(tables[0], tables[1], holdout=tables[2], keys=["group"], target=column, **settings))


def quality(tables, column, schema):
    report = QualityReport()
    report.generate(tables[0], tables[1], schema, verbose=False)
    return report.get_score()


def k_anonymity(tables, column):
    return numbers(divulge.k_anonymity(tables[0], tables[1], holdout=tables[2], keys=[column]))


def distances(tables, column):
    return numbers(divulge.dcr(tables[0], tables[1], holdout=tables[2]))


def copies(tables, column):
    return numbers(divulge.copies(tables[0], tables[1], holdout=tables[2]))


def shapes(tables, column):
    return [(r.columns, r.value, r.verdict) for r in divulge.column_shapes(tables[0], tables[1])]


def balance(tables, column):
    division = split_rows(table_of(tables[0], "table"), holdout=0.4, stratify=[column])
    return [(s.units, s.rows) for s in division.strata]


def kinds(tables, column):
    return [(c.name, c.kind, c.bins) for c in divulge.infer_schema(tables[0]).columns]


def whole_run(tables, column, **settings):
    report = divulge.assess(
        tables[0], tables[1], holdout=tables[2], keys=["group"], targets=[column], models=False,
        search="off", **settings,
    )  # fmt: skip
    return numbers(tuple(report.results)), report.to_dict()["verdict"]


DOORS = (cap, k_anonymity, distances, copies, shapes, balance, kinds)
PLAIN = {}


def plain(door, column, tables=None):
    key = door.__name__, column, tables is None
    if key not in PLAIN:
        PLAIN[key] = door(subset(column) if tables is None else tables, column)
    return PLAIN[key]


@pytest.mark.parametrize(("column", "form"), WRITTEN)
def test_a_column_gives_the_same_digits_however_it_is_written(column, form):
    assert cap(as_written(column, form), column) == plain(cap, column)


@pytest.mark.parametrize("door", DOORS[1:])
@pytest.mark.parametrize(("column", "form"), SOME)
def test_every_door_reads_a_column_in_the_same_way(column, form, door):
    assert door(as_written(column, form), column) == plain(door, column)


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS[1:])
@pytest.mark.parametrize(("column", "form"), WRITTEN)
def test_every_door_reads_every_form_in_the_same_way(column, form, door):
    assert door(as_written(column, form), column) == plain(door, column)


@pytest.mark.parametrize(
    "absent", ["?", pytest.param("NA", marks=pytest.mark.slow), pytest.param(" - ", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("column", "form"), SOME)
def test_texts_for_missing_are_missing_among_numbers_and_dates(column, form, absent):
    tables = as_written(column, form, absent)
    assert cap(tables, column) == plain(cap, column, with_gaps(column))
    assert kinds(tables, column) == plain(kinds, column, with_gaps(column))


@pytest.mark.first(6)
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(("column", "form"), SOME)
def test_every_engine_reads_a_column_as_memory_does(column, form, engine, tmp_path):
    paths = []
    for name, table in zip(("real", "synthetic", "holdout"), as_written(column, form, "?"), strict=True):
        table.write_parquet(tmp_path / f"{name}.parquet")
        paths.append(str(tmp_path / f"{name}.parquet"))
    assert cap(paths, column, engine=engine) == plain(cap, column, with_gaps(column))


@pytest.mark.parametrize(("column", "form"), SOME)
def test_a_file_of_text_gives_the_same_digits(column, form, tmp_path):
    paths = []
    for name, table in zip(("real", "synthetic", "holdout"), as_written(column, form, "NA"), strict=True):
        table.write_csv(tmp_path / f"{name}.csv")
        paths.append(str(tmp_path / f"{name}.csv"))
    assert cap(paths, column) == plain(cap, column, with_gaps(column))


@pytest.mark.slow
@pytest.mark.parametrize(("column", "form"), SOME)
def test_a_whole_run_is_that_of_the_plain_column(column, form):
    found, verdict = whole_run(as_written(column, form), column)
    expected, same = plain(whole_run, column)
    assert found == expected
    assert verdict == same


@pytest.mark.parametrize(("column", "form"), SOME)
def test_the_schema_carries_the_form_and_every_run_obeys_it(column, form):
    tables = as_written(column, form)
    written = divulge.infer_schema(tables[0])
    assert written[column].written
    schema = divulge.schema_from_toml(written.to_toml())
    assert cap(tables, column, schema=schema) == plain(cap, column)
    if column != "whole":
        for door in (cap, quality):
            with pytest.raises(divulge.ColumnError, match="the schema says that it is written"):
                door(as_written(column, list(COLUMNS[column])[-1]), column, schema=schema)


@pytest.mark.first(1)
@pytest.mark.parametrize("form", NOT_READ)
def test_what_is_not_read_is_told_and_holds_none_found_back(form):
    write = NOT_READ[form]
    rng = np.random.default_rng(5)
    tables = [
        pl.DataFrame({"sex": rng.choice(["f", "m"], n), "x": [write(int(v)) for v in rng.permutation(20_000)[:n]]})
        for n in (400, 400, 400)
    ]
    report = divulge.assess(*tables[:2], holdout=tables[2], models=False, fidelity=False, search="off")
    told = report.to_dict()
    assert [n["column"] for n in told["verdict"]["not_compared"]] == ["x"]
    assert told["verdict"]["verdict"] != "none found"
    assert "could not be read in all tables as the numbers or dates" in told["verdict"]["sentence"]
    assert any("'x'" in note and "text" in note for note in told["notes"])


@pytest.mark.parametrize("share", [0.03, 0.1, 1.0])
@pytest.mark.parametrize("where", [1, 2])
@pytest.mark.usefixtures("copies_alone")
def test_values_that_are_none_of_the_numbers_hold_none_found_back_where_they_are_many(share, where):
    """Numbers in hexadecimal: some of them have no letter, and are read as numbers."""
    rng = np.random.default_rng(5)
    tables = [
        pl.DataFrame({"sex": rng.choice(["f", "m"], 400), "x": rng.integers(10**7, 10**8, 400)}) for _ in range(3)
    ]
    written = [f"{v:x}" if i < share * 400 else str(v) for i, v in enumerate(tables[where]["x"].to_list())]
    tables[where] = tables[where].with_columns(x=pl.Series(written))
    report = divulge.assess(*tables[:2], holdout=tables[2], models=False, fidelity=False, search="off")
    verdict = report.to_dict()["verdict"]
    assert [n["column"] for n in verdict["not_compared"]] == (["x"] if share > 0.05 else [])
    if share > 0.05:
        assert verdict["verdict"] == "cannot tell"
        why = "could not be read in all tables as the numbers or dates" if where == 1 else "exchangeable"
        assert why in verdict["sentence"]

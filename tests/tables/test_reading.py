"""How the texts of a column are read: forms, texts for missing, what the schema says, and what a run is told."""

from datetime import date, datetime, time

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.schema import Column, Schema
from divulge.kernels.counts.binning import fit_binning
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport
from divulge.tables.column_families import n_read
from divulge.tables.frames import table_of
from divulge.tables.pooled_columns import pool
from divulge.tables.written_dates import DateTexts
from divulge.tables.written_forms import form_of, said_columns

ROLES = ("real", "synthetic", "holdout")


def beside(*columns, missing=(), said=None):
    tables = [table_of(pl.DataFrame({"x": c}), r) for c, r in zip(columns, ROLES, strict=False)]
    return pool(tables, "x", missing, said)


def numbers_in(texts):
    return beside(texts).levels.to_list()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["$1,234.50", "-$5", "$0"], [-5, 0, 1234.5]),
        (["1.234,50 €", "5 €"], [5, 1234.5]),
        (["(1,234)", "7"], [-1234, 7]),
        (["12,50-", "7"], [-12.5, 7]),
        (["12.5-", "7+"], [-12.5, 7]),
        (["1\u202f234,5", "7"], [7, 1234.5]),
        (["12,34,567", "1,000"], [1000, 1234567]),
        (["5 kg", "7.5kg"], [5, 7.5]),
        (["12 %", "0", "7%"], [0, 0.07, 0.12]),
        (["5 ‰", "12,5 ‰"], [0.005, 0.0125]),
        (["1.1k", "2M", "950"], [950, 1100, 2e6]),
        (["CHF 1'234.50", "CHF 2"], [2, 1234.5]),
        (["R$ 1.234,50", "R$ 2"], [2, 1234.5]),
    ],
)
def test_amounts_are_read(texts, expected):
    assert numbers_in(texts) == expected


SCRIPTS = {"Arabic": 0x660, "Persian": 0x6F0, "Devanagari": 0x966, "Thai": 0xE50, "full width": 0xFF10}
FORMS_WITH_DIGITS = [
    "12345", "-12.5", "1,234.50", "1.234,5", "15 %", "2021-03-05", "25.3.2021", "3/25/21", "25-Mar-21", "2015-Q3", "2021-03-05 17:45",
    "2021-03-05T17:45:10.5+02:00", "5 Mar 2021 5:45 pm", "17:45:10", "1 days 02:03:05", "P5DT2H",
]  # fmt: skip


@pytest.mark.parametrize("zero", SCRIPTS.values(), ids=list(SCRIPTS))
@pytest.mark.parametrize("text", FORMS_WITH_DIGITS)
@pytest.mark.parametrize("all_of_them", [True, False])
def test_digits_of_any_script_are_read_as_0_to_9(zero, text, all_of_them):
    plain = [text.replace("5", digit) for digit in "354"]
    other = [t.translate({48 + i: zero + i for i in range(10)}) for t in (plain if all_of_them else plain[:1])]
    read = beside(other, plain)
    assert read.family != "text"
    assert read.levels.to_list() == beside(plain, plain).levels.to_list()


def test_arabic_signs_of_decimals_thousands_and_percent_are_read():
    assert numbers_in(["\u0661\u066c\u0662\u0663\u0664\u066b\u0665", "\u0667"]) == [7, 1234.5]
    assert numbers_in(["\u0661\u0662\u066a", "7%"]) == [0.07, 0.12]


@pytest.mark.parametrize(
    "texts",
    [
        ["$5", "€7"],
        ["12 %", "0.5"],
        ["007", "12"],
        ["2+", "3", "3-"],
        ["v1", "v2"],
        ["P1", "P2"],
        ["1-2", "3-4"],
        ["1/2", "3/4"],
    ],
)
def test_what_is_no_column_of_numbers_stays_text(texts):
    assert beside(texts).family == "text"


def test_groups_of_three_are_thousands_where_all_tables_write_so_and_the_doubt_is_told():
    """Read as decimals instead, all would be smaller by a thousand; beside numbers this is not guessed."""
    found = beside(["1,234", "45,000", "999"], ["2,345"])
    assert found.levels.to_list() == [999, 1234, 2345, 45000]
    assert "though it may be 1234,5: the schema can say so (form)" in found.note
    said = Column("x", "numeric", form="1234,5")
    assert beside(["1,234", "45,000"], ["2,345"], said=said).levels.to_list() == [1.234, 2.345, 45]


def test_points_between_thousands_are_those_of_the_other_tables_or_of_the_schema_or_a_doubt(tmp_path):
    tables = []
    for name, texts in {"a": ["1.234", "12", "1.234.567"], "b": ["2.345", "7"], "c": ["1.5", "2"]}.items():
        (tmp_path / f"{name}.csv").write_text("x;b\n" + "".join(f"{text};1\n" for text in texts))
        tables.append(divulge.read(tmp_path / f"{name}.csv"))
    german, doubtful, plain = tables
    assert pool([german, doubtful], "x").levels.to_list() == [7, 12, 1234, 2345, 1_234_567]
    assert pool([doubtful, plain], "x").levels.to_list() == [1.5, 2, 2.345, 7]
    alone = pool([doubtful, doubtful], "x")
    assert alone.levels.to_list() == [2.345, 7]
    assert "may be 1.234,5" in alone.note
    said = Column("x", "numeric", form="1.234,5")
    assert pool([doubtful, doubtful], "x", (), said).levels.to_list() == [7, 2345]


@pytest.mark.parametrize("number", [lambda p: p / 100, lambda p: p])
@pytest.mark.parametrize("real_has_signs", [True, False])
def test_a_percent_sign_is_a_hundredth_unless_another_table_has_points(number, real_has_signs):
    points = [20.0, 35.0, 50.0, 75.5, 100.0]
    signs, plain = [f"{p:g} %" for p in points], list(map(number, points))
    read = beside(signs, plain) if real_has_signs else beside(plain, signs)
    assert read.family == "number" and read.levels.to_list() == plain
    assert read.codes[0].tolist() == read.codes[1].tolist()


@pytest.mark.parametrize("other", [[True, False], [None, None], ["", ""], [1, 0], ["a", "b"], ["nan", "1"]])
def test_percents_beside_truth_values_nothing_or_texts_are_read_without_an_error(other):
    for columns in (["60 %", "7 %"], other), (other, ["60 %", "7 %"]):
        read = beside(*columns, ["5 %", "60 %"])
        assert read.family == "text" or {0.05, 0.6} <= set(read.levels.to_list())
    empty = pl.Series([None, None], dtype=pl.Null)
    assert beside(["60 %", "7 %"], empty).levels.to_list() == [0.07, 0.6]


def test_percents_of_all_tables_are_what_a_spreadsheet_stores():
    signs = beside(["60 %", "7 %", "12,5 %"], ["29 %", "57 %"])
    assert signs.levels.to_list() == [0.07, 0.125, 0.29, 0.57, 0.6]  # not 0.5700000000000001
    assert not signs.integer


@pytest.mark.parametrize("absent", ["?", "-", "NA", "N/A", "nan", "NULL", "None", "unknown", ".", "*", " ", "<NA>"])
def test_listed_texts_are_missing_among_numbers_and_dates_alone(absent):
    many = [str(i) for i in range(40)]
    found = beside([*many, absent], [*many, absent, absent])
    assert (found.family, [int(c[0]) for c in found.counts]) == ("number", [1, 2])
    assert "1 of 41 values in real and 2 of 42 values in synthetic" in found.note
    assert found.read_alike
    days = [f"2020-01-{i:02}" for i in range(1, 30)]
    assert beside([*days, absent]).counts[0][0] == 1
    assert beside(["red", "blue", absent]).counts[0][0] == 0
    assert beside([*many, absent], missing=["none"]).family == ("number" if absent == "nan" else "text")  # as Python
    assert beside([*many, absent], said=Column("x", "categorical")).family == "text"
    assert beside([*many, absent], said=Column("x", "numeric", missing_texts="none")).counts[0][0] == (absent == "nan")


def test_listed_texts_stay_values_where_less_than_nine_of_ten_others_are_numbers():
    texts = [str(i) for i in range(17)] + ["a", "b", "c"]
    assert beside([*texts, "?"]).counts[0][0] == 0
    assert beside([*texts[:-2], "?"]).counts[0][0] == 1  # 17 of 18


def test_zeros_of_mysql_are_missing_among_dates():
    found = beside(["2020-01-05", "2021-03-04", "0000-00-00"])
    assert (found.family, int(found.counts[0][0])) == ("datetime", 1)


def test_a_text_for_missing_beside_empty_cells_is_told():
    found = beside(["red", "NA", "blue"], ["red", None, "blue"])
    assert "has 'NA' in real and empty cells in synthetic" in found.note
    assert "--missing 'NA'" in found.note
    assert not found.read_alike
    assert beside(["red", "NA", None], ["red", None, "blue"]).note == ""


def test_a_column_of_which_half_is_numbers_is_told():
    mixed = [*map(str, range(60)), *(f"code {c}{d}" for c in "abcdef" for d in "klmno")]
    found = beside(mixed)
    assert found.unread == "holds text of which 60 of 90 different values are numbers and the others are not"
    assert beside(["red", "blue", "7"]).unread == ""
    assert beside(["01234", "90210", "12345"]).unread == ""  # zeros in front mark codes


def test_years_of_two_digits_are_those_of_strptime():
    read = DateTexts(pl.Series(["31/12/68", "01/01/69"])).read("DD/MM/YY")
    assert read.dt.year().to_list() == [2068, 1969]


_BORN = [
    date(1940, 2, 29),
    date(1943, 5, 6),
    date(1968, 12, 31),
    date(1969, 1, 1),
    *(date(y, 7, 8) for y in range(1970, 2007, 4)),
]


@pytest.mark.parametrize("form", ["%d-%b-%y", "%d/%m/%y", "%y-%m-%d", "%d.%m.%y 10:30"])
@pytest.mark.parametrize("full", ["dates", "%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y"])
@pytest.mark.parametrize("real_is_full", [True, False])
def test_years_of_two_digits_are_those_that_another_table_writes_with_four(form, full, real_is_full):
    moments = [datetime(d.year, d.month, d.day, 10 * ("10" in form), 30 * ("10" in form)) for d in _BORN]
    written = [m if full == "dates" else m.strftime(full + " %H:%M:%S") for m in moments]
    tables = [written, [m.strftime(form) for m in moments[::-1]]]
    found = beside(*(tables if real_is_full else tables[::-1]))
    assert (found.family, found.levels.to_list()) == ("datetime", moments)
    assert "(1920-2019)" in found.note
    assert found.read_alike


def test_years_of_two_digits_alone_are_parted_where_no_date_is_for_longest():
    births = [date(y, m, 15) for y in range(1950, 2009) for m in (1, 12)]
    found = beside([d.strftime("%d/%m/%y") for d in births], [d.strftime("%d %b %y") for d in births[::-1]])
    assert [d.date() for d in found.levels.to_list()] == births
    assert "DD/MM/YY (1930-2029) in real and DD Mon YY (1930-2029) in synthetic" in found.note
    visits = beside(["31/01/18", "04/12/24"], ["30/06/21"])  # as strptime has them
    assert [d.year for d in visits.levels.to_list()] == [2018, 2021, 2024]
    assert "DD/MM/YY:" in visits.note
    every = beside([f"15/01/{y:02}" for y in range(100)])
    assert [d.year for d in every.levels.to_list()] == list(range(1969, 2069))


@pytest.mark.parametrize("form", ["%d%m%y", "%d-%b-%y"])
def test_a_stated_format_with_two_digits_takes_its_century_from_the_table_of_dates(form):
    texts = [d.strftime(form) for d in _BORN]
    texts = [int(t) for t in texts] if form == "%d%m%y" else texts
    found = beside(_BORN, texts, said=Column("x", "datetime", form=form))
    assert [d.date() for d in found.levels.to_list()] == _BORN


def test_a_form_says_of_which_hundred_years_its_two_digits_are():
    said = Column("x", "datetime", form="DD.MM.YY (1850-1949)")
    read = [d.year for d in beside(["31.12.43", "01.01.50", "29.02.04"], said=said).levels.to_list()]
    assert read == [1850, 1904, 1943]
    assert DateTexts(pl.Series(["29.02.00"])).read("DD.MM.YY (1850-1949)").to_list() == [None]  # 1900 has none
    assert beside(_BORN, ["31.12.43"], said=said).levels.len() == len(_BORN) + 1
    with pytest.raises(divulge.SettingError, match="column 'x': the form is not known"):
        said_columns(Schema((Column("x", "datetime", form="DD.MM.YYYY (1850-1949)"),)))


def test_dates_far_from_the_others_do_not_decide_a_century():
    full = [date(1900, 1, 1), *(date(y, m, 1) for y in range(1940, 2007) for m in (1, 2)), date(9999, 12, 31)]
    found = beside(full, ["01/02/43", "01/13/06", "12/31/68"])
    assert [d.year for d in found.levels.to_list()[1:]].count(1943) == 3
    assert "MM/DD/YY (1920-2019)" in found.note
    assert "has 2 of 136 dates in real of other years, which two digits do not tell" in found.note
    assert not found.unread


def test_many_dates_of_years_that_two_digits_do_not_tell_are_not_compared():
    births = [date(y, m, 20) for y in range(1905, 2025) for m in (2, 5)]
    found = beside(births, [d.strftime("%d.%m.%y") for d in births])
    assert found.unread == "has 40 of 240 dates in real of other years, which two digits do not tell"


def test_a_few_dates_of_four_digits_decide_no_century():
    births = [date(y, 2, 20) for y in range(1930, 2011)]
    told = "DD/MM/YY (1920-2019)"
    texts = [d.strftime("%d/%m/%y") for d in births]
    assert told in beside(["20/01/1900", *texts], texts).note
    assert told in beside(texts, texts).note
    assert "(" not in beside([f"01/02/{y:02}" for y in range(0, 100, 3)], ["13/02/24"]).note  # gaps of three years


@pytest.mark.parametrize("form", ["DD/MM/YY (1926-1950)", "DD/MM/YY (9999-0000)", "DD/MM/YY (0000-0099)"])
def test_years_that_are_no_hundred_are_refused(form):
    with pytest.raises(divulge.SettingError, match="the form is not known"):
        said_columns(Schema((Column("x", "datetime", form=form),)))


def test_a_format_with_a_century_has_it():
    said = Column("x", "datetime", form="%C%y%m%d")
    assert [d.year for d in beside(["19030201", "20910304"], said=said).levels.to_list()] == [1903, 2091]


def test_an_offset_is_east_of_utc_where_it_has_a_plus():
    read = DateTexts(pl.Series(["01.02.2020 10:00 -05:00", "01.02.2020 10:00 +02:30"])).read("DD.MM.YYYY")
    assert read.dt.strftime("%H:%M").to_list() == ["15:00", "07:30"]


def test_an_offset_in_one_table_and_none_in_another_is_told():
    found = beside(["2020-01-05 09:00:00"], ["2020-01-05 09:00:00-05:00"])
    assert "a time zone in one table and none in another" in found.note
    assert not found.read_alike


def test_a_declared_kind_that_cannot_be_read_is_an_error_with_counts():
    with pytest.raises(divulge.ColumnError, match="declared numeric; 3 of 4 different values are no number"):
        beside(["red", "blue", "green", "7"], said=Column("x", "numeric"))
    with pytest.raises(divulge.ColumnError, match="declared datetime; 2 of 2 different values are no date"):
        beside(["red", "blue"], said=Column("x", "datetime"))
    with pytest.raises(divulge.ColumnError, match="declared datetime; 2 of 2 different values are no date"):
        beside(["1,234.5", "7,000.1"], said=Column("x", "datetime"))
    beside(["red", "blue"], said=Column("x", "numeric", roles=("ignore",)))


@pytest.mark.parametrize("report", [QualityReport, DiagnosticReport])
def test_quality_and_diagnosis_refuse_a_declared_kind_that_cannot_be_read(report):
    table = pl.DataFrame({"x": ["red", "blue", "green", "7"], "y": [1, 2, 3, 4]})
    kinds = (Column("x", "numeric"), Column("y", "categorical"))
    with pytest.raises(divulge.ColumnError, match="declared numeric; 3 of 4 different values are no number"):
        report().generate(table, table, Schema(kinds), verbose=False)


def test_a_table_in_another_form_than_the_schema_says_is_an_error_that_names_both():
    said = Column("x", "datetime", form="DD.MM.YYYY")
    assert beside(["31.12.2020"], ["01.02.2020"], said=said).levels.len() == 2
    with pytest.raises(
        divulge.ColumnError, match=r"synthetic: .*written DD\.MM\.YYYY; 1 of 1 values are written YYYY-MM-DD"
    ):
        beside(["31.12.2020"], ["2020-02-01"], said=said)


def test_a_format_of_strptime_reads_whole_numbers_that_lost_their_zeros():
    said = Column("x", "datetime", form="%d%m%Y")
    assert beside([5022020, 31122020], ["05022020"], said=said).counts[0].tolist() == [0, 1, 1]


def test_a_table_none_of_whose_texts_are_dates_is_missing_there_and_told():
    found = beside(["2020-01-05", "2021-03-04"], ["soon", None, "later"])
    assert found.counts[1].tolist() == [3, 0, 0]
    assert "2 of 3 values in synthetic (text) cannot be read so" in found.note


def test_a_format_leaves_gaps_and_what_does_not_follow_it():
    said = Column("x", "datetime", form="%d %b %Y %z")
    found = beside(["05 Jan 2020 +0100", None, "06 Jan 2020 +0000", "never"], said=said)
    assert found.counts[0].tolist() == [2, 1, 1]


def test_a_form_that_is_none_is_refused():
    schema = divulge.schema_from_toml('[columns.x]\nkind = "numeric"\nform = "about 12"')
    with pytest.raises(divulge.SettingError, match="column 'x': the form is not known"):
        divulge.copies(pl.DataFrame({"x": ["1"]}), pl.DataFrame({"x": ["1"]}), schema=schema)


def test_whole_numbers_of_any_length_keep_their_distances():
    small = [5, 1, 3, 2000]
    for far in (10**17, 10**21, -(10**22), 2**62):
        long = beside([str(v + far) for v in small]).numbers()
        assert sorted(long) == [0, 2, 4, 1999]
    wide = beside(pl.Series([-(2**63), 2**63 - 1, 0], dtype=pl.Int64)).numbers()
    assert wide.tolist() == [0, 2.0**63, 2.0**64]


def test_bins_do_not_depend_on_the_order_of_levels():
    """Levels of text come in the order of text: 1, 10, 100, 2."""
    numbers = np.array(sorted(range(1, 400), key=str), dtype=float)
    column, counts = Column("x", "numeric"), np.ones(399, dtype=int)
    as_text, sorted_ = (fit_binning(column, n, counts) for n in (numbers, np.sort(numbers)))
    assert len(as_text.edges) == 9
    assert (as_text.edges == sorted_.edges).all()


def test_names_that_blanks_or_the_unicode_form_tell_apart_are_one_column():
    real = pl.DataFrame({"größe": [1, 2, 3], "age ": [3, 4, 5], "Job": ["a", "b", "c"], "JOB": [1, 2, 3]})
    other = pl.DataFrame({"gro\u0308\u00dfe": [1, 2, 3], "age": [3, 4, 5], "job": ["a", "b", "c"]})
    report = divulge.assess(real, other, models=False, fidelity=False, search="off")
    told = report.to_dict()
    assert any("'age' is taken for 'age ' of real" in note for note in told["notes"])
    (same,) = [c for c in told["preconditions"] if c["check"] == "same columns"]
    assert "in real and 'job' in synthetic differ by case or punctuation alone" in same["detail"]
    assert same["detail"].startswith("2 columns are shared")


def test_values_that_blanks_or_the_unicode_form_tell_apart_are_one_and_case_is_told():
    found = beside(["K\u00f6ln", "Bonn", "Ulm"], ["Ko\u0308ln", "Bonn ", "ULM"])
    assert found.levels.to_list() == ["Bonn", "K\u00f6ln", "ULM", "Ulm"]
    assert "2 values that blanks around or the Unicode form alone tell apart: taken as equal" in found.note
    assert "1 values that differ from real ones by case alone" in found.note


def test_the_form_of_a_column_does_not_depend_on_the_order_of_rows():
    texts = [f"{d:02}/{m:02}/2020" for d in range(1, 13) for m in range(1, 13)] + ["13/01/2020"]
    assert form_of(pl.Series(texts), "datetime") == form_of(pl.Series(texts[::-1]), "datetime") == "DD/MM/YYYY"
    assert n_read(pl.Series(["3", "4", "x"]))[0] == 2


AMOUNTS = list(range(0, 15000, 100))  # 150 values
AGES = [18 + i % 82 for i in range(164)]  # 18 to 99


@pytest.mark.parametrize(
    ("others", "code", "n"),
    [
        (AMOUNTS, -8, 2),  # the others are not negative
        (AMOUNTS, -999, 20),
        ([v / 8 for v in AGES], -9.0, 3),
        ([0, 1] * 40, -9, 5),
        ([-20, 0, 35] * 30, -999, 4),  # further from the others than these from each other
        ([160, 175, 190] * 30, 999, 1),
        ([str(v) for v in AMOUNTS], "-99", 2),
        ([2**53 + i for i in range(60)], -7, 1),  # whole numbers beyond what a float tells apart
    ],
)
def test_a_code_for_missing_that_is_far_from_all_numbers_is_told_and_stays(others, code, n):
    found = beside([*others, *[code] * n, None])
    told = f"{int(float(code))}"
    assert found.note == (
        f"{n} of {len(others) + n} values in real are {told}, far from all others: if it stands for missing, "
        f"--missing {told} reads it so"
    )
    assert found.read_alike and not found.unread
    assert found.counts[0][0] == 1  # nothing is changed
    read_so = beside([*others, *[code] * n, None], missing=[told])
    assert (read_so.note, read_so.counts[0][0]) == ("", n + 1)


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        [*AGES, *[99] * 30],
        [*AMOUNTS, -8],  # less than 1%
        [*AMOUNTS, *[-3] * 9],  # on no list
        [*range(-20, 20), *[-9] * 9],  # among the others
        [*range(-20, 20), *[-99] * 9, -60],
        [*AGES, *[999] * 9, 800],
        [*range(10000, 99999, 150), *[99999] * 20],  # post codes
        [-999] * 30,
        [5] * 9 + [-999] * 9,  # two values
        ["a", "b", "-999"] * 9,
        [0.5, float("nan"), float("inf"), -float("inf"), -999.0] * 9,
    ],
)  # fmt: skip
def test_numbers_that_are_no_codes_for_missing_are_not_told(values):
    assert "far from all others" not in beside(values).note


def test_codes_for_missing_are_told_by_table_and_together():
    real, synthetic = [*AMOUNTS, *[-8] * 9, *[-9] * 3], [*AMOUNTS, *[-9] * 2, -8]
    assert beside(real, synthetic, AMOUNTS).note == (
        "9 of 162 values in real are -8; 3 of 162 values in real and 2 of 153 values in synthetic are -9, far from all "
        "others: if they stand for missing, --missing -8,-9 reads them so"
    )
    assert beside(AMOUNTS, synthetic).note.startswith("2 of 153 values in synthetic are -9, far")


def test_a_code_for_missing_is_told_in_the_report():
    people = pl.DataFrame({"income": [*AMOUNTS, *[-8] * 9], "job": [f"job {i % 4}" for i in range(159)]})
    report = divulge.assess(people, people, people.reverse(), membership=False, fidelity=False, models=False)
    (check,) = (c for c in report.assessment.preconditions if c.check == "same types")
    assert check.ok and "'income' 9 of 159 values in real" in check.detail and "are -8, far from" in check.detail
    assert "Read: 'income' 9 of 159 values in real" in " ".join(str(report).split())


def test_three_digits_behind_every_point_beside_whole_numbers_below_1000_are_thousands():
    whole = pl.DataFrame({"x": [7, 950, 1234, 12345, *range(1000, 1040), *range(20, 60)]})
    text = whole.with_columns(pl.Series("x", [f"{v:,}".replace(",", ".") for v in whole["x"]]))
    for tables in ((whole, text), (text, text), (text, whole)):
        found = pool([table_of(t, role) for t, role in zip(tables, ("real", "synthetic"), strict=True)], "x")
        assert found.levels.to_list() == sorted(float(v) for v in whole["x"])
        assert "1.234,5" in found.note
    codes = pl.DataFrame({"x": [f"1.{i:03d}" for i in range(1, 40)] + ["0", "9", "999"] * 20})
    assert 1.001 in pool([table_of(codes, "real")], "x").levels.to_list()
    for odd in ("0.123", "1.5", "1234", "1.2345"):  # decimals
        other = pl.DataFrame({"x": [*text["x"], odd]})
        found = pool([table_of(t, role) for t, role in zip((other, other), ("real", "synthetic"), strict=True)], "x")
        assert 1.001 in found.levels.to_list()


@pytest.mark.parametrize("written", ["%H:%M:%S", "%I:%M:%S %p"])
def test_a_time_of_day_is_the_same_as_dtype_and_as_text(written):
    times = pl.DataFrame({"x": [time(0, 0, 5), time(9, 30, 1), time(23, 59, 59)]})
    text = times.with_columns(pl.col("x").dt.strftime(written))
    span = times.with_columns(pl.col("x").cast(pl.Duration("us")))
    for other in (text, span):
        found = pool([table_of(t, role) for t, role in zip((times, other), ("real", "synthetic"), strict=True)], "x")
        assert found.codes[0].tolist() == found.codes[1].tolist() and len(found.levels) == 3


def test_a_code_that_the_synthesizer_blurs_is_told_all_the_same():
    answers = [1, 2, 3, 4, 5] * 20
    assert beside([*answers, *[-9] * 6], [*answers, *[-9] * 6, -3], answers).note.startswith("6 of 106 values in real")
    assert "far from" not in beside([*answers, *[-9] * 6, -3], answers, answers).note


def test_columns_with_the_same_code_are_told_in_one_sentence():
    people = pl.DataFrame(
        {f"q{k}": [*[1, 2, 3, 4, 5] * 20, *[-9] * (5 + k), *[3] * (9 - k)] for k in range(8)}
        | {"pay": [*range(0, 10_000, 100), *[-8] * 14]}
    )
    report = divulge.assess(people, people, people.reverse(), membership=False, fidelity=False, models=False)
    (check,) = (c for c in report.assessment.preconditions if c.check == "same types")
    names = ", ".join(f"'q{k}'" for k in range(8))
    far = "of the values of a table, far from all others: if it stands for missing, --missing -9 reads it so"
    assert check.detail.startswith(f"{names} have -9 in 4% to 11% {far}; 'pay' 14 of 114 values in real")

"""Constraints beside their scores: what they take and refuse, that row order plays no part, and that no value gets out."""

import json
import sys
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.measures import rules
from divulge.sdmetrics.multi_table import ConstraintAdherence
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

pd = pytest.importorskip("pandas")

META = {"columns": {n: {"sdtype": "numerical"} for n in "abc"} | {"name": {"sdtype": "categorical"}}}
WHOLE = {"tables": {"t": META}}
REAL = pd.DataFrame({"a": [1, 2, 3], "b": [2, 2, 5], "c": [3, 4, 8], "name": ["x", "y", "x"]})
SYNTHETIC = pd.DataFrame({"a": [1, 9, 3], "b": [2, 2, 5], "c": [3, 4, 1], "name": ["x", "secret", "y"]})


def rule(class_name, table="t", **parameters):
    return {"class_name": class_name, "parameters": parameters | ({"table_name": table} if table else {})}


ORDER = rule("Inequality", low_column_name="a", high_column_name="b")
SUM = {"input_column_names": ["a", "b"], "output_column_name": "c"}


def adherence(constraint, real=REAL, synthetic=SYNTHETIC, metadata=WHOLE):
    return ConstraintAdherence.compute({"t": real}, {"t": synthetic}, metadata, constraint)


def test_frames_of_one_table_and_of_polars():
    assert adherence(ORDER) == 2 / 3
    for frame in (lambda d: d, lambda d: pl.DataFrame(d.to_dict("list"))):
        assert ConstraintAdherence.compute(frame(REAL), frame(SYNTHETIC), WHOLE, ORDER) == 2 / 3
    named = rule("Inequality", "table", low_column_name="a", high_column_name="b")
    assert ConstraintAdherence.compute(REAL, SYNTHETIC, META, named) == 2 / 3
    assert ConstraintAdherence.compute_breakdown(REAL, SYNTHETIC, META, named) == {"score": 2 / 3}
    for real, metadata, message in (
        (REAL, {"tables": {"t": META, "u": META}}, "have 2 tables"),
        ({}, META, "'tables'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            ConstraintAdherence.compute(real, real, metadata, ORDER)
    with pytest.raises(TypeError, match="both be dictionaries"):
        ConstraintAdherence.compute({"t": REAL}, SYNTHETIC, WHOLE, ORDER)


# --- formulas ---------------------------------------------------------------------------------------------------------


def test_a_formula_is_a_function_or_one_of_the_program(monkeypatch):
    total = lambda frame: frame["a"] + frame["b"]  # noqa: E731
    assert adherence(rule("ColumnFormula", **SUM, formula_function_name=total)) == 1 / 3
    main = sys.modules["__main__"]
    namespace = {"__name__": "__main__"}
    exec("def total(frame):\n    return frame['a'] + frame['b']", namespace)
    monkeypatch.setattr(main, "total_of_two", namespace["total"], raising=False)
    monkeypatch.setattr(main, "borrowed", json.dumps, raising=False)
    assert adherence(rule("ColumnFormula", **SUM, formula_function_name="total_of_two")) == 1 / 3
    for name, module, error, message in (
        ("call", "subprocess", ValueError, "module 'subprocess' is not imported. hint: pass the function"),
        ("borrowed", "__main__", ValueError, "not defined there"),
        ("nothing_there", "__main__", ValueError, "does not contain a function named"),
        (3, "__main__", ValueError, "must be a string"),
    ):
        with pytest.raises(error, match=message):
            adherence(rule("ColumnFormula", **SUM, formula_function_name=name, module_name=module))
    assert "antigravity" not in sys.modules
    with pytest.raises(ValueError, match="is not imported"):
        adherence(rule("ColumnFormula", **SUM, formula_function_name="geohash", module_name="antigravity"))
    assert "antigravity" not in sys.modules


# --- the report -------------------------------------------------------------------------------------------------------


def test_a_report_checks_prints_and_writes_constraints_without_values(tmp_path, capsys):
    listed = [
        ORDER,
        rule("FixedCombinations", column_names=["name", "a"]),
        rule("Inequality", low_column_name="name", high_column_name="a"),
        {
            "class_name": "ForeignToPrimaryKeySubset",
            "parameters": {
                "parent_table_name": "t", "child_table_name": "t", "child_foreign_key": "a",
                "conditional_column_name": "name", "conditional_values": ["secret"],
            },
        },
        rule("ColumnFormula", **SUM, formula_function_name=lambda frame: 1 / 0),
        {"parameters": {"column_names": ("a", 1.5)}},
    ]  # fmt: skip
    report = DiagnosticReport()
    with pytest.warns(UserWarning, match="The real data does not adhere"):
        report.generate({"t": SYNTHETIC}, {"t": SYNTHETIC}, WHOLE, listed)
    text = capsys.readouterr().out
    assert "(4/4) Evaluating Constraint Validity: |██████████| 6/6" in text
    details = report.get_details("Constraint Validity", "t")
    assert list(details.columns) == ["Constraint", "Metric", "Parameters", "Score", "Error"]
    assert details["Score"].tolist()[:2] == [2 / 3, 1.0]
    errors = [str(error).split(":")[0] for error in details["Error"].where(details["Error"].notna(), "none")]
    assert errors[2:] == ["TypeError", "none", "ZeroDivisionError", "ValueError"]
    path = tmp_path / "report.json"
    report.save(path)
    written = path.read_text(encoding="utf-8")
    assert "secret" not in written and "1 value" in written
    again = DiagnosticReport.load(path)
    pd.testing.assert_frame_equal(
        again.get_details("Constraint Validity")[["Score", "Error"]], details[["Score", "Error"]]
    )
    assert again.get_details("Constraint Validity")["Parameters"][0] == ORDER["parameters"]
    with pytest.raises(ValueError, match="Unknown table"):
        report.get_details("Constraint Validity", "u")


def test_a_list_of_constraints():
    for report in (DiagnosticReport, QualityReport):
        with pytest.raises(ValueError, match="list of dictionaries"):
            report().generate(REAL, REAL, META, constraints="all", verbose=False)
    report = QualityReport()
    report.generate(REAL, REAL, META, constraints=[ORDER], verbose=False)
    assert "Constraint Validity" not in set(report.get_properties()["Property"])


@pytest.mark.filterwarnings("ignore:The real data does not adhere")
def test_no_error_and_no_log_has_a_value(caplog):
    odd = REAL.assign(a=["secret-1", None, "secret-2"])
    caplog.set_level("INFO")
    for name, parameters in {
        "Inequality": {"low_column_name": "a", "high_column_name": "b"},
        "Range": {
            "low_column_name": "a",
            "middle_column_name": "b",
            "high_column_name": "c",
            "strict_boundaries": False,
        },
        "ChainedInequality": {"column_names": ["a", "b"]},
        "FixedIncrements": {"column_name": "a", "increment_value": 2},
        "MixedScales": {"mixed_scale_column_name": "a", "segment_column_names": ["name"]},
    }.items():
        with pytest.raises(TypeError, match=r"'a'.*hint: convert") as raised:
            adherence(rule(name, **parameters), REAL, odd)
        assert "secret" not in str(raised.value)
    assert adherence(rule("OneHotEncoding", column_names=["a", "b"]), odd, odd) == 0
    assert np.isnan(adherence(rule("Inequality", low_column_name="a", high_column_name="z"), odd, odd))
    assert "secret" not in caplog.text and "'z' are missing" in caplog.text


# --- laws and oracles -------------------------------------------------------------------------------------------------


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_one_value_per_group_is_that_of_plain_python(rows):
    groups, values = (np.array(part) for part in zip(*rows, strict=True))
    expected = [len({w for g, w in rows if g == group}) == 1 for group, _ in rows]
    assert rules.one_value_per_group(groups, values).tolist() == expected


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), min_size=1, max_size=4))
def test_carried_over_is_that_of_plain_python(tables):
    seen, expected = {}, []
    for rows in tables:
        last = dict(rows)
        odd = {k for k, v in last.items() if seen.get(k, 0) not in (0, v)}
        expected.append([not (k in odd and k and v and v == last[k]) for k, v in rows])
        for k, v in last.items():
            seen[k] = seen.get(k, 0) or v
    columns = [[np.array([row[i] for row in rows], dtype=np.int64) for rows in tables] for i in (0, 1)]
    assert [mask.tolist() for mask in rules.carried_over(*columns)] == expected


@settings(max_examples=tries(200), deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_roots_are_those_of_a_walk(parents):
    base = np.arange(1, len(parents) + 1)
    above = rules.parent_rows_of(base, np.array(parents))
    expected = []
    for row in range(len(parents)):
        steps = [row]
        while above[steps[-1]] not in (-1, steps[-1]) and len(steps) <= len(parents):
            steps.append(above[steps[-1]])
        expected.append(steps[-1] if len(steps) <= len(parents) else -1)
    assert rules.root_rows(above).tolist() == expected


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=12))
def test_codes_of_rows_are_equal_where_the_rows_are(rows):
    parts = [np.array(p, dtype=np.int64) for p in zip(*rows, strict=True)]
    (found,) = rules.combined([[p] for p in parts])
    assert all((found[i] == found[j]) == (rows[i] == rows[j]) for i in range(len(rows)) for j in range(len(rows)))


def test_a_long_chain_of_parents_has_its_root():
    n = 5_000
    above = rules.parent_rows_of(np.arange(1, n + 1), np.arange(n))
    assert rules.root_rows(above).tolist() == [0] * n
    assert all(b > a for a, b in pairwise(above[1:].tolist()))


def test_dates_of_two_forms_are_compared_in_the_coarser_one():
    """A day of January is not after January, whichever column has the days."""
    forms = {"a": "%Y-%m-%d", "b": "%Y-%m"}
    columns = {name: {"sdtype": "datetime", "datetime_format": form} for name, form in forms.items()}
    days, months = ["2020-01-15", "2020-02-01"], ["2020-01", "2020-01"]
    real, synthetic = pd.DataFrame({"a": days[:1], "b": months[:1]}), pd.DataFrame({"a": days, "b": months})
    for low, high, score in (("a", "b", 1 / 2), ("b", "a", 1.0)):
        order = rule("Inequality", low_column_name=low, high_column_name=high)
        assert adherence(order, real, synthetic, {"tables": {"t": {"columns": columns}}}) == score

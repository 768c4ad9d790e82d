"""Key and sensitive fields: where they come from, and the errors of SDMetrics 0.32.0 in its order."""

import pandas as pd
import pytest

from divulge.sdmetrics.fields import CATEGORICAL, NUMERICAL, attack_tables

TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [True, False], "d": ["2020-01-01", "2020-02-01"]})
COLUMNS = {
    "a": {"sdtype": "numerical"},
    "b": {"sdtype": "categorical"},
    "c": {"sdtype": "boolean"},
    "d": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
}


def asked(metadata=None, keys=None, sensitive=None, allowed=CATEGORICAL, real=TABLE, synthetic=TABLE, table_name=None):
    return attack_tables(real, synthetic, metadata, table_name, keys, sensitive, allowed)


def test_lists_and_tuples_are_taken_and_the_tables_come_back():
    real, synthetic, keys, sensitive = asked(keys=("a", "b"), sensitive=["c"])
    assert (keys, sensitive) == (["a", "b"], ["c"])
    assert real["a"].values.tolist() == synthetic["a"].values.tolist() == [1, 2]


def test_metadata_goes_before_the_arguments():
    metadata = {"columns": COLUMNS, "key_fields": ["b"], "sensitive_fields": ["c"]}
    assert asked(metadata, ["a"], ["a"])[2:] == (["b"], ["c"])
    unified = {"tables": {"t": metadata, "u": {"columns": {}}}}
    assert asked(unified, ["a"], ["a"], table_name="t")[2:] == (["b"], ["c"])


def test_text_of_a_datetime_is_checked_and_left_as_it_is():
    real = asked({"columns": COLUMNS}, ["a"], ["b"])[0]
    assert real["d"].kind == "O"
    with pytest.raises(ValueError, match="Error converting column 'd'"):
        asked({"columns": COLUMNS}, ["a"], ["b"], real=TABLE.assign(d="no date"))


@pytest.mark.parametrize(
    ("keys", "sensitive", "error", "words"),
    [
        (None, ["b"], TypeError, "`key_fields` must be passed either directly or inside `metadata`"),
        (["a"], None, TypeError, "`sensitive_fields` must be passed either directly or inside `metadata`"),
        ([], None, TypeError, "`sensitive_fields` must be passed"),
        ([], ["b"], ValueError, "`key_fields` or `sensitive_fields` is empty"),
        (["a"], (), ValueError, "`key_fields` or `sensitive_fields` is empty"),
        ("a", ["b"], TypeError, "`key_fields` is of type str; it must be a list"),
        (["a"], "b", TypeError, "`sensitive_fields` is of type str; it must be a list"),
        (["z"], ["b"], KeyError, "'z', which is no column"),
        (["a"], ["d"], TypeError, "Column d has invalid data type {'sdtype': 'datetime', 'datetime_format'"),
        (["d", "z"], ["b"], TypeError, "Column d has invalid data type"),
    ],
)
def test_errors_of_fields(keys, sensitive, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(").replace("{", r"\{")):
        asked({"columns": COLUMNS}, keys, sensitive)


def test_the_whole_entry_must_be_allowed():
    wide = {**COLUMNS, "a": {"sdtype": "numerical", "computer_representation": "Int64"}}
    with pytest.raises(TypeError, match="Column a has invalid data type"):
        asked({"columns": wide}, ["a"], ["b"])
    with pytest.raises(TypeError, match=r"Column b has invalid data type \{'sdtype': 'categorical'\}"):
        asked({"columns": COLUMNS}, ["a"], ["b"], NUMERICAL)
    with pytest.raises(TypeError, match="Column a has invalid data type None"):
        asked(None, ["a"], ["b"], real=TABLE.astype({"a": "uint8"}))


def test_tables_are_checked_before_the_fields():
    with pytest.raises(ValueError, match="must have the same columns"):
        asked(None, "a", None, synthetic=TABLE[["a"]])
    with pytest.raises(ValueError, match="Column d not found in metadata"):
        asked({"columns": {k: COLUMNS[k] for k in "abc"}}, "a", None)

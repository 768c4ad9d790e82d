"""SDV's overlaps: the numbers and words of SDV 2.0.0, and the sound mode beside strangers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sdv_overlap_cases import CASES

from divulge.sdmetrics import sdv

GOLDEN = json.loads(Path(__file__).with_name("sdv_overlap.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", GOLDEN["found"])
def test_numbers_and_words_are_those_of_sdv(key, capsys):
    name, _, function = key.partition(": ")
    real, synthetic, columns = CASES[name]
    tables = [{"t": pd.DataFrame(data)} for data in (real, synthetic)]
    asked = columns if function == "get_combination_overlap" else columns[0]
    assert GOLDEN["sdv"] == "2.0.0"
    assert [getattr(sdv, function)(*tables, "t", asked), capsys.readouterr().out] == GOLDEN["found"][key]


def test_what_is_missing_is_named():
    data = {"t": pd.DataFrame({"a": [1]})}
    for error, words, call in (
        (TypeError, "'pii_column_name' must be a string, got int", lambda: sdv.get_pii_overlap(data, data, "t", 1)),
        (TypeError, "'table_name' must be a string", lambda: sdv.get_pii_overlap(data, data, 1, "a")),
        (TypeError, "'column_names' must be a list", lambda: sdv.get_combination_overlap(data, data, "t", "a")),
        (ValueError, "at least one column", lambda: sdv.get_combination_overlap(data, data, "t", [])),
        (ValueError, "Table 'u' is not present in 'real_data'", lambda: sdv.get_pii_overlap(data, data, "u", "a")),
        (ValueError, "The columns 'b' are not present", lambda: sdv.get_pii_overlap(data, data, "t", "b")),
        (ValueError, "real_validation_data", lambda: sdv.get_pii_overlap(data, data, "t", "a", mode="sound")),
    ):
        with pytest.raises(error, match=words):
            call()


def test_the_sound_mode_compares_with_strangers():
    rng = np.random.default_rng(0)
    real, synthetic, others = ({"t": pd.DataFrame({"a": rng.integers(0, 9, 300)})} for _ in range(3))
    common = sdv.get_pii_overlap(real, synthetic, "t", "a", verbose=False)
    sound = sdv.get_pii_overlap(real, synthetic, "t", "a", mode="sound", real_validation_data=others)
    assert common == 9 and sound["overlap"] == sound["baseline_overlap"] == 1.0  # few values are shared by chance
    mails = [{"t": pd.DataFrame({"a": [f"{t}{i}@x" for i in range(300)]})} for t in "rh"]
    leaked = {"t": pd.DataFrame({"a": [*mails[0]["t"]["a"][:60], *[f"s{i}@x" for i in range(240)]]})}
    sound = sdv.get_combination_overlap(mails[0], leaked, "t", ["a"], mode="sound", real_validation_data=mails[1])
    assert (sound["overlap"], sound["baseline_overlap"], sound["verdict"]) == (0.2, 0.0, "excess found")
    assert sound["score"] == pytest.approx(0.8)

"""Messages of errors are short."""

import pickle
import re

import pytest
from amount import tries
from any_text import any_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.core.errors import MOST, ColumnError, SettingError, shortened
from divulge.report.external.known_sentences import QUOTED

LONG = "z" * 3000


def test_a_short_message_stays_as_it_is():
    text = "keys: no column 'age'. hint: did you mean 'Age'?"
    assert shortened(text) == str(ColumnError(text)) == text


@pytest.mark.parametrize("error", [ColumnError, SettingError])
def test_a_long_name_is_cut_in_the_middle_and_the_hint_kept(error):
    text = str(error(f"keys: no column 'age{LONG}end'. hint: did you mean 'age'?"))
    assert len(text) <= MOST
    assert re.fullmatch(r"keys: no column 'agez+…z+end'\. hint: did you mean 'age'\?", text)


def test_many_names_are_left_out_from_the_middle():
    names = ", ".join(repr(f"column {i} {LONG}") for i in range(40))
    text = shortened(f"keys: no column 'x'; there are {names} and 7 more. hint: names are case-sensitive.")
    assert len(text) <= MOST
    assert text.startswith("keys: no column 'x'; there are 'column 0 z")
    assert text.endswith(" and 7 more. hint: names are case-sensitive.")


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(any_texts(max_size=300), max_size=30), st.lists(st.sampled_from("ab \n"), max_size=900).map("".join))
def test_any_message_is_short_and_shows_names_within_quotation_marks_only(names, hint):
    marked = [
        f"\ue000{name}\ue000" for name in names
    ]  # a sign of private use, that repr keeps where a name begins and ends
    text = shortened(f"keys: there are {', '.join(map(repr, marked))}. hint: {hint}")
    assert len(text) <= MOST
    assert " hint: " in text
    assert not re.search("ue000", re.sub(QUOTED, "", text, flags=re.DOTALL))


def test_a_shortened_error_survives_a_process_border():
    error = pickle.loads(pickle.dumps(SettingError(f"{LONG} hint: x")))
    assert str(error) == str(SettingError(f"{LONG} hint: x"))
    assert error.args[0].startswith(LONG)

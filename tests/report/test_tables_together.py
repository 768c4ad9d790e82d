"""A report on several synthetic tables that were taken together: it says so at the top, and what each table adds."""

from types import SimpleNamespace

from divulge.report import words
from divulge.report.prose.several_tables import by_number_in_words, limits_in_words, together_in_words
from divulge.tables.stacking import TOGETHER

BEST, GAIN = "AUC of the best single table", "gain of all tables over the best single one"


def about(*notes):
    return SimpleNamespace(notes=notes)


def test_it_is_told_that_the_findings_are_about_all_tables():
    after = ". All that is said of the synthetic table is said of their rows together."
    told = together_in_words(about("another note", f"synthetic: 3 {TOGETHER}: 2,400 rows"))
    assert told == "3 synthetic tables of one training set, taken together: 2,400 rows" + after
    told = together_in_words(about(f"synthetic: … {TOGETHER}: … rows"))  # an external edition
    assert told == "Several synthetic tables of one training set, taken together" + after
    assert together_in_words(about("synthetic: a column was read as text")) == ""


def test_what_each_further_table_adds_is_told():
    context = {BEST: 0.733, GAIN: 0.099, f"{GAIN}, lower limit": 0.077, f"{GAIN}, upper limit": 0.121}
    curves = {"synthetic tables": [1.0, 2.0, 3.0], "by tables: AUC": [0.731, 0.801, 0.832]}
    told = by_number_in_words(SimpleNamespace(context=context, curves=curves))
    assert told == (
        "By number of synthetic tables a member scores higher than a stranger in so many pairs: 73.1% with 1, 80.1% with 2, "
        "83.2% with 3. The best single one gives 73.3%; all together add 0.099 (0.077 to 0.121) to its AUC."
    )
    assert by_number_in_words(SimpleNamespace(context=context, curves={})) == ""
    assert by_number_in_words(SimpleNamespace(context={BEST: None}, curves=curves)) == ""


def test_the_limits_say_how_many_tables_were_attacked():
    assert limits_in_words(about("another note")) == list(words.LIMITS)
    several = limits_in_words(about(f"synthetic: 3 {TOGETHER}: 2,400 rows"))
    assert len(several) == len(words.LIMITS)
    assert words.SEVERAL_TABLES in several and not any(line.startswith("One synthetic table") for line in several)

"""Every attack explains itself: all parts, in one order, from one source, with an example that runs."""

import dataclasses
import json
import re

import pytest

from divulge.attacks.catalogue import CATALOGUE
from divulge.core.errors import DivulgeError, SettingError
from divulge.core.threat_model import PRESETS
from divulge.measures.catalogue import all_measures
from divulge.measures.linked.catalogue import linked_measures
from divulge.report.explain import PARTS, attack_of, explain, page, record, settings_of
from divulge.report.explain_measure import explain_measure, measure_of

NAMES = sorted(CATALOGUE)
PROSE = ("says", "knows", "data", "formula", "reading")
FORBIDDEN = re.compile(r"\b(safe|anonymous|guaranteed|simply|just|obviously)\b", re.IGNORECASE)
ORDER = [
    "What the attacker says", "What the attacker knows", "What data it takes", "Formula", "How to read the numbers",
    "What it does not tell", "Reference", "Example", "Settings",
]  # fmt: skip


def flat(text):
    """Text without line breaks and markup, to look sentences up in."""
    return " ".join(re.sub(r"^ *(- )?", "", text, flags=re.M).split())


@pytest.fixture
def enter(monkeypatch):
    """Enter a changed copy of an attack into the catalogue: other words, or another docstring."""

    def change(name="cap", doc=None, question=None, **words):
        entry = CATALOGUE[name]
        run = entry.run
        if doc is not None:

            def run(case, *, keys):
                raise AssertionError("explaining runs no attack")

            run.__doc__ = doc
        changed = dataclasses.replace(
            entry, run=run, words=dataclasses.replace(entry.words, **words), question=question or entry.question
        )
        monkeypatch.setitem(CATALOGUE, name, changed)

    return change


# ---------------------------------------------------------------- the words of every attack


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_there_and_ends_with_a_full_stop(name):
    words = CATALOGUE[name].words
    texts = [getattr(words, part) for part in PROSE]
    assert words.silent
    for text in (*texts, *words.silent, *words.settings.values()):
        assert text.endswith("."), text
        assert text == text.strip()
        assert text.isascii()
    assert len(words.formula.splitlines()) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_attacker_speaks_in_the_first_person(name):
    assert re.search(r"\bI\b", CATALOGUE[name].words.says), f"`says` of {name} must have the attacker say 'I'"


@pytest.mark.parametrize("name", NAMES)
def test_the_reading_speaks_of_0_of_1_of_the_baseline_and_of_negative_numbers(name):
    reading = CATALOGUE[name].words.reading
    for about in (r"\b0\b", r"\b1\b", r"\bbaseline\b", r"negative|below 0"):
        assert re.search(about, reading), f"`reading` of {name} must speak of {about}"


@pytest.mark.parametrize("name", NAMES)
def test_no_forbidden_word(name):
    entry = CATALOGUE[name]
    words = entry.words
    texts = [getattr(words, part) for part in PROSE]
    assert not FORBIDDEN.search(" ".join([entry.question, entry.needs, *texts, *words.silent]))


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_is_described_once(name):
    from divulge.report.explain import _parameters

    entry = CATALOGUE[name]
    assert all(s.says for s in settings_of(entry))
    assert not set(_parameters(entry)) & set(entry.words.settings)
    assert set(_parameters(entry)) | set(entry.words.settings) <= {s.name for s in settings_of(entry)}


@pytest.fixture(scope="module")
def tables():
    """Three small tables with two keys and a target."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)

    def one():
        age = rng.normal(50, 10, 60).round(2)
        note = [f"the nurse saw patient {number}, who sleeps badly" for number in rng.integers(1000, 9999, 60)]
        return pl.DataFrame(
            {"age": age, "sex": rng.choice(["f", "m"], 60), "ill": (age > 50).astype(str), "note": note}
        )

    return one(), one(), one()


@pytest.mark.parametrize("name", NAMES)
def test_the_words_speak_of_a_risk_where_the_attack_gives_one(name, tables):
    import divulge

    given = {"keys": ["age", "sex"], "target": "ill"}
    settings = {s.name: given[s.name] for s in settings_of(CATALOGUE[name]) if s.required}
    settings |= {"inference": {"ways": ["CAP"], "target": "ill"}}.get(name, {})
    found = getattr(divulge, name)(*tables[:2], holdout=tables[2], **settings)
    found = found if isinstance(found, tuple) else (found,)
    words = CATALOGUE[name].words
    told = " ".join([words.reading, *words.silent])
    judged = [r for r in found if r.risk is not None]
    formula, reading = bool(re.search(r"^risk\b", words.formula, flags=re.M)), "Risk" in words.reading
    if judged:
        assert formula, f"{name} gives a risk: a line of `formula` must begin with 'risk'"
        assert reading, f"{name} gives a risk: `reading` must say what 'Risk' means"
    else:
        assert not formula, f"{name} gives no risk: no line of `formula` may begin with 'risk'"
        assert not reading, f"{name} gives no risk: `reading` must not speak of 'Risk'"
        assert "no verdict" in told, f"{name} gives no risk: `reading` or `silent` must say 'no verdict'"
    if any(r.baseline is not None for r in found):
        assert "no baseline" not in told.lower(), f"{name} gives a baseline, and its words say 'no baseline'"
        assert "only baseline" not in told


# ---------------------------------------------------------------- in a terminal


@pytest.mark.parametrize("name", NAMES)
def test_explain_has_all_words_in_order(name):
    text, entry = explain(name), CATALOGUE[name]
    places = [text.index(f"\n{heading}\n") for heading in ORDER]
    assert places == sorted(places)
    told = flat(text)
    parts = [getattr(entry.words, part) for part in ("says", "knows", "data", "formula", "reading")]
    parts += [*entry.words.silent, entry.reference]
    found = [told.index(flat(part)) for part in parts]
    assert found == sorted(found)
    for sentence in (entry.question, entry.needs, *(s.says for s in settings_of(entry))):
        assert flat(sentence) in told


@pytest.mark.parametrize("name", NAMES)
def test_explain_is_at_most_100_wide(name):
    prose = explain(name).split("\nExample\n")[0]
    assert max(map(len, prose.splitlines())) <= 100


@pytest.mark.parametrize("name", ["cap", "cap (zero)", "cap[zero]", " CAP (nearest) "])
def test_a_name_may_carry_a_variant(name):
    assert attack_of(name).name == "cap"


@pytest.mark.parametrize("name", ["singling out (3 columns)", "singling-out", "singling_out[univariate]"])
def test_a_name_may_be_written_with_blanks(name):
    assert attack_of(name).name == "singling_out"


# ---------------------------------------------------------------- on a page


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_same_parts_in_order_and_its_example_runs(name):
    text = page(name)
    assert text.startswith(f"# {name.replace('_', '&#95;')}\n")
    assert re.findall(r"^## (.*)$", text, flags=re.M) == ORDER == list(PARTS.values())
    formula = text.split("```text\n")[1].split("\n```")[0]
    assert flat(formula) == flat(CATALOGUE[name].words.formula)
    assert max(map(len, formula.splitlines())) <= 80
    example = text.split("```pycon\n")[1].split("\n```")[0]
    assert example == record(name)["example"]  # what is printed now is what the docstring says
    assert example.startswith(f">>> from divulge import {name}\n")
    assert not example.splitlines()[-1].startswith((">>>", "..."))


def test_a_wrong_example_is_an_error(enter):
    enter(doc="""Text.\n\nExamples\n--------\n>>> 1 + 1\n3\n""")
    with pytest.raises(DivulgeError, match=r"cap: its example prints 2 where the docstring says 3"):
        page("cap")
    assert "3" in explain("cap")  # the terminal shows what is written


def test_an_example_that_raises_is_an_error(enter):
    enter(doc="""Text.\n\nExamples\n--------\n>>> 1 / 0\n1\n""")
    with pytest.raises(DivulgeError, match=r"cap: its example raises ZeroDivisionError"):
        page("cap")


def test_the_page_shows_what_the_example_prints(enter):
    enter(doc="""Text.\n\nExamples\n--------\n>>> for i in range(2):\n...     print(i)\n0\n1\n\nNotes\n-----\nNo.\n""")
    assert "```pycon\n>>> from divulge import cap\n>>> for i in range(2):\n...     print(i)\n0\n1\n```\n" in page("cap")


def test_an_attack_without_an_example_is_an_error(enter):
    enter(doc="Text.")
    with pytest.raises(DivulgeError, match="no example"):
        page("cap")


def test_settings_come_from_the_docstring(enter):
    enter(doc="Text.\n\nParameters\n----------\nkeys : list\n    Two\n    lines.\n\nExamples\n--------\n>>> 1\n1\n")
    (setting,) = settings_of(CATALOGUE["cap"])
    assert (setting.name, setting.required, setting.says) == ("keys", True, "Two lines.")


HOSTILE = "I <b>say</b> *this* _or_ [that](http://x.y) | `code` \x1b[31m&amp; $1$ #1."


def test_markup_in_words_is_shown_and_not_obeyed(enter):
    enter(says=HOSTILE, silent=(HOSTILE,), question=HOSTILE, formula="a\n```\n<i>\nb.")
    text = page("cap")
    assert "<b>" not in text.split("## Formula")[0]
    assert "](" not in text
    assert "|" not in text
    assert "http://" not in text
    assert "\x1b" not in text
    assert "&#60;b&#62;say" in text
    assert "&#38;amp;" in text
    assert "\n````text\na\n```\n<i>\nb.\n````\n" in text


def test_markup_of_an_escaped_page_is_the_text_again(enter):
    markdown = pytest.importorskip("markdown")
    enter(says="a*b* _c_ <i> d|e ~f~ [g](h) !i &amp; \\* #j.")
    shown = markdown.markdown(page("cap")).split("<blockquote>\n<p>")[1].split("</p>")[0]
    import html

    assert html.unescape(shown) == "a*b* _c_ <i> d|e ~f~ [g](h) !i &amp; \\* #j."


def test_control_characters_do_not_reach_a_terminal(enter):
    enter(says=HOSTILE, question=HOSTILE, silent=(HOSTILE,), formula="\x1b]0;x\x07\nb.")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", explain("cap"))


# ---------------------------------------------------------------- commands


def test_the_command_prints_the_explanation(divulge):
    assert divulge("explain", "cap") == (0, explain("cap") + "\n", "")
    code, out, err = divulge("explain", "cap (zero)")
    assert (code, out) == (0, explain("cap") + "\n")
    assert err == "divulge: this explains cap with all its variants.\n"


def test_an_unknown_name_is_status_2_and_lists_near_names(divulge):
    code, out, err = divulge("explain", "linkabilty")
    assert (code, out) == (2, "")
    assert "'linkabilty' is no attack" in err
    assert "did you mean linkability?" in err


@pytest.mark.parametrize("name", ["", "(zero)", "\x1b[31m", "é" * 300])
def test_a_name_like_no_other_is_status_2(divulge, name):
    code, out, err = divulge("explain", name)
    assert (code, out) == (2, "")
    assert "is no attack" in err
    assert "\x1b" not in err


def test_an_unknown_name_is_a_setting_error():
    with pytest.raises(SettingError, match="is no attack"):
        attack_of("nothing")


def test_without_a_name_all_are_listed_with_their_questions(divulge):
    code, out, _ = divulge("explain")
    assert code == 0
    attacks, _, measures = out.partition("\nMeasures of fidelity:\n")
    measures, _, linked = measures.partition("\nMeasures of relations and sequences:\n")
    linked, _, presets = linked.partition("\nPresets of actors, for the schema file:\n")
    assert [line.split()[0] for line in presets.splitlines()] == list(PRESETS)
    assert [line.split()[0] for line in attacks.splitlines()] == NAMES
    assert [line.split()[0] for line in measures.splitlines()] == [m.name for m in all_measures()]
    assert [line.split()[0] for line in linked.splitlines()] == [m.name for m in linked_measures()]
    told = dict(CATALOGUE) | {m.name: m.question for m in (*all_measures(), *linked_measures())}
    for line in (*attacks.splitlines(), *measures.splitlines(), *linked.splitlines()):
        entry = told[line.split()[0]]
        assert line.endswith(entry if isinstance(entry, str) else entry.question)


def test_the_catalogue_as_json(divulge):
    code, out, _ = divulge("attacks", "--json")
    assert code == 0
    entries = {e["attack"]: e for e in json.loads(out)}
    assert sorted(entries) == NAMES
    for name, entry in entries.items():
        assert list(entry) == ["attack", "family", "question", "needs", *PARTS]
        assert entry["says"] == CATALOGUE[name].words.says
        assert entry["silent"] == list(CATALOGUE[name].words.silent)
    (unseen,) = [s for s in entries["cap"]["settings"] if s["setting"] == "unseen"]
    assert (unseen["default"], unseen["required"]) == ("skip", False)


# ---------------------------------------------------------------- measures of fidelity


@pytest.mark.parametrize("entry", [*all_measures(), *linked_measures()], ids=lambda m: m.name)
def test_a_measure_explains_itself_with_all_its_parts(entry):
    told = flat(explain_measure(entry))
    for text in (
        entry.question,
        entry.words.what,
        entry.words.reading,
        entry.null,
        entry.reference,
        *entry.words.silent,
    ):
        assert flat(text) in told
    assert not FORBIDDEN.search(told)
    assert max(map(len, explain_measure(entry).splitlines())) <= 120


def test_a_measure_is_found_by_its_name_with_a_part_and_an_attack_is_none():
    assert measure_of("column_pairs[age + sex]").name == measure_of("Column pairs").name == "column_pairs"
    assert measure_of("cap") is None
    assert "makes it on request" in explain_measure(measure_of("detection"))
    names = [m.name for m in (*all_measures(), *linked_measures())]
    assert len({*names, *CATALOGUE}) == len(names) + len(CATALOGUE)


def test_a_measure_of_relations_or_sequences_says_which_tables_it_takes(divulge):
    told = {name: flat(divulge("explain", name)[1]) for name in ("siblings", "autocorrelation")}
    assert "fidelity: relations" in told["siblings"]
    assert "several tables with relations" in told["siblings"]
    assert "--sequence-key" in told["autocorrelation"]
    assert "Each run makes it" not in " ".join(told.values())

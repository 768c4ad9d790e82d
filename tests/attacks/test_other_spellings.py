"""Values of people in other spellings: against plain Python, the leaks that nothing else sees, laws and messy input."""

import base64
import hashlib
import json
import re
import unicodedata
import uuid

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.copying.other_spellings import (
    FORM_WORDS,
    FORMS,
    WRITTEN_OTHERWISE,
    SyntheticSpellings,
    other_form,
    written_alike,
)
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema
from divulge.report.model import NotCompared
from divulge.report.prose.bounds import OTHER_FORM, holding
from divulge.run.judging.scope import not_compared
from divulge.run.planning.options import Attacker

N = 200
FIRST = ["Zoë", "Jürgen", "Änne", "Łukasz", "Søren", "José", "Mía", "Noël"]


def coarse(rng, n, **columns):
    return pl.DataFrame({"a": rng.integers(0, 4, n).astype(str), "b": rng.integers(0, 3, n).astype(str)} | columns)


def names(rng, n):
    last = rng.integers(0, 26, (n, 6))
    return [f"{rng.choice(FIRST)} {''.join(chr(97 + k) for k in row).capitalize()}" for row in last]


def numbers(rng, n):
    return [f"{k:010d}" for k in rng.integers(0, 10**10, n)]


def changed(text):
    return text[:4] + str((int(text[4]) + 1) % 10) + text[5:]


def plain_ascii(text):
    swapped = text.translate(str.maketrans({"Ł": "L", "ł": "l", "ø": "o", "Ø": "O"}))
    return "".join(c for c in unicodedata.normalize("NFKD", swapped) if not unicodedata.combining(c))


LEAKS = {
    "without marks": (names, lambda t: plain_ascii(t).upper()),
    "words in any order": (names, lambda t: ", ".join(reversed(t.split()))),
    "another character": (numbers, changed),
    "a character more or less": (numbers, lambda t: t[:3] + t[4:]),
    "digest": (names, lambda t: hashlib.sha1(t.encode()).hexdigest()),
    "first characters": (
        lambda rng, n: [f"{k}@mail.test" for k in numbers(rng, n)],
        lambda t: t[:10] + "@post.example",
    ),
    "last characters": (
        lambda rng, n: [f"0{k}" for k in numbers(rng, n)],
        lambda t: f"+49 ({t[1:4]}) {t[4:7]}-{t[7:]}",
    ),
    "within a longer text": (numbers, lambda t: f"case {t} (closed)"),
    "characters in any order": (names, lambda t: t[::-1]),
    "longest word": (
        lambda rng, n: [f"/data/mr/scan_{''.join(map(chr, 97 + rng.integers(0, 26, 7)))}.dcm" for _ in range(n)],
        lambda t: f"img-{t[14:21]}.png",
    ),
    "numbers in it": (
        lambda rng, n: [f"{a:.5f}, {b:.5f}" for a, b in zip(rng.uniform(40, 60, n), rng.uniform(2, 9, n), strict=True)],
        lambda t: "POINT({1:.3f} {0:.3f})".format(*map(float, t.split(", "))),
    ),
    "a word more or less": (
        lambda rng, n: [
            " ".join("".join(map(chr, 97 + rng.integers(0, 26, k))).capitalize() for k in (4, 5)) for _ in range(n)
        ],
        lambda t: t.replace(" ", " Quentin ").upper(),
    ),
}


def tables(form, share=0.1, seed=0, n=N):
    """Three tables of people; a share of the synthetic identifiers are those of members, in another spelling."""
    rng = np.random.default_rng([seed, list(LEAKS).index(form)])
    make, spell = LEAKS[form]
    real, synthetic, holdout = (coarse(rng, n, who=make(rng, n)) for _ in range(3))
    k = round(share * n)
    who = [spell(t) for t in real["who"][:k]] + synthetic["who"][k:].to_list()
    return real, synthetic.with_columns(who=pl.Series(who)).sample(fraction=1, shuffle=True, seed=seed), holdout


def found(results, verdict="excess found"):
    return {(r.variant, r.keys) for r in results if r.verdict == verdict}


# ---------------------------------------------------------------- the leaks


def test_the_forms_are_those_that_are_tested():
    assert LEAKS.keys() == FORMS.keys() == FORM_WORDS.keys()


@pytest.mark.parametrize("form", LEAKS)
def test_each_form_is_found_and_told(form):
    real, synthetic, holdout = tables(form)
    results = divulge.copies(real, synthetic, holdout=holdout)
    # the last digits of a code are compared too
    assert found(results) - {("last 6 digits", ("who",))} == {(f"one column, {form}", ("who",))}
    (own,) = [r for r in results if r.variant == f"one column, {form}"]
    assert (own.real.hits, own.holdout.hits) == (20, 0)
    assert own.notes == (FORMS[form],)
    assert FORM_WORDS[form] in str(own)
    assert (np.nansum(own.individual.real[:20]), np.nansum(own.individual.real)) == (20, 20)


def test_values_that_stand_there_word_for_word_are_left_out_of_other_forms_and_make_no_deficit():
    """Strangers' notes are a part of a synthetic one by chance; copied ones were no hit, which looked like a hole."""
    rng = np.random.default_rng(4)
    phrases = ["".join(chr(97 + k) for k in row) for row in rng.integers(0, 26, (60, 5))]
    make = lambda n: [f"{phrases[a]} {phrases[b]}" for a, b in rng.integers(0, 60, (n, 2))]  # noqa: E731
    real, holdout = (coarse(rng, N, who=make(N)) for _ in range(2))
    longer = [f"{phrases[k]} {t} {phrases[k]}" for t, k in zip(make(8 * N), rng.integers(0, 60, 8 * N), strict=True)]
    results = divulge.copies(real, coarse(rng, 9 * N, who=[*real["who"], *longer]), holdout=holdout)
    assert not found(results, "deficit found")
    (own,) = [r for r in results if r.variant == "one column, within a longer text"]
    assert own.real.n == 0 and own.holdout.hits > 20
    most = N // 4 * 3
    results = divulge.copies(real, coarse(rng, 8 * N + most, who=[*real["who"][:most], *longer]), holdout=holdout)
    assert not found(results, "deficit found")
    (own,) = [r for r in results if r.variant == "one column, within a longer text"]
    assert 0 < own.real.n <= N - most


@pytest.mark.parametrize("form", LEAKS)
def test_a_renamed_column_is_found_in_each_form_too(form):
    real, synthetic, holdout = tables(form)
    results = divulge.copies(real, synthetic.rename({"who": "person"}), holdout=holdout)
    equal_words = form == "words in any order"  # how that column is compared in any case
    assert found(results) == {("another column" if equal_words else f"another column, {form}", ("who",))}


def test_whole_numbers_are_compared_by_their_digits():
    rng = np.random.default_rng(3)
    make = lambda: coarse(rng, N, who=rng.integers(10**9, 10**10, N))  # noqa: E731
    real, synthetic, holdout = make(), make(), make()
    who = pl.concat([real["who"][:20] + 1000, synthetic["who"][20:]])
    results = divulge.copies(real, synthetic.with_columns(who=who), holdout=holdout)
    assert ("one column, another character", ("who",)) in found(results)
    hashed = [hashlib.md5(str(k).encode()).hexdigest() for k in real["who"][:20]]
    hashed += [hashlib.md5(str(k).encode()).hexdigest() for k in synthetic["who"][20:]]
    results = divulge.copies(real, synthetic.with_columns(who=pl.Series(hashed)), holdout=holdout)
    assert found(results) == {("one column, digest", ("who",))}


@pytest.mark.slow
def test_a_run_names_the_form():
    real, synthetic, holdout = tables("digest", 0.3)
    report = divulge.assess(
        real, synthetic, holdout=holdout, models=False, search="off", membership=False, fidelity=False,
    )  # fmt: skip
    assert report.verdict == "excess found"
    assert "one column, digest" in report.data["verdict"]["sentence"]
    assert "as a digest" in report.to_html()
    shown = report.external()
    assert "one column, digest" in json.dumps(shown.to_dict())


def test_other_columns_have_no_forms():
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (coarse(rng, N, x=rng.random(N)) for _ in range(3))
    results = divulge.copies(real, synthetic, holdout=holdout, variants=["one column"])
    assert [r.variant for r in results] == ["one column", "one column, nearly equal"]


def test_ends_that_are_nobodys_own_are_not_compared():
    """All begin with the same eight characters and end with few: a copy could not show, so nothing is said of it."""
    rng = np.random.default_rng(6)
    real, synthetic, holdout = (
        coarse(rng, N, who=[f"CUST2024-{k:06d}-DE-A{k % 9:07d}" for k in rng.permutation(900_000)[:N]])
        for _ in range(3)
    )
    results = divulge.copies(real, synthetic, holdout=holdout, variants=["one column"])
    assert not {r.variant for r in results if r.variant.endswith(("first characters", "last characters"))}


def test_an_end_is_one_persons_own_whatever_his_texts():
    """A person with two addresses of one local part is found under a third one; one address of two persons is nobody's."""
    rng = np.random.default_rng(7)

    def mails(first):
        names = [f"{k:09d}" for k in rng.permutation(10**6)[:N]]
        both = [f"{name}@{domain}.test" for name in names for domain in ("one", "two")]
        return coarse(rng, 2 * N, home=np.repeat(np.arange(N) + first, 2), mail=both), names

    (real, own), (synthetic, _), (holdout, _) = mails(0), mails(1_000), mails(2_000)
    released = pl.concat([pl.Series([f"{name}@third.test" for name in own[:40]]), synthetic["mail"][40:]])
    results = divulge.copies(
        real, synthetic.with_columns(mail=released), holdout=holdout, unit="home", variants=["one column"]
    )
    assert ("one column, first characters", ("mail",)) in found(results)


def test_identifiers_that_were_numbered_on_give_no_verdict():
    """Of one length and with the same ends, members are 0 to 598 and strangers 600 to 1,198: a table says which."""
    rng = np.random.default_rng(8)
    make = lambda mark, first: coarse(rng, 300, who=[f"{mark}-{k:08d}" for k in range(2 * first, 2 * first + 600, 2)])  # noqa: E731
    results = divulge.copies(
        make("cust", 0), make("syn", 0), holdout=make("cust", 300), variants=["one column"],
        schema=Schema((Column("who", "identifier"),)),
    )  # fmt: skip
    assert not found(results)
    ends = [r for r in results if r.variant == "one column, last characters"]
    assert all(r.verdict is None and WRITTEN_OTHERWISE in r.notes for r in ends)
    assert ends


def test_what_is_chance_is_no_finding():
    """Four digits: hundreds of strangers are within one digit of a synthetic number, and as many members."""
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (coarse(rng, N, who=[f"k{k:04d}" for k in rng.permutation(9999)[:N]]) for _ in range(3))
    schema = Schema((Column("who", "identifier"),))
    results = divulge.copies(real, synthetic, holdout=holdout, variants=["one column"], schema=schema)
    (near,) = [r for r in results if r.variant == "one column, another character"]
    assert near.holdout.hits > N / 3
    assert not found(results)


# ---------------------------------------------------------------- plain Python


def fold(text):
    folded = unicodedata.normalize("NFKC", text).casefold().translate(str.maketrans({"ł": "l", "ø": "o", "ß": "ss"}))
    letters = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    return re.sub(r"[\W_]+", " ", letters).strip()


def squeezed(text):
    plain = fold(text).replace(" ", "")
    return plain if 4 <= len(plain) <= 64 else None


def one_other(a, b):
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) <= 1


def one_more(a, b):
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return a == b or any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def one_word(a, b):
    short, long = sorted((sorted(fold(a).split()), sorted(fold(b).split())), key=len)
    return 2 <= len(short) < len(long) <= 8 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def bare(text):
    return fold(text).replace(" ", "")


def part_of(part, text):
    return 8 <= len(part) <= 64 and part in text


PLAIN = {
    "without marks": lambda a, b: fold(a) != "" and fold(a) == fold(b),
    "words in any order": lambda a, b: fold(a) != "" and sorted(fold(a).split()) == sorted(fold(b).split()),
    "another character": lambda a, b: None not in (squeezed(a), squeezed(b)) and one_other(squeezed(a), squeezed(b)),
    "a character more or less": lambda a, b: (
        None not in (squeezed(a), squeezed(b)) and one_more(squeezed(a), squeezed(b))
    ),
    "digest": lambda a, b: (
        b.strip().lower()
        in {h(t.encode()).hexdigest() for h in (hashlib.md5, hashlib.sha256) for t in (a, a.strip().lower())}
    ),
    "within a longer text": lambda a, b: part_of(bare(a), bare(b)) or part_of(bare(b), bare(a)),
}
OWN = {
    "first characters": lambda t: t[:8] if len(t) >= 8 else None,
    "last characters": lambda t: t[-8:] if len(t) >= 8 else None,
    "characters in any order": sorted,
}
"""What one person alone must have."""
PIECE = st.sampled_from(
    ["abcd", "Abcé", "abd", "12345", "1235", "Ø", "ß", " ", "-", "_", "x", "日本語", "اسم", "\U0001f600"]
)
TEXTS = st.lists(
    st.one_of(
        st.lists(PIECE, max_size=4).map("".join),
        st.sampled_from([hashlib.md5(b"abcd").hexdigest(), hashlib.sha256(b"12345").hexdigest().upper(), "a" * 70]),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(
    max_examples=tries(300, 40), deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
@given(TEXTS, TEXTS)
def test_forms_are_those_of_plain_python(people, synthetic):
    hits = SyntheticSpellings(pl.Series(synthetic)).hits(pl.Series(people), np.arange(len(people)))
    assert list(hits) == list(FORMS)
    for form, key in OWN.items():
        mine, theirs = ([key(squeezed(t) or "") for t in texts] for texts in (people, synthetic))
        expected = [float(e in theirs) if e and mine.count(e) == 1 else None for e in mine]
        assert [None if np.isnan(h) else h for h in hits[form]] == expected, form
    for form, equal in PLAIN.items():
        expected = [any(equal(a, b) for b in synthetic) for a in people]
        assert hits[form].tolist() == expected, form
    expected = [any(one_word(a, b) for b in synthetic) if " " in fold(a) else None for a in people]
    assert [None if np.isnan(h) else h for h in hits["a word more or less"]] == expected


# ---------------------------------------------------------------- laws and messy input


def test_order_and_threads_change_nothing(monkeypatch):
    real, synthetic, holdout = tables("another character", seed=7)
    before = divulge.copies(real, synthetic, holdout=holdout, variants=["one column"])
    for module in ("other_spellings",):
        monkeypatch.setattr(f"divulge.attacks.copying.{module}._BLOCK", 7)
    monkeypatch.setattr("divulge.attacks.copying.other_spellings._ROOM", 3)
    monkeypatch.setattr("divulge.tables.spellings._BLOCK", 5)
    order = np.random.default_rng(0).permutation(N)
    after = divulge.copies(real[order].select(reversed(real.columns)), synthetic[order], holdout=holdout[order].to_pandas(),
                           variants=["one column"])  # fmt: skip
    assert len(before) == len(FORMS) - 1  # as they are, and in all forms but the two of several words
    for one, other in zip(before, after, strict=True):
        assert {**one.to_dict(), "seconds": 0} == {**other.to_dict(), "seconds": 0}
        np.testing.assert_array_equal(one.individual.real[order], other.individual.real)


def test_a_unit_counts_once_in_each_form():
    sizes = np.arange(1, 11)
    homes = [f"{k * 7919:08d}" for k in range(1, 21)]
    real = pl.DataFrame({"home": np.repeat(homes[:10], sizes), "x": ["u", "v", "w", "u", "v"] * 11})
    holdout = real.with_columns(home=pl.Series(np.repeat(homes[10:], sizes)))
    synthetic = pl.DataFrame({"home": [f"{homes[0][:-1]}X", f"{homes[9][:-1]}X", "s1"], "x": ["u", "v", "w"]})
    results = divulge.copies(real, synthetic, holdout=holdout, unit="home", variants=["one column"])
    (own,) = [r for r in results if r.variant == "one column, another character"]
    assert (own.real.hits, own.real.n, own.holdout.n) == (2, 10, 10)
    assert "each unit counts once" in own.notes


@pytest.mark.parametrize(
    "values",
    [
        list("abcdefghij") * 3,
        [f"{k}" + "x" * 10_000 for k in range(30)],
        [None] * 30,
        [json.dumps({"name": f"ann {k}", "n": [k, None]}) for k in range(30)],
        [f"名前{k}号室です" for k in range(30)],
        [f"इकतालीस {k} क़िला" for k in range(30)],
        ["\x00\x00\x00\x00\x00", "\U0010ffff" * 5, "\u202eabcd"] * 10,
        [2**63 - k for k in range(1, 31)],
        [1e300 * k for k in range(1, 31)],
    ],
    ids=["one character", "ten thousand", "missing", "JSON", "Japanese", "Hindi", "controls", "large", "huge"],
)
@pytest.mark.parametrize("rows", [30, 10, 1])
def test_messy_identifiers_have_an_answer(values, rows):
    frame = pl.DataFrame({"t": values[:rows], "c": (["u", "v", "w"] * 10)[:rows]}, strict=False)
    schema = Schema((Column("t", "identifier"),))
    for synthetic in (frame, frame.with_columns(t=pl.col("t").reverse())):
        results = divulge.copies(frame, synthetic, holdout=frame, schema=schema)
        renamed = divulge.copies(frame, synthetic.rename({"t": "u"}), holdout=frame)
        assert not found([*results, *renamed])


def test_tables_elsewhere_give_the_same_rates():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    parts = tables("without marks", seed=9)
    here = divulge.copies(*parts[:2], holdout=parts[2], variants=["one column"])
    there = divulge.copies(*[duckdb.from_arrow(t.to_arrow()) for t in parts[:2]],
                           holdout=duckdb.from_arrow(parts[2].to_arrow()), variants=["one column"])  # fmt: skip
    assert [(r.variant, r.real, r.holdout, r.p_value) for r in here] == [
        (r.variant, r.real, r.holdout, r.p_value) for r in there
    ]
    assert found(here) == {("one column, without marks", ("who",))}


def sha(text, algorithm=hashlib.sha256):
    return algorithm(text.encode())


PSEUDONYMS = {
    "cut": lambda t: sha(t).hexdigest()[:10],
    "cut, in an address": lambda t: sha(t, hashlib.md5).hexdigest()[:12] + "@example.org",
    "cut, behind a word": lambda t: "USER_" + sha(t, hashlib.sha1).hexdigest()[:8].upper(),
    "SHA-384": lambda t: sha(t, hashlib.sha384).hexdigest(),
    "as a UUID": lambda t: str(uuid.UUID(sha(t, hashlib.md5).hexdigest())),
    "UUID 5": lambda t: str(uuid.uuid5(uuid.NAMESPACE_URL, t)),
    "UUID 3": lambda t: "{" + str(uuid.uuid3(uuid.NAMESPACE_DNS, t)) + "}",
    "base 64": lambda t: base64.b64encode(sha(t).digest()).decode(),
    "base 64 of an address": lambda t: base64.urlsafe_b64encode(sha(t, hashlib.sha1).digest()).decode().rstrip("="),
    "base 32, cut": lambda t: base64.b32encode(sha(t).digest()).decode()[:16],
}


@pytest.mark.parametrize("make", [names, numbers])
@pytest.mark.parametrize("how", PSEUDONYMS)
def test_pseudonyms_that_are_digests_without_a_salt_are_found(make, how):
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (coarse(rng, N, who=make(rng, N)) for _ in range(3))
    who = pl.Series([PSEUDONYMS[how](t) for t in [*real["who"][:20], *synthetic["who"][20:]]])
    results = divulge.copies(real, synthetic.with_columns(who=who), holdout=holdout, variants=["one column"])
    assert found(results) == {("one column, digest", ("who",))}
    (one,) = [r for r in results if r.variant == "one column, digest"]
    assert one.real.hits >= 15  # a short one may lack a letter or a digit
    assert one.holdout.hits == 0
    salted = pl.Series([PSEUDONYMS[how](f"salt{t}") for t in real["who"]])
    results = divulge.copies(real, synthetic.with_columns(who=salted), holdout=holdout, variants=["one column"])
    assert not found(results)


# ---------------------------------------------------------------- forms that no comparison reads


def encoded(texts):
    return pl.Series([base64.b64encode(t.encode()).decode() for t in texts])


@pytest.mark.parametrize(
    "make", [names, numbers, lambda g, n: [f"{t[:4]}.{k}@x.org" for k, t in enumerate(numbers(g, n))]]
)
def test_values_in_a_form_that_nobody_has_are_told(make):
    rng = np.random.default_rng(12)
    real, synthetic, holdout = (coarse(rng, N, who=make(rng, N)) for _ in range(3))
    assert not other_form(build_case(real, synthetic, holdout), "who")
    hashed = pl.Series([hashlib.sha256(t.encode()).hexdigest() for t in synthetic["who"]])
    assert not other_form(build_case(real, synthetic.with_columns(who=hashed), holdout), "who")  # which is compared
    coded = encoded(synthetic["who"])
    assert other_form(build_case(real, synthetic.with_columns(who=coded), holdout), "who")
    some = pl.concat([coded[:170], synthetic["who"][170:]])
    assert not other_form(build_case(real, synthetic.with_columns(who=some), holdout), "who")
    signs = pl.Series([f"~{k}q4" for k in range(1000, 1000 + N)])
    few = [real.with_columns(who=pl.concat([signs[:k], real["who"][k:]])) for k in (9, 10)]
    told = [other_form(build_case(t, synthetic.with_columns(who=signs), holdout), "who") for t in few]
    assert told == [True, False]


def diagnoses(rng, n):
    return [", ".join(f"{rng.choice(list('ABCDEF'))}{k:02d}.{k % 7}" for k in rng.integers(0, 99, m))
            for m in rng.integers(4, 9, n)]  # fmt: skip


def remarks(rng, n):
    common = ["the", "of", "and", "to", "in", "is", "was", "for", "on", "with"]
    rare = ["".join(map(chr, 97 + rng.integers(0, 26, 6))) for _ in range(60)]
    return [" ".join(rng.choice(common if rng.random() < 0.5 else rare) for _ in range(20)) for _ in range(n)]


COMMON = {"the", "of", "and", "to", "in", "is", "was", "for", "on", "with"}
ELSEWHERE = {
    "salted digest behind a letter": (
        lambda g, n: [f"P{k}" for k in numbers(g, n)],
        lambda t: sha("s" + t).hexdigest()[:11].upper(),
    ),
    "number as a salted digest": (
        lambda g, n: [f"Street {k}" for k in g.integers(1, 10**6, n)],
        lambda t: "Street " + sha("s" + t).hexdigest()[:7],
    ),
    "codes cut": (diagnoses, lambda t: ", ".join(c[:3] for c in t.split(", "))),
    "codes behind a word": (diagnoses, lambda t: ", ".join("ICD10:" + c for c in t.split(", "))),
    "words in order, each once": (remarks, lambda t: " ".join(sorted(set(t.split())))),
    "without common words": (remarks, lambda t: " ".join(w for w in t.split() if w not in COMMON)),
    "words cut": (remarks, lambda t: " ".join(w[:-1] for w in t.split())),
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_values_whose_signs_or_words_are_nobodys_are_told(how):
    rng = np.random.default_rng(31)
    make, change = ELSEWHERE[how]
    who = make(rng, 3 * N)
    real, synthetic, holdout = (coarse(rng, N, who=pl.Series(who[k * N : (k + 1) * N])) for k in range(3))
    assert not other_form(build_case(real, synthetic, holdout), "who")
    for table in (real, synthetic):
        other = synthetic.with_columns(who=pl.Series([change(t) for t in table["who"]]))
        assert other_form(build_case(real, other, holdout), "who")


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (names, str.upper),
        (names, lambda t: ", ".join(reversed(t.split()))),
        (names, plain_ascii),
        (numbers, lambda t: f"{t[:4]}-{t[4:]}"),
        (lambda g, n: [f"P{k}" for k in numbers(g, n)], lambda t: "P" + t[-5:]),
        (diagnoses, lambda t: ", ".join(reversed(t.split(", ")))),
        (remarks, lambda t: " ".join(t.split()[3:])),
    ],
)
def test_values_in_a_form_that_is_read_are_not(make, change):
    rng = np.random.default_rng(32)
    who = make(rng, 3 * N)
    real, synthetic, holdout = (coarse(rng, N, who=pl.Series(who[k * N : (k + 1) * N])) for k in range(3))
    changed_form = synthetic.with_columns(who=pl.Series([change(t) for t in synthetic["who"]]))
    assert not other_form(build_case(real, changed_form, holdout), "who")


def test_codes_of_digits_alone_beside_hexadecimal_ones_are_written_otherwise():
    rng = np.random.default_rng(21)

    def badges(n):
        return [f"{k:010x}" for k in rng.integers(0, 2**40, n)]

    n = 1_500  # of which some fourteen have digits alone
    real, synthetic, holdout = (coarse(rng, n, who=badges(n)) for _ in range(3))
    assert real["who"].str.contains("^[0-9]+$").sum() >= 10
    assert not other_form(build_case(real, synthetic, holdout), "who")
    decimal = synthetic.with_columns(who=pl.Series([f"{int(t, 16):013d}" for t in synthetic["who"]]))
    assert other_form(build_case(real, decimal, holdout), "who")


@pytest.mark.parametrize(
    "letters", ["абвгдежзиклмнопрстуфхцчшщыэюя", "αβγδεζηθικλμνξοπρστυφχψω", "אבגדהוזחטיכלמנסעפצקרשת"]
)
def test_names_in_another_script_are_told(letters):
    """No comparison reads them: which letter stands for which is known to people alone."""
    rng = np.random.default_rng(14)
    real, synthetic, holdout = (coarse(rng, N, who=names(rng, N)) for _ in range(3))
    script = str.maketrans({chr(97 + i): letters[i % len(letters)] for i in range(26)})
    written = pl.Series([t.lower().translate(script) for t in real["who"]])
    assert other_form(build_case(real, synthetic.with_columns(who=written), holdout), "who")
    assert other_form(build_case(real.with_columns(who=written), synthetic, holdout.with_columns(who=written)), "who")


def scope_of(case):
    return not_compared(case, Attacker(), [])


def test_a_form_that_nobody_has_holds_none_found_back():
    rng = np.random.default_rng(13)
    real, synthetic, holdout = (coarse(rng, N, who=names(rng, N)) for _ in range(3))
    case = build_case(real, synthetic.with_columns(who=encoded(real["who"])), holdout)
    assert scope_of(case) == [NotCompared(column="who", why=OTHER_FORM)]
    assert holding(scope_of(case)) == {OTHER_FORM: ["who"]}
    assert not scope_of(build_case(real, synthetic, holdout))
    numbered = build_case(real, synthetic.with_columns(who=pl.arange(1, N + 1, eager=True)), holdout)
    assert not scope_of(numbered)  # row numbers are nobody's names
    unit = build_case(real, synthetic.with_columns(who=encoded(real["who"])), holdout, unit="who")
    assert [c.why for c in scope_of(unit)] == []  # whose names a synthesizer makes anew


@pytest.mark.parametrize("sizes", [(600, 600, 200), (400, 900, 400)])
def test_identifiers_that_are_numbered_in_each_table_are_no_finding(sizes):
    rng = np.random.default_rng(5)
    tables = [
        coarse(rng, n, who=[f"{side}{i}" for i in rng.permutation(3 * n)[:n]])
        for side, n in zip("rsh", sizes, strict=True)
    ]
    forms = [r for r in divulge.copies(*tables) if r.variant.startswith("one column, ")]
    assert len(forms) >= 5 and {r.verdict for r in forms} == {None}
    assert all(WRITTEN_OTHERWISE in r.notes for r in forms)


def test_written_alike_seldom_fails_where_people_were_split_by_chance():
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(tries(400, 40)):
        values = pl.Series([f"c{x}" for x in rng.permutation(1500)[:900]])
        failed += not written_alike(values[:600], values[600:])
    assert failed <= 2

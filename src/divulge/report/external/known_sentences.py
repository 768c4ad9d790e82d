"""The sentences that attacks and checks write, without their numbers and names.

These sentences quote the columns that they name, so that no other word of theirs is a name: an external edition keeps
the other words even where a column is called "vote" or "real". In all other text every occurrence of a name is
replaced. The notes of an attack are in its catalogue entry. Add the sentence of a new check here; until then an
external edition leaves it out where one of its words is also the name of a column.
"""

from __future__ import annotations

import re
from functools import lru_cache

from divulge.attacks.entry import CATALOGUE

__all__ = ["PUBLIC", "QUOTED", "QUOTED_LIST", "SENTENCES", "WORDS", "is_ours", "is_public"]

QUOTED = r"""(?<!\w)(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")(?!\w)"""
"""A quoted text, as repr writes it; an apostrophe after a letter does not open one."""

_KIND = r"(?: \(\w[\w -]*\))?"
QUOTED_LIST = rf"{QUOTED}{_KIND}(?:, {QUOTED}{_KIND})*(?: and [\d,]+ more)?"
"""A list of quoted texts, each with its kind in brackets where one is given."""

_NUMBER = re.compile(r"(?:\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?)(?:st|nd|rd|th)?")
_LIST = re.compile(r"'…'(?: \(\w[\w -]*\))?(?:, '…'(?: \(\w[\w -]*\))?)*(?: and # more)?")


def is_ours(text: str) -> bool:
    """Return whether a text is one of the sentences of divulge, whatever its numbers and quoted names.

    Examples
    --------
    >>> is_ours("left out of the distance: 'memo' (identifier), 'note' (text)"), is_ours("ask Ann about 'memo'")
    (True, False)
    """
    plain = _plain(text)
    return plain in SENTENCES or plain in _declared(tuple(CATALOGUE)) or _FILLED.fullmatch(plain) is not None


def is_public(text: str) -> bool:
    """Return whether a text is a sentence of divulge all of whose numbers are settings or numbers of columns.

    Examples
    --------
    >>> is_public("all tables have the same 4 columns"), is_public("90 real, 80 synthetic rows")
    (True, False)
    """
    return _plain(text) in PUBLIC


def _plain(text: str) -> str:
    plain = _NUMBER.sub("#", re.sub(QUOTED, "'…'", text, flags=re.DOTALL))
    plain = re.sub(r"(?<!')…(?!')", "#", plain)  # a number that an external edition withholds
    return _LIST.sub("'…'", plain)


@lru_cache(maxsize=4)
def _declared(attacks: tuple[str, ...]) -> frozenset[str]:
    """Return the notes of these attacks, and the reasons why one of them is not run."""
    return frozenset(text for name in attacks for text in (*CATALOGUE[name].notes, *CATALOGUE[name].plan.sentences))


_NOTES = (
    "cannot tell: nobody is left that the attack reaches",
    "cannot tell: of a full copy of the real table only # would show here, so that a copied fraction of # could not be "
    "told from none",
    "cannot tell: rows near to members are missing (dcr, hole), so that what a copy would show was removed with them",
    "cannot tell: strangers are always hit, so that the risk is undefined",
    "cannot tell: an excess was found within this attack, but not after correction for the number of attacks",
    "cannot tell: a deficit was found within this attack, but not after correction for the number of attacks",
    "members are met less often than strangers. Where rows near to members are missing, as a filter leaves them or a "
    "generator that rejects copies of its training rows, absence tells who is a member",
    "column '…': # quantile bins of real and holdout, right-closed",
    "inference without disclosure: the attack is right about strangers too, more often than the prior; what it learns "
    "is about the population, not about the people in the table",
    "left out of the distance: '…'",
    "tables that pass distance tests were shown to leak: a mean over rows hides the few who are copied",
    "the rate is of synthetic rows: those whose nearest person is a member, or a stranger; ties are shared",
    "the score was bounded: the upper limit of the risk lies outside [#, #]",
)
"""Notes that several attacks share; those of one attack are in its catalogue entry."""
_BASELINES = (
    "PRC of naming the commonest value for everybody",
    "a guess that knows nothing of the table, n w (# - w)^(n - #) at n = #, exactly for finitely many people",
    "guessing in proportion to how often each value occurs",
    "naming one value for everybody",
    "naming one value for everybody, the best one",
    "naming one value for everybody, the best one of each target",
    "naming the commonest value",
    "rows a few places apart",
    "rows in random order",
    "a synthetic row drawn at random",
    "two random sets of # synthetic row",
    "two random sets of # synthetic rows",
)
_MATCHED = (
    "# of # holdout rows equal a synthetic row and no real one, # of # a real row and no synthetic one",
    "# of # holdout rows equal a synthetic row and no real one, # of # a real row and no synthetic one; # of "
    "# nearly equal a synthetic row alone (within #), and # of # a real one",
)
_TOGETHER = "#% of nearest other rows are of the own table, #% of the # nearest, where a random split gives #% (p = #)"
_SHIFTED = ". Where the # nearest are as often of the own table, the tables come from different populations instead"
_VALUES = ". Values, or missing ones, of '…' are more frequent in one of them"
_NO_SPLIT = ": they are no random split; every excess below is suspect"
_DIGITS = (
    "Numbers of '…' have other last digits in real than in holdout, as rounding or float# leaves them: write both "
    "tables in the same way"
)
_CHECKS = (
    *_MATCHED,
    *(
        f"the synthesizer seems to have seen the holdout: {m} (p = #); strangers then hide what members lose. Use "
        "people who were never given to the generator"
        for m in _MATCHED
    ),
    *(
        "not tested: the tables are too coarse or too small, a tenth of the holdout in the synthetic table would not "
        f"show; {m}"
        for m in _MATCHED
    ),
    "not tested: not all rows are in memory",
    "not tested: too few people, or no column to compare them by",
    _TOGETHER,
    f"{_TOGETHER}: several rows seem to belong to one person; name the column by --unit, or make one row a person"
    + _SHIFTED,
    f"{_TOGETHER}: several units of '…' seem to belong together; name the column of the larger unit by --unit"
    + _SHIFTED,
    *(
        f"the tables look split by '…'{more}: #% of those who share its value with others share it within their own "
        f"table alone; name it{larger} by --unit, or split the people at random"
        for more in ("", " ('…' too)")
        for larger in ("", " as the larger unit")
    ),
    "of the tenth of people with the nearest neighbours, #% have theirs in the other table: more than a random split "
    "of these people gives; remove people who are in both",
    "# columns are shared; holdout has # more ('…'), left out",
    "# columns are shared; real has # more ('…'), left out",
    "# columns are shared; synthetic has # more ('…'), left out",
    "# of # holdout rows equal a real row, as a random split of these people may give",
    "# of # holdout rows equal a real row: more than a random split of these people gives; remove people who are in "
    "both",
    "# of # real rows repeat another one (#%); if these are the same people, name their column with unit",
    "# real, # synthetic rows",
    "# real, # synthetic, # holdout rows",
    "# real, # synthetic, # holdout rows: real and synthetic and holdout are few, most answers will be unsure",
    "# units of '…' are in both real and holdout: split by unit",
    "'…': infinite values fall into the end bins",
    "'…': most synthetic values occur in no real record; were the tables prepared alike?",
    "'…': not used as keys, targets or in whole-row comparison unless named",
    "'…': tell nothing about anybody, not attacked",
    *(
        f"a classifier tells real from holdout with AUC # (# is chance, p = #){units}{found}"
        for units in ("", "; units have # rows in real and # in holdout (p = #)")
        for found in ("", *(_NO_SPLIT + values + digits for values in ("", _VALUES) for digits in ("", f". {_DIGITS}")))
    ),
    "all tables have the same # columns",
    "holdout: columns that not all tables have are left out, # in all: '…'",
    "no '…' is in both real and holdout",
    "no holdout: inference and disclosure are not separated; rates of members alone say nothing about disclosure",
    "real: columns that not all tables have are left out, # in all: '…'",
    "synthetic: columns that not all tables have are left out, # in all: '…'",
    "synthetic: columns that not all of these tables have are left out, # in all",
    "synthetic: # tables of one training set, taken together: # rows",
    "real: # files were read as one table",
    "synthetic: # files were read as one table",
    "holdout: # files were read as one table",
)
_REACH = tuple(
    f"with # and # {who} {text}"
    for who in ("members and strangers", "units of members and of strangers")
    for text in (
        "no risk can be found; # needs about # of each",
        "a risk below about # will hardly be found (where strangers are hit in #% of cases)",
        "a risk below about # will hardly be found (where strangers are hit in #% of cases); # needs about # of each",
    )
)
_SEARCHED = tuple(
    f"# targets are many{few}: the best {sets} tested"
    for few in ("", " for so few people", " for so many people")
    for sets in ("key set of each was", "# key sets of each were")
)
_ASKED = tuple(
    "cap, inference, linkability, membership and other means over people ask a random sample: "
    f"# of # members{strangers}; all other attacks ask everybody"
    for strangers in ("", " and # of # strangers")
)
_FEWER = tuple(
    f"linear_reconstruction asks a random sample, for the time that it takes: # of # members{strangers}"
    for strangers in ("", " and # of # strangers")
)
_WHOLE = (
    *_ASKED,
    *_FEWER,
    *_REACH,
    *_SEARCHED,
    "No attack could be compared with strangers.",
    "No holdout was given: inference and disclosure are not separated, so no statement about disclosure is made. Give "
    "people whom the synthesizer never saw with --holdout.",
    "inference: # targets are many, and the first # by name were attacked; name others as targets",
    "all people do not fit into memory, so that a sample is asked (--people all asks everybody)",
    "inference: no model was trained, as that takes long on tables of this size; models=True asks for it",
    "key sets of # columns: the # that extend the best smaller ones were looked at",
    "no column is left as a target: attribution was not tested",
    "no key set was searched for: too many people for the scores of so many targets; name keys or targets",
    "key sets were searched on # of # synthetic rows, drawn at random, and tested on all rows",
    "the tables were counted where they are: attacks that need every row were not made",
    "copies: exact copies alone were counted; near copies and copies of parts of a row need every row",
    "fidelity was not measured: codes of all rows do not fit into memory (--beyond-memory begins nevertheless)",
    "fidelity was measured on # + # rows, drawn at random: codes of all rows do not fit into memory",
    "fidelity was measured on # + # + # rows, drawn at random: codes of all rows do not fit into memory",
    "it needs every row, and the tables are counted where they are",
    "it is about all people, and the distinct rows of what it looks at do not fit into memory",
    "the synthetic table does not fit into memory in the form in which it is searched",
    "nobody was asked: the codes of all rows need more disk than there is (--spill names a folder)",
    "nobody was asked: the tables are of an engine that tells counts and no rows; as Parquet files, or as tables of a "
    "DuckDB file, they would tell rows (--engine duckdb)",
    "nobody was asked: the values of the fewest people that are asked need more than half of the memory",
    "an engine asks a sample of people (--people sets the number, all asks everybody, none counts alone)",
    "only one column can be attacked, and a key set needs another: no key set was tested",
    "smallest share: share * smallest_detectable / (difference with the plant - difference without), since an excess "
    "is linear in the share; with #% power, corrected for the number of comparisons and of attacks; singling "
    "out is left out, whose excess grows faster than the share",
    "there are no compiled loops: numbers are the same without them, but searches take many times longer",
    "the search for minimal sets stopped before # columns: # sets are too many",
    "fewer columns can be attacked than it needs",
    "it needs a holdout",
    "whoever ran the assessment left it out",
    "no column is left as a target",
    "no keys were given, and no key set was searched for",
    "no keys were given: it is made for keys and targets that are named",
    "the time was up",
    "three more runs would take too long",
)
PUBLIC = frozenset(
    (
        "# columns are shared; holdout has # more ('…'), left out",
        "# columns are shared; real has # more ('…'), left out",
        "# columns are shared; synthetic has # more ('…'), left out",
        "all tables have the same # columns",
        "holdout: columns that not all tables have are left out, # in all: '…'",
        "real: columns that not all tables have are left out, # in all: '…'",
        "synthetic: columns that not all tables have are left out, # in all: '…'",
        "synthetic: columns that not all of these tables have are left out, # in all",
        *_SEARCHED,
        "inference: # targets are many, and the first # by name were attacked; name others as targets",
        "key sets of # columns: the # that extend the best smaller ones were looked at",
        "there are no compiled loops: numbers are the same without them, but searches take many times longer",
        "the search for minimal sets stopped before # columns: # sets are too many",
    )
)
"""Sentences whose numbers are all settings or numbers of columns."""

SENTENCES = frozenset((*_NOTES, *_BASELINES, *_CHECKS, *_WHOLE))
"""Each with "#" for a number and "'…'" for one quoted name or several."""

_GAP = r"(?: Not tested(?:, as the time was up)?: [a-z_, ]+\.)?"
_DOUBT = r"(?: But a precondition fails \([a-z, ]+\): see there before relying on this\.)?"
_FILLED = re.compile(
    r"A precondition fails \([a-z, ]+\): strangers are no fair comparison with the people of the real table, so that "
    r"nothing follows either way\. See the preconditions\."
    rf"|None of # comparisons that were made shows an excess over strangers\.{_GAP}"
    rf"|No attack could be compared with strangers\.{_GAP}{_DOUBT}"
    r"|cannot tell: a precondition fails \([a-z, ]+\), so that nothing is bounded"
    r"|the run was given # seconds, and these tests were left out or cut short: [a-z_ #,]+; "
    r"what they would tell of single records is missing among the records"
)
"""Sentences that list names of checks or attacks, which are never data."""

_EVERY = (*SENTENCES, *(note for a in CATALOGUE.values() for note in (*a.notes, *a.plan.sentences)))
WORDS = frozenset(w for s in _EVERY for w in re.findall(r"\w+", s))
"""The words of the sentences of divulge; a column may have one of them as its name."""

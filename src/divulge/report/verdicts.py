"""The words of verdicts: how every document shows each of them, and what it says about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHECKED", "FIDELITY", "MOVED", "RISK", "USE", "VerdictWord", "word_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWord:
    """One word of a verdict."""

    css: str = "unsure"
    """Class of the style sheet, which gives colour and sign; that of a leak is for risks alone."""
    sign: str = ""
    """Sign in Markdown."""
    small: str = ""
    """Sign in a cell of a map; none where nothing is to be seen."""
    colour: str = ""
    """Style in a terminal."""
    mark: tuple[str, float, str] = ("m-none", 0.0, "")
    """Class of its mark in a drawing, how far below the middle its path begins, and the path; "" for a dot."""
    icon: str = ""
    """Drawing beside the headline."""
    rank: int = 0
    """Place in a list, worst first."""
    state: str = ""
    """What a tile says for it, where that is another word."""
    title: str = ""
    """What it means for a release."""
    first: str = ""
    """What comes before the steps to take."""
    release: str = "release although not cleared"
    """The box to tick for a release."""
    meaning: str = ""
    definition: str = ""
    """With `{acceptable}` to fill in."""
    of_audit: str = ""
    """What an audit with it found."""
    of_hits: str = ""
    """With `{members}` and `{strangers}` to fill in: people, or their rows."""
    of_near_rows: str = ""
    of_distance: str = ""
    """What follows a distance with it."""


_UP, _DOWN = ("m-excess", -6.0, "l6 11h-12Z"), ("m-excess", 6.0, "l-6 -11h12Z")
_DIAMOND = ("m-unsure", -6.0, "l6 6-6 6-6-6Z")
_STEPS = "Withhold the table. Next:"
_AGAINST = "release in spite of this evidence"
_NO_STEPS = "Do not release on this evidence. Next:"

RISK = {
    "excess found": VerdictWord(
        rank=0, css="excess", sign="▲", colour="bold red", mark=_UP, first=_STEPS, release=_AGAINST,
        icon='<path class="i-fill" d="M24 5 45 42H3Z"/><path class="i-cut" d="M24 18v12M24 35.5v.5"/>',
        title="Excess found: evidence against release",
        meaning="The synthetic table says more about people in the real table than about strangers. As far as "
        "the preconditions hold, that part does not come from patterns of the population.",
        definition="the simultaneous lower limit of the difference between members and strangers is above 0, and the "
        "corrected p-value agrees: the attack is right more often about people in the real table.",
        of_audit="The synthetic tables disclose something about the people they were trained on.",
        of_hits="{members} are hit more often than {strangers}",
        of_near_rows="rows lie nearer to members than to strangers",
    ),
    "deficit found": VerdictWord(
        rank=1, css="deficit", sign="▼", colour="bold red", mark=_DOWN, first=_STEPS, release=_AGAINST,
        icon='<path class="i-fill" d="M24 43 3 6H45Z"/><path class="i-cut" d="M24 12v12M24 29.5v.5"/>',
        title="Deficit found: the gaps give people away, evidence against release",
        meaning="The synthetic table says less about people in the real table than about strangers: rows near to "
        "members are missing. Absence tells who is a member, so this is a disclosure too.",
        definition="the simultaneous upper limit of the difference is below 0, and the corrected p-value agrees: the "
        "attack is right less often about people in the real table, as when rows near to them were removed.",
        of_hits="{members} are hit less often than {strangers}",
        of_near_rows="rows near to members are missing, which tells who is a member",
    ),
    "none found": VerdictWord(
        rank=3, css="none", sign="●", state="no excess found", release="release",
        icon='<circle class="i-line" cx="24" cy="24" r="19"/><path class="i-line" d="m15.5 24.5 6 6 11.5-12"/>',
        title="No excess found: cleared for release by the main tests",
        meaning="No comparison is a finding, and every primary comparison, fixed before the run, bounds the risk by "
        "the acceptable one. The others were screened: they could have found something, and bound nothing. This speaks "
        "about the attacks, keys and targets on this page and about nothing else.",
        definition="neither, and the simultaneous upper limit of risk is at most {acceptable}.",
        of_audit="This audit found nothing that the synthetic tables disclose about the people they were trained on.",
    ),
    "cannot tell": VerdictWord(
        rank=2, css="unsure", sign="◆", colour="yellow", mark=_DIAMOND, first=_NO_STEPS,
        icon='<path class="i-line" d="M24 3 45 24 24 45 3 24Z"/>'
        '<path class="i-line" d="M18.5 19.5c0-7 11-7 11 0 0 5-5.5 4.5-5.5 9.5M24 34.5v.5"/>',
        title="Cannot tell: not cleared for release",
        meaning="No comparison is a finding for certain, and not every primary comparison, fixed before the run, "
        "bounds the risk by the acceptable one. The sentence above gives the bounds that were reached: they are the "
        "answer.",
        definition="none of these. Mostly the interval includes 0 and reaches above {acceptable}; the note beside it "
        "says why, and which size would do.",
        of_audit="This audit cannot tell whether the synthetic tables disclose something about people.",
    ),
    "no holdout": VerdictWord(
        rank=4, css="nohold", sign="□", first=_NO_STEPS,
        icon='<rect class="i-line i-dash" x="5" y="5" width="38" height="38" rx="4"/>',
        title="No holdout: not cleared for release",
        meaning="Inference and disclosure are not separated: the rates on this page mix what the patterns of the "
        "population give away with what the rows of single people give away.",
        definition="there were no strangers to compare with; only rates are shown.",
    ),
}  # fmt: skip
"""Verdicts on risks, in the order of their definitions."""

FIDELITY = {
    "differs": VerdictWord(sign="▲", small="▴", of_distance="more than chance gives."),
    "like a fresh sample": VerdictWord(css="none", sign="●", of_distance="no difference that matters."),
    "cannot tell": VerdictWord(css="nohold", sign="◆", of_distance="too few rows to say whether that matters."),
    "closer than a fresh sample": VerdictWord(
        sign="▼",
        small="▾",
        of_distance="closer than chance gives, as a table of copies would be.",
    ),
    "not measured": VerdictWord(css="nohold", of_distance="not measured."),
}
"""Verdicts on a measure of fidelity; none has the colour of a leak."""

USE = {
    "closer than a new sample": VerdictWord(sign="▼"),
    "closer than most new samples": VerdictWord(sign="▼"),
    "like a new sample": VerdictWord(css="none", sign="●"),
    "a little coarser": VerdictWord(css="nohold", sign="◆"),
    "coarse": VerdictWord(sign="◆"),
    "of little use for counts": VerdictWord(sign="◆"),
}
"""Words for how far a table lies from the real one, in place of the verdict on its distance."""

MOVED = {
    "rose": VerdictWord(rank=0, css="excess", mark=_UP),
    "fell": VerdictWord(rank=1, css="none"),
    "no change found": VerdictWord(rank=2, mark=_DIAMOND),
    "cannot compare": VerdictWord(rank=3, mark=_DIAMOND),
}
"""Verdicts on a risk beside that of an earlier run."""

CHECKED = {
    "kept": VerdictWord(css="ok", sign="●"),
    "not kept": VerdictWord(css="notok", sign="▲"),
    "ok": VerdictWord(css="ok"),
    "not ok": VerdictWord(css="notok"),
    "not tested": VerdictWord(css=""),
    "contradicted": VerdictWord(css="notok", sign="▲"),
    "not contradicted": VerdictWord(css="ok", sign="●"),
    "not judged": VerdictWord(css=""),
}
"""How a condition, a precondition or a claim ended."""

_WORDS = {"not tested": VerdictWord(css="not-tested"), **MOVED, **FIDELITY, **USE, **RISK}


def word_of(word: str | None) -> VerdictWord:
    """Return how a verdict on a risk, or another state of a question, is shown; an unknown one as if none could tell.

    Examples
    --------
    >>> word_of("excess found").sign, word_of("differs").css, word_of("not tested").css
    ('▲', 'unsure', 'not-tested')
    """
    return _WORDS.get(word or "", RISK["cannot tell"])

"""The first two pages of a report read easily: Flesch's reading ease of their sentences, small print included."""

import re
from html.parser import HTMLParser

import polars as pl
import pyphen
import pytest
from report_helpers import tables
from test_first_page import CALM, EVERY, EXACT, NEAR, report

import divulge
from divulge.demo import tables as demo_tables
from divulge.report.documents.html import page

EASE = 60
"""Pyphen counts hyphenation points, 5 to 8 points kinder on these pages than the CMU Pronouncing Dictionary (73 to 74
where Pyphen gives 78 to 82): 60 here is at least 50 there."""
SYLLABLES = pyphen.Pyphen(lang="en_US")
_PROSE = {"p", "li", "dd", "figcaption"}
_NO_PROSE = {"svg", "table", "details", "h2", "h3", "dt"}


class Sentences(HTMLParser):
    """The sentences of paragraphs, entries of lists and captions, up to the evidence; no headings, tables, drawings."""

    def __init__(self, text):
        super().__init__()
        self.open, self.blocks = [], [[]]
        self.feed(text[text.index("<main") : text.index('<section class="seen"')])

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "input"):
            self.open.append(tag)
        if tag in _PROSE:
            self.blocks.append([])

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        inside = set(self.open)
        if not _NO_PROSE & inside and _PROSE & inside:
            self.blocks[-1].append(data)

    @property
    def all(self):
        texts = (" ".join("".join(b).split()) for b in self.blocks)
        return [s for t in texts for s in re.split(r"(?<=[.?!])\s+", t) if len(s.split()) > 2]


def ease(sentences):
    """Flesch 1948: 206.835 - 1.015 words a sentence - 84.6 syllables a word; numbers are no words."""
    words = [w for s in sentences for w in re.findall(r"[A-Za-z']+", s)]
    syllables = sum(len(SYLLABLES.positions(w)) + 1 for w in words)
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words)


def test_the_measure_tells_plain_from_hard():
    assert ease(["Nobody saw the cat on the mat."]) > 90
    assert (
        ease(["Simultaneous multiplicity-corrected residual disclosure probabilities necessitate interpretation."]) < 20
    )


@pytest.mark.parametrize("data", [*EVERY, report(EXACT, NEAR, *CALM[1:])])
def test_the_first_two_pages_read_easily(data):
    sentences = Sentences(page(data, [])).all
    assert len(sentences) > 15
    assert ease(sentences) >= EASE


def planted(how):
    """Real people, a synthetic table with a known fault, and strangers."""
    real, synthetic, holdout = tables(n=240, seed=3)
    fresh = synthetic[120:]
    if how == "filtered":
        return real, pl.concat([holdout[:120], fresh]), holdout
    return real, real if how == "released as it is" else synthetic, holdout


@pytest.mark.slow
@pytest.mark.parametrize("how", ["demo", "copies", "filtered", "released as it is"])
def test_the_pages_of_runs_read_easily(how):
    real, synthetic, holdout = demo_tables() if how == "demo" else planted(how)
    run = divulge.assess(real, synthetic, holdout=holdout, models=False, jobs=1, seed=1)
    for text in (run.to_html(), run.external().to_html()):
        assert ease(Sentences(text).all) >= EASE

"""What tests of reports share: hostile names, tables, and a page as a browser reads it."""

import dataclasses
import re
from collections.abc import Mapping
from functools import cache, partial, wraps
from html.parser import HTMLParser
from types import SimpleNamespace, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import polars as pl

from divulge.core.result import Risk, counts_rows, jsonable
from divulge.release import baseline, conditions, rules
from divulge.report import control_model, formatting, model, order, policy_model
from divulge.report.content import content_of
from divulge.report.documents import html, terminal
from divulge.report.documents import junit as _junit
from divulge.report.documents import markdown as _markdown
from divulge.report.external import edition
from divulge.report.model import FORMAT, Assessment, ResultRecord
from divulge.report.prose import answer
from divulge.report.prose import distances as _distances
from divulge.report.prose import people as _people
from divulge.report.prose import statement as _statement
from divulge.report.prose import wp216 as _wp216

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=1>',
    "{{7*7}}",
    "age\u202egnp.exe",
    "a|b`c`\n# d [x](http://evil.example/)",
    "' onmouseover='alert(2)",
]
VOID = {"meta", "link", "br", "input"}
AVOIDED = re.compile(r"\b(safe|anonymous|guaranteed|passes|simply|just|obviously)\b", re.IGNORECASE)


def tables(n=160, names=("age", "job", "region", "sex", "income", "code"), seed=0):
    """Real people, a synthetic table that copies many of them, and strangers."""
    rng = np.random.default_rng(seed)

    def people(m):
        columns = [rng.integers(0, k, m) for k in (9, 7, 5, 2, 3, 6)]
        return pl.DataFrame(dict(zip(names, [[f"v{v}" for v in c] for c in columns], strict=True)))

    real, holdout = people(n), people(n)
    return real, pl.concat([real[: n // 2], people(n // 2)]), holdout


def ended(text):
    """Return a page with the end tags of cells and rows that HTML lets go."""
    out, cell, row = [], "", False
    for part in re.split(r"(</?(?:td|th|tr|tbody|thead)\b[^>]*>)", text):
        tag = re.match(r"<(/?)(td|th|tr|tbody|thead)\b", part)
        if tag:
            end = ""
            if cell and (tag[2] in ("td", "th", "tr", "tbody", "thead")):
                end += "" if tag[1] and tag[2] == cell else f"</{cell}>"
                cell = ""
            if row and tag[2] in ("tr", "tbody", "thead"):
                end += "" if tag[1] and tag[2] == "tr" else "</tr>"
                row = False
            if not tag[1]:
                cell, row = (tag[2], row) if tag[2] in ("td", "th") else (cell, tag[2] == "tr")
            if end and out and out[-1].endswith("\n"):
                out[-1] = out[-1][:-1]
                end += "\n"
            out.append(end)
        out.append(part)
    return "".join(out)


class Page(HTMLParser):
    """What a browser would make of the page: tags, attributes, text; complains of tags that do not match."""

    def __init__(self, text):
        super().__init__()
        text = ended(text)
        self.html, self.open, self.tags, self.words, self.levels = text, [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs), tuple(self.open)))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    def of(self, tag):
        return [(attrs, parents) for t, attrs, parents in self.tags if t == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def width(row):
    cells = re.findall(r"<t[hd]\b[^>]*>", row)
    return sum(int(m[1]) if (m := re.search(r'colspan="(\d+)"', c)) else 1 for c in cells)


# ---------------------------------------------------------------- untrusted names


def tables_of(text):
    return "".join(re.findall("<table.*?</table>", text, re.DOTALL))


# ---------------------------------------------------------------- what is said


def section(text, name):
    """Return one section of the page."""
    return re.search(f'<section aria-labelledby="{name}">.*?</section>', text, re.DOTALL)[0]


def words(html):
    return " ".join(re.sub("<[^>]+>", "", html).replace("&#39;", "'").split())


# ---------------------------------------------------------------- the typed report, from and to dictionaries

_FILLED = {"format": FORMAT, "level": 0.95, "acceptable": 0.05, "jobs": 1, "share": 0.01, "tested": True}


def typed(data, kind):
    """The struct, or list of structs, of a dictionary: nothing is checked, and fields that it lacks are empty."""
    return [converter(kind[0])(d) for d in data] if isinstance(kind, list) else converter(kind)(data)


def as_it_is(data):
    return data


def converter(kind):
    """The function that makes a value of a kind."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    parts = [k for k in get_args(kind) if k is not type(None)]
    if get_origin(kind) in (Union, UnionType):
        one = converter(parts[0]) if len(parts) == 1 else as_it_is
        return lambda data: None if data is None else one(data)
    if get_origin(kind) is tuple:
        one = converter(parts[0])
        return tuple if one is as_it_is else lambda data: tuple(map(one, data))
    if get_origin(kind) is dict:
        one = converter(parts[1])
        return dict if one is as_it_is else lambda data: {k: one(d) for k, d in data.items()}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return lambda data: struct(kind, data)
    return as_it_is


def struct(kind, data):
    if not isinstance(data, dict):
        return data
    return kind(**{f: make(data[f]) if f in data else empty() for f, (make, empty) in fields(kind).items()})


@cache
def fields(kind):
    """For each field of a struct what makes its value, and what makes an empty one."""
    hints = get_type_hints(kind, include_extras=True)
    return {f: (converter(hint), partial(_empty, f, hint)) for f, hint in hints.items()}


def assessment(data):
    return typed(data, Assessment)


def replaced(report, **parts):
    """The report with other parts, which are dictionaries."""
    return dataclasses.replace(report, assessment=assessment(report.data | parts))


def _empty(name, kind):
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if name in _FILLED:
        return _FILLED[name]
    if type(None) in get_args(kind):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return typed({}, kind)
    made = get_origin(kind) or kind
    return {} if made is Mapping else made()


def plain(value):
    """What a function gave, with dictionaries for structs."""
    if isinstance(value, Assessment):
        return content_of(value)
    if isinstance(value, msgspec.Struct):
        return jsonable(msgspec.to_builtins(value))
    if type(value).__module__ == answer.__name__:
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(v) for v in value)
    return value


def on(function, *kinds):
    """The function for dictionaries: its first arguments are made structs of these kinds, and structs dictionaries."""

    @wraps(function)
    def call(*given, **more):
        made = [typed(g, kind) if kind else g for g, kind in zip(given, kinds, strict=False)]
        return plain(function(*made, *given[len(kinds) :], **more))

    return call


page = on(html.page, Assessment)
markdown = on(_markdown.markdown, Assessment)
summary = on(terminal.summary, Assessment)
junit = on(_junit.junit, Assessment)
external = on(edition.external, Assessment)
in_schema_order = on(edition.in_schema_order, Assessment)
change = on(baseline.change, Assessment, Assessment)
judge_policy = on(conditions.judge_policy, Assessment)
broken = on(conditions.broken, policy_model.Policy)


def judge_rule(data, rule, known):
    return plain(rules.judge_rule(typed(data, Assessment), rules.parse_rule(rule, known)))


def breaches(data, asked, known):
    """A sentence for each rule that the assessment breaks."""
    judged = ((rule.strip(), judge_rule(data, rule, known)) for rule in asked)
    return [f"{rule}: {f'found {j.found}' if j.found else j.why}" for rule, j in judged if not j.kept]


unfinished = on(rules.unfinished, Assessment)
judged = on(order.judged, [ResultRecord])
by_attack = on(order.by_attack, Assessment)
controls = on(formatting.controls, Assessment)
flags = on(_people.flags, model.Records)
interval = on(formatting.interval, Risk)
of_rows = on(counts_rows, ResultRecord)
in_question = on(order.in_question, ResultRecord)
on_part = on(order.on_part, ResultRecord)
share_seen = on(formatting.share_seen, control_model.Smallest)
telling_notes = on(formatting.telling_notes, ResultRecord)
distances = SimpleNamespace(
    sentences=on(_distances.sentences, Assessment),
    values=on(_distances.values, Assessment),
    control_tables=on(_distances.control_tables, Assessment),
)
statement = SimpleNamespace(evidence=on(_statement.evidence, Assessment))
wp216 = SimpleNamespace(
    answers=on(_wp216.answers, Assessment),
    listed=on(_wp216.listed, None, [ResultRecord]),
    first_cell=on(_wp216.first_cell, ResultRecord),
)

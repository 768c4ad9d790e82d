"""What tests of reports share: hostile names, tables, and a page as a browser reads it."""

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl

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


class Page(HTMLParser):
    """What a browser would make of the page: tags, attributes, text; complains of tags that do not match."""

    def __init__(self, text):
        super().__init__()
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

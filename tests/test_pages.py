"""README and the pages of docs/ print what they show.

sybil runs the Python fences of a page in their order, in one namespace and a folder of its own; what a fence prints
stands in a fence `text` below it. cog runs, in the same namespace, what stands between its marks, and keeps what that
prints there. `--update` writes both anew. A fence below `<!-- skip: next "why" -->` is shown and not run.
"""

import contextlib
import difflib
import io
import re
from pathlib import Path
from unittest import SkipTest
from unittest.mock import patch

import pytest
from cogapp import Cog
from sybil import Document, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.membership import classifier_score
from divulge.report.explain import page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [p.relative_to(ROOT).as_posix() for p in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))]
PAGES = [name for name in PAGES if not name.startswith("docs/attacks/")]
SLOW = {
    "cap-paper", "choose-keys", "distances", "gallery", "leak-experiment", "no-holdout", "quality", "questions",
    "report-in-detail", "sdmetrics", "tutorial", "warehouse",
}  # fmt: skip
"""Pages that take more than a second."""
TREES = classifier_score.TREES  # the default run has fewer

_GENERATED = re.compile(r"<!-- \[\[\[cog\b.*?<!-- \[\[\[end\]\]\] -->\n", re.S)
_OUTPUT = re.compile(r"\n+```text\n.*?^```$", re.S | re.M)


def generated(document):
    """Parse what stands between cog's marks."""
    for found in _GENERATED.finditer(document.text):
        yield Region(found.start(), found.end(), parsed=found[0], evaluator=generate)


def generate(example):
    """Make it anew, between blank lines: Python's Markdown finds no table right below a comment."""
    cog, out = Cog(), io.StringIO()
    cog.options.print_output = True
    cog.process_file(io.StringIO(example.parsed), out, example.path, example.namespace)
    text = re.sub(
        r"\]\]\] -->\n\s*?(\S.*?)\s*<!-- \[\[\[end", r"]]] -->\n\n\1\n\n<!-- [[[end", out.getvalue(), flags=re.S
    )
    example.document.now.append((example.start, example.end, text))


def fences(document):
    """Parse Python fences, each with the output below it, and comments with code; what cog made is left out."""
    made = [found.span() for found in _GENERATED.finditer(document.text)]
    for region in PythonCodeBlockParser()(document):
        if not any(start <= region.start < end for start, end in made):
            shown = _OUTPUT.match(document.text, region.end)
            yield Region(region.start, shown.end() if shown else region.end, parsed=region.parsed, evaluator=run)


def run(example):
    text, out = example.document.text, io.StringIO()
    with contextlib.redirect_stdout(out):
        PythonEvaluator()(example)
    if text.startswith("<!--", example.start):
        assert not out.getvalue(), "a comment with code prints nothing: what is to be seen is cog's"
        return
    shown = _OUTPUT.search(text, example.start, example.end)
    fence = text[example.start : shown.start() if shown else example.end]
    printed = f"\n\n```text\n{out.getvalue()}```" if out.getvalue() else ""
    example.document.now.append((example.start, example.end, fence + printed))


def now(path):
    """Return the text of a page as its programs make it now."""
    document = Document.parse(str(path), generated, fences, SkipParser())
    document.now = []
    for example in document.examples():
        with contextlib.suppress(SkipTest):
            example.evaluate()
    text = document.text
    for start, end, new in reversed(document.now):
        text = text[:start] + new + text[end:]
    return text


def compare(path, text, update):
    """Write a file anew, or fail where it is not what its program makes."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if update and text != old:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif text != old:
        changed = "\n".join(
            difflib.unified_diff(old.splitlines(), text.splitlines(), "it says", "made now", lineterm="")
        )
        pytest.fail(
            f"{path.name} is stale; pytest tests/test_pages.py --slow --update writes it anew\n{changed}", False
        )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if Path(n).stem in SLOW else n for n in PAGES]
)
def test_a_page_prints_what_it_shows(name, tmp_path, monkeypatch, request):
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("parts.UPDATE", request.config.option.update)
    with patch.object(classifier_score, "TREES", TREES):
        compare(ROOT / name, now(ROOT / name), request.config.option.update)


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_page_of_an_attack_is_what_explain_makes(name, request):
    compare(DOCS / "attacks" / f"{name}.md", page(name), request.config.option.update)


def test_each_attack_has_a_page_and_each_page_an_attack():
    assert {p.stem for p in (DOCS / "attacks").iterdir()} == set(CATALOGUE)

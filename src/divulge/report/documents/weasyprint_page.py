"""The page as WeasyPrint can set it: it applies a page's style sheet to no drawing, and sets no nested grids."""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["adapted", "drawn"]

_RULE = re.compile(r"\.([a-z][\w-]*) \{ ((?:fill|stroke)[^}]*)\}")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
_TEXT = (
    "text { fill: var(--dim); font: 11px sans-serif; } .acc { fill: var(--unsure); } "
    ".legend, .axis-label { fill: var(--ink); font-size: 12px; }"
)
_VERDICT = re.compile(r'class="banner b-(\w+)"')
_QUIET = re.compile(r'<li class="tile (?:unsure|none|nohold)">.*?</li>', re.DOTALL)


def adapted(page: str) -> str:
    """Return a page of `Report.to_html` with the style of each drawing inside it, and the rules for WeasyPrint last.

    Examples
    --------
    >>> style = "<style>.a { fill: var(--b); } @media print { :root { --b: #123456; } }</style>"
    >>> '<svg viewBox="0 0 1 1"><style>.a { fill: #123456; }' in adapted(f'{style}<svg viewBox="0 0 1 1"></svg>')
    True
    """
    # bars are red where something was found, and grey elsewhere
    page = _QUIET.sub(lambda m: m[0].replace("f-members", "f-chance"), page)
    drawing = drawn(page)
    page = re.sub(r"<svg[^>]*>", lambda m: f"{m[0]}<style>{drawing}</style>", page)
    return page.replace("</style>", f"{_rules()}</style>", 1)


def drawn(page: str) -> str:
    """Return the rules of the page's style sheet that are about drawings, with the colours of print."""
    style = page[page.index("<style>") : page.index("</style>")]
    rules = {m[1]: m[2].strip() for m in _RULE.finditer(style)}
    colours = dict(re.findall(r"--([\w-]+): ([^;]+);", style[style.index("@media print") :]))
    verdict = _VERDICT.search(page)
    colours["verdict"] = colours.get({"deficit": "excess"}.get(verdict[1], verdict[1]) if verdict else "", "#000")
    text = " ".join(f".{name} {{ {body} }}" for name, body in rules.items())
    text = (text + (_TEXT if "svg text" in style else "")).replace("currentColor", "var(--verdict)")
    return _VARIABLE.sub(lambda m: colours.get(m[1], "#000"), text)


def _rules() -> str:
    return files("divulge.report.documents").joinpath("weasyprint.css").read_text(encoding="utf-8")

"""Pages of HTML from templates: one frame, one style sheet, one script, and a policy that forbids every request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from divulge.core import __version__
from divulge.core.result import number
from divulge.report import formatting
from divulge.report.blocks import cells, charts, drawn, evidence, uniqueness
from divulge.report.blocks import kept as of_kept
from divulge.report.blocks import results as of_results
from divulge.report.blocks.table import Cell
from divulge.report.documents.tables import html_cell, html_table
from divulge.report.prose.people import standing_out
from divulge.report.prose.statement import SIGNS
from divulge.report.verdicts import word_of

__all__ = ["fact", "page_of"]

_OURS = "divulge.report.documents"


def page_of(name: str, context: Mapping[str, Any], *, package: str = "", style: str = "", still: bool = False) -> str:
    """Return a template filled in.

    Parameters
    ----------
    name
        File of the template, in `package`.
    context
        What it shows; its strings are untrusted text.
    package
        Where the template is, if it is not one of the report.
    style
        Rules behind those of the style sheet; nothing in them is untrusted text.
    still
        Whether the page has no script.
    """
    script = "" if still else _asset("report.js")
    style = _asset("report.css") + style
    ours = {"script": Markup(script), "style": Markup(style), "policy": Markup(_content_policy(script, style))}
    found = _template(package, name) if package else _template(_OURS, f"templates/{name}")
    return str(found.render({"version": __version__, "annex": False, **context, **ours}))


@cache
def _template(package: str, name: str) -> Any:
    return _environment().from_string(files(package).joinpath(name).read_text(encoding="utf-8"))


def _asset(name: str) -> str:
    return files(_OURS).joinpath(name).read_text(encoding="utf-8")


def _content_policy(script: str, style: str) -> str:
    """Return a content security policy that allows this script and this style and forbids every request."""

    def allowed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {allowed(script)}; style-src {allowed(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Any:
    # every printed value goes through `_shown` before it is escaped
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        loader=PackageLoader("divulge.report.documents", "templates"),
    )
    helpers: dict[str, Callable[..., Any]] = {
        "brief": formatting.brief,
        "capitalized": formatting.capitalized,
        "css": lambda verdict: word_of(verdict).css,
        "to_release": lambda verdict: word_of(verdict).release,
        "name": formatting.name,
        "of": fact,
        "number": number,
        "several": formatting.several,
        "prose": formatting.prose,
        "standing_out": standing_out,
        "table": html_table,
        "two": cells.two,
    }
    environment.filters.update(helpers)
    shared = ("kept", "kept_sign", "names", "pair", "rate", "state", "verdict", "what")
    written = {name: _written(getattr(cells, name)) for name in shared}
    environment.globals |= written | {"kept_state": _written(cells.fidelity), "moved": written["verdict"]}
    tables = (charts, drawn, evidence, of_kept, of_results, uniqueness)
    environment.globals["signs"] = SIGNS
    environment.globals["blocks"] = {module.__name__.rpartition(".")[2]: module for module in tables}
    return environment


def _written(cell: Callable[..., Cell]) -> Callable[..., Markup]:
    return lambda *of: html_cell(cell(*of))


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return formatting.tidy(value)
    return value


def fact(part: msgspec.Struct | None, field: str) -> Any:
    """Return one field of a part of the report, None where there is no such part."""
    return None if part is None else getattr(part, field)

"""The public function of an attack or a measure: it takes tables where the entry's own function takes a case."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from divulge.core.calls import with_signature
from divulge.core.schema import Schema, column_names

__all__ = ["SHARED", "of_one_table", "public_function"]

SHARED = {"keys": "Columns that the attacker knows.", "target": "Column that the attacker wants to learn."}
"""Settings with the same meaning wherever a docstring does not describe them."""

_NAMES = ("keys", "target", "targets", "groups", "subgroups")
"""Settings that name columns."""
_ORDER = ("Parameters", "Returns", "Raises", "Notes", "References", "Examples")
_HEADER = re.compile(rf"^(?:{'|'.join(_ORDER)})\n-+\n", flags=re.M)


def public_function(entry: Any, answer: Callable[..., Any], *also: Callable[..., Any]) -> Any:
    """Return the public function of an entry.

    Parameters
    ----------
    entry
        Its `run` takes a case, and settings of its own; `reference` says where the method is from.
    answer
        Takes the entry, those of its settings that were given, as a dictionary, and then the tables and the settings
        that all entries share. Its signature and its docstring tell of these.
    also
        Functions whose signatures and docstrings tell of the further settings that `answer` takes as keywords.
    """
    run = entry.run
    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    shared = [p for function in (*also, answer) for p in _settings(function)]
    tables = [p for p in shared if p.kind is not p.KEYWORD_ONLY]
    names = {p.name for p in own}
    signature = inspect.signature(run, eval_str=True).replace(
        parameters=[*tables, *own, *(p for p in shared[len(tables) :] if p.name not in names)]
    )

    @functools.wraps(run)
    def public(*given: Any, **named: Any) -> Any:
        arguments = signature.bind(*given, **named).arguments
        settings = {name: _as_names(name, arguments.pop(name)) for name in names & arguments.keys()}
        return answer(entry, settings, **arguments)

    with_signature(public, signature)
    public.run, public.entry = run, entry  # type: ignore[attr-defined] # functions take attributes
    texts = [f.__doc__ or "" for f in (*also, answer)]
    told = SHARED | dict(getattr(entry.words, "settings", {}))
    described = {p.name: f"{p.name}\n{_filled(told[p.name])}\n" for p in own if p.name in told}
    public.__doc__ = _documented(run.__doc__ or "", texts, {p.name for p in tables}, described, entry.reference)
    return public


def of_one_table(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> None:
    """State what attacks and measures of one table share: this signature and these descriptions are read, no more.

    Parameters
    ----------
    real
        The training data of the synthesizer: a frame, or the path of a file.
    synthetic
        The synthetic table; for an attack also a list of several tables of one training set, attacked together.
    holdout
        People of the same population that the synthesizer never saw. None leaves out what needs them.
    schema
        Kinds of columns that are not to be inferred.
    unit
        Column of the person or household, where it has several rows.
    ignore
        Columns that are left out.
    missing
        Texts that stand for missing.
    seed
        Of everything that is drawn at random.
    level
        Of the intervals.
    """


def _settings(answer: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the tables and the settings that an answer takes, without entry and settings of its own."""
    named = inspect.signature(answer, eval_str=True).parameters.values()
    return [p for p in named if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in ("entry", "settings")]


def _as_names(setting: str, given: Any) -> Any:
    """Return the columns that a setting names as texts; None and other settings as they are."""
    if given is None or setting not in _NAMES:
        return given
    names = column_names(setting, given)
    one = setting == "target" and (isinstance(given, str) or not isinstance(given, Iterable))
    return names[0] if one else names


def _documented(own: str, answers: Iterable[str], tables: set[str], settings: dict[str, str], reference: str) -> str:
    """Return a docstring that has the parameters and errors of the answers beside its own, and the reference."""
    parts, shared = _sections(own), [_sections(text) for text in answers]
    described = {name: text for doc in shared for name, text in _described(doc["Parameters"]).items()}
    named = settings | _described(parts.get("Parameters", ""))
    before = {name: text for name, text in described.items() if name in tables}
    behind = {name: text for name, text in described.items() if name not in before | named}
    parts["Parameters"] = "".join((before | named | behind).values())
    parts["Raises"] = "".join(f"{doc['Raises'].rstrip()}\n" for doc in (parts, *shared) if "Raises" in doc)
    parts["References"] = f"{reference}\n"
    sections = [(name, parts[name].rstrip()) for name in _ORDER if parts.get(name)]
    return f"{parts[''].rstrip()}\n\n" + "\n".join(f"{name}\n{'-' * len(name)}\n{text}\n" for name, text in sections)


def _filled(text: str) -> str:
    return textwrap.fill(text, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by name; the summary has the name ""."""
    doc = inspect.cleandoc(doc) + "\n"  # Python 3.13 takes the indentation out of docstrings, earlier ones leave it
    starts = list(_HEADER.finditer(doc))
    ends = [*(m.start() for m in starts), len(doc)]
    named = {m[0].split()[0]: doc[m.end() : end] for m, end in zip(starts, ends[1:], strict=True)}
    return {"": doc[: ends[0]]} | named


def _described(parameters: str) -> dict[str, str]:
    """Return the lines of each parameter by its name, or by names that share a description."""
    entries = re.findall(r"^(\S.*)\n((?:    .*\n|\n)*)", parameters, flags=re.M)
    return {name: f"{name}\n{text.rstrip()}\n" for name, text in entries}

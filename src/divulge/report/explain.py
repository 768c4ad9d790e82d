"""The explanation of an attack for a terminal, as a page and as JSON, with the same parts in the same order.

Its words come from the catalogue, its settings and its example from the docstring of the attack.
"""

from __future__ import annotations

import difflib
import doctest
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from divulge.attacks.entry import CATALOGUE, Attack
from divulge.case.door import SHARED
from divulge.core.errors import DivulgeError, SettingError
from divulge.report.documents.console import clean

__all__ = ["PARTS", "Setting", "attack_of", "explain", "filled", "page", "record", "settings_of"]

PARTS = {
    "says": "What the attacker says",
    "knows": "What the attacker knows",
    "data": "What data it takes",
    "formula": "Formula",
    "reading": "How to read the numbers",
    "silent": "What it does not tell",
    "reference": "Reference",
    "example": "Example",
    "settings": "Settings",
}
"""The parts of an explanation in their order, with their headings."""
_EVERY = (
    "Every attack also takes `holdout` (people of the same population that the synthesizer never saw), `schema`, "
    "`unit` (the column of the person or household), `ignore`, `missing` (texts that stand for missing), `seed`, "
    '`level` (of the interval) and `engine` ("duckdb", "polars" and "spark" count tables where they are, for attacks '
    "that need counts alone). "
    "`synthetic` may be a list of several tables of one training set, which are attacked together."
)
_WIDTH = 100
_COLUMN = 80  # characters of code that a page shows without scrolling
_NEAR = 5
_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"[\\`*_{}\[\]<>|~$#@&!]|://")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of an attack."""

    name: str
    required: bool
    default: Any
    says: str


# ---------------------------------------------------------------- what is said


def attack_of(name: str) -> Attack:
    """Return the attack with this name, which may carry a variant: "cap", "cap (zero)", "cap[zero]".

    Raises
    ------
    SettingError
        No attack has this name; the hint lists similar names.

    Examples
    --------
    >>> attack_of("singling out (3 columns)").name
    'singling_out'
    """
    wanted = re.sub(r"[\s-]+", "_", re.split(r"[(\[]", name)[0].strip().lower())
    if wanted in CATALOGUE:
        return CATALOGUE[wanted]
    near = difflib.get_close_matches(wanted, CATALOGUE, n=_NEAR, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise SettingError(f"{name!r} is no attack. hint: {hint}`divulge explain` lists all.")


def settings_of(entry: Attack) -> tuple[Setting, ...]:
    """Return the settings of an attack in the order of its signature, each with its description."""
    told = {**SHARED, **entry.words.settings, **_parameters(entry)}
    taken = [p for n, p in inspect.signature(entry.run).parameters.items() if n != "case"]
    return tuple(
        Setting(p.name, p.default is p.empty, None if p.default is p.empty else p.default, told.get(p.name, ""))
        for p in taken
    )


def record(name: str) -> dict[str, Any]:
    """Return the explanation of an attack as plain dictionaries and lists, with the parts in their order."""
    entry = attack_of(name)
    return {
        "attack": entry.name,
        "family": entry.family,
        "question": entry.question,
        "needs": entry.needs,
        **{part: getattr(entry.words, part) for part in ("says", "knows", "data", "formula", "reading")},
        "silent": list(entry.words.silent),
        "reference": entry.reference,
        "example": _session(_examples(entry)),
        "settings": [
            {"setting": s.name, "required": s.required, "default": s.default, "says": s.says}
            for s in settings_of(entry)
        ],
    }


def _doc(entry: Attack) -> str:
    return inspect.cleandoc(entry.run.__doc__ or "")


def _section(text: str, title: str) -> str:
    """Return the body of a section of a numpydoc docstring, empty where there is none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)", text, flags=re.M | re.S)
    return found[1].strip("\n") if found else ""


def _parameters(entry: Attack) -> dict[str, str]:
    """Return the description of each parameter in the docstring."""
    told: dict[str, list[str]] = {}
    names: list[str] = []
    for line in _section(_doc(entry), "Parameters").splitlines():
        if line[:1].strip():
            names = [n.strip() for n in line.split(" : ")[0].split(",")]
        for n in names if line[:1].isspace() else ():
            told.setdefault(n, []).append(line.strip())
    return {n: " ".join(lines) for n, lines in told.items()}


# ---------------------------------------------------------------- the example


def _examples(entry: Attack) -> list[doctest.Example]:
    """Return the example of the docstring, preceded by the import of the attack."""
    found = doctest.DocTestParser().get_examples(_section(_doc(entry), "Examples"))
    if not found:
        raise DivulgeError(f"{entry.name}: no example. hint: give the docstring a section Examples.")
    return [doctest.Example(f"from divulge import {entry.name}\n", ""), *found]


class _Shown(doctest.DebugRunner):
    """Runs an example, raises where its output differs from the stated one, and keeps the output."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[doctest.Example] = []

    def report_success(self, out: Callable[[str], object], test: doctest.DocTest, example: Any, got: str) -> None:
        del out, test
        self.done.append(doctest.Example(example.source, got))


def _executed(entry: Attack) -> list[doctest.Example]:
    """Return the example with the output of a run."""
    runner = _Shown()
    try:
        runner.run(doctest.DocTest(_examples(entry), {}, entry.name, None, None, None))
    except doctest.DocTestFailure as failure:
        raise DivulgeError(
            f"{entry.name}: its example prints {failure.got.strip()} where the docstring says "
            f"{failure.example.want.strip()}. hint: run its doctest."
        ) from failure
    except doctest.UnexpectedException as failure:
        raise DivulgeError(f"{entry.name}: its example raises {failure.exc_info[1]!r}. hint: run its doctest.") from (
            failure.exc_info[1]
        )
    return runner.done


def _session(examples: Sequence[doctest.Example]) -> str:
    """Return examples as they look at a Python prompt."""
    lines: list[str] = []
    for e in examples:
        first, *rest = e.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in rest), *e.want.splitlines()]
    return "\n".join(lines)


# ---------------------------------------------------------------- in a terminal


def explain(name: str) -> str:
    """Return the explanation of an attack for a terminal, with prose and formula at most 100 characters wide.

    The example is shown with the output that its docstring states; nothing is run.

    Raises
    ------
    SettingError
        No attack has this name.

    Examples
    --------
    >>> print(explain("weap").split(chr(10) * 2)[1])
    What the attacker says
      I trust the synthetic table, and ask how sure each of its rows makes me of the target.
    """
    entry = attack_of(name)
    blocks = [f"{clean(entry.name)}  [{clean(entry.family)}]\n{filled(entry.question)}"]
    for part, heading in PARTS.items():
        blocks.append("\n".join([heading, *_lines(entry, part)]))
    return "\n\n".join(blocks)


def _lines(entry: Attack, part: str) -> Iterator[str]:
    words = entry.words
    if part == "formula":
        yield from (f"  {clean(line)}" for line in words.formula.splitlines())
    elif part == "silent":
        yield from (filled(s, "  - ", "    ") for s in words.silent)
    elif part == "example":
        yield from (f"  {clean(line)}" for line in _session(_examples(entry)).splitlines())
    elif part == "settings":
        for s in settings_of(entry):
            yield filled(f"{s.name} ({_default(s)}): {s.says}", "  ", "    ")
        yield filled(_EVERY.replace("`", ""))
    elif part == "reference":
        yield filled(entry.reference)
    else:
        yield filled(getattr(words, part))
        if part == "data":
            yield filled(f"Needs: {entry.needs}.")


def filled(text: str, first: str = "  ", rest: str = "  ") -> str:
    """Return a text as lines of at most 100 characters."""
    return textwrap.fill(clean(text), _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _default(setting: Setting) -> str:
    """Return the default of a setting in words."""
    if setting.required:
        return "required"
    value = setting.default
    if value is None or value == ():
        return "default none"
    if isinstance(value, float):
        return f"default {value:.4g}"
    return "default " + (", ".join(map(json.dumps, value)) if isinstance(value, tuple) else json.dumps(value))


# ---------------------------------------------------------------- on a page


def page(name: str) -> str:
    """Return the explanation of an attack as a Markdown page; its example is run and shown with the actual output.

    Raises
    ------
    SettingError
        No attack has this name.
    DivulgeError
        The docstring has no example, or the example raises or prints something other than stated.

    Examples
    --------
    >>> page("weap").splitlines()[0]
    '# weap'
    """
    entry = attack_of(name)
    blocks = [f"# {_escaped(entry.name)}", f"*{_escaped(entry.question)}*"]
    for part, heading in PARTS.items():
        blocks += [f"## {heading}", *_blocks(entry, part)]
    return "\n\n".join([*blocks, f"`divulge explain {entry.name}` prints this page in a terminal."]) + "\n"


def _blocks(entry: Attack, part: str) -> Iterator[str]:
    words = entry.words
    if part == "says":
        yield f"> {_escaped(words.says)}"
    elif part == "formula":
        lines = (textwrap.fill(clean(line), _COLUMN, subsequent_indent="    ") for line in words.formula.splitlines())
        yield _fenced("text", "\n".join(lines))
    elif part == "silent":
        yield "\n".join(f"- {_escaped(s)}" for s in words.silent)
    elif part == "example":
        yield _fenced("pycon", _session(_executed(entry)))
    elif part == "settings":
        yield "\n".join(f"- `{s.name}` ({_escaped(_default(s))}): {_escaped(s.says)}" for s in settings_of(entry))
        yield _escaped(_EVERY)
    elif part == "reference":
        yield _escaped(entry.reference)
    else:
        yield _escaped(getattr(words, part))
        if part == "data":
            yield f"Needs: {_escaped(entry.needs)}."


def _escaped(text: str) -> str:
    """Return text with markup outside code spans as entities, since dialects of Markdown differ in their escapes.

    Examples
    --------
    >>> _escaped("a*b <i> `o_j`")
    'a&#42;b &#60;i&#62; `o_j`'
    """
    parts = _CODE.split(clean(text))
    return "".join(p if i % 2 else _MARKUP.sub(_entity, p) for i, p in enumerate(parts))


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0][0])};{found[0][1:]}"


def _fenced(language: str, text: str) -> str:
    """Return a block of code, fenced by more backticks than any run of them in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"

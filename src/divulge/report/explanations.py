"""The explanation of an attack or a measure, or the list of all: `divulge.explain`."""

from __future__ import annotations

from divulge.attacks.entry import CATALOGUE
from divulge.core.threat_model import PRESETS
from divulge.measures.catalogue import all_measures
from divulge.measures.linked.catalogue import linked_measures
from divulge.report import explain as attacks
from divulge.report.explain_measure import explain_measure, measure_of

__all__ = ["explain"]


def explain(name: str | None = None) -> str:
    """Return an explanation to print: what the attacker knows, the data, the formula, how to read it.

    Parameters
    ----------
    name
        An attack or a measure of fidelity, which may carry a variant: "cap", "cap (zero)", "column_pairs"; or a preset
        of an actor, "insider". None lists the questions of all.

    Raises
    ------
    SettingError
        There is no attack, no measure and no preset of this name.

    Examples
    --------
    >>> print(explain("cap (zero)").splitlines()[0])
    cap  [attribution]
    >>> "column_pairs" in explain()
    True
    >>> print(explain("insider").splitlines()[0])
    insider  [preset of an actor]
    """
    if name is None:
        return _listed()
    if name in PRESETS:
        return _of_preset(name)
    measure = measure_of(name)
    return attacks.explain(name) if measure is None else explain_measure(measure)


def _of_preset(name: str) -> str:
    """Return what a preset of an actor stands for."""
    preset = PRESETS[name]
    marked = 'the columns marked "key", where there are any; else ' if preset.marked else ""
    lines = [
        f"{name}  [preset of an actor]",
        *(f"  {key:8}{text}" for key, text in preset.texts.items()),
        f"  keys    {marked}all columns but the targets of kind {', '.join(preset.kinds)}",
        f"  knows who is in the real table: {'yes (prosecutor)' if preset.knows_membership else 'no'}",
        f'In the schema file: [[actor]], below it preset = "{name}"; an answer of your own takes the place of one.',
    ]
    return "\n".join(lines)


def _listed() -> str:
    """Return the names and questions of all attacks and measures."""
    groups = {
        "": {name: CATALOGUE[name].question for name in sorted(CATALOGUE)},
        "\nMeasures of fidelity:": {m.name: m.question for m in all_measures()},
        "\nMeasures of relations and sequences:": {m.name: m.question for m in linked_measures()},
        "\nPresets of actors, for the schema file:": {n: p.texts["who"] for n, p in PRESETS.items()},
    }
    width = max(len(name) for named in groups.values() for name in named)
    lines = []
    for heading, named in groups.items():
        lines += [heading] if heading else []
        lines += [f"{name:{width}}  {question}" for name, question in named.items()]
    return "\n".join(lines)

"""The explanation of an attack or a measure, or the list of all: `divulge.explain`."""

from __future__ import annotations

from divulge.attacks.entry import CATALOGUE
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
        An attack or a measure of fidelity, which may carry a variant: "cap", "cap (zero)", "column_pairs". None lists
        the questions of all.

    Raises
    ------
    SettingError
        There is no attack and no measure of this name.

    Examples
    --------
    >>> print(explain("cap (zero)").splitlines()[0])
    cap  [attribution]
    >>> "column_pairs" in explain()
    True
    """
    if name is None:
        return _listed()
    measure = measure_of(name)
    return attacks.explain(name) if measure is None else explain_measure(measure)


def _listed() -> str:
    """Return the names and questions of all attacks and measures."""
    groups = {
        "": {name: CATALOGUE[name].question for name in sorted(CATALOGUE)},
        "\nMeasures of fidelity:": {m.name: m.question for m in all_measures()},
        "\nMeasures of relations and sequences:": {m.name: m.question for m in linked_measures()},
    }
    width = max(len(name) for named in groups.values() for name in named)
    lines = []
    for heading, named in groups.items():
        lines += [heading] if heading else []
        lines += [f"{name:{width}}  {question}" for name, question in named.items()]
    return "\n".join(lines)

"""The explanation of a measure of fidelity for a terminal; its words come from its entry in the registry."""

from __future__ import annotations

import re

from divulge.measures.catalogue import all_measures
from divulge.measures.entry import Measure
from divulge.measures.linked.catalogue import linked_measures
from divulge.report.documents.console import clean
from divulge.report.explain import filled

__all__ = ["explain_measure", "measure_of"]

_EACH_RUN = "Each run makes it."
_CHEAP = "A run makes it where it is expected to take less than a tenth of the time; --measures names it otherwise."
_MODELS = "A run makes it on request: --fidelity-models."
_LINKED = {
    "relations": "divulge fidelity makes it of several tables with relations.",
    "sequences": "divulge fidelity makes it where the schema or --sequence-key says which rows form a sequence.",
}


def measure_of(name: str) -> Measure | None:
    """Return the measure with this name, which may carry a part: "column_pairs[all]"; None where there is none.

    Examples
    --------
    >>> measure_of("column pairs").name, measure_of("siblings").family, measure_of("cap")
    ('column_pairs', 'relations', None)
    """
    wanted = re.sub(r"[\s-]+", "_", re.split(r"[(\[]", name)[0].strip().lower())
    return next((m for m in (*all_measures(), *linked_measures()) if m.name == wanted), None)


def explain_measure(entry: Measure) -> str:
    """Return the explanation of a measure, with prose at most 100 characters wide.

    Parameters
    ----------
    entry
        An entry of the registry.

    Examples
    --------
    >>> print(explain_measure(measure_of("column_pairs")).splitlines()[0])
    column_pairs  [fidelity: pairs]
    """
    words = entry.words
    when = _LINKED.get(entry.family, _MODELS if entry.models else _CHEAP if entry.seconds else _EACH_RUN)
    parts = {
        "What it compares": filled(words.what),
        "What data it takes": filled(f"Needs: {entry.needs}."),
        "Formula": "\n".join(filled(line, "  ", "    ") for line in words.formula.splitlines()),
        "How to read the numbers": filled(words.reading),
        "What a fresh sample shows": filled(entry.null),
        "What it does not tell": "\n".join(filled(s, "  - ", "    ") for s in words.silent),
        "When it is made": filled(when),
        "Reference": filled(entry.reference),
    }
    head = f"{clean(entry.name)}  [fidelity: {clean(entry.family)}]\n{filled(entry.question)}"
    return "\n\n".join([head, *(f"{heading}\n{text}" for heading, text in parts.items())])

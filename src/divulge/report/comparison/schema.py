"""The JSON Schema of comparison.json, made from the structs of the model."""

from __future__ import annotations

import json
from typing import Any

from divulge.report.comparison.model import FORMAT, Comparison
from divulge.report.schema import schema_of

__all__ = ["FORMAT", "comparison_schema", "comparison_schema_text"]


def comparison_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of comparison.json.

    Examples
    --------
    >>> comparison_schema()["title"]
    'divulge comparison'
    """
    return schema_of(Comparison, "divulge comparison")


def comparison_schema_text() -> str:
    """Return the schema as the text that is published."""
    return json.dumps(comparison_schema(), indent=2, ensure_ascii=False) + "\n"

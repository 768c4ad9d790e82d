"""The JSON Schema of assessment.json, generated from the structs of the model, and the check of a file."""

from __future__ import annotations

import json
import re
import sys
from inspect import cleandoc
from typing import Any

import msgspec

from divulge.report.model import Assessment, Group, ResultRecord

__all__ = ["assessment_schema", "fault", "fault_of", "schema_of", "schema_text"]

_DEEPEST = 20
"""Largest depth of nested lists and objects; an assessment has fewer than 10 levels."""


def fault(data: Any) -> str:
    """Return where the content of an assessment.json violates its format, without values; "" if nowhere.

    Examples
    --------
    >>> fault({"format": "divulge-assessment/1"})
    '$: a field is absent'
    """
    return fault_of(data, Assessment) or _absent(data) or _unequal(data)


def _absent(data: Any) -> str:
    """Return where a result, or a part of one, lacks a field: every version wrote most of them; "" if nowhere."""
    for result in data["results"]:
        if not set(ResultRecord.__struct_fields__) - _LATER <= set(result):
            return "$.results[...]: a field is absent"
        if any(not set(Group.__struct_fields__) <= set(group) for group in result["groups"]):
            return "$.results[...].groups[...]: a field is absent"
    return ""


_LATER = {"actors"}
"""Fields of a result that a later version of the format added."""
_AXES = (
    "at_least", "class size", "distance at most", "diversity at most", "fpr", "presence at most", "recall",
    "risk above", "share", "synthetic tables",
)  # fmt: skip
"""Curves that say where the other ones were taken."""


def _unequal(data: Any) -> str:
    """Return where the curves of a result have places without a number; "" if nowhere."""
    for i, result in enumerate(data["results"]):
        lengths: dict[str, set[int]] = {}
        for name, values in result["curves"].items():
            of = "tables" if name.startswith("by tables") or name == "synthetic tables" else name.partition(", ")[2]
            if values or name in _AXES:  # a side of which nobody is reached has none
                lengths.setdefault(of, set()).add(len(values))
        if any(len(found) > 1 for found in lengths.values()):
            return f"$.results[{i}].curves: of different lengths"
    return ""


def fault_of(data: Any, struct: Any) -> str:
    """Return where data violate the format of a struct, without values; "" if nowhere."""
    unwritable = _unwritable(data)
    if unwritable:
        return unwritable
    try:
        msgspec.convert(data, struct)
    except msgspec.ValidationError as error:
        what, _, where = str(error).rpartition(" - at ")
        absent = (what or where).startswith("Object missing")
        return f"{where.strip('`') if what else '$'}: {'a field is absent' if absent else 'not of its kind'}"
    return ""


def _unwritable(data: Any) -> str:
    """Return where a number or text is that no document can show, or where nesting is too deep; "" if nowhere."""
    left = [(data, "$", 0)]
    while left:
        item, where, depth = left.pop()
        if isinstance(item, str) and any("\ud800" <= c <= "\udfff" for c in item):
            return f"{where}: text that is no Unicode"
        if isinstance(item, (int, float)) and not abs(item) <= sys.float_info.max:
            return f"{where}: a number out of range"
        if isinstance(item, (dict, list, tuple)) and depth == _DEEPEST:
            return f"{where}: nested too deeply"
        if isinstance(item, dict):
            left += [(name, f"{where}[...]", depth) for name in item]
            left += [(value, _below(where, name), depth + 1) for name, value in item.items()]
        elif isinstance(item, (list, tuple)):
            left += [(value, f"{where}[...]", depth + 1) for value in item]
    return ""


def _below(where: str, name: object) -> str:
    """Return the path of a field; a name that is not written like a field name may be data and is left out."""
    return f"{where}.{name}" if isinstance(name, str) and re.fullmatch("[a-z_0-9]+", name) else f"{where}[...]"


def assessment_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of assessment.json.

    Readers should ignore unknown fields: a later version of the same format may add some.

    Examples
    --------
    >>> assessment_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return schema_of(Assessment, "divulge assessment")


def schema_of(struct: Any, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a struct, with every field required."""
    (schema,), found = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    definitions = {_PUBLISHED.get(name, name): definition for name, definition in found.items()}
    for definition in definitions.values():
        _require_all(definition)
        if "description" in definition:  # Python 3.13 removes the indentation of a docstring, earlier ones keep it
            definition["description"] = cleandoc(definition["description"]).partition("\n\nExamples\n")[0]
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | schema
    return _told(whole | {"$defs": definitions})  # type: ignore[no-any-return] # a dict goes in, a dict comes out


_PUBLISHED = {"ResultRecord": "Result"}
"""Names of structs in the published schema, where they differ."""


def _told(schema: Any) -> Any:
    """Return a schema with published names, and with "number" in place of "integer or number"."""
    if isinstance(schema, list):
        return [_told(item) for item in schema if item != {"type": "integer"} or {"type": "number"} not in schema]
    if isinstance(schema, dict):
        return {key: _told(value) for key, value in schema.items()}
    return next((schema.replace(own, out) for own, out in _PUBLISHED.items() if str(schema).endswith(own)), schema)


def _require_all(definition: dict[str, Any]) -> None:
    """Require every field: the writer always writes them, whatever their default."""
    if definition.get("type") == "object" and "properties" in definition:
        definition["required"] = list(definition["properties"])
        for field in definition["properties"].values():
            field.pop("default", None)


def schema_text() -> str:
    """Return the schema as the text that is published in the docs folder."""
    return json.dumps(assessment_schema(), indent=2, ensure_ascii=False) + "\n"

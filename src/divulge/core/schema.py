"""The kind and the roles of each column; kinds are inferred from facts, and a sentence gives the reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from divulge.core.errors import ColumnError, SettingError, escaped
from divulge.core.limits import LIMITS, NO_LIMITS, Limits, Rule, limits_from, rules_from
from divulge.core.threat_model import NOT_STATED, TABLES, Threat, template, threat_from

__all__ = [
    "FEW_PEOPLE",
    "MISSING_TEXTS",
    "Bins",
    "Column",
    "Facts",
    "Kind",
    "Role",
    "Schema",
    "check_columns",
    "column_from",
    "column_names",
    "infer",
    "no_such",
    "schema_from_sdv",
    "schema_from_toml",
]

Kind = Literal["categorical", "boolean", "numeric", "integer-coded", "datetime", "text", "identifier", "constant"]
Role = Literal["key", "target", "unit", "ignore", "primary", "foreign", "sequence", "order", "static"]

COUNTED: tuple[Kind, ...] = ("categorical", "boolean", "numeric", "integer-coded", "datetime")
"""Kinds that divulge uses as keys and targets by default."""

FEW = 20
"""Whole numbers with at most this many distinct values are categories."""

FEW_PEOPLE = 10
"""People who decide something that every reader sees, such as a kind, at least."""

MISSING_TEXTS = (
    "?", "??", "-", "--", "---", ".", "..", "...", "*", "**", "***", "na", "n/a", "n.a.", "n. a.", "#n/a", "#na",
    "<na>", "nan", "nat", "null", "(null)", "\\n", "none", "nil", "missing", "unknown", "not available", "not known",
    "k.a.", "k. a.", "0000-00-00", "0000-00-00 00:00:00", "00/00/0000", "00.00.0000",
)  # fmt: skip
"""Texts that stand for missing among numbers and dates, in lower case and without blanks around; as blanks do."""

_ROW_NUMBER = r"^(unnamed: \d+(\.\d+)?|index|__index_level_\d+__|rownames|row\.names|\.\.\.1)$"  # of pandas and R
_ID_NAME = re.compile(
    rf"(^|[^a-z])(id|uuid|guid|key|nr|no|number|ssn|code)($|[^a-z])|_id$|^id_|ids$|{_ROW_NUMBER}", re.I
)


@dataclass(frozen=True, slots=True)
class Bins:
    """How a continuous column is cut into bins for counting."""

    how: Literal["quantile", "width", "none"] = "quantile"
    n: int = 10


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its kind, its roles, and the reason for the kind."""

    name: str
    kind: Kind
    why: str = ""
    roles: tuple[Role, ...] = ()
    bins: Bins = Bins()
    limits: Limits = NO_LIMITS
    form: str = ""
    """How its texts are to write numbers or dates: "1.234,5", "DD.MM.YYYY", or a format of `strptime` ("%d %b %Y"); of
    years of two digits it may say which they are: "DD.MM.YY (1926-2025)". "" has it inferred."""
    missing_texts: str = ""
    """"none" where texts such as "?" or "NA" are values; "" takes them for missing among numbers and dates."""
    written: str = ""
    """How its texts write numbers or dates, as inferred."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about one column of the real table."""

    name: str
    family: str
    integer: bool
    n_rows: int
    n_missing: int
    n_distinct: int
    """Distinct values, without missing."""
    number_share: float
    """Share of the distinct values of a text column that read as numbers."""
    n_not_numbers: int
    """Distinct values of a text column that do not read as numbers."""
    are_numbers: bool = field(default=False, compare=False, kw_only=True)
    """Nobody, or fewer than ten people, have a value that does not read as a number."""
    mean_length: float
    """Characters per value of a text column."""
    has_spaces: bool
    span: float
    """Largest minus smallest number; nan without numbers."""
    form: str = ""
    """How texts that are read as numbers or dates are written; "" for plain ones, and for others."""
    question: str = ""
    """The forms between which no value decides."""
    n_commonest: int = field(default=0, compare=False)
    """Rows with the commonest value, or without one; 0 where an engine does not count each value."""

    @property
    def all_differ(self) -> bool:
        """Every row has a value of its own, but for fewer than ten people and for 5%."""
        return self.n_distinct > max(1, (n := self.n_rows - self.n_missing) - FEW_PEOPLE, 0.95 * n)


def infer(facts: Facts) -> Column:
    """Return the kind of a column and the reason.

    Examples
    --------
    >>> infer(Facts("age", "number", True, 1000, 0, 74, 0, 0, 0, False, 73)).kind
    'numeric'
    """
    kind, why = _kind_of(facts)
    if facts.form:
        why += f"; text written {facts.form}"
    if facts.question:
        why += (
            f" (or is it {' or '.join(f for f in facts.question.split(' or ') if f != facts.form)}? write form = ...)"
        )
    if facts.n_missing and kind != "constant":
        why += f"; {facts.n_missing} of {facts.n_rows} values missing"
    return Column(facts.name, kind, why, written=facts.form or facts.question)


def _kind_of(f: Facts) -> tuple[Kind, str]:
    if f.n_distinct == 0:
        return "constant", "every value is missing"
    if f.n_distinct == 1 and not f.n_missing:
        return "constant", "every row has the same value"
    if f.family == "boolean":
        return "boolean", "true and false"
    if f.family == "datetime":
        return "datetime", f"dates or times, {f.n_distinct} distinct"
    if f.family == "number":
        return _kind_of_number(f)
    return _kind_of_text(f)


def _kind_of_number(f: Facts) -> tuple[Kind, str]:
    if not f.integer:
        return "numeric", f"numbers with decimals, {f.n_distinct} distinct"
    large_enough = f.n_rows - f.n_missing >= 50
    if f.all_differ and large_enough and _ID_NAME.search(f.name):
        return "identifier", f"{f.n_distinct} whole numbers that differ, under the name of an identifier"
    if f.all_differ and large_enough and f.span < 1.05 * f.n_distinct:
        return "identifier", f"{f.n_distinct} whole numbers that differ and leave hardly a gap: a row number"
    if f.n_distinct <= FEW:
        return "integer-coded", f"whole numbers with {f.n_distinct} distinct values, at most {FEW}: codes"
    if f.all_differ and large_enough:
        return "numeric", f"{f.n_distinct} whole numbers that differ (set kind to identifier if they name a row)"
    return "numeric", f"whole numbers with {f.n_distinct} distinct values, more than {FEW}"


def _kind_of_text(f: Facts) -> tuple[Kind, str]:
    present = f.n_rows - f.n_missing
    share = f.n_distinct / present
    beside = f"beside other values ({f.n_not_numbers}), which stay categories (--missing makes them missing)"
    if f.are_numbers:  # too long for any type of numbers, or not all of them
        kind, why = _kind_of_number(f)
        return kind, f"{why}; {beside}" if f.n_not_numbers else why
    if f.number_share >= 0.8 and f.n_distinct > FEW:
        return "numeric", f"numbers {beside}"
    if present >= 20 and share > 0.95:
        if f.has_spaces and f.mean_length > 40:
            return "text", f"{f.n_distinct} texts of {f.mean_length:.0f} characters on average, nearly all different"
        return "identifier", f"{f.n_distinct} distinct values in {present} rows: nearly all differ"
    if f.has_spaces and f.mean_length > 40 and share > 0.2:
        return "text", f"{f.n_distinct} texts of {f.mean_length:.0f} characters on average"
    if f.n_distinct > 1000 and share > 0.5:
        return "text", f"{f.n_distinct} distinct texts in {present} rows"
    return "categorical", f"text with {f.n_distinct} distinct values"


_READING = f"""
# How text is read: form says how a column writes numbers ("1.234,5", "$1,234.5") or dates ("DD.MM.YYYY", "%d %b %Y");
# without it the values of all tables decide. Among numbers and dates these texts, in any case, are read as missing:
#   {"  ".join(MISSING_TEXTS[:19])}
#   {"  ".join(MISSING_TEXTS[19:])}
# missing_texts = "none" in a column, or --missing none for all, keeps them as values.
"""


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of the tables, in the order of the real table, and what is stated about attacker and release."""

    columns: tuple[Column, ...]
    threat: Threat = NOT_STATED
    rules: tuple[Rule, ...] = ()

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise ColumnError(no_such("schema", "column", name, [c.name for c in self.columns]))

    def names(self, *kinds: Kind) -> tuple[str, ...]:
        """Return the names of the columns of these kinds (all kinds when none is given)."""
        return tuple(c.name for c in self.columns if not kinds or c.kind in kinds)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns that have a role."""
        return tuple(c.name for c in self.columns if role in c.roles)

    def usable(self) -> tuple[str, ...]:
        """Return the columns that may be keys or targets without being named: counted kinds, not unit, not ignored."""
        return tuple(c.name for c in self.columns if c.kind in COUNTED and not {"unit", "ignore"} & set(c.roles))

    def override(self, other: Schema) -> Schema:
        """Return this schema with the columns that `other` also has, and what it states, taken from it."""
        theirs = {c.name: c for c in other.columns}
        unknown = set(theirs) - {c.name for c in self.columns}
        if unknown:
            name = sorted(unknown)[0]
            raise ColumnError(no_such("schema", "column", name, [c.name for c in self.columns]))
        return Schema(
            tuple(
                replace(theirs[c.name], why=theirs[c.name].why or c.why, written=c.written) if c.name in theirs else c
                for c in self.columns
            ),
            self.threat if other.threat == NOT_STATED else other.threat,
            other.rules or self.rules,
        )

    def give_roles(self, **roles: Iterable[str]) -> Schema:
        """Return this schema with further roles, as in `give_roles(unit=["household"])`."""
        columns = {c.name: c for c in self.columns}
        for role, names in roles.items():
            for name in names:
                column = self[name]
                if role not in column.roles:
                    columns[name] = replace(columns[name], roles=(*columns[name].roles, role))  # type: ignore[arg-type] # keyword names are roles
        return Schema(tuple(columns.values()), self.threat, self.rules)

    def to_toml(self) -> str:
        r"""Return the schema as TOML to edit and pass back, with the questions that no run can answer.

        Examples
        --------
        >>> print(Schema((Column("age", "numeric", "whole numbers"),)).to_toml().partition("\n#")[0])
        [columns.age]
        kind = "numeric"
        roles = []
        bins = "quantile 10"
        why = "whole numbers"
        <BLANKLINE>
        """
        import tomli_w

        rules = {"rule": [rule.entries() for rule in self.rules]} if self.rules else {}
        columns = escaped(tomli_w.dumps({"columns": self.columns_as_entries(), **rules}))
        return columns + _READING + template(self.threat)

    def columns_as_entries(self) -> dict[str, dict[str, Any]]:
        """Return what the TOML says of each column."""
        body = {}
        for c in self.columns:
            entry: dict[str, Any] = {"kind": c.kind, "roles": list(c.roles)}
            if c.kind in ("numeric", "datetime"):
                entry["bins"] = "none" if c.bins.how == "none" else f"{c.bins.how} {c.bins.n}"
            form = "" if c.form and c.form == c.limits.format else c.form or c.written
            entry |= {name: text for name, text in (("form", form), ("missing_texts", c.missing_texts)) if text}
            body[c.name] = entry | c.limits.entries() | {"why": c.why}
        return body


def schema_from_toml(text: str, source: str = "schema") -> Schema:
    r"""Return the schema of a TOML text, with [columns.NAME], [[rule]], [attacker] or [[actor]], [release], [decision].

    Raises
    ------
    SettingError
        The text is not TOML, or has an unknown entry.

    Examples
    --------
    >>> schema_from_toml('[columns.age]\nkind = "numeric"\nroles = ["key"]').columns[0].roles
    ('key',)
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(
            f"{source}: not TOML: {error}. hint: `divulge schema real.csv` writes one to start from."
        ) from None
    known = ("columns", "rule", *TABLES, "actor")
    columns = data.get("columns", {})
    if not isinstance(columns, dict) or not set(known) & set(data):
        raise SettingError(f"{source}: no [columns.NAME] entries. hint: `divulge schema real.csv` shows the form.")
    for name in data:
        if name not in known:
            raise SettingError(f"{source}: unknown entry {name!r}. hint: a schema holds {', '.join(known)}.")
    found = tuple(column_from(name, entry, source) for name, entry in columns.items())
    return Schema(found, threat_from(data, source), rules_from(data, source))


def column_from(name: str, entry: Any, source: str) -> Column:
    """Return the column that an entry of a TOML file describes, or raise a `SettingError` that begins with `source`."""
    if not isinstance(entry, dict):
        raise SettingError(f"{source}: column {name!r}: expected kind, roles, bins, why. hint: see `divulge schema`.")
    known = ("kind", "roles", "bins", "form", "datetime_format", "missing_texts", "why", *LIMITS)
    unknown = set(entry) - set(known)
    if unknown:
        raise SettingError(
            f"{source}: column {name!r}: unknown entry {sorted(unknown)[0]!r}. hint: use {', '.join(known)}."
        )
    kind = entry.get("kind", "categorical")
    if kind not in get_args(Kind):
        raise SettingError(f"{source}: column {name!r}: unknown kind. hint: one of {', '.join(get_args(Kind))}.")
    roles = entry.get("roles", [])
    if not isinstance(roles, list):
        raise SettingError(f'{source}: column {name!r}: roles is no list. hint: write roles = ["key"].')
    if not all(role in get_args(Role) for role in roles):
        raise SettingError(f"{source}: column {name!r}: unknown role. hint: any of {', '.join(get_args(Role))}.")
    bins, limits = _bins_from(name, entry.get("bins"), source), limits_from(name, kind, entry, source)
    form = entry.get("form", entry.get("datetime_format", limits.format or ""))
    missing = entry.get("missing_texts", "")
    if not isinstance(form, str):
        raise SettingError(f'{source}: column {name!r}: form is no text. hint: form = "DD.MM.YYYY" or "1.234,5".')
    if missing not in ("", "none"):
        raise SettingError(
            f'{source}: column {name!r}: missing_texts is not known. hint: "none" keeps texts such as "?".'
        )
    return Column(name, kind, str(entry.get("why", "")), tuple(roles), bins, limits, form, missing)


def _bins_from(name: str, text: Any, source: str) -> Bins:
    if text is None:
        return Bins()
    match = re.fullmatch(r"\s*(quantile|width|none)\s*(\d*)\s*", str(text))
    if not match or (match[2] and not 2 <= int(match[2]) <= 1000):
        raise SettingError(
            f'{source}: column {name!r}: bins are not known. hint: "quantile 10", "width 10" (2 to 1000) or "none".'
        )
    return Bins(match[1], int(match[2] or 10))  # type: ignore[arg-type] # the pattern allows nothing else


_SDV_KINDS: dict[str, Kind] = {
    "numerical": "numeric",
    "categorical": "categorical",
    "ordinal": "categorical",
    "boolean": "boolean",
    "datetime": "datetime",
    "id": "identifier",
    "text": "text",
    "unknown": "categorical",
}
_SDV_PERSONAL = frozenset(
    (
        # persons and what they are called by
        "name", "first_name", "middle_name", "last_name", "first_name_female", "first_name_male", "last_name_female",
        "last_name_male", "name_female", "name_male", "prefix", "suffix", "user_name", "uuid4",
        # how they are reached
        "email", "free_email", "safe_email", "company_email", "ascii_email", "phone_number", "msisdn", "url",
        # where they are
        "address", "street_address", "street_name", "building_number", "secondary_address", "city", "city_prefix",
        "city_suffix", "administrative_unit", "state", "state_abbr", "postcode", "zipcode", "postalcode", "country",
        "country_code", "current_country", "current_country_code", "latitude", "longitude", "coordinate",
        # accounts, offices, devices and cars
        "ssn", "passport_number", "bban", "iban", "aba", "swift", "swift8", "swift11", "bank_country",
        "credit_card_number", "credit_card_expire", "credit_card_provider", "credit_card_security_code", "ipv4",
        "ipv6", "ipv4_address", "ipv6_address", "ipv4_private", "ipv4_public", "mac_address", "user_agent",
        "user_agent_string", "vin", "license_plate", "company", "job",
    )
)  # fmt: skip
"""Types of personal information that SDV documents, and the providers of Faker about persons. SDV takes the name of
every provider of Faker; a fixed list is what lets a slip of the pen be told from a provider."""


def schema_from_sdv(metadata: Mapping[str, Any], source: str = "metadata") -> Schema:
    """Return the schema of an SDV metadata dictionary: V1 single-table, V1 with "tables", or V2.

    The function reads column types only. Types of personal information (name, address, ssn, ...) become identifiers.
    It ignores value lists and ranges, which V2 may contain: they are real data.

    Raises
    ------
    SettingError
        The dictionary has neither form, describes more than one table, or gives a column a type that is none of SDV's
        and no known type of personal information: an identifier stays out of the comparisons, so that a column must
        not become one by a slip of the pen.

    Examples
    --------
    >>> schema_from_sdv({"columns": {"age": {"sdtype": "numerical"}}}).columns[0].kind
    'numeric'
    """
    if not isinstance(metadata, Mapping):
        raise SettingError(f"{source}: SDV metadata must be a JSON object. hint: pass the metadata that SDV wrote.")
    table: Any = metadata
    if "tables" in metadata:
        tables = metadata["tables"]
        if not isinstance(tables, Mapping) or len(tables) != 1:
            found = len(tables) if isinstance(tables, Mapping) else "no"
            raise SettingError(
                f"{source}: {found} tables found. hint: divulge assesses one table; keep only its entry."
            )
        table = next(iter(tables.values()))
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, Mapping):
        raise SettingError(
            f'{source}: no "columns" found. hint: pass SDV metadata (V1 or V2) or TOML of `divulge schema`.'
        )
    keys = table.get("primary_key")
    primary = [keys] if isinstance(keys, str) else [] if keys is None else keys
    if not isinstance(primary, list | tuple) or not all(isinstance(name, str) for name in primary):
        raise SettingError(f"{source}: primary_key is no name of a column. hint: a text, or a list of texts.")
    return Schema(tuple(_sdv_column(str(n), e, str(n) in primary, source) for n, e in columns.items()))


def _sdv_column(name: str, entry: Any, primary: bool, source: str) -> Column:
    sdtype = str(entry.get("sdtype", "categorical")) if isinstance(entry, Mapping) else str(entry)
    if primary:
        return Column(name, "identifier", "primary key of the SDV metadata", ("ignore",))
    kind: Kind | None = "identifier" if sdtype in _SDV_PERSONAL else _SDV_KINDS.get(sdtype)
    if kind is None:
        import difflib

        near = difflib.get_close_matches(sdtype.lower(), (*_SDV_KINDS, *sorted(_SDV_PERSONAL)), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f'one of {", ".join(_SDV_KINDS)}; for personal data "name".'
        raise SettingError(f"{source}: column {name!r}: unknown sdtype {sdtype!r}. hint: {hint}")
    form = entry.get("datetime_format", "") if sdtype == "datetime" and isinstance(entry, Mapping) else ""
    return Column(name, kind, f"sdtype {sdtype} of the SDV metadata", form=form if isinstance(form, str) else "")


def column_names(option: str, given: Any) -> tuple[str, ...]:
    """Return the column names of an option as texts: of a list, or of one name.

    A name that is no text, such as the number of a pandas column, is named by its text, as in a table that was read.

    Raises
    ------
    SettingError
        A name is None.

    Examples
    --------
    >>> column_names("keys", "age"), column_names("keys", ["age", 3])
    (('age',), ('age', '3'))
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    names = list(given) if several else [given]
    if any(name is None for name in names):
        raise SettingError(f'{option}: a name is None. hint: name columns: {option}=["age", "sex"].')
    return tuple(str(name) for name in names)


def check_columns(
    role: str, wanted: Sequence[str], known: Sequence[str] | Mapping[str, Sequence[str]], levels: Sequence[str] = ()
) -> None:
    """Raise a `ColumnError` that names the first column of `wanted` that a table lacks.

    `known` are the columns of one table, or those of each of several tables by its name: the error then says which of
    them lack the column. `levels` are the names of the levels of an index, which are no columns.
    """
    tables = known if isinstance(known, Mapping) else {"": known}
    shared = [c for c in next(iter(tables.values())) if all(c in columns for columns in tables.values())]
    for name in wanted:
        lacking = [table for table, columns in tables.items() if name not in columns]
        if not lacking:
            continue
        if name in levels:
            raise ColumnError(
                f"{role}: {name!r} is a level of the table's index, and divulge reads columns only. "
                "hint: reset_index() makes it a column."
            )
        if len(lacking) == len(tables):
            raise ColumnError(no_such(role, "column", name, shared))
        who = f"{' and '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no column {name!r}"
        hint = "every table needs it; in a synthetic table the row numbers will do."
        if role != "unit":
            hint = f"add it there, or leave it out of {role}; a column is compared where every table has it."
        raise ColumnError(f"{role}: {who}, which other tables have. hint: {hint}")


def no_such(where: str, what: str, name: str, known: Sequence[str]) -> str:
    """Return the sentence for a column or table that is not there, with the nearest name that is."""
    import difflib

    stripped = [k for k in known if k.strip().lower() == str(name).strip().lower()]
    near = stripped or difflib.get_close_matches(str(name), known, n=1)
    shown = ", ".join(map(repr, known[:30])) + (f" and {len(known) - 30} more" if len(known) > 30 else "")
    hint = f"did you mean {near[0]!r}?" if near else "names are case-sensitive."
    return f"{where}: no {what} {name!r}; there are {shown}. hint: {hint}"

"""Numbers as text: the ways in which a column writes them, and its values read so.

A form is named by an example: "1.234,5 €" has a point between thousands, a decimal comma and a euro sign behind. All
values of a column have the same currency, unit or percent sign; a sign may stand in front or behind, and brackets
around a number make it negative, as accounts do.
"""

from __future__ import annotations

import re

import polars as pl

from divulge.tables.canonical_values import NUMBERS, VALUES, evaluated

__all__ = ["BEFORE_DIGITS", "CORES", "PLAIN_NUMBER", "POINTS", "NumberTexts", "is_number_form", "is_share_form"]

PLAIN_NUMBER = "1234.5"
_SIGNS = r"US\$|R\$|A\$|C\$|[$€£¥₹₩₽₺₪₫฿₴₦₱¢]|kr\.?|zł|Kč|Ft|lei|Rs\.?|SFr\.?|Fr\.?"
_CODES = (
    "USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|BRL|MXN|ARS|CLP|COP|PEN|"
    "ZAR|NGN|KES|EGP|ILS|SAR|AED|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|PKR|BDT"
)
_UNITS = (
    "%|‰|°C|°F|kWh|kW|kg|mg|µg|μg|lbs?|oz|km|cm|mm|mi|ft|ml|hours?|hrs?|min|minutes?|sec|seconds?|days?|weeks?|months?|"
    "years?|yrs?|Jahre|pts|bp|cents?"
)
_TIMES = "k"  # as a form shows that numbers have a factor behind
_SHARES = {"%": "e-2", "‰": "e-3"}
"""Signs of shares, and what they make of a number, as an exponent: 60 % is 0.6, as spreadsheets store it."""
POINTS = " points"
"""Behind the sign of shares in a form: 60 % is 60."""
_PREFIX, _SUFFIX = rf"{_SIGNS}|{_CODES}", rf"{_SIGNS}|{_CODES}|{_UNITS}| [gmlh]"
_FACTORS = {
    "k": "e3", "K": "e3", "Tsd": "e3", "M": "e6", "mn": "e6", "Mio": "e6", "B": "e9", "bn": "e9", "Mrd": "e9",
}  # fmt: skip
"""What multiplies a number, as an exponent: 1.1k is read as 1.1e3, without an error of rounding."""
BEFORE_DIGITS = rf"^[\s()+\-−–‒]*(?:{_PREFIX})?[\s()+\-−–‒]*[.,]?\d"
"""What a text begins with that may be a number."""
_NUMBER = r"(\.?\d[\d.,'’_ ]*?(?:[eE][+-]?\d+)?)"
_AFFIXED = rf"^([+-]?) *({_PREFIX})? *([+-]?) *{_NUMBER}(?: *({'|'.join(_FACTORS)})\.?)?( *(?:{_SUFFIX}))?$"
_EXPONENT = r"([eE][+-]?\d+)?$"
_BLANK = r"[ '’_]"

CORES: dict[str, tuple[str, str, str]] = {
    "1234,5": (rf"^[+-]?\d*(\d|,\d+){_EXPONENT}", " ", ","),
    "1,234.5": (rf"^[+-]?(\d{{1,3}}|[1-9]\d{{0,2}}(,\d{{2,3}})*,\d{{3}})(\.\d*)?{_EXPONENT}", ",", "."),
    "1.234,5": (rf"^[+-]?(\d{{1,3}}|[1-9]\d{{0,2}}(\.\d{{3}})+)(,\d*)?{_EXPONENT}", r"\.", ","),
    "1 234.5": (rf"^[+-]?\d{{1,3}}({_BLANK}\d{{3}})*(\.\d+)?{_EXPONENT}", _BLANK, "."),
    "1 234,5": (rf"^[+-]?\d{{1,3}}({_BLANK}\d{{3}})*(,\d+)?{_EXPONENT}", _BLANK, ","),
}
"""Form -> pattern of a number, what separates its thousands (a pattern), and its decimals."""

_FORM = re.compile(rf"^(?P<prefix>.*?)(?P<core>{'|'.join(map(re.escape, (PLAIN_NUMBER, *CORES)))})(?P<suffix>.*)$")
_WIDE = VALUES.str.len_bytes() != VALUES.str.len_chars()
_ARABIC = {"\u066a": "%", "\u066b": ".", "\u066c": ","}
# a small digit behind a number is a note or a power, and no digit of it
_PLAIN_SIGNS = VALUES.str.replace_all("[⁰¹²³⁴-⁹₀-₉]", "^").str.normalize("NFKC").str.replace_many(_ARABIC)
_TIDY_TEXT = (
    pl.when(_WIDE).then(_PLAIN_SIGNS).otherwise(VALUES).str.strip_chars(),
    # minus signs of typography; brackets of accounts
    VALUES.str.replace_all("[−–‒]", "-"),
    VALUES.str.replace(r"^([^\d()]*)\(([^()]*\d[^()]*)\)([^\d()]*)$", "-$1$2$3"),
)
_BEHIND = r"^([^+-]*\d[^\d+-]*)([+-])$"


def is_number_form(form: str) -> bool:
    """Return whether a text names a form of numbers.

    Examples
    --------
    >>> is_number_form("1.234,5 €"), is_number_form("DD.MM.YYYY")
    (True, False)
    """
    return _FORM.match(form) is not None


def is_share_form(form: str) -> bool:
    """Return whether a form of numbers has a sign of shares, % or ‰.

    Examples
    --------
    >>> is_share_form("1234,5 %"), is_share_form("1234,5 € points"), is_share_form("1234,5 % points")
    (True, False, True)
    """
    return form.removesuffix(POINTS).endswith(tuple(_SHARES))


class NumberTexts:
    """The texts of a column, taken apart once: sign, currency or unit, and number.

    Parameters
    ----------
    texts
        Distinct texts, without missing.
    """

    def __init__(self, texts: pl.Series) -> None:
        self._texts = texts
        self._parts: pl.DataFrame | None = None

    def read_plain(self) -> pl.Series:
        """Return the texts read as Python reads numbers, null where they are none."""
        return evaluated(self._texts, *NUMBERS)

    def read(self, form: str) -> pl.Series:
        """Return the texts read in a form, null where they are not written so."""
        found = _FORM.match(form)
        if found is None:
            return pl.Series([None], dtype=pl.Float64).new_from_index(0, len(self._texts))
        plain = self.read_plain() if form == PLAIN_NUMBER else None
        if plain is not None and not plain.has_nulls():
            return plain
        prefix, core, suffix = found["prefix"].strip(), found["core"], found["suffix"].removesuffix(POINTS).strip()
        scale = _SHARES.get(suffix.removeprefix(_TIMES).strip(), "") if not form.endswith(POINTS) else ""
        times = suffix == _TIMES or suffix.startswith(f"{_TIMES} ")
        suffix = suffix.removeprefix(_TIMES).strip() if times else suffix
        parts = self.parts
        bare = pl.col("suffix") == "" if suffix not in _SHARES else (pl.col("suffix") == "") & (pl.col("n") == "0")
        same = (pl.col("prefix").is_in(["", prefix])) & ((pl.col("suffix") == suffix) | bare)
        same &= times or pl.col("factor") == ""
        number = parts.select(pl.when(same).then(pl.col("sign") + pl.col("n"))).to_series()
        if core in CORES:
            pattern, thousands, decimals = CORES[core]
            number = evaluated(
                number,
                pl.when(VALUES.str.contains(pattern)).then(VALUES).str.replace_all(thousands, ""),
                VALUES.str.replace(decimals, ".", literal=True),
            )
        number = evaluated(number + parts["factor"] + scale, *NUMBERS)
        return number if plain is None else plain.zip_with(plain.is_not_null(), number)

    @property
    def parts(self) -> pl.DataFrame:
        """The sign, prefix, digits ("n"), factor and suffix of each text; null where a text is no number with these."""
        if self._parts is None:
            texts = evaluated(self._texts, *_TIDY_TEXT)
            signed = texts.str.contains(_BEHIND)
            if signed.all() or not texts.str.ends_with("+").any():  # 2+, 3 and 3- are grades
                texts = texts.str.replace(_BEHIND, "$2$1")
            groups = texts.str.extract_groups(_AFFIXED).struct.unnest()
            groups.columns = ["a", "prefix", "b", "n", "factor", "suffix"]
            self._parts = groups.select(
                sign=pl.when(pl.col("a") == "-", pl.col("b") == "").then(pl.lit("-")).otherwise(pl.col("b")),
                prefix=pl.col("prefix").fill_null("").str.strip_chars(),
                n=pl.when((pl.col("a") == "") | (pl.col("b") == "")).then(pl.col("n").str.strip_chars()),
                factor=pl.col("factor").fill_null("").replace(_FACTORS),
                suffix=pl.col("suffix").fill_null("").str.strip_chars(),
            )
        return self._parts

    def affixes(self) -> tuple[str, str]:
        """Return what most texts that have any have before and behind the number, as a form shows it."""
        known = self.parts.filter(pl.col("n").is_not_null())
        times = _TIMES if (known["factor"] != "").any() else ""
        there = known.filter((pl.col("prefix") != "") | (pl.col("suffix") != ""))
        if there.is_empty():
            return "", times
        counted = (
            there.group_by("prefix", "suffix").len().sort("len", "prefix", "suffix", descending=[True, False, False])
        )
        prefix, suffix, _ = counted.row(0)
        return prefix + " " * (prefix[-1:].isalpha() or prefix.endswith(".")), times + " " * bool(suffix) + suffix

    def zero_led(self) -> bool:
        """Return whether a text has a zero before its first other digit, which marks a code."""
        return bool(self.parts["n"].str.contains(r"^0\d").any())

    def forms(self) -> list[str]:
        """Return the forms that the column may be written in, the plain one first; none where no text is a number."""
        if not self.parts["n"].count():
            return []
        prefix, suffix = self.affixes()
        return [PLAIN_NUMBER] * bool(prefix or suffix) + [f"{prefix}{core}{suffix}" for core in (PLAIN_NUMBER, *CORES)]

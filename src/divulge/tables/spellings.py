"""Spellings of one text: without marks, reordered, with a character deleted, inside, by its numbers, as a digest."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from base64 import b32encode, b64encode
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.tables.texts import words

__all__ = [
    "DIGEST_LENGTHS",
    "END",
    "MOST_DECIMALS",
    "CharacterHashes",
    "bags_but_one",
    "bags_of_words",
    "character_hashes",
    "decimals_in",
    "digests",
    "digests_in",
    "digits_in",
    "keys_of",
    "longest_words",
    "numbers_in",
    "parts_in",
    "parts_of",
    "without_marks",
    "written_digits",
]

Hashes = NDArray[np.uint64]

SHORTEST = 4  # characters; shorter texts are all alike but for one
LONGEST = 64  # characters; longer ones are no identifiers
END = 8  # letters and digits by which a text begins or ends
_BLOCK = 20_000  # texts whose characters are in memory at once
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
MOST_DECIMALS = 9
"""Decimals of the numbers in a text that are looked at."""
_LEFT, _MOST_WORDS = 2, 8  # words that are left without one, and of a text that may lose one
_LEAST_WORD = 6  # letters and digits of a word that may be a person's own
_FEWEST = 5  # digits of the numbers of a text, below which they are common
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})
_DIGESTS = (hashlib.md5, hashlib.sha1, hashlib.sha224, hashlib.sha256, hashlib.sha384, hashlib.sha512)
DIGEST_LENGTHS = (32, 40, 64, 128)
"""Characters of a hexadecimal MD5, SHA-1, SHA-256 or SHA-512."""
_MOST_LENGTHS = 4  # lengths of digests that were cut, of each way to write them
_OFTEN = 0.5  # share of the texts that have the beginning of a digest, from which it is looked for
_UUID = r"([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})"
_SPACES = (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID, uuid.NAMESPACE_X500)
_WRITTEN = {
    "hex": (rf"[0-9a-f]{{{END},128}}", "[a-f]", "[0-9]"),
    "base64": (rf"^[A-Za-z0-9+/]{{{END},86}}$", "[a-z]", "[A-Z]", "[0-9]"),
    "base32": (rf"^[A-Z2-7]{{{END},103}}$", "[A-Z]", "[2-7]"),
}
"""By the way to write a digest, what it looks like, and signs that hardly any lacks."""


def without_marks(texts: pl.Series) -> pl.Series:
    """Return texts without accents, case and punctuation, their words parted by single blanks.

    Examples
    --------
    >>> without_marks(pl.Series(["Müller, Zoë", "O'NEIL_J.", "Łódź", "?"])).to_list()
    ['muller zoe', 'o neil j', 'lodz', '']
    """
    is_ascii = texts.str.len_bytes() == texts.str.len_chars()
    out = texts.str.to_lowercase()
    if not is_ascii.all():
        place = (~is_ascii).arg_true()
        other = [_without_accents(t) for t in texts.gather(place).to_list()]
        out = out.scatter(place, pl.Series(other, dtype=pl.String))
    return out.str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " ").str.strip_chars()


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS))
    return "".join(c for c in parts if not unicodedata.combining(c))


def bags_of_words(plain: pl.Series) -> Hashes:
    """Return a hash of the words of each text of `without_marks`, whatever their order; 0 where there is none.

    Examples
    --------
    >>> one, other, third = bags_of_words(pl.Series(["lee ann", "ann lee", "ann leeds"]))
    >>> bool(one == other), bool(one == third)
    (True, False)
    """
    hashes, start = words(plain)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashes, dtype=np.uint64)])
    return np.asarray(sums[start[1:]] - sums[start[:-1]], dtype=np.uint64)


def bags_but_one(plain: pl.Series) -> Hashes:
    """Return of each text of `without_marks` the hashes of its words without one of them, as `bags_of_words` has them.

    Shape (n, 8); 0 for texts of one word, two words or more than eight.

    Examples
    --------
    >>> less, bag = bags_but_one(pl.Series(["anna maria lee", "lee"])), bags_of_words(pl.Series(["lee anna"]))
    >>> (less == bag).sum(axis=1).tolist(), bool(less[1].any())
    ([1, 0], False)
    """
    hashes, start = words(plain)
    n = np.diff(start)
    row = np.repeat(np.arange(len(n)), n)
    kept = ((n > _LEFT) & (n <= _MOST_WORDS))[row]
    place = np.arange(len(hashes)) - start[:-1][row]
    out = np.zeros((len(n), _MOST_WORDS), dtype=np.uint64)
    out[row[kept], place[kept]] = bags_of_words(plain)[row[kept]] - hashes[kept]
    return out


def keys_of(plain: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Return the first eight letters and digits of texts of `without_marks`, the last eight, and all in order.

    Null for texts of unsuitable length.

    Examples
    --------
    >>> [key.to_list() for key in keys_of(pl.Series(["a 1324567", "0049 171 50", "lee ann"]))]
    [['a1324567', '00491715', None], ['a1324567', '04917150', None], ['1234567a', '000114579', 'aeelnn']]
    """
    whole = plain.str.replace_all(" ", "", literal=True)
    length = whole.str.len_chars()
    some = whole.set(~length.is_between(SHORTEST, LONGEST), None)
    in_order = pl.Series([None if t is None else "".join(sorted(t)) for t in some.to_list()], dtype=pl.String)
    some = some.set(length < END, None)
    return some.str.slice(0, END), some.str.slice(-END), in_order


def longest_words(plain: pl.Series) -> pl.Series:
    """Return the longest word of texts of `without_marks`, the first of several; null below six letters and digits.

    Null also for texts of more than 64 characters.

    Examples
    --------
    >>> longest_words(pl.Series(["data scan iokinsisl dcm", "ann lee", "r2d2c3"])).to_list()
    ['iokinsisl', None, 'r2d2c3']
    """
    frame = plain.str.split(" ").alias("word").to_frame().with_row_index("row").explode("word")
    length = pl.col("word").str.len_chars()
    longest = frame.with_columns(length.alias("n")).sort("row", "n", descending=[False, True], maintain_order=True)
    out = longest.group_by("row", maintain_order=True).first()["word"]
    fits = (out.str.len_chars() >= _LEAST_WORD) & (plain.str.len_chars() <= LONGEST)
    return out.set(~fits.fill_null(False), None)


def decimals_in(texts: pl.Series) -> pl.Series:
    """Return the most decimals that a number in each text has; 0 where there is none, and nine at most.

    Examples
    --------
    >>> decimals_in(pl.Series(["52.12345, 13.40521", "52.1, 13", "no number"])).to_list()
    [5, 1, 0]
    """
    most = texts.str.extract_all(r"\.[0-9]+").list.eval(pl.element().str.len_chars()).list.max()
    return (most.cast(pl.Int64) - 1).fill_null(0).clip(0, MOST_DECIMALS)


def numbers_in(texts: pl.Series, decimals: int) -> pl.Series:
    """Return the numbers of each text in order of their size, with so many decimals; null for less than five digits.

    Examples
    --------
    >>> numbers_in(pl.Series(["52.12345, 13.40521", "POINT(13.405 52.123)", "PAT-012345", "room 7"]), 3).to_list()
    ['13.405 52.123', '13.405 52.123', '12345', None]
    """
    frame = texts.str.extract_all(_NUMBER).alias("part").to_frame().with_row_index("row").explode("part").drop_nulls()
    digits = pl.col("part").str.replace(".", "", literal=True).str.len_chars()
    whole = pl.col("part").str.strip_chars_start("0")
    rounded = pl.col("part").cast(pl.Float64, strict=False).round(decimals).cast(pl.String)
    made = frame.with_columns(
        digits.alias("digits"),
        pl.when(pl.col("part").str.contains(".", literal=True)).then(rounded).otherwise(whole).alias("part"),
    )
    found = made.group_by("row").agg(
        pl.col("part").sort_by(pl.col("part").str.len_chars(), "part").str.join(" "), pl.col("digits").sum()
    )
    kept = found.filter(pl.col("digits") >= _FEWEST)
    out = np.full(len(texts), None, dtype=object)
    out[kept["row"].to_numpy()] = kept["part"].to_numpy()
    return pl.Series(out.tolist(), dtype=pl.String)


def digits_in(texts: pl.Series) -> pl.Series:
    """Return the digits of the numbers, dates and times in texts, five or more each, without signs between them.

    Examples
    --------
    >>> digits_in(pl.Series(["born 03.05.1970, pays 23,456.50", "seen 2020-05-03 12:30:01, room 7"])).sort().to_list()
    ['03051970', '123001', '20200503', '20200503123001', '234565', '2345650']
    """
    moments = texts.str.extract_all(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?").explode()
    parts = texts.str.extract_all(r"[0-9](?:[0-9.,:/'-]*[0-9])?").explode()
    short = parts.str.replace(r"^([^.]*\.[0-9]*?)0+$", "$1")
    digits = pl.concat([moments, parts, short]).str.replace_all(r"[^0-9]+", "")
    return digits.filter(digits.str.len_chars() >= _FEWEST).drop_nulls().unique()


def written_digits(values: pl.Series) -> list[pl.Series]:
    """Return the digits of numbers or moments as they may be written, five or more each; null for fewer.

    Examples
    --------
    >>> from datetime import datetime
    >>> [one.to_list() for one in written_digits(pl.Series([datetime(1970, 5, 3)]))]
    [['19700503'], ['03051970'], ['05031970']]
    >>> [one.to_list() for one in written_digits(pl.Series([23456.5, 7.0, 1234567.0]))]
    [['234565', None, '1234567']]
    """
    if isinstance(values.dtype, pl.Datetime):
        forms = ["%Y%m%d", "%d%m%Y", "%m%d%Y"]
        if not (values.dt.truncate("1d") == values).all():
            forms = ["%Y%m%d%H%M%S", "%Y%m%d%H%M"]
        return [values.dt.strftime(form) for form in forms]
    whole = values.cast(pl.Int64, strict=False) if values.dtype.is_float() else values
    same = (whole == values).fill_null(False)
    digits = whole.cast(pl.String).zip_with(same, values.cast(pl.String)).str.replace_all(r"[^0-9]+", "")
    return [digits.set((digits.str.len_chars() < _FEWEST).fill_null(False), None)]


def parts_of(texts: pl.Series, others: pl.Series) -> pl.Series:
    """Return which texts of `without_marks` are a part of another one, or have one as a part, or are equal to it.

    The part has 8 to 64 letters and digits. Blanks count in neither.

    Examples
    --------
    >>> others = pl.Series(["id a1234567 valid", "lee ann", "00491715"])
    >>> parts_of(pl.Series(["a 1234567", "lee ann", "tel 0049 1715"]), others).to_list()
    [True, False, True]
    """
    inside, texts, others = (
        parts_in(texts, others),
        *(t.str.replace_all(" ", "", literal=True) for t in (texts, others)),
    )
    parts = others.filter(others.str.len_chars().is_between(END, LONGEST)).unique(maintain_order=True).to_list()
    return inside | texts.str.contains_any(parts) if parts else inside


def parts_in(texts: pl.Series, others: pl.Series) -> pl.Series:
    """Return which texts of `without_marks`, of 8 to 64 letters and digits, are a part of another one or equal to it.

    Examples
    --------
    >>> others = pl.Series(["id a1234567 valid", "00491715"])
    >>> parts_in(pl.Series(["a 1234567", "tel 0049 1715"]), others).to_list()
    [True, False]
    """
    texts, others = (t.str.replace_all(" ", "", literal=True) for t in (texts, others))
    own = texts.filter(texts.str.len_chars().is_between(END, LONGEST)).unique(maintain_order=True).to_list()
    found: set[str] = set()
    for first in range(0, len(others) if own else 0, _BLOCK):
        some = others.slice(first, _BLOCK).str.extract_many(own, overlapping=True)
        found.update(some.list.unique().explode().drop_nulls().unique().to_list())
    return texts.is_in(list(found)) if found else pl.repeat(False, len(texts), eager=True)


def digests_in(texts: pl.Series) -> dict[tuple[str, int], set[str]]:
    """Return what may be digests in texts, or the first eight signs or more of them, by how and how long it is written.

    Whole hexadecimal ones are taken wherever they are the whole text, and others where half of the texts have one: in
    base 16 (also as a UUID, or behind some other sign), 32 or 64. UUIDs of versions 3 and 5 are digests too.

    Examples
    --------
    >>> found = digests_in(pl.Series(["no. 9f86d081", "no. 60303ae2", "no. fd61a039"]))
    >>> [(how, length, len(each)) for (how, length), each in found.items()]
    [('hex', 8, 3)]
    """
    texts = texts.str.strip_chars()
    lower = texts.str.to_lowercase().str.replace_all(_UUID, "${1}${2}${3}${4}${5}")
    bare = texts.str.strip_chars_end("=")
    spelled = {"hex": lower, "base64": bare.str.replace_all("-", "+").str.replace_all("_", "/"), "base32": bare}
    found: dict[tuple[str, int], set[str]] = {}
    for how, (looks, *signs) in _WRITTEN.items():
        token = spelled[how].str.extract(f"({looks})")
        for sign in signs:
            token = token.set(~token.str.contains(sign), None)
        if len(texts) and token.is_not_null().mean() >= _OFTEN:
            counts = token.drop_nulls().str.len_chars().value_counts(sort=True, name="n")
            for length, n in counts.sort("n", counts.columns[0], descending=True).head(_MOST_LENGTHS).iter_rows():
                if n >= token.count() / 100:
                    found[how, length] = set(token.filter(token.str.len_chars() == length).to_list())
    whole = lower.filter(lower.str.contains("^[0-9a-f]+$"))
    for length in DIGEST_LENGTHS:
        if len(some := whole.filter(whole.str.len_chars() == length)):
            found.setdefault(("hex", length), set()).update(some.to_list())
    named = lower.str.extract(r"([0-9a-f]{12}[35][0-9a-f]{19})").drop_nulls()
    if len(named):
        found["uuid", 32] = set(named.to_list())
    return found


def digests(text: str, written: Iterable[tuple[str, int]]) -> set[tuple[str, str]]:
    """Return the digests of a text, as it is and in lower or upper case, cut and written so, after how each is written.

    They are MD5, SHA-1 and SHA-2 without a salt, and UUIDs made of the text in one of the four usual name spaces.

    Parameters
    ----------
    written
        How and how long: keys of `digests_in`.

    Examples
    --------
    >>> ("hex", "82e335f7ac0e0e412b2ae15abe662110") in digests("Ann", [("hex", 32)])
    True
    """
    bare = text.strip()
    spellings = {s.encode("utf-8", "surrogatepass") for s in (text, bare, bare.lower(), bare.upper())}
    lengths: dict[str, list[int]] = {}
    for how, length in written:
        lengths.setdefault(how, []).append(length)
    out: set[tuple[str, str]] = set()
    for spelled in spellings:
        for algorithm in _DIGESTS if lengths.keys() - {"uuid"} else ():
            raw = algorithm(spelled, usedforsecurity=False).digest()
            for how, some in lengths.items():
                whole = _encoded(raw, how)
                out.update((how, whole[:k]) for k in some if k <= len(whole))
        for space in _SPACES if "uuid" in lengths else ():
            for algorithm, version in ((hashlib.md5, 3), (hashlib.sha1, 5)):
                raw = algorithm(space.bytes + spelled, usedforsecurity=False).digest()[:16]
                out.add(("uuid", uuid.UUID(bytes=raw, version=version).hex))
    return out


def _encoded(digest: bytes, how: str) -> str:
    if how == "hex":
        return digest.hex()
    return "" if how == "uuid" else (b64encode if how == "base64" else b32encode)(digest).decode().rstrip("=")


class CharacterHashes(NamedTuple):
    """Hashes of texts without their blanks; 0 where there is none, as for texts of unsuitable length."""

    whole: Hashes
    """Shape (n,)."""
    masked: Hashes
    """Shape (n, longest): all characters but one in their places; of equal length and all but one equal are alike."""
    deleted: Hashes
    """Shape (n, longest): the text with one character taken out, equal to `whole` of the text that is left."""


def character_hashes(plain: pl.Series) -> CharacterHashes:
    """Return hashes by which texts that differ by one character are found.

    Parameters
    ----------
    plain
        Texts of `without_marks`; those of fewer than 4 characters or more than 64 have no hash.

    Examples
    --------
    >>> found = character_hashes(pl.Series(["555 0187", "5550137", "555017"]))
    >>> len(set(found.masked[0].tolist()) & set(found.masked[1].tolist()) - {0})
    1
    >>> found.whole[2] in found.deleted[0], found.whole[1] in found.deleted[0]
    (True, False)
    """
    texts = plain.str.replace_all(" ", "", literal=True)
    length = texts.str.len_chars().to_numpy().astype(np.int64)
    fits = (length >= SHORTEST) & (length <= LONGEST)
    width = int(length[fits].max(initial=0))
    whole = np.zeros(len(texts), dtype=np.uint64)
    masked, deleted = np.zeros((2, len(texts), width), dtype=np.uint64)
    place = np.flatnonzero(fits)
    for first in range(0, len(place), _BLOCK):
        part = place[first : first + _BLOCK]
        whole[part], masked[part], deleted[part] = _hashes_of(texts.gather(part).to_list(), length[part], width)
    return CharacterHashes(whole, masked, deleted)


def _hashes_of(texts: list[str], length: NDArray[np.int64], width: int) -> CharacterHashes:
    """Return the hashes of texts that are not too long: sums of a hash of each character times a power of its place.

    The sum of a text with one character taken out is that before it, and that after it with each place one less.
    """
    x = np.array(texts, dtype=f"U{width}").view(np.uint32).reshape(len(texts), width).astype(np.uint64)
    power = np.full(1 + width, 0x9E3779B97F4A7C15, dtype=np.uint64)
    power[0] = 1
    power = np.cumprod(power, dtype=np.uint64)  # modulo 2**64, as are all sums here
    character = x * (x * np.uint64(0xD6E8FEB86659FD93) ^ (x << np.uint64(29)))
    placed = character * power[1:]
    before = np.cumsum(placed, axis=1, dtype=np.uint64)
    after = np.cumsum(character * power[:-1], axis=1, dtype=np.uint64)
    whole = before[:, -1].copy()
    inside = np.arange(width) < length[:, None]
    return CharacterHashes(
        whole, (whole[:, None] - placed) * inside, (before - placed + after[:, -1:] - after) * inside
    )

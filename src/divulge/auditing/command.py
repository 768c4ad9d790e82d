"""The command of a generator: words with places for files, started without a shell."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from divulge.core.errors import SettingError

__all__ = ["PLACES", "Command", "command_of"]

PLACES = ("train", "synthetic", "seed", "rows")
"""What may stand in braces; the first two must."""
_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")
_SHELL = re.compile(r"\|\|?|&&?|;|[0-9]?>>?|<|2>&1")


@dataclass(frozen=True, slots=True)
class Command:
    """Words of a command."""

    words: tuple[str, ...]

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """Return the words with each place filled; a value stays within its word, whatever signs it has.

        Examples
        --------
        >>> Command(("train", "--out={synthetic}")).filled({"synthetic": "a b;c"})
        ['train', '--out=a b;c']
        """
        return [_PLACE.sub(lambda m: values[m[1]], word) for word in self.words]


def command_of(text: str) -> Command:
    """Return the command in a text, split into words as a shell would split it.

    Raises
    ------
    SettingError
        It cannot be split, lacks {train} or {synthetic}, has words that only a shell understands, or names a program
        that is not there.

    Examples
    --------
    >>> command_of("python train.py {train}")
    Traceback (most recent call last):
    divulge.core.errors.SettingError: --train: the command has no {synthetic}. hint: 'python train.py {train} {synthetic} --seed {seed}'.
    """  # noqa: E501
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        raise SettingError("--train: a quotation mark is not closed. hint: quote the whole command once.") from None
    for place in PLACES[:2]:
        if not any(f"{{{place}}}" in word for word in words):
            raise SettingError(
                f"--train: the command has no {{{place}}}. hint: 'python train.py {{train}} {{synthetic}} --seed "
                "{seed}'."
            )
    if any(_SHELL.fullmatch(word) for word in words):
        raise SettingError("--train: no shell runs the command. hint: put pipes and redirections into a script.")
    if _PLACE.search(words[0]) is None and shutil.which(words[0]) is None:
        raise SettingError(f"--train: no program {words[0]!r} is found. hint: is it on the PATH, and executable?")
    return Command(words)

"""The designs by the names that `--design` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from divulge.auditing.canaries import Canaries, GeneratorClaim
from divulge.auditing.design import Design
from divulge.auditing.domain import Domain
from divulge.auditing.halves import RandomHalves
from divulge.auditing.secrets import SwappedSecrets
from divulge.auditing.target import Target
from divulge.core.errors import SettingError

__all__ = ["ALIASES", "Asked", "design_of", "names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user may ask of a design; each design takes what it knows and refuses what it cannot use."""

    secrets: tuple[str, ...] = ()
    """Columns whose values are exchanged; without any the design "secrets" chooses one."""
    everyone: bool = False
    """Whether all people take part, not a third of them."""
    claim: float | None = None
    """Epsilon that the generator claims."""
    delta: float | None = None
    """Its delta; None is about 1 / (10 times the number of people)."""
    level: float = 0.95
    acceptable: float = 0.05
    """Largest upper limit of risk that counts as none found."""


ALIASES = {"membership": "halves", "swapped_secrets": "secrets", "random_halves": "halves"}
"""Other names, of results and of the field."""
_DESIGNS: dict[str, tuple[Callable[[Asked], Design], int]] = {
    "secrets": (
        lambda a: SwappedSecrets(
            secrets=a.secrets, share=1.0 if a.everyone else None, level=a.level, acceptable=a.acceptable
        ),
        10,
    ),
    "halves": (lambda a: RandomHalves(level=a.level, acceptable=a.acceptable), 16),
    "canaries": (lambda a: Canaries(claim=_claim(a), level=a.level), 5),
    "target": (lambda a: Target(claim=_claim(a), level=a.level), 200),
    "domain": (lambda a: Domain(level=a.level, acceptable=a.acceptable), 2),
}
"""For each name what makes the design, and the trainings without --runs."""


_BOUNDS = ("canaries", "target")
"""Designs that bound epsilon, and test a claim."""


def _claim(asked: Asked) -> GeneratorClaim | None:
    return None if asked.claim is None else GeneratorClaim(asked.claim, asked.delta)


def names() -> tuple[str, ...]:
    """Return the names of the designs."""
    return tuple(_DESIGNS)


def design_of(name: str, asked: Asked) -> tuple[Design, int]:
    """Return a design, and how many trainings it makes where the user names no number.

    Raises
    ------
    SettingError
        There is no such design, or it does not fit what is asked.
    """
    name = ALIASES.get(name, name)
    if name not in _DESIGNS:
        raise SettingError(f"--design: no {name!r}. hint: {', '.join(names())}.")
    if asked.claim is not None and name not in _BOUNDS:
        raise SettingError(f"--claim: the design {name} tests no epsilon. hint: --design {' or '.join(_BOUNDS)}.")
    if asked.delta is not None and asked.claim is None:
        raise SettingError("--delta: there is no --claim that it belongs to. hint: --claim 1 --delta 1e-5.")
    make, runs = _DESIGNS[name]
    return make(asked), runs

"""Floor 3: one file a family; importing this package enters every attack into the catalogue."""

from divulge.attacks import (
    attribution,
    copying,
    disclosive,
    distance,
    exposure,
    inference,
    linkability,
    nearest_tests,
    singling_out,
    uniqueness,
)
from divulge.attacks.catalogue import CATALOGUE, Attack

__all__ = [
    "CATALOGUE",
    "Attack",
    "attribution",
    "copying",
    "disclosive",
    "distance",
    "exposure",
    "inference",
    "linkability",
    "nearest_tests",
    "singling_out",
    "uniqueness",
]

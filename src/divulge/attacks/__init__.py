"""A folder a family, a file an attack; importing this package enters every attack into the catalogue."""

from divulge.attacks.attribution import cap, disclosive
from divulge.attacks.distance import copies, dcr, nearest_tests
from divulge.attacks.identity import linkability, singling_out, uniqueness
from divulge.attacks.inference import inference
from divulge.attacks.membership import exposure
from divulge.attacks.registry import CATALOGUE, Attack

__all__ = [
    "CATALOGUE",
    "Attack",
    "cap",
    "copies",
    "dcr",
    "disclosive",
    "exposure",
    "inference",
    "linkability",
    "nearest_tests",
    "singling_out",
    "uniqueness",
]

"""A folder a family, a file an attack; importing this package enters every attack into the catalogue."""

from divulge.attacks.attribution import (
    abstention,
    baseline_cap,
    cap,
    cap_minimum,
    dcap,
    disco,
    modal_guess,
    rapid,
    tcap,
    weap,
)
from divulge.attacks.distance import (
    authenticity,
    copies,
    dcr,
    dcr_baseline,
    epsilon_identifiability,
    hitting_rate,
    identical_match_share,
    nnaa,
    nndr,
)
from divulge.attacks.identity import (
    delta_presence,
    k_anonymity,
    l_diversity,
    linkability,
    replicated_uniques,
    singling_out,
    t_closeness,
)
from divulge.attacks.inference import inference
from divulge.attacks.membership import exposure
from divulge.attacks.registry import CATALOGUE, Attack

__all__ = [
    "CATALOGUE",
    "Attack",
    "abstention",
    "authenticity",
    "baseline_cap",
    "cap",
    "cap_minimum",
    "copies",
    "dcap",
    "dcr",
    "dcr_baseline",
    "delta_presence",
    "disco",
    "epsilon_identifiability",
    "exposure",
    "hitting_rate",
    "identical_match_share",
    "inference",
    "k_anonymity",
    "l_diversity",
    "linkability",
    "modal_guess",
    "nnaa",
    "nndr",
    "rapid",
    "replicated_uniques",
    "singling_out",
    "t_closeness",
    "tcap",
    "weap",
]

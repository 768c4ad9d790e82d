"""Every attack, in the order in which a run makes them."""

# isort: skip_file

from divulge.attacks.copying import copies
from divulge.attacks.copying import named_in_texts
from divulge.attacks.distance import dcr
from divulge.attacks.distance import nndr
from divulge.attacks.distance import identical_match_share
from divulge.attacks.distance import hitting_rate
from divulge.attacks.distance import authenticity
from divulge.attacks.distance import epsilon_identifiability
from divulge.attacks.distance import nnaa
from divulge.attacks.distance import dcr_baseline
from divulge.attacks.membership import exposure
from divulge.attacks.membership import membership
from divulge.attacks.identity import singling_out
from divulge.attacks.identity import linkability
from divulge.attacks.inference import inference
from divulge.attacks.reconstruction import linear_reconstruction
from divulge.attacks.attribution import cap
from divulge.attacks.attribution import modal_guess
from divulge.attacks.attribution import disco
from divulge.attacks.attribution import tcap
from divulge.attacks.attribution import rapid
from divulge.attacks.attribution import abstention
from divulge.attacks.attribution import dcap
from divulge.attacks.attribution import weap
from divulge.attacks.attribution import baseline_cap
from divulge.attacks.identity import l_diversity
from divulge.attacks.identity import t_closeness
from divulge.attacks.identity import replicated_uniques
from divulge.attacks.identity import k_anonymity
from divulge.attacks.identity import delta_presence
from divulge.attacks.identity import lone_match
from divulge.attacks.identity import reidentification
from divulge.attacks.attribution import cap_minimum
from divulge.attacks.entry import CATALOGUE
from divulge.attacks.entry import Attack

CATALOGUE.arrange(globals())

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
    "linear_reconstruction",
    "linkability",
    "lone_match",
    "membership",
    "modal_guess",
    "named_in_texts",
    "nnaa",
    "nndr",
    "rapid",
    "reidentification",
    "replicated_uniques",
    "singling_out",
    "t_closeness",
    "tcap",
    "weap",
]

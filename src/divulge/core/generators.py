"""What lowers a leak, by the kind of generator that made the table: a closed list of words, settings and sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["GENERATORS", "Generator", "generators_named", "words_in_toml"]


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of generator: the words that name it, what to set, why that helps, and who says so."""

    name: str
    words: tuple[str, ...]
    do: str
    """What to set; it begins in small letters."""
    why: str
    source: str
    tried: str = ""
    """What it did once to the 472 people of the demo (docs/how-to/lower-the-risk.md); "" where it was not tried."""


GENERATORS = (
    Generator(
        "CTGAN",
        ("ctgan", "copulagan", "ctabgan", "adsgan", "gan", "gans"),
        "stop earlier (fewer `epochs`), raise `pac`",
        "The longer a GAN trains, the better its members are told from others.",
        "Xu et al. 2019, NeurIPS 32; Hayes et al. 2019, PoPETs 2019(1)",
        "1,000 epochs, then 100: nothing found either way",
    ),
    Generator(
        "TVAE",
        ("tvae", "vae", "autoencoder"),
        "fewer `epochs`, a smaller `embedding_dim`, a larger `l2scale`",
        "A decoder with room for each person learns single records.",
        "Xu et al. 2019, NeurIPS 32; Hilprecht et al. 2019, PoPETs 2019(4)",
        "1,000 epochs, then 100: 15 people for certain, then none, and far less use",
    ),
    Generator(
        "copulas",
        ("copula", "copulas", "gaussiancopula"),
        "a parametric marginal (`beta`, `norm`), not `gaussian_kde`; let it pass the real minimum and maximum",
        "A kernel estimate holds each person's value, and the ends of a range are single people.",
        "Patki et al. 2016, DSAA; documentation of SDV, GaussianCopulaSynthesizer",
        "kernel estimates, then beta: nothing found either way",
    ),
    Generator(
        "CART",
        ("cart", "synthpop", "tree", "trees", "random forest", "arf"),
        "larger leaves (`cart.minbucket` of 20 and more), smooth numbers (`smoothing`)",
        "A leaf gives out the values of the people in it: the fewer they are, the more of each.",
        "Reiter 2005, J. Official Statistics 21(3); Nowok, Raab and Dibben 2016, J. Statistical Software 74(11)",
        "leaves of 5, then 20: 71 people for certain, then 19",
    ),
    Generator(
        "SMOTE",
        ("smote", "smotenc", "adasyn"),
        "another generator: more neighbours (`k_neighbors`) help little",
        "Each row lies on the line between two people, often next to one of them.",
        "Chawla et al. 2002, JAIR 16; Ganev et al. 2026, ICLR (SMOTE and Mirrors)",
        "5 neighbours, then 100: 156 people for certain, then 110",
    ),
    Generator(
        "Bayesian network",
        ("bayesian network", "bayesian networks", "bayes net", "bn", "datasynthesizer", "privbayes", "pgmpy"),
        "fewer parents a column (degree 1 or 2), pseudo-counts in each cell",
        "With many parents a cell of the table of probabilities is one person.",
        "Ping et al. 2017, SSDBM; Zhang et al. 2017, ACM TODS 42(4)",
        "3 parents, then 1: 209 people for certain, then none",
    ),
    Generator(
        "diffusion",
        ("diffusion", "tabddpm", "ddpm", "tabsyn"),
        "fewer training steps, and no repeated rows in the training data",
        "Diffusion models give back records that they saw often.",
        "Kotelnikov et al. 2023, ICML; Carlini et al. 2023, USENIX Security",
    ),
    Generator(
        "language model",
        ("language model", "llm", "gpt", "be great", "realtabformer", "tabula", "transformer"),
        "fewer epochs of fine-tuning, a smaller model, a higher temperature",
        "Fine-tuned language models repeat rows that they were trained on for long.",
        "Borisov et al. 2023, ICLR; Solatorio and Dupriez 2023, arXiv 2302.02041",
    ),
    Generator(
        "differential privacy",
        ("differential privacy", "differentially private", "dp", "epsilon", "mst", "aim", "mwem", "smartnoise", "dpmm",
         "privbayes", "pategan", "dpgan"),
        "a smaller epsilon for a whole person; fix ranges and categories without the data",
        "What is read from the data outside the mechanism, such as a range, is not covered by epsilon.",
        "Annamalai, Ganev and De Cristofaro 2024, USENIX Security; Stadler et al. 2022, USENIX Security",
        "epsilon 100, then 1: 30 people for certain, then none",
    ),
)  # fmt: skip
"""The closed list; `divulge schema` prints its words."""


def generators_named(texts: Sequence[str]) -> tuple[Generator, ...]:
    """Return the kinds of generators that a text names by a word of the list, in the order of the list.

    Examples
    --------
    >>> [g.name for g in generators_named(["DP-CTGAN of smartnoise-synth 1.0"])]
    ['CTGAN', 'differential privacy']
    >>> generators_named(["our own"])
    ()
    """
    told = " ".join(re.sub(r"[^a-z]+", " ", text.lower()) for text in texts)
    return tuple(g for g in GENERATORS if any(re.search(rf"\b{word}\b", told) for word in g.words))


def words_in_toml() -> str:
    """Return the words of the list as a comment of a schema file."""
    return "\n".join(f"#   {g.name}: {', '.join(g.words)}" for g in GENERATORS)

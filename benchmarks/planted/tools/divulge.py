"""divulge: one call of `assess` with keys, target, and what the user ignores or names as the unit.

Flag: the verdict of the run is "excess found" or "deficit found". Score: the smallest adjusted p-value of an attack,
as minus its logarithm. People: those whom the report names, finds repeated, or recognises at a false discovery rate of
10%.

What its authors object to: at 500 people most comparisons are too uncertain to say "none found", and no difference is
made here between "none found" and "cannot tell".
"""

import math

NAME = "divulge"
PACKAGES = ["divulge", "polars"]
FRAME = "polars"
SECONDS = 2.4
DOCUMENTED = [f"divulge.attacks.{m}" for m in ("identity.singling_out", "identity.linkability", "attribution.cap")]
MEASURES = {"verdict": "verdict of the run"}


def assess(real, synthetic, holdout, world):
    import divulge

    def verdict():
        report = divulge.assess(
            real, synthetic, holdout=holdout, keys=world["keys"], targets=[world["secret"]], unit=world["unit"],
            ignore=world["ignore"], seed=world["seed"], jobs=1,
        )  # fmt: skip
        p = [r["p_adjusted"] for r in report.data["results"] if r["p_adjusted"] is not None]
        return {
            "score": -math.log10(max(min(p, default=1.0), 1e-300)),
            "flag": report.verdict in ("excess found", "deficit found"),
            "people": people(report.records(), real, world["unit"]),
            "detail": detail(report.data),
        }

    return {"verdict": verdict}


def people(records, real, unit):
    if records.is_empty():
        return []
    marks = [c for c in ("named", "repeated", "recognised", "flagged") if c in records.columns]
    rows = records.filter(records.select(marks).fill_null(False).max_horizontal())["row"]
    return sorted(set(rows.to_list() if unit is None else real[unit].gather(rows).to_list()))


DISTANCES = ("dcr", "nndr", "authenticity", "hitting_rate", "identical_match_share", "epsilon_identifiability", "nnaa")
PARTS = {
    "copies": lambda attack, variant: attack == "copies" and variant in ("exact", "near"),
    "part of a row": lambda attack, variant: variant.startswith("near on"),
    "all but one": lambda attack, variant: variant == "all but one",
    "one column": lambda attack, variant: variant.startswith("one column"),
    "linked": lambda attack, variant: variant in ("linked", "row order"),
    "histories": lambda attack, variant: variant in ("whole history", "history, nearly"),
    "hole": lambda attack, variant: variant == "hole",
    "other distances": lambda attack, variant: attack in DISTANCES and variant != "hole",
    "singling out": lambda attack, variant: attack == "singling_out",
    "linkability": lambda attack, variant: attack == "linkability",
    "inference": lambda attack, variant: attack == "inference",
    "attribution": lambda attack, variant: attack in ("cap", "modal_guess", "disco", "rapid", "tcap"),
    "membership": lambda attack, variant: attack == "membership",
}
"""The parts of a run: which comparisons each holds, by attack and variant."""


def detail(data):
    """Return the verdict, how many comparisons of each part are findings, and the counts of facts."""
    found = [(r["attack"], r["variant"]) for r in data["results"] if r["verdict"] in ("excess found", "deficit found")]
    parts = {name: n for name, part in PARTS.items() if (n := sum(part(*f) for f in found))}
    rest = len(found) - sum(any(part(*f) for part in PARTS.values()) for f in found)
    facts = data["facts"]["verbatim"]
    return {
        "verdict": data["verdict"]["verdict"],
        "parts": parts | ({"others": rest} if rest else {}),
        "facts": {k: facts[k] for k in ("members", "strangers", "named")},
        "failing": [c["check"] for c in data["preconditions"] if not c["ok"]],
    }

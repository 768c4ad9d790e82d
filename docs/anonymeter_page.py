"""What Anonymeter 1.1.0 says about simulated tables; `questions.md` and `leak-experiment.md` show it beside divulge.

But for "planted shares" nothing is leaked in them.

    python docs/anonymeter_page.py > docs/anonymeter.json      # needs anonymeter==1.1.0; five minutes

The pages are made without Anonymeter: it reads the file and asks divulge about the same tables anew.
"""

import json
import sys

import numpy as np
from leak_page import population

N = 2000
SEEDS = range(1, 21)
SHARES = (0, 0.1, 0.25, 0.5, 0.75, 1)
SIZES = {"holdout as large": N, "holdout a quarter as large": N // 4}


def tables(seed=1):
    """Return real, synthetic and holdout people as columns: three draws from one population."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(3):
        people = population(rng, N)
        people["balance"] = rng.normal(-100, 60, N).round(2)
        people["constant"] = np.full(N, "x")
        out.append(people)
    return out


def main():
    import anonymeter.evaluators  # noqa: F401 # before the rest: 1.1.0 imports in a circle
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    real, synthetic, holdout = map(pd.DataFrame, tables())
    plain = [c for c in real.columns if c not in ("balance", "constant")]
    found = {}

    def singling_out(real, synthetic, holdout, mode, n):
        rest = {"n_attacks": n, "n_cols": 3, "max_attempts": 300_000, "seed": 1}
        e = SinglingOutEvaluator(real[plain], synthetic[plain], control=holdout[plain], **rest)
        e.evaluate(mode=mode)
        return e

    def risk(e):
        r = e.risk()
        return [round(float(x), 4) for x in (r.value, *r.ci)]

    def inference(secret, known, n, **rest):
        e = InferenceEvaluator(real, synthetic, control=holdout, aux_cols=known, secret=secret, n_attacks=n, **rest)
        np.random.seed(1)  # noqa: NPY002 # it draws from the global state
        e.evaluate()
        return e

    for name, part in SIZES.items():
        found[name] = []
        for seed in SEEDS:
            one, two, three = map(pd.DataFrame, tables(seed))
            found[name].append(risk(singling_out(one, two, three[:part], "multivariate", 500)))
    found["planted shares"] = []
    for share in SHARES:
        copied, risks = round(share * N), []
        for seed in SEEDS[:10]:
            one, two, three = map(pd.DataFrame, tables(seed))
            planted = pd.concat([one[:copied], two[copied:]], ignore_index=True)
            risks.append(risk(singling_out(one, planted, three, "multivariate", 500))[0])
        found["planted shares"].append(round(float(np.mean(risks)), 4))
    first, second = (singling_out(real, synthetic, holdout, "univariate", 100) for _ in range(2))
    found["guesses right, two runs with one seed"] = [len(first.queries()), len(second.queries())]
    found["of these in both runs"] = len({str(q) for q in first.queries()} & {str(q) for q in second.queries()})
    constant = inference("constant", ["age", "job"], 300)
    found["baseline of a constant secret"] = [int(constant.results().n_baseline), 300]
    noise = inference("balance", ["age", "job"], 500, regression=True)
    found["negative numbers right"] = [int(noise.results().n_success), 500]
    groups = inference("region", ["age", "rent"], 300)
    found["region"] = risk(groups)
    found["groups of region"] = [risk(r) for r in groups.risk_for_groups().values()]

    halves = (["education", "household"], ["region", "job"])
    links = []
    for seed in (0, 1, 2):
        shuffled = synthetic.sample(frac=1, random_state=seed, ignore_index=True)
        e = LinkabilityEvaluator(real, shuffled, control=holdout, aux_cols=halves, n_attacks=N, n_neighbors=1)
        e.evaluate(n_jobs=1)
        links.append(int(e.results().n_success))
    found["linked in three row orders"] = links
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

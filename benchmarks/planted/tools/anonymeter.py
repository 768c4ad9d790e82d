"""Anonymeter: singling out (univariate, and of three columns), linkability of two halves, inference of the secret.

Flag: the lower end of the 95% interval of the excess over the control is above 0. Score: that lower end, unclipped.
The control is the holdout. People: none. Attacks: 500, or as many as there are rows; a unit and ignored columns are
left out.

What its authors would object to: they ask for some 2,000 attacks and tables of thousands; the choice of halves and of
the secret is the user's, here the first half of the columns against the second, and the benchmark's secret.
"""

NAME = "anonymeter"
PACKAGES = ["anonymeter==1.1.0", "pyarrow"]
FRAME = "pandas"
SECONDS = 2.5
MEASURES = {
    "singling out, 1 column": "singling out, one column",
    "singling out, 3 columns": "singling out, three columns",
    "linkability": "linkability of two halves",
    "inference": "inference of the secret",
}


def assess(real, synthetic, holdout, world):
    import anonymeter.evaluators  # noqa: F401 # before the rest: 1.1.0 imports in a circle
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    real, synthetic, holdout = (t.drop(columns=out, errors="ignore") for t in (real, synthetic, holdout))
    columns = [c for c in real.columns if c in synthetic.columns and c in holdout.columns]
    real, synthetic, holdout = (t[columns] for t in (real, synthetic, holdout))
    n, half, seed = min(500, len(real), len(holdout)), len(columns) // 2, world["seed"]
    rest, keys, secret = {"control": holdout, "n_attacks": n}, list(world["keys"]), world["secret"]
    halves = (columns[:half], columns[half:])
    few = {"max_attempts": 100_000, "seed": seed}

    def measure(attack, **mode):
        attack.evaluate(**mode)
        risk = attack.risk(confidence_level=0.95)
        return {"score": unclipped(attack.results()), "flag": bool(risk.ci[0] > 0), "people": None}

    return {
        "singling out, 1 column": lambda: measure(
            SinglingOutEvaluator(real, synthetic, **rest, **few), mode="univariate"
        ),
        "singling out, 3 columns": lambda: measure(
            SinglingOutEvaluator(real, synthetic, n_cols=3, **rest, **few), mode="multivariate"
        ),
        "linkability": lambda: measure(LinkabilityEvaluator(real, synthetic, aux_cols=halves, **rest)),
        "inference": lambda: measure(InferenceEvaluator(real, synthetic, aux_cols=keys, secret=secret, **rest)),
    }


def unclipped(results):
    """Return the lower end of the excess before Anonymeter clips it to 0, so that null worlds differ."""
    main, control = results.attack_rate, results.control_rate
    spread = (main.error**2 + (control.error * (1 - main.value) / (1 - control.value)) ** 2) ** 0.5
    return float(((main.value - control.value) - spread) / (1 - control.value))

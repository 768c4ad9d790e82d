"""anonymity-loss-coefficient: the best-row-match attack on the secret, by the keys and by all other columns.

Flag: the coefficient is above 0.5, which the package calls at risk. Score: the coefficient. People: none. It takes no
holdout: its baseline is a model that is trained on the other rows of the real table. A class of one person stops it, so
the highest 5% of a secret that is a number are one class.

What its authors would object to: `run_auto_attack` tries hundreds of sets of known columns for each secret, on tables
of thousands; two sets and one secret are the smallest use of it.
"""

import tempfile

NAME = "anonymity-loss-coefficient"
PACKAGES = ["anonymity_loss_coefficient==1.0.32", "pandas<3"]  # 1.0.32 fails with pandas 3, which it does not exclude
FRAME = "pandas"
SECONDS = 8.0
MEASURES = {"keys": "ALC of the secret, the keys known", "all": "ALC of the secret, all other columns known"}
AT_RISK = 0.5


def assess(real, synthetic, holdout, world):
    from anonymity_loss_coefficient.attacks import BrmAttack

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    real, synthetic = (t.drop(columns=out, errors="ignore") for t in (real, synthetic))
    columns = [c for c in real.columns if c in synthetic.columns]
    if real[world["secret"]].dtype.kind in "if":
        highest = real[world["secret"]].quantile(0.95)
        real, synthetic = (
            t.assign(**{world["secret"]: t[world["secret"]].clip(upper=highest)}) for t in (real, synthetic)
        )
    known = {"keys": list(world["keys"]), "all": [c for c in columns if c != world["secret"]]}

    def measure(name):
        with tempfile.TemporaryDirectory() as folder:
            attack = BrmAttack(df_original=real[columns], anon=synthetic[columns], results_path=folder)
            attack.run_one_attack(secret_column=world["secret"], known_columns=known[name])
            if attack.alcm.halt_info["halt_code"] == "init_failed":  # it would say 0
                raise RuntimeError(attack.alcm.halt_info["reason"])
            alc = float(attack.alcm.alc_per_secret_and_known_df()["alc"].iloc[-1])
        return {"score": alc, "flag": alc > AT_RISK, "people": None}

    return {name: lambda name=name: measure(name) for name in MEASURES}

"""The tables on which anonymeter guessed and linked: real data that statsmodels and scikit-learn bring along.

`remake_anonymeter_inference.py` and `test_anonymeter_inference.py` both read them here. Rows in even places are the
real table, the others the synthetic one. All columns are complete. A column of text is a category to both tools, a
column of numbers a number.
"""

from dataclasses import dataclass

Columns = dict[str, list[object]]


@dataclass(frozen=True)
class Case:
    """Two tables, what is known and what is wanted, and two lists to be linked."""

    real: Columns
    synthetic: Columns
    aux: list[str]
    secret: str
    halves: tuple[list[str], list[str]]
    ties: bool
    """Whether several synthetic rows may be equally near."""


def halved(columns: Columns, aux: list[str], secret: str, *, ties: bool = False) -> Case:
    kept = {c: columns[c] for c in (*aux, secret)}
    real, synthetic = ({c: v[i::2] for c, v in kept.items()} for i in (0, 1))
    return Case(real, synthetic, aux, secret, (aux[::2], aux[1::2]), ties)


def of_sklearn(name: str, **options: object) -> Columns:
    import sklearn.datasets

    table = getattr(sklearn.datasets, f"load_{name}")(as_frame=True, **options).frame
    return {str(c).replace(" ", "_"): [float(v) for v in table[c]] for c in table.columns}


def election(numbers: tuple[str, ...]) -> Columns:
    """Return the American National Election Study of 1996 (public domain); all but the numbers as text."""
    from statsmodels.datasets import anes96

    table = anes96.load_pandas().data
    return {c: [float(v) if c in numbers else f"{c} {v:g}" for v in table[c]] for c in table.columns}


def cases() -> dict[str, Case]:
    wine, cancer = of_sklearn("wine"), of_sklearn("breast_cancer")
    diabetes = of_sklearn("diabetes", scaled=False)
    means = [c for c in cancer if c.startswith("mean_")]
    body = ["age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    opinions = ["educ", "TVnews", "selfLR", "PID"]
    return {
        "wine": halved(wine, [c for c in wine if c != "target"], "target"),
        "breast cancer": halved(cancer, means, "target"),
        "diabetes": halved(diabetes, body, "sex"),
        "diabetes, a number": halved(diabetes, body[1:], "age"),
        "election study, categories": halved(election(()), opinions, "vote", ties=True),
        "election study, seven levels": halved(election(()), ["vote", *opinions[:3]], "PID", ties=True),
        "election study, age": halved(election(("age", "income")), ["age", "educ", "PID"], "income", ties=True),
    }

"""The calls that `remake_models.py` makes of SDMetrics and `test_models.py` of `divulge.sdmetrics`: metrics that train models.

SDMetrics draws from numpy's global generator; it runs right after `numpy.random.seed(seed)`.
"""

from dataclasses import dataclass, field

from column_cases import B2, G1, G2, KINDS, R1, S1, both, meta

PEOPLE = meta(KINDS, primary_key="id")
YES = meta(KINDS.replace("b:boolean", "b:categorical"), primary_key="id")
CLOSE = ("object", ["u" if v == "z" else v for v in B2[1]])
"""The synthetic categories without the one that the real table lacks, about which SDMetrics stumbles."""


def worded(table: dict) -> dict:
    return {**table, "b": ("object", ["yes" if v else "no" for v in table["b"][1]])}


REAL, SYNTHETIC, WITH_NEW = R1, {**S1, "e": CLOSE}, S1
GAPS = G1, {**G2, "e": ("object", ["u" if v == "z" else v for v in G2["e"][1]])}
REAL_WORDS, WORDS, ONE_WORD = worded(R1), worded(SYNTHETIC), {**R1, "b": ("object", ["yes"] * 60)}


@dataclass(frozen=True)
class Case:
    metric: str
    name: str
    first: dict
    second: dict
    metadata: dict | None = None
    kwargs: dict = field(default_factory=dict)
    seed: int = 3

    @property
    def id(self) -> str:
        return f"{self.metric} | {self.name}"


def cases_of_detection(metric: str) -> list[Case]:
    return [
        Case(metric, "all kinds", REAL, SYNTHETIC, PEOPLE),
        Case(metric, "without metadata", REAL, SYNTHETIC),
        Case(metric, "gaps", *GAPS, PEOPLE),
        Case(metric, "a category that the real table lacks", REAL, WITH_NEW, PEOPLE),
        Case(metric, "another seed", REAL, SYNTHETIC, PEOPLE, seed=9),
        Case(metric, "no column of use", *both("b")),
        Case(metric, "a column named like a part of the key", REAL, SYNTHETIC, {**PEOPLE, "primary_key": "in"}),
        Case(metric, "in the shape of SDV", REAL, SYNTHETIC, {"tables": {"people": PEOPLE}}),
        Case(metric, "alternate keys", REAL, SYNTHETIC, {**PEOPLE, "alternate_keys": ["n", ["c", "e"]]}),
    ]


def cases_of_two_values(metric: str) -> list[Case]:
    return [
        Case(metric, "text", WORDS, REAL_WORDS, YES, {"target": "b"}),
        Case(metric, "truth values", SYNTHETIC, REAL, PEOPLE, {"target": "b"}),
        Case(metric, "no target", WORDS, REAL_WORDS, YES),
        Case(metric, "target in metadata", WORDS, REAL_WORDS, {**YES, "target": "b"}),
        Case(metric, "one label learned", WORDS, ONE_WORD, YES, {"target": "b"}),
        Case(metric, "the other way", REAL_WORDS, {**WORDS, "e": S1["e"]}, YES, {"target": "b"}),
        Case(metric, "a category never learned", {**WORDS, "e": S1["e"]}, REAL_WORDS, YES, {"target": "b"}),
        Case(metric, "gaps", GAPS[1], GAPS[0], PEOPLE, {"target": "b"}),
    ]


CASES = [
    *cases_of_detection("LogisticDetection"),
    *cases_of_detection("SVCDetection"),
    *cases_of_two_values("BinaryDecisionTreeClassifier"),
    *cases_of_two_values("BinaryAdaBoostClassifier"),
    *cases_of_two_values("BinaryLogisticRegression"),
    *cases_of_two_values("BinaryMLPClassifier"),
    *(
        Case(metric, name, *tables, PEOPLE, {"target": target})
        for metric in ("MulticlassDecisionTreeClassifier", "MulticlassMLPClassifier")
        for name, tables, target in [("text", (WORDS, REAL_WORDS), "c"), ("gaps", GAPS[::-1], "b"), ("whole numbers", (SYNTHETIC, REAL), "i")]
    ),
    *(
        Case(metric, name, *tables, PEOPLE, {"target": target})
        for metric in ("LinearRegression", "MLPRegressor")
        for name, tables, target in [("floats", (SYNTHETIC, REAL), "n"), ("gaps", GAPS[::-1], "i"), ("missing targets", GAPS[::-1], "n")]
    ),
    Case("GMLogLikelihood", "one to four", REAL, SYNTHETIC, PEOPLE, {"n_components": (1, 4)}),
    Case("GMLogLikelihood", "gaps, three", *GAPS, PEOPLE, {"n_components": 3}),
    Case("GMLogLikelihood", "two kinds", REAL, SYNTHETIC, PEOPLE, {"n_components": (1, 3), "covariance_type": ("diag", "full"), "iterations": 2}),
    Case("GMLogLikelihood", "no numbers", *both("c", "e")),
    Case("GMLogLikelihood", "more components than rows", *both("n", "m"), None, {"n_components": 70}),
]  # fmt: skip

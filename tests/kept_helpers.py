"""Results of fidelity as in assessment.json, for tests of documents and rules."""


def kept(ruler, verdict, *, columns=(), measure="column_pairs", n=2000, m=2000, **more):
    """One result of fidelity, as in assessment.json; a fresh sample shows 0.1."""
    return {
        "measure": measure, "variant": "", "columns": list(columns), "group": "", "quantity": "distance",
        "value": None if ruler is None else 0.1 * ruler, "ruler": ruler, "verdict": verdict, "n": n, "m": m,
        "fresh_sample": {"mean": 0.1, "low": 0.09, "high": 0.11}, "tolerance": 0.05, "notes": [], "context": {}, **more,
    }  # fmt: skip


def marginal(column, labels=()):
    half = {"real": [0.5, 0.5], "synthetic": [0.4, 0.6], "low": [0.45, 0.45], "high": [0.55, 0.55]}
    return {"column": column, "ordered": column == "age", "labels": list(labels)} | half


SCOPE = {
    "tolerance": 0.05, "too_close": False, "warnings": [],
    "not_measured": [{"measure": "detection", "question": "?", "why": "it fits models"}],
    "not_compared": [{"column": "memo", "why": "free text"}], "marginals": [marginal("age"), marginal("job")],
}  # fmt: skip

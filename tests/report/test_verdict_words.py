"""Words of verdicts stand in one table, and each has what the documents show of it."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from divulge.core.result import Verdict
from divulge.measures.result import FidelityVerdict
from divulge.report.policy_model import Moved
from divulge.report.verdicts import FIDELITY, MOVED, RISK, word_of

SOURCE = Path(__file__).parents[2] / "src/divulge"
STYLE = (SOURCE / "report/documents/report.css").read_text(encoding="utf-8")
WORDS = {*get_args(Verdict), *get_args(FidelityVerdict), *get_args(Moved)}
ELSEWHERE: set[str] = set()
"""Files that key a list by verdicts; none may be added."""


def keys(node):
    """The constants by which a dictionary, or a list of pairs, finds its entries."""
    if isinstance(node, ast.Dict):
        found = node.keys
    elif isinstance(node, ast.Tuple | ast.List):
        found = [e.elts[0] for e in node.elts if isinstance(e, ast.Tuple) and e.elts]
    else:
        return set()
    return {k.value for k in found if isinstance(k, ast.Constant)}


def keyed_by_verdicts():
    def is_keyed(path):
        text = path.read_text(encoding="utf-8")
        if sum(word in text for word in WORDS) < 2:  # most files have none, and parsing takes long
            return False
        return any(len(WORDS & keys(node)) > 1 for node in ast.walk(ast.parse(text)))

    python = {p for p in SOURCE.rglob("*.py") if is_keyed(p)}
    pair = re.compile(r"""['"]([a-z ]+)['"]\s*:""")
    templates = {p for p in SOURCE.rglob("*.j2") if WORDS & set(pair.findall(p.read_text(encoding="utf-8")))}
    return {str(p.relative_to(SOURCE)) for p in python | templates}


def test_no_other_file_keys_a_list_by_verdicts():
    assert keyed_by_verdicts() - {"report/verdicts.py"} == ELSEWHERE


@pytest.mark.parametrize(("table", "kind"), [(RISK, Verdict), (FIDELITY, FidelityVerdict), (MOVED, Moved)])
def test_every_word_has_an_entry(table, kind):
    assert tuple(table) == get_args(kind)


@pytest.mark.parametrize("word", [*RISK.values(), *FIDELITY.values(), *MOVED.values(), word_of("not tested")])
def test_its_class_has_a_colour_and_a_sign(word):
    assert f".v.{word.css}" in STYLE


def test_risks_differ_in_sign_icon_and_rank():
    for of in ("sign", "icon", "rank", "css"):
        assert len({getattr(word, of) for word in RISK.values()}) == len(RISK)


def test_fidelity_never_has_the_colour_of_a_leak():
    assert not {"excess", "deficit"} & {word.css for word in FIDELITY.values()}

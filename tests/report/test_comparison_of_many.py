"""A comparison of eleven candidates: lines of the terminal, who is riskier by number, the axis of the picture."""

import re

from msgspec.structs import replace
from report_helpers import typed

from divulge.report.comparison.html import page
from divulge.report.comparison.model import Candidate, Comparison, Front, TwoByTwo
from divulge.report.comparison.prose import GROUPS, steps_in_words
from divulge.report.comparison.reached import reached_in_words, share_reached
from divulge.report.comparison.rows import by_order
from divulge.report.comparison.text import summary


def many(n=11):
    """A comparison of n candidates with long names, of which the later half has a finding in a single comparison."""
    data = typed(
        {"verdict": {"order": [], "sentence": "Some."}, "settings": {"level": 0.95, "acceptable": 0.05}}, Comparison
    )
    labels = [f"{chr(97 + i)}_hepatitis_generator_syn_best" for i in range(n)]

    def candidate(i, label):
        found = "excess found" if i > n // 2 else "cannot tell"
        band = {"attack": "copies", "n": 9, "low": 0.03 * i, "high": 0.6, "where": "copies"}
        table = {"rows": 9, "verdict": found, "bands": [band]}
        worst = {"attack": "membership", "value": 0.01 * i, "low": 0.0, "high": 0.1 + 0.01 * i, "first": 1, "last": n}
        kept = {"measure": "column_pairs", "excess": 0.1, "low": 0.0, "high": 0.2, "verdict": "differs"}
        kind, share = ("at least", 0.03 * i) if i > n // 2 else ("at most", 0.1 + 0.01 * i)
        reached = {"kind": kind, "share": share, "people": round(1000 * share), "of": "members"}
        return typed({"label": label, "verdict": found, "worst": worst, "reached": reached, "tables": [table],
                      "next_step": "Train again." if i > n // 2 else f"Take {i},000 people.", "fidelity": kept},
                     Candidate)  # fmt: skip

    pairs = [typed({"first": a, "second": b, "riskier": b if j > i + 3 else None}, TwoByTwo)
             for i, a in enumerate(labels) for j, b in enumerate(labels) if i < j]  # fmt: skip
    front = typed({"labels": labels[:4]}, Front)
    return replace(
        data, verdict=replace(data.verdict, order=tuple(labels)), two_by_two=tuple(pairs), front=front,
        candidates=tuple(candidate(i, label) for i, label in enumerate(labels)),
    )  # fmt: skip


def test_eleven_candidates_take_forty_lines_of_a_terminal_with_who_is_riskier_by_number():
    lines = summary(many()).splitlines()
    assert len(lines) <= 38  # the command adds two
    assert lines[1].startswith("None of the 11 is cleared for release.")
    heads = next(i for i, x in enumerate(lines) if x.split()[:3] == ["no.", "1", "2"])
    assert lines[heads + 2].split() == ["1", "·", *["less"] * 7]
    assert lines[heads + 12].split() == ["11", *["more"] * 7, "·"]
    # who differs in the group alone, cleared before not cleared before found, is told apart too
    assert lines[heads + 7].split() == ["6", "more", "more", "·", *["(less)"] * 3, "less", "less"]
    assert lines[heads + 8].split() == ["7", *["more"] * 3, *["(more)"] * 3, "·", "less"]


def test_the_picture_shows_the_largest_certain_finding_or_the_limit():
    shown = [share_reached(c) for c in many().candidates]
    assert shown == [0.1 + 0.01 * i for i in range(6)] + [0.03 * i for i in range(6, 11)]
    text = page(many())
    assert "<td>0.300" in text and "at least so many members" in text


def test_each_candidate_has_a_number_of_members_and_each_group_a_next_step():
    """No estimate below 0 stands beside a verdict: at least or at most, in people."""
    data = many()
    first, last = data.candidates[0], data.candidates[-1]
    assert reached_in_words(first) == "at most 100 (10.0%)" and reached_in_words(last) == "at least 300 (30%)"
    none = replace(last, reached=replace(last.reached, share=0.0, people=0))
    assert reached_in_words(none) == "found, number uncertain"
    open_ = replace(first, reached=replace(first.reached, share=None, people=None))
    assert reached_in_words(open_) == "not bounded" and reached_in_words(replace(first, reached=None)) == "-"
    told = steps_in_words(data)
    assert told == [
        "Do not release the 6 without a finding on this evidence. "
        + " ".join(f"For “{c.label}”: take {i},000 people." for i, c in enumerate(data.candidates[:3]))
        + " Of the others their own report says it.",
        "Withhold the 5 with a finding. Train again.",
    ]
    other = (*data.candidates[:-1], replace(last, next_step="Switch off the filter."))
    assert steps_in_words(replace(data, candidates=other))[1] == (
        f"Withhold the 5 with a finding. For “{data.candidates[6].label}” and 3 more: train again. "
        f"For “{last.label}”: switch off the filter."
    )
    cleared = replace(data, candidates=(replace(first, verdict="none found"), *data.candidates[1:]))
    assert steps_in_words(cleared)[0] == f"Take “{first.label}”: read its report, decide, and sign there."
    assert all(step in summary(cleared).replace("\n", " ") for step in ("Train again.", "and sign there."))
    shown = page(cleared)
    table = shown[shown.index("members reached") :].split("</table>")[0]
    assert "at most 100 (10.0%)" in table and "at least 300 (30%)" in table and "-0." not in table


def test_candidates_stand_in_groups_and_say_why_they_are_cleared_or_not():
    """Cleared ones come first whatever their risk; a finding counts whatever the risk, and no text is cut."""
    data = many(5)
    told = ["cannot tell", "none found", "cannot tell", "deficit found", "excess found"]
    why = ["", "", "", "nearness: rows near to members are missing", "copies (near on 6 columns): 63.4% of members"]
    open_ = [
        "membership up to 9.4% and 1 more not excluded (limit 5%)",
        "a leak could reach 4.2% at most (limit 5%)",
        "",
        "",
        "",
    ]
    data = replace(
        data,
        candidates=tuple(
            replace(c, verdict=v, why=w, clearance=o)
            for c, v, w, o in zip(data.candidates, told, why, open_, strict=True)
        ),
    )
    assert [c.label[0] for c in by_order(data)] == ["b", "a", "c", "d", "e"]
    text = page(data)
    shown = text[text.index("verdict, and why") :].split("</table>")[0]
    assert re.findall(r'scope="rowgroup"><b>([^<]*)', shown) == list(GROUPS)
    assert all(w in shown for w in (*why, *open_))
    assert "statement about" not in text  # each has one table
    lines = [line.split() for line in summary(data).splitlines()]
    row = next(line for line in lines if line[:1] == ["2"])
    assert row[2:5] == ["at", "most", "100"] and row[6:12] == ["cannot", "tell", "membership", "up", "to", "9.4%"]
    assert "0.000 to 0.110" not in summary(data, width=160)

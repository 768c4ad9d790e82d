"""The tables beside the results: policy, preconditions, how far a leak could reach, key sets, references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from divulge.core.result import number, percent
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import HTML, MARKDOWN, PAGES, Cell, Col, Name, Num, Small, Table, Word
from divulge.report.claims.model import ClaimLine
from divulge.report.control_model import Found
from divulge.report.model import Column, MinimalKeySet, Precondition
from divulge.report.policy_model import Condition
from divulge.report.prose.actors import OfActor
from divulge.report.prose.decision import Decision
from divulge.report.prose.tiles import Tile
from divulge.report.verdicts import CHECKED

__all__ = [
    "actors",
    "claim",
    "conditions",
    "control",
    "control_attacks",
    "data_card",
    "distances",
    "exposed",
    "minimal",
    "preconditions",
    "questions",
    "reach",
    "references",
    "rules",
    "schema",
    "sight",
    "smallest",
    "tables",
]


def conditions(rows: Sequence[Condition]) -> Table:
    """Return the conditions of a policy, and whether each is kept."""
    return Table(
        "Conditions of the policy",
        hidden=True,
        rows=rows,
        cols=[
            Col("condition", lambda c: Name(c.condition), css="words"),
            Col("found", lambda c: Name(c.found), css="words"),
            Col("kept", lambda c: cells.kept(c.kept)),
            Col("why", lambda c: Name(c.why or "-"), css="words"),
        ],
    )


def rules(rows: Sequence[Condition]) -> Table:
    """Return the rules of an audit, or of a report of quality, and whether each is kept."""

    def kept(c: Condition) -> Cell:
        return Word("yes", CHECKED["kept"]) if c.kept else Word(f"no: {c.why}", CHECKED["not kept"])

    return Table(
        "Rules",
        [
            Col("rule", lambda c: Name(c.condition)),
            Col("found", lambda c: Name(c.found)),
            Col("kept", kept),
        ],
        rows,
    )


def claim(rows: Sequence[ClaimLine]) -> Table:
    """Return what a claim of differential privacy allows, line by line, beside what was found."""
    return Table(
        "What the claim allows, and what was found",
        hidden=True,
        rows=rows,
        cols=[
            Col("of", lambda c: Name(c.what)),
            Col("comparison", lambda c: Name(f"{c.attack} ({c.variant})" if c.variant else c.attack or "-")),
            Num("rate of strangers", lambda c: number(c.strangers)),
            Num("the claim allows", lambda c: number(c.allowed)),
            Num("found", lambda c: number(c.found)),
            Num("epsilon at least", lambda c: "-" if c.epsilon_low is None else f"{c.epsilon_low:.2f}"),
            Col("says", lambda c: Word(c.verdict, CHECKED[c.verdict])),
            Col("why", lambda c: Name(c.why or "-")),
        ],
    )


def preconditions(rows: Sequence[Precondition]) -> Table:
    """Return what must hold, and whether it does."""
    return Table(
        "Preconditions",
        hidden=True,
        label="Table of preconditions",
        rows=rows,
        cols=[
            Col("check", lambda c: c.check),
            Col("holds", lambda c: cells.held(formatting.holds(c))),
            Col("what was seen", lambda c: c.detail, css="words"),
        ],
    )


def actors(rows: Sequence[OfActor]) -> Table:
    """Return each actor with its verdict and the worst comparison; the last column is about the real table."""
    return Table(
        ("By actor", Small("(what each knows about people; a test that several ask is made once)")),
        rows=rows,
        css="small",
        cols=[
            Col("actor", lambda a: Name(a.name)),
            Col("knows", lambda a: Name(a.knows), keep=90),
            Col("wants", lambda a: Name(a.wants) if a.wants else "-", keep=110),
            Col("verdict", lambda a: cells.state(a.state)),
            Num("tests", lambda a: f"{a.n:,}"),
            Col("worst of them", lambda a: Name(a.brief)),
            Col("right links to the real table, were it released", lambda a: a.real_table or "-",
                where=PAGES),
        ],
    )  # fmt: skip


def questions(rows: Sequence[Tile]) -> Table:
    """Return each question of page one with its state and what was found."""
    return Table(
        "Each question at a glance",
        rows=rows,
        cols=[
            Col("question", lambda t: t.head),
            Col("state", lambda t: cells.state(t.shown)),
            Col(
                "members are people in the real table, strangers people the synthesizer never saw",
                lambda t: Name(t.sentence),
            ),
        ],
    )


def reach(d: Decision, acceptable: str = "") -> Table:
    """Return how far a leak could reach under each main test that found none."""
    return Table(
        (
            "What else could be missed" if d.found else "How far a leak could still reach",
            Small(_REACH.format(acceptable)),
        ),
        css="reach",
        scroll="",
        rows=d.reach,
        cols=[
            Col("main test", lambda x: x.test, where=HTML),
            Col("main test without a finding", lambda x: x.test, where=MARKDOWN),
            Col("state", lambda x: cells.state(x.state)),
            Num("up to", lambda x: x.told, where=HTML),
            Col("a leak could still reach", lambda x: x.told, where=MARKDOWN),
        ],
    )


_REACH = "(main tests without a finding; limit set for this run: {} of members; what is found counts at any size)"


def minimal(rows: Sequence[MinimalKeySet]) -> Table:
    """Return the minimal key sets that disclose a target."""
    return Table(
        "Minimal disclosing key sets",
        hidden=True,
        label="Minimal key sets",
        css="small sortable",
        scroll="scroll tall",
        rows=rows,
        cols=[
            Col("key set", cells.known, where=HTML, key="known"),
            Col("known", cells.known, where=MARKDOWN),
            Col("target", cells.target, key="target"),
            Num("real records disclosed", lambda m: formatting.compact(m.n_disclosed), key="records"),
            Num("share of real records", lambda m: percent(m.share), where=HTML, key="share"),
            Num("share", lambda m: percent(m.share), where=MARKDOWN),
            Num(
                "synthetic rows in classes of one target",
                lambda m: percent(m.synthetic_share),
                where=HTML,
                key="synthetic",
            ),
        ],
    )


def distances(rows: Sequence[Mapping[str, str]], strangers: bool) -> Table:
    """Return the distance measures without a verdict, as by `distances.values`."""

    def measure(v: Mapping[str, str]) -> Any:
        variant = f" ({v['variant']})" if v["variant"] else ""
        return v["what"], Small(f"{v['attack']}{variant}")

    return Table(
        "Distance measures without a verdict",
        label="Distance measures",
        css="small",
        rows=rows,
        cols=[
            Col("measure", measure, where=HTML),
            Col("measure", lambda v: v["what"], where=MARKDOWN),
            Num("real", lambda v: v["real"]),
            Num("holdout", lambda v: v["holdout"], strangers),
            Num("without a leak", lambda v: v["leak_free"], strangers, css="wrap"),
            Col("what it can and cannot show", lambda v: v["about"], css="words"),
        ],
    )


def exposed(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the most exposed records, by row number, with the columns that their file has."""

    def of(field: str, shown: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], str]:
        return lambda w: shown(w.get(field))

    def yes(field: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda w: "yes" if w.get(field) else "no"

    def cap(w: Mapping[str, Any]) -> Cell:
        told, of_target = number(w.get("highest_cap")), w.get("highest_cap_target")
        return (told, Small(f"of {formatting.name(of_target)}")) if of_target else told

    def flagged(w: Mapping[str, Any]) -> str:
        return "-" if w.get("flagged") is None else yes("flagged")(w)

    scored = bool(rows) and "hit_score" in rows[0]
    return Table(
        f"The {len(rows)} most exposed records (custodian's copy only, do not publish)",
        [
            Num("row", of("row", formatting.compact), key="row"),
            Col("flagged", flagged, scored, key="flagged"),
            Num("hit score", of("hit_score", formatting.distance), scored, key="score"),
            Num("p-value", of("p_value", formatting.p_text), scored, key="p"),
            Num("exposure rank", of("exposure_rank", percent), scored, key="rank"),
            Num(
                "distance to a synthetic row", of("distance_to_synthetic", formatting.distance), scored, key="synthetic"
            ),
            Num("to another person", of("distance_to_person", formatting.distance), scored, key="person"),
            Num("attraction", of("attraction", formatting.compact), scored, key="attraction"),
            Num("highest CAP", cap, scored, key="cap", css="wrap"),
            Col("reasons", lambda w: Name(formatting.brief(w.get("reasons") or "-", 220)), scored, css="words"),
            Col("copied whole", yes("copied"), not scored, key="copied"),
            Col("replicated unique", yes("replicated_unique"), not scored, key="unique"),
            Num("targets disclosed", of("n_disclosed", formatting.compact), not scored, key="n"),
            Col("which", lambda w: Name(formatting.brief(w.get("disclosed") or "-")), not scored, key="which"),
            Num("highest CAP", of("highest_cap", number), not scored, key="cap"),
            Col("of target", lambda w: cells.named(w.get("highest_cap_target")), not scored, key="of"),
        ],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label="Most exposed records",
    )


# ---------------------------------------------------------------- what the run could have seen


def sight(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the smallest excess that each attack could have seen."""
    return Table(
        "Leak-free band and smallest detectable excess, for the most uncertain comparison of each attack",
        label="What each attack could have seen",
        rows=rows,
        cols=[
            Col("attack", lambda s: s["r"].attack),
            Col("comparison", lambda s: Name(formatting.brief(s["label"], 120))),
            Num("leak-free band of risk", lambda s: f"{formatting.limit(s['low'])} to {formatting.limit(s['high'])}"),
            Num("risk found", lambda s: number(formatting.risk_value(s["r"]))),
            Col("lies", lambda s: s["where"]),
            Num("smallest excess in rate found", lambda s: formatting.share(s["r"].smallest_detectable)),
        ],
    )


def smallest(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the smallest excess that each attack finds, a column an attack."""

    def of(s: Mapping[str, Any]) -> Col:
        return Col(s["r"].attack.replace("_", " "), lambda _: formatting.share(s["r"].smallest_detectable))

    return Table(
        "Smallest leak found, by attack",
        [Col("attack", str), *map(of, rows)],
        ["smallest excess"],
        css="small",
        hidden=True,
        label="Smallest leak found",
    )


def control(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return what the run said once people were planted."""

    def of_people(field: str) -> Any:
        return lambda c: formatting.compact(getattr(c["people"], field)) if c["people"] else _nothing(c)

    def flagged(c: Mapping[str, Any]) -> str:
        people = c["people"]
        return f"{of_people('flagged')(c)} of {formatting.compact(people.planted)}" if people else _nothing(c)

    return Table(
        "What the run said once people were planted",
        label="Positive control",
        rows=rows,
        cols=[
            Col("planted", lambda c: c["kind"]),
            Num("rows", lambda c: formatting.compact(c["n_planted"]) if c["verdict"] else "0"),
            Col("verdict", lambda c: cells.verdict(c["verdict"]) if c["verdict"] else c["note"]),
            Num(
                "comparisons with an excess",
                lambda c: f"{len(c['found'])} of {c['n_judged']:,}" if c["verdict"] else "",
            ),
            Num("of these, none without the plant", lambda c: str(c["new"]) if c["verdict"] else ""),
            Num("planted people flagged", flagged),
            Num("others flagged", of_people("others_flagged")),
            Num("flagged without the plant", of_people("flagged_without")),
        ],
    )


def _nothing(c: Mapping[str, Any]) -> str:
    return "-" if c["verdict"] else ""


def control_attacks(kind: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return which attacks saw the people who were planted."""

    def seen(a: Mapping[str, Any]) -> str:
        return "yes" if a["new"] else "with and without" if a["n"] else "no"

    def clearest(a: Mapping[str, Any]) -> Any:
        found: Found | None = a["clearest"]
        limits = "" if found is None else f"{formatting.limit(found.low)} to {formatting.limit(found.high)}"
        return "-" if found is None else (number(found.risk), Small(limits))

    return Table(
        "Attack by attack: what saw the plant, and the smallest share that would be seen",
        label=f"Attacks that saw the plant: {kind}",
        css="small",
        rows=rows,
        cols=[
            Col("attack", lambda a: a["attack"]),
            Col("saw it", seen),
            Num("comparisons with an excess", lambda a: str(a["n"])),
            Num("none without the plant", lambda a: str(a["new"])),
            Num("clearest risk (simultaneous interval)", clearest),
            Col(
                "in", lambda a: Name(formatting.brief(a["clearest"].attack, 160)) if a["clearest"] else "-", css="words"
            ),
            Num("smallest share seen", lambda a: formatting.share(a["smallest"])),
        ],
    )


# ---------------------------------------------------------------- the tables and the attacks


def tables(of: Mapping[str, Any]) -> Table:
    """Return the tables of the run."""
    return Table(
        "Size and fingerprint of each table",
        rows=[
            *[(f"{role}, people" if t.linked else role, t) for role, t in of.items() if t],
            *[(f"{role}: {formatting.name(own.name)}", own) for role, t in of.items() if t for own in t.linked],
        ],
        cols=[
            Col("table", lambda row: row[0]),
            Num("rows", lambda row: "-" if row[1].rows is None else f"{row[1].rows:,}"),
            Num("columns", lambda row: str(row[1].columns)),
            Col("sha256", lambda row: cells.hashed(getattr(row[1], "sha256", None))),
        ],
    )


def data_card(roles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Table:
    """Return facts about the tables, a column a table."""

    def of(i: int) -> Callable[[tuple[str, Sequence[str]]], str]:
        return lambda row: row[1][i]

    return Table(
        "Size, gaps and fingerprint of each table",
        [Col("table", lambda row: row[0]), *(Num(role, of(i)) for i, role in enumerate(roles))],
        rows,
        css="small",
        hidden=True,
        label="The tables",
    )


def schema(rows: Sequence[Column]) -> Table:
    """Return how each column was read."""
    return Table(
        "Columns, kinds and roles",
        hidden=True,
        label="Columns",
        css="small",
        scroll="scroll tall",
        rows=rows,
        cols=[
            Col("column", lambda c: cells.named(c.name)),
            Col("kind", lambda c: c.kind),
            Col("role", lambda c: ", ".join(c.roles) or "-"),
            Col("why", lambda c: c.why, css="words"),
            Col("bins", lambda c: str(c.bins or "-")),
        ],
    )


def references(attacks: Mapping[str, Any]) -> Table:
    """Return the attacks with their questions and references."""
    return Table(
        "Attacks and references",
        hidden=True,
        label="Table of references",
        css="small",
        rows=[*attacks.items()],
        cols=[
            Col("attack", lambda row: row[0]),
            Col("question", lambda row: row[1].question, css="words"),
            Col("needs", lambda row: row[1].needs),
            Col("reference", lambda row: row[1].reference, css="words"),
        ],
    )

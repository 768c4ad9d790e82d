"""The report as Markdown: short, for a ticket or a pull request; all names are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from divulge.core.result import Risk, counts_rows, number, percent
from divulge.measures.result import FidelityResult
from divulge.report import formatting, order, words
from divulge.report.content import settings_of
from divulge.report.model import Assessment, Rate, ResultRecord
from divulge.report.policy_model import Changed
from divulge.report.prose import distances, people, statement, use, wp216
from divulge.report.prose.answer import Answer
from divulge.report.prose.change import fixed_lines
from divulge.report.prose.decision import Decision, decision
from divulge.report.prose.membership import DEFINITION, membership_in_words
from divulge.report.prose.reconstruction import MEANING, reconstruction_in_words
from divulge.report.prose.several_tables import limits_in_words
from divulge.report.prose.statement import FOR_THE_RECORD, for_the_record
from divulge.report.prose.tiles import state_words
from divulge.report.verdicts import FIDELITY, RISK

__all__ = ["markdown"]

_MOST = 40
_PARTS = 5  # near copies on part of the columns
_ESCAPES = {c: f"\\{c}" for c in "\\`*_[]|~$#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
_LINKS = {"://": "&#58;//", "mailto:": "mailto&#58;", "www.": "www&#46;"}  # what makes a bare address a link


def markdown(data: Assessment) -> str:
    """Return the report as Markdown: verdict, preconditions, comparisons, uniqueness, what was not tested, method."""
    parts = [
        _head(data), _warnings(data), _policy(data), _change(data), _overview(data), _questions(data),
        _threat(data), _decision(data), _comparisons(data), _solved(data), _uniqueness(data), _distances(data),
        _minimal(data), _records(data), _control(data), _fidelity(data), _utility(data), _not_tested(data),
        _preconditions(data),
        _method(data),
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p) + "\n"


def escaped(text: object) -> str:
    r"""Return text escaped, so that Markdown and HTML show it literally, without link, emphasis, code, cell or tag.

    Examples
    --------
    >>> escaped("a|b <i> [x](y)")
    'a\\|b &lt;i&gt; \\[x\\](y)'
    """
    out = "".join(_ESCAPES.get(c, c) for c in formatting.tidy(text))
    for sign, harmless in _LINKS.items():
        out = re.sub(re.escape(sign), harmless, out, flags=re.IGNORECASE)
    return out


def _names(keys: Iterable[object]) -> str:
    return " + ".join(escaped(formatting.name(k)) for k in keys) or "-"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    sides = set(right)
    lines = [heads, ["---:" if i in sides else "---" for i in range(len(heads))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section_of(title: str, *body: str) -> str:
    return "\n\n".join([f"## {title}", *(b for b in body if b)])


def _rate(rate: Rate | None) -> str:
    return f"{formatting.rated(rate)} ({formatting.counted(rate)})" if rate and rate.rate is not None else "-"


def _side(r: ResultRecord, role: str) -> str:
    part = formatting.side_of(r, role)
    if not part or part.rate is None:
        return "-"
    told = formatting.side(r, role).replace(" (leak-free: ", "; leak-free: ").removesuffix(")")
    return f"{formatting.rated(part)} ({told})"


def _sign(verdict: str) -> str:
    return f"{RISK[verdict].sign} {verdict}"


def _state(state: str) -> str:
    return f"{RISK[state].sign if state in RISK else ''} {state_words(state)}".strip()


def _about(data: Assessment) -> str:
    told = [f"{formatting.capitalized(name)}: {escaped(text)}" for name, text in statement.about(data)]
    silent = statement.not_stated(data)
    return " · ".join(told + [f"Not stated: {', '.join(silent)}"] * bool(silent))


def _head(data: Assessment) -> str:
    counts = [f"{n:,} {v}" for v, n in order.verdict_counts(data.results) if v != "no holdout"]
    started = escaped(str(data.started).replace("T", " "))
    told = decision(data)
    lines = [
        "# What the synthetic table divulges",
        _edition(data),
        _about(data),
        " ".join(p for p in (f"**{told.title}.**", escaped(told.excluded), escaped(told.headline)) if p),
        escaped(f"{told.release} {told.at_risk}".strip()),
        _tiles(told),
        _scope(told),
        _todo(told),
        f"**In full.** {escaped(formatting.sentence(data))} {escaped(formatting.meaning(data))}",
        *map(escaped, people.facts_in_words(data)),
        f"Comparisons: {', '.join(counts)}." if counts else "",
        f"Assessed {started}, divulge {escaped(data.divulge)}.",
    ]
    return "\n\n".join(line for line in lines if line)


def _tiles(told: Decision) -> str:
    """Return one row for each question: its state and what was found, members beside strangers."""
    rows = [(escaped(t.name), _state(t.state), escaped(t.sentence)) for t in told.tiles]
    return table_of(("question", "state", "members are people in the real table, strangers were never in it"), rows)


def _scope(told: Decision) -> str:
    lines = [("Preconditions", told.preconditions)]
    lines += [] if told.reach else [("Ruled out", told.unbounded)]
    lines += [("Further tests", told.screened), ("Not tested", told.not_tested)]
    lines += [("Several tables", told.together), ("Asked", told.asked)]
    text = "\n".join(f"- **{name}.** {escaped(text)}" for name, text in lines if text)
    heads = ("main test without a finding", "state", "a leak could still reach")
    rows = [(escaped(x.test), _state(x.state), x.limit) for x in told.reach]
    return f"{text}\n\n{table_of(heads, rows)}" if rows else text


def _todo(told: Decision) -> str:
    lines = [
        f"{i}. **{escaped(a.do)}** {escaped(f'{a.changes} {a.warning}'.strip())}" for i, a in enumerate(told.advice, 1)
    ]
    odd = [f"- {escaped(c)}" for c in told.contradictions]
    parts = ["**What to do now**", told.first, "\n".join(lines), told.again, "\n".join(odd)]
    return "\n\n".join(p for p in parts if p)


def _edition(data: Assessment) -> str:
    told = ", ".join(map(escaped, data.revealed))
    if data.edition == "external":
        shown = f"It was asked to show the names of {told}." if told else "Columns are numbered."
        other = "The custodian's edition may begin with another test, one whose counts are too small for this edition."
        alone = "Checks that a single person may break, such as infinite values, are told there alone."
        return f"External edition: no record is named, and small counts are left out. {other} {alone} {shown}"
    return f"**This report holds data values: it was asked to reveal {told}.** Do not pass it on." if told else ""


def _warnings(data: Assessment) -> str:
    lines = [
        f"- **Precondition not met: {escaped(c.check)}.** {escaped(c.detail)}" for c in data.preconditions if not c.ok
    ]
    lines += [
        f"- **Failed, and missing here: {escaped(attacks)}.** {escaped(why)}" for attacks, why in order.failures(data)
    ]
    lines += [
        f"- **Left out: {o.n:,} of {o.of:,} tests of {escaped(o.attack.replace('_', ' '))}.** {escaped(o.why)}"
        for o in data.left_out
    ]
    return section_of("Read this first", "\n".join(lines)) if lines else ""


def _policy(data: Assessment) -> str:
    policy = data.policy
    if not policy:
        return ""
    rows = [[escaped(c.condition), escaped(c.found), _kept(c.kept), escaped(c.why or "-")] for c in policy.conditions]
    told = f"{escaped(formatting.prose(policy.name, 200))}: **{_kept(policy.kept)}**."
    return section_of(
        "Policy", told, *map(escaped, fixed_lines(policy)), table_of(["condition", "found", "kept", "why"], rows)
    )


def _kept(kept: bool) -> str:
    return "● kept" if kept else "▲ not kept"


def _change(data: Assessment) -> str:
    found = data.change
    if not found:
        return ""
    moved = [c for c in found.comparisons if c.verdict in ("rose", "fell")]
    rows = [
        [
            *_who(c),
            *map(number, (c.before, c.now, c.difference)),
            escaped(formatting.interval(c)),
            c.verdict,
        ]
        for c in moved[:_MOST]
    ]
    heads = ["attack", "known", "target", "before", "now", "change", "simultaneous interval", "verdict"]
    told = f"**{found.verdict}.** {escaped(f'{found.sentence} {use.changed_line(data)}'.strip())}"
    return section_of("Change since the previous run", told, table_of(heads, rows, range(3, 7)) if rows else "")


def _utility(data: Assessment) -> str:
    rows = [
        [escaped(u.measure), number(u.value), number(u.reference), u.better, escaped(u.verdict) or "-"]
        for u in data.utility
    ]
    heads = ["measure", "synthetic table", "reference", "better is", "beside a fresh sample"]
    return section_of("Utility", table_of(heads, rows, (1, 2))) if rows else ""


def _fidelity(data: Assessment) -> str:
    """Return the verdict of each measure over all columns, the columns and pairs that differ, what is not compared."""
    scope = data.fidelity_scope
    if scope is None:
        return ""
    rows = [_kept_row(r) for r in use.headlines(data) if r.verdict != "not measured"]
    heads = ["measure", "verdict", "value", "a fresh sample", "ruler", "holdout"]
    differ = [
        "\n".join([f"- **{escaped(line)}**", *(f"    - {escaped(one)}" for one in listed)])
        for line, listed in use.differing_lines(use.differing_of(data), data.fidelity)
    ]
    warned = [f"- {escaped(w)}" for w in scope.warnings]
    return section_of(
        "Fidelity: what the table keeps", "\n".join(warned), "\n".join(differ), words.RULER,
        table_of(heads, rows, (2, 4, 5)) if rows else "", escaped(use.silent_line(data)),
    )  # fmt: skip


def _kept_row(r: FidelityResult) -> list[str]:
    fresh, beside = r.fresh_sample, r.holdout
    return [
        escaped(r.measure.replace("_", " ")), f"{FIDELITY[r.verdict].sign} {r.verdict}".strip(), number(r.value),
        "-" if fresh is None else f"{number(fresh.low)} to {number(fresh.high)}", number(r.ruler),
        number(beside.value if beside else None),
    ]  # fmt: skip


def _overview(data: Assessment) -> str:
    rows = [
        [
            role,
            f"{t.rows:,}" if t.rows is not None else "-",
            str(t.columns),
            f"`{escaped(t.sha256)}`" if t.sha256 else "-",
        ]
        for role, t in data.tables.by_role().items()
        if t
    ]
    attacker = "\n".join(f"- {what}: {escaped(text)}" for what, text in statement.knowledge(data).items())
    return section_of(
        "Overview", table_of(["table", "rows", "columns", "sha256"], rows, (1, 2)), f"The attacker\n\n{attacker}"
    )


def _questions(data: Assessment) -> str:
    strangers = order.has_holdout(data)
    words = [f"- {escaped(c)}" for c in wp216.CAVEATS]
    parts = [_question(a, strangers) for a in wp216.answers(data)]
    reading = [wp216.READING, wp216.SCORE] if strangers else [wp216.BLURRED]
    told = [escaped(t) for t in membership_in_words(data)]
    parts += ["### Membership", escaped(DEFINITION), *told] if told else []
    return section_of("The three questions", "\n".join(words), *reading, *parts)


def _question(a: Answer, strangers: bool) -> str:
    answer = escaped(a.missing)
    if a.headline:
        verdict = a.headline.verdict
        answer = (f"**{_sign(verdict)}.** " if verdict else "") + escaped(a.headline.text)
    lines = [f"### {a.name}", f"{a.definition} “{a.says}”", answer]
    if a.rows:
        rows = wp216.listed(a.attack, a.rows, _MOST)
        heads = ["members", "without the table"]
        if strangers:
            shown = [_SHOWN] if a.any_shown else []
            heads = ["members", "strangers", "without the table", "risk", "interval of this comparison alone"]
            heads += ["simultaneous interval", *shown, "score", "verdict"]
        cells = [[escaped(", ".join(wp216.first_cell(r))), *_numbers(r, strangers, a.any_shown)] for r in rows]
        lines.append(table_of([", ".join(a.heads), *heads], cells, range(1, len(heads))))
        if a.n > len(rows):
            lines.append(
                f"{len(rows)} of {a.n:,} stand here: those by {wp216.HEADLINE[a.attack]}, then the others by "
                f"{'verdict and limit' if strangers else 'rate'}; all are in assessment.json."
            )
    if a.parts:
        lines += _parts_of(a, strangers)
    untested = "; ".join(a.untested)
    return "\n\n".join([*lines, f"Not tested: {escaped(untested)}."])


_SHOWN = "part of a full copy that would show"


def _parts_of(a: Answer, strangers: bool) -> list[str]:
    """Return sets of columns or subgroups as a table, with what their limits hold for."""
    if a.of_guesses:
        heads = ["set of columns", "guesses that single out a member", "a stranger"][: 2 + strangers]
        rows = [[escaped(p.name), _rate(p.real), _rate(p.holdout)][: 2 + strangers] for p in a.parts]
        return [table_of(heads, rows, (1, 2)[: 1 + strangers])]
    heads = ["target", "way of guessing", "subgroup", "members"]
    rows = [[escaped(p.of), escaped(p.way), escaped(p.name), _rate(p.real)] for p in a.parts]
    if not strangers:
        return [table_of(heads, rows, (3,))]
    heads += ["strangers", "risk (limits not corrected for the number of targets)"]
    rows = [[*row, _rate(p.holdout), _risk(p.risk)] for row, p in zip(rows, a.parts, strict=True)]
    return [table_of(heads, rows, (3, 4, 5)), wp216.PART_LIMITS]


def _numbers(r: ResultRecord, strangers: bool, with_shown: bool) -> list[str]:
    baseline = percent(formatting.rate_of(r.baseline))
    if not strangers:
        return [_side(r, "real"), baseline]
    score = "-" if r.score is None else f"{r.score:.1f}"
    verdict = _sign(r.verdict) if r.verdict else "-"
    risk = wp216.few(r) or number(formatting.risk_value(r))
    limits = [escaped(formatting.interval(r.risk, kind)) for kind in ("", "_simultaneous")]
    shown = [number(wp216.shown(r) if r.risk else None)] if with_shown else []
    return [_side(r, "real"), _side(r, "holdout"), baseline, risk, *limits, *shown, score, verdict]


def _stated(part: statement.Stated) -> str:
    lines = [f"- {word}: {escaped('; '.join(texts))}" for word, texts in part.given]
    missing = ", ".join(part.left_out)
    return "\n".join([*lines, f"- not stated: {missing}"] if missing else lines)


def _threat(data: Assessment) -> str:
    parts = [f"{word}\n\n{_stated(part)}" for word, part in statement.threat_model(data)]
    return section_of("Threat model and release", statement.PROCESSING, *parts)


def _decision(data: Assessment) -> str:
    lines = "\n".join(f"- {word}: {escaped(text)}" for word, text in statement.evidence(data))
    record = "\n".join(f"- {head}: {escaped(text)}" for head, text in for_the_record(data, decision(data)))
    return section_of(
        "Decision",
        _stated(statement.decided(data)),
        f"{FOR_THE_RECORD}\n\n{record}",
        f"Evidence of this run\n\n{lines}",
        statement.CERTIFICATE,
    )


def _comparisons(data: Assessment) -> str:
    judged = [r for r in order.judged(data.results) if not order.in_question(r)]
    shown = order.few_parts(judged, _PARTS)[:_MOST]
    right: tuple[int, ...]
    if not judged:
        return ""
    if order.has_holdout(data):
        heads = ["attack", "known", "target", "members", "strangers", "risk (simultaneous interval)", "verdict"]
        rows = [[*_who(r), _side(r, "real"), _side(r, "holdout"), _risk(r.risk), _sign(str(r.verdict))] for r in shown]
        title, right = "Risks, members against strangers", (3, 4, 5)
    else:
        heads = ["attack", "known", "target", "members", "without the table"]
        rows = [[*_who(r), _side(r, "real"), percent(formatting.rate_of(r.baseline))] for r in shown]
        title, right = "Rates of members", (3, 4)
    first = "worst" if order.has_holdout(data) else "highest"
    more = len(judged) - len(shown)
    few = (
        f", of near copies on part of the columns {_PARTS} at most" if sum(map(order.on_part, judged)) > _PARTS else ""
    )
    told = f"The {first} {len(shown)} stand here{few}; {more:,} more are in assessment.json." if more > 0 else ""
    alone = "" if order.has_holdout(data) else "Inference and disclosure are not separated."
    return section_of(title, alone, table_of(heads, rows, right), told)


def _distances(data: Assessment) -> str:
    lines = []
    for s in distances.sentences(data):
        sign = f" {_sign(s['verdict'])}" if order.has_holdout(data) else ""
        lines.append(f"- **{escaped(s['what'])}**{sign}: {escaped(s['text'])}")
    values = distances.values(data)
    heads = {"what": "measure", "real": "real", "holdout": "holdout", "leak_free": "without a leak"}
    if not order.has_holdout(data):
        heads = {"what": "measure", "real": "real"}
    heads["about"] = "what it can and cannot show"
    rows = [[escaped(v[column]) for column in heads] for v in values]
    table = table_of(list(heads.values()), rows, range(1, len(heads) - 1)) if rows else ""
    return section_of("Distances", "\n".join(lines), table) if lines or rows else ""


def _who(r: ResultRecord | Changed) -> list[str]:
    attack = f"{r.attack} ({r.variant})" if r.variant else r.attack
    return [escaped(attack), _names(r.keys), escaped(formatting.name(r.target)) if r.target else "-"]


def _risk(risk: Risk | None) -> str:
    if risk is None or (risk.value is None and formatting.interval(risk) == "-"):
        return "-"
    # limits may begin with < or >
    return f"{number(risk.value)} ({escaped(formatting.interval(risk))})"


def _solved(data: Assessment) -> str:
    lines = [f"- {escaped(told)}" for told in reconstruction_in_words(data)]
    return section_of("Linear reconstruction", MEANING, "\n".join(lines)) if lines else ""


def _uniqueness(data: Assessment) -> str:
    uniques = [r for r in data.results if r.attack == "replicated_uniques" and r.real]
    classes = [r for r in data.results if r.attack == "k_anonymity"]
    parts = []
    if uniques:
        rows = [[escaped(r.variant), _names(r.keys), _rate(r.real), _rate(r.holdout)] for r in uniques]
        parts.append(_cut(["measure", "known", "members", "strangers"], rows, (2, 3)))
    if classes:
        rows = [
            [
                _names(r.keys),
                formatting.measured(formatting.value_of(r, "real")),
                formatting.measured(formatting.value_of(r, "synthetic")),
                percent(r.context.get("real records alone on their key")),
                percent(r.context.get("real records in classes below 5")),
            ]
            for r in classes
        ]
        parts.append(
            _cut(["known", "k, real", "k, synthetic", "real records alone", "in classes below 5"], rows, (1, 2, 3, 4))
        )
    return section_of("Uniqueness", *parts) if parts else ""


def _cut(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int]) -> str:
    more = len(rows) - _MOST
    table = table_of(heads, rows[:_MOST], right)
    return f"{table}\n\n{more:,} more are in assessment.json." if more > 0 else table


def _minimal(data: Assessment) -> str:
    found = sorted(data.minimal_key_sets, key=lambda m: -(m.n_disclosed or 0))
    if not found:
        return ""
    rows = [
        [
            _names(m.keys),
            escaped(formatting.name(m.target)),
            formatting.compact(m.n_disclosed),
            percent(m.share),
        ]
        for m in found
    ]
    return section_of(
        "Minimal key sets that disclose a target",
        "A description without a verdict: the sets were chosen by their result, and strangers may be hit as often.",
        _cut(["known", "target", "real records disclosed", "share"], rows, (2, 3)),
    )


def _records(data: Assessment) -> str:
    s = data.records
    if not s:
        return ""
    return section_of("Exposed records", formatting.standing_out(s), formatting.flags(s))


def _control(data: Assessment) -> str:
    lines = [f"- {escaped(kind)}: {escaped(seen)}" for kind, seen in formatting.controls(data)]
    told = escaped(distances.control_sentence(data))
    return section_of("Positive control", told, formatting.CONTROL, "\n".join(lines)) if lines else ""


def _not_tested(data: Assessment) -> str:
    lines = [f"- {escaped(n.what)}: {escaped(n.question)}" for n in data.not_tested]
    lines += [f"- {escaped(o.attack.replace('_', ' '))} was not made: {escaped(o.why)}" for o in data.not_run]
    return section_of("What was not tested", "\n".join(lines)) if lines else ""


def _preconditions(data: Assessment) -> str:
    rows = [[escaped(c.check), formatting.holds(c), escaped(c.detail)] for c in data.preconditions]
    return section_of("Preconditions", table_of(["check", "holds", "what was seen"], rows)) if rows else ""


def _method(data: Assessment) -> str:
    settings = data.settings
    acceptable = settings.acceptable
    verdicts = [f"- {_sign(v)}: {w.definition.format(acceptable=acceptable)}" for v, w in RISK.items()]
    risk = (
        "Risk is (members - strangers) / (1 - strangers), of the rates: 0 is no more than strangers have, 1 is "
        "everybody. Intervals are simultaneous over the comparisons of one attack; the verdict of the whole is "
        "corrected across attacks too."
        if order.has_holdout(data)
        else "Inference and disclosure are not separated without people whom the synthesizer never saw."
    )
    rows = words.ROWS_RISK if any(map(counts_rows, data.results)) else ""
    run = ", ".join(
        f"{escaped(k)} {_names(v) if isinstance(v, list) else escaped(v)}"
        for k, v in settings_of(data).items()
        if v not in (None, [])
    )
    limits = "\n".join(f"- {line}" for line in limits_in_words(data))
    return section_of(
        "Method and limits", risk, rows, "\n".join(verdicts), limits, f"Settings: {run}." if run else "",
        f"Command: {escaped(data.command)}" if data.command else "",
    )  # fmt: skip

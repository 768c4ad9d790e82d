"""The report as Markdown: short, for a ticket or a pull request; all names are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from divulge.core.result import counts_rows
from divulge.report import formatting, order, words
from divulge.report.blocks import cells, drawn, evidence, kept, results, uniqueness
from divulge.report.blocks.table import Table
from divulge.report.claims.prose import CLAIM_MEANING, CLAIM_TITLE, claim_in_words
from divulge.report.content import settings_of
from divulge.report.documents.tables import escaped, markdown_cell, markdown_table
from divulge.report.model import Assessment
from divulge.report.prose import distances, people, statement, use, wp216
from divulge.report.prose.actors import by_actor
from divulge.report.prose.answer import Answer
from divulge.report.prose.change import fixed_lines
from divulge.report.prose.decision import Decision, decision
from divulge.report.prose.membership import DEFINITION, membership_in_words
from divulge.report.prose.reconstruction import MEANING, reconstruction_in_words
from divulge.report.prose.several_tables import limits_in_words
from divulge.report.prose.statement import FOR_THE_RECORD, for_the_record
from divulge.report.prose.tiles import state_words
from divulge.report.verdicts import RISK

__all__ = ["markdown"]

_MOST = 40
_PARTS = 5  # near copies on part of the columns


def markdown(data: Assessment) -> str:
    """Return the report as Markdown: verdict, preconditions, comparisons, uniqueness, what was not tested, method."""
    parts = [
        _head(data), _warnings(data), _policy(data), _change(data), _overview(data), _questions(data),
        _threat(data), _claim(data), _decision(data), _comparisons(data), _solved(data), _uniqueness(data),
        _distances(data), _minimal(data), _records(data), _control(data), _fidelity(data), _not_tested(data),
        _preconditions(data),
        _method(data),
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p) + "\n"


def _names(keys: Iterable[object]) -> str:
    return " + ".join(escaped(formatting.name(k)) for k in keys) or "-"


def section_of(title: str, *body: str) -> str:
    return "\n\n".join([f"## {title}", *(b for b in body if b)])


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
        markdown_table(evidence.actors(by_actor(data))) if data.threat.actors else "",
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
    return markdown_table(evidence.questions(told.tiles))


def _scope(told: Decision) -> str:
    lines = [("Preconditions", told.preconditions)]
    lines += [] if told.reach else [("Ruled out", told.unbounded)]
    lines += [("Main tests", told.main)] if told.main else []
    lines += [("Further tests", told.screened), ("Not tested", told.not_tested)]
    lines += [("Several tables", told.together), ("Asked", told.asked)]
    text = "\n".join(f"- **{name}.** {escaped(text)}" for name, text in lines if text)
    return f"{text}\n\n{markdown_table(evidence.reach(told))}" if told.reach else text


def _todo(told: Decision) -> str:
    lines = [
        f"{i}. **{escaped(a.do)}** {_code(a.command)}{escaped(f'{a.changes} {a.warning}'.strip())}"
        for i, a in enumerate(told.advice, 1)
    ]
    odd = [f"- {escaped(c)}" for c in told.contradictions]
    parts = ["**What to do now**", told.first, "\n".join(lines), told.again, "\n".join(odd)]
    return "\n\n".join(p for p in parts if p)


def _code(command: str) -> str:
    """Return a command as code, in backticks that it does not have itself; "" for none."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", command)), default=0))
    return f"{ticks} {command} {ticks} " if command else ""


def _edition(data: Assessment) -> str:
    told = ", ".join(map(escaped, data.revealed))
    if data.edition == "external":
        shown = f"It was asked to show the names of {told}." if told else "Columns are numbered."
        alone = (
            "Checks that a single person may break, such as infinite values, stand in the custodian's edition alone."
        )
        return f"External edition: no record is named, and small counts are left out. {alone} {shown}"
    return f"**This report holds data values: it was asked to reveal {told}.** Do not pass it on." if told else ""


def _warnings(data: Assessment) -> str:
    lines = [
        f"- **Precondition not met: {escaped(c.check)}.** {escaped(formatting.capitalized(c.detail))}"
        for c in data.preconditions
        if not c.ok
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
    told = f"{escaped(formatting.prose(policy.name, 200))}: **{markdown_cell(cells.kept(policy.kept))}**."
    return section_of(
        "Policy", told, *map(escaped, fixed_lines(policy)), markdown_table(evidence.conditions(policy.conditions))
    )


def _change(data: Assessment) -> str:
    found = data.change
    if not found:
        return ""
    moved = [c for c in found.comparisons if c.verdict in ("rose", "fell")]
    told = f"**{found.verdict}.** {escaped(f'{found.sentence} {use.changed_line(data)}'.strip())}"
    return section_of(
        "Change since the previous run", told, markdown_table(drawn.changes([{"c": c} for c in moved[:_MOST]]))
    )


def _fidelity(data: Assessment) -> str:
    """Return the verdict of each measure over all columns, the columns and pairs that differ, what is not compared."""
    scope = data.fidelity_scope
    if scope is None:
        return ""
    rows = [r for r in use.headlines(data) if r.verdict != "not measured"]
    differ = [
        "\n".join([f"- **{escaped(line)}**", *(f"    - {escaped(one)}" for one in listed)])
        for line, listed in use.differing_lines(use.differing_of(data), data.fidelity)
    ]
    warned = [f"- {escaped(w)}" for w in scope.warnings]
    return section_of(
        "Fidelity: what the table keeps", "\n".join(warned), "\n".join(differ), words.RULER,
        markdown_table(kept.headlines(rows)), escaped(use.silent_line(data)),
    )  # fmt: skip


def _overview(data: Assessment) -> str:
    attacker = "\n".join(f"- {what}: {escaped(text)}" for what, text in statement.knowledge(data).items())
    return section_of("Overview", markdown_table(evidence.tables(data.tables.by_role())), f"The attacker\n\n{attacker}")


def _questions(data: Assessment) -> str:
    strangers = order.has_holdout(data)
    words = [f"- {escaped(c)}" for c in wp216.CAVEATS]
    parts = [_question(a, strangers) for a in wp216.answers(data)]
    reading = [wp216.READING, wp216.SCORE] if strangers else [wp216.BLURRED]
    told = [escaped(t) for t in membership_in_words(data)]
    parts += ["### Membership", escaped(DEFINITION), *told] if told else []
    by_length = order.by_length(data)
    parts += ["### Whole histories", markdown_table(results.histories(by_length, strangers))] if by_length else []
    return section_of("The three questions", "\n".join(words), *reading, *parts)


def _question(a: Answer, strangers: bool) -> str:
    answer = escaped(a.missing)
    if a.headline:
        verdict = a.headline.verdict
        answer = (f"**{_sign(verdict)}.** " if verdict else "") + escaped(a.headline.text)
    lines = [f"### {a.name}", f"{a.definition} “{a.says}”", answer]
    if a.rows:
        rows = wp216.listed(a.attack, a.rows, _MOST)
        lines.append(markdown_table(results.answers(a, rows, strangers)))
        if a.n > len(rows):
            lines.append(
                f"{len(rows)} of {a.n:,} stand here: those by {wp216.HEADLINE[a.attack]}, then the others by "
                f"{'verdict and limit' if strangers else 'rate'}; all are in assessment.json."
            )
    if a.parts:
        lines.append(markdown_table(results.parts(a, strangers)))
        lines += [wp216.PART_LIMITS] if strangers and not a.of_guesses else []
    untested = "; ".join(a.untested)
    return "\n\n".join([*lines, f"Not tested: {escaped(untested)}."])


def _stated(part: statement.Stated) -> str:
    lines = [f"- {word}: {escaped('; '.join(texts))}" for word, texts in part.given]
    missing = ", ".join(part.left_out)
    return "\n".join([*lines, f"- not stated: {missing}"] if missing else lines)


def _threat(data: Assessment) -> str:
    parts = [f"{word}\n\n{_stated(part)}" for word, part in statement.threat_model(data)]
    return section_of("Threat model and release", statement.PROCESSING, *parts)


def _claim(data: Assessment) -> str:
    if data.claim is None:
        return ""
    told = "\n".join(f"- {escaped(line)}" for line in claim_in_words(data))
    return section_of(CLAIM_TITLE, told, markdown_table(evidence.claim(data.claim.lines)), CLAIM_MEANING)


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
    if not judged:
        return ""
    strangers = order.has_holdout(data)
    title = "Risks, members against strangers" if strangers else "Rates of members"
    first = "worst" if strangers else "highest"
    more = len(judged) - len(shown)
    few = (
        f", of near copies on part of the columns {_PARTS} at most" if sum(map(order.on_part, judged)) > _PARTS else ""
    )
    told = f"The {first} {len(shown)} stand here{few}; {more:,} more are in assessment.json." if more > 0 else ""
    alone = "" if strangers else "Inference and disclosure are not separated."
    return section_of(title, alone, markdown_table(results.results(shown, strangers)), told)


def _distances(data: Assessment) -> str:
    lines = []
    for s in distances.sentences(data):
        sign = f" {_sign(s['verdict'])}" if order.has_holdout(data) else ""
        lines.append(f"- **{escaped(s['what'])}**{sign}: {escaped(s['text'])}")
    table = markdown_table(evidence.distances(distances.values(data), order.has_holdout(data)))
    return section_of("Distances", "\n".join(lines), table) if lines or table else ""


def _solved(data: Assessment) -> str:
    lines = [f"- {escaped(told)}" for told in reconstruction_in_words(data)]
    return section_of("Linear reconstruction", MEANING, "\n".join(lines)) if lines else ""


def _uniqueness(data: Assessment) -> str:
    uniques = [r for r in data.results if r.attack == "replicated_uniques" and r.real]
    classes = [r for r in data.results if r.attack == "k_anonymity"]
    parts = []
    if uniques:
        parts += _cut(uniqueness.unique_people(uniques))
    if classes:
        parts += _cut(uniqueness.classes(classes))
    return section_of("Uniqueness", *parts) if parts else ""


def _cut(table: Table) -> list[str]:
    more = len(table.rows) - _MOST
    shown = markdown_table(replace(table, rows=table.rows[:_MOST]))
    return [shown, f"{more:,} more are in assessment.json."] if more > 0 else [shown]


def _minimal(data: Assessment) -> str:
    found = sorted(data.minimal_key_sets, key=lambda m: -(m.n_disclosed or 0))
    if not found:
        return ""
    return section_of(
        "Minimal key sets that disclose a target",
        "A description without a verdict: the sets were chosen by their result, and strangers may be hit as often.",
        *_cut(evidence.minimal(found)),
    )


def _records(data: Assessment) -> str:
    s = data.records
    if not s:
        return ""
    return section_of("Exposed records", people.standing_out(s), people.flags(s))


def _control(data: Assessment) -> str:
    lines = [f"- {escaped(kind)}: {escaped(seen)}" for kind, seen in formatting.controls(data)]
    told = escaped(distances.control_sentence(data))
    return section_of("Positive control", told, formatting.CONTROL, "\n".join(lines)) if lines else ""


def _not_tested(data: Assessment) -> str:
    lines = [f"- {escaped(n.what)}: {escaped(n.question)}" for n in data.not_tested]
    lines += [f"- {escaped(o.attack.replace('_', ' '))} was not made: {escaped(o.why)}" for o in data.not_run]
    return section_of("What was not tested", "\n".join(lines)) if lines else ""


def _preconditions(data: Assessment) -> str:
    table = markdown_table(evidence.preconditions(data.preconditions))
    read = "\n".join(f"- {escaped(note)}" for note in order.on_files(data))
    return section_of("Preconditions", table, read and f"How the tables were read:\n\n{read}") if table or read else ""


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

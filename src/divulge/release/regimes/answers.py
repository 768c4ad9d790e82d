"""What a report says of each line of a regime, and what is missing: sentences that its other documents have too."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.release.regimes.fields import FIELDS, not_compared
from divulge.release.regimes.regime import Regime, RegimeLine
from divulge.report import formatting, order
from divulge.report.model import Assessment
from divulge.report.prose import statement
from divulge.report.prose.actors import by_actor
from divulge.report.prose.compared import short
from divulge.report.prose.decision import Decision, decision
from divulge.report.prose.tiles import state_words

__all__ = ["NOT_ANSWERED", "LineAnswer", "Said", "answers", "in_words", "open_points", "state_of_said"]

NOT_ANSWERED = "Not answered by this report"
_OUTSIDE = "withheld in an external edition"
_LETTERS = 420  # of what one field says
_STATED = 240  # of what somebody stated


@dataclass(frozen=True, slots=True)
class Said:
    """What one result or field says."""

    name: str
    """The result or field, as the regime names it."""
    text: str
    """"" where the report has nothing."""
    state: str = ""
    """The verdict or state of a result."""
    why: str = ""
    """Why the report has nothing, or has only what the run assumed."""


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """A line of a regime, and what the report says of it."""

    number: int
    line: RegimeLine
    said: tuple[Said, ...]
    read: str
    """Where the line comes from, where it is not the regime's own source."""

    @property
    def answered(self) -> bool:
        """Whether anything that the line names is in the report."""
        return any(s.text for s in self.said)


def answers(regime: Regime, data: Assessment) -> tuple[LineAnswer, ...]:
    """Return what a report says of each line of a regime; numbers and names are those of its edition.

    What nothing compares is said in the first line that results answer.
    """
    told = decision(data)
    apart = not_compared(data)
    first = next((i for i, line in enumerate(regime.line, 1) if line.results), 0)
    lacking = (Said("verdict.not_compared", formatting.brief(f"{apart}.", _LETTERS), "cannot tell"),) if apart else ()
    return tuple(
        LineAnswer(
            number=i,
            line=line,
            said=(
                *(_result(r, data, told) for r in line.results),
                *(lacking if i == first else ()),
                *(_field(f, data, told) for f in line.fields),
            ),
            read=regime.read_of(line),
        )
        for i, line in enumerate(regime.line, 1)
    )


def open_points(a: LineAnswer) -> str:
    """Return what a line lacks: what no report answers, what this run did not make, what nobody stated; "" if nothing.

    What the run assumed, as nobody stated it, is lacking too.
    """
    whys = [a.line.missing.strip().removesuffix(".")] if a.line.missing.strip() else []
    unstated = [in_words(s.name) for s in a.said if s.why == _UNSTATED]
    whys += [f"not stated in the schema file: {', '.join(unstated)}"] if unstated else []
    whys += [f"{in_words(s.name)}: {s.why}" for s in a.said if not s.text and s.why != _UNSTATED]
    return "; ".join(whys)


_UNSTATED = "not stated"
_ASSUMED = (("attacker", "who"), ("attacker", "sees"))  # what the run assumes of an attacker who is not described
_ABSENT = {
    "claim": "no claim was stated in the schema file",
    "facts.verbatim": "whole records were not looked for",
    "facts.repeated": "repeated records were not looked for",
    "fidelity": "it was not measured",
    "policy": "the run had none",
    "positive_control": "no copies were planted",
    "settings.unit": "no column of units was named",
}


def in_words(name: str) -> str:
    """Return a result or field as it is called beside its sentence."""
    return _CALLED.get(name) or statement.key_words(name.rpartition(".")[2]).replace("_", " ")


_ONE_ATTACKER = "the run has one attacker: the schema file names no actors"
_CALLED = {
    "threat.actors": "verdict by actor",
    "claim": "claim of differential privacy",
    "facts.repeated": "repeated records",
    "facts.verbatim": "whole records",
    "not_tested": "not tested",
    "settings.acceptable": "limit",
    "settings.keys": "keys of this run",
    "settings.targets": "targets of this run",
    "tables.holdout": "people set aside",
    "threat.attacker.knows": "what the attacker knows",
    "threat.attacker.sees": "what else the attacker sees",
    "threat.attacker.source": "where from",
    "threat.attacker.who": "who could try",
    "verdict.bounds": "what the run does not exclude",
}


def _result(attack: str, data: Assessment, told: Decision) -> Said:
    """Return what the results of an attack say: its tile on the first page, else its clearest comparison."""
    own = [r for r in data.results if r.attack == attack]
    if not own:
        reasons = [o.why for o in data.not_run if o.attack == attack]
        reasons += [o.why for o in data.failed if o.attack == attack]
        reasons += [o.why for o in data.left_out if o.attack == attack]
        return Said(attack, "", "not tested", formatting.prose(reasons[0], 160) if reasons else "it was not run")
    tile = next((t for t in told.tiles if t.id == attack and t.r is not None and t.r.attack == attack), None)
    if tile is not None:
        return Said(attack, formatting.brief(tile.sentence, _LETTERS), tile.state)
    whole = [r for r in own if not order.on_part(r)] or own
    r = next(iter(order.judged(whole)), whole[0])
    return Said(attack, formatting.brief(f"{formatting.label(r, '->')}: {short(r)}", _LETTERS), r.verdict or "")


def _field(name: str, data: Assessment, told: Decision) -> Said:
    if name == "threat.actors":
        told_of = "; ".join(f"{a.name}: {a.state}" for a in by_actor(data))
        return Said(name, formatting.brief(told_of, _LETTERS), why="" if told_of else _ONE_ATTACKER)
    if name.startswith("threat."):
        _, table, key = name.split(".")
        texts = getattr(getattr(data.threat, table), key)
        if table == "attacker":
            texts = texts or tuple(
                f"{a.name}: {t.removesuffix('.')}" for a in data.threat.actors for t in getattr(a, key)
            )
        stated = "; ".join(formatting.prose(t, 200) for t in texts)
        assumed = "" if stated or (table, key) not in _ASSUMED else statement.knowledge(data)[key]
        said = f"Assumed by the run: {assumed}" if assumed else stated
        return Said(name, formatting.brief(said, _STATED), why="" if stated else _UNSTATED)
    text = FIELDS[name](data, told) or ""
    outside = data.edition == "external" and name in ("facts.verbatim", "facts.repeated", "records")
    why = "" if text else _OUTSIDE if outside else _ABSENT.get(name, "not in this run")
    return Said(name, formatting.brief(text, _LETTERS), data.verdict.verdict if name == "verdict" else "", why)


def state_of_said(said: Said) -> str:
    """Return the state of a result in the words of the first page."""
    return state_words(said.state) if said.state else ""

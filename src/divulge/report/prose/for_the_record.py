"""What was assessed and found, in sentences to copy into a record of processing or an impact assessment."""

from __future__ import annotations

from divulge.attacks.checks import ACCEPTABLE
from divulge.report import formatting, order
from divulge.report.model import Assessment
from divulge.report.prose.compared import quoted
from divulge.report.prose.decision import Decision
from divulge.report.prose.statement import about, not_stated
from divulge.report.prose.tiles import Tile, state_words

__all__ = ["FOR_THE_RECORD", "for_the_record"]

FOR_THE_RECORD = "For the record of processing and the impact assessment"
_WP216 = ("singling_out", "linkability", "inference")
_MANY = 8  # columns that are named


def for_the_record(data: Assessment, told: Decision) -> list[tuple[str, str]]:
    """Return what a record of processing or an impact assessment asks of the test of a release: heads and sentences.

    The heads name the three criteria of the Article 29 Working Party (WP216, 2014). The numbers are those of the
    edition.
    """
    by_name = {t.id: t for t in told.tiles}
    others = [t for t in told.tiles if t.id not in (*_WP216, "use")]
    return [
        ("Table", _table(data)),
        ("Test", _test(data, told)),
        *((f"{by_name[name].name} (WP216)", _answer(by_name[name])) for name in _WP216 if name in by_name),
        *((t.name, _answer(t)) for t in others),
        ("Residual risk", " ".join(s for s in (told.excluded, told.headline, told.release, told.at_risk) if s)),
        ("Limit", _limit(data)),
        ("Not covered", _not_covered(data, told)),
    ]


def _table(data: Assessment) -> str:
    given = "; ".join(f"{name}: {text}" for name, text in about(data))
    sha256, absent = data.tables.synthetic.sha256, not_stated(data)
    digest = f" Its sha256 begins with {sha256[:12]}." if sha256 else ""
    missing = f" Not stated: {formatting.enumerated(absent)}." if absent else ""
    return f"{formatting.capitalized(given)}.{digest}{missing}"


def _test(data: Assessment, told: Decision) -> str:
    members, strangers = (formatting.rows_of(data, role) for role in ("real", "holdout"))
    of, beside = ("rows of people" if n is None else f"{n:,} rows of people" for n in (members, strangers))
    of += " in the real table"
    compared = (
        f"{of} beside {beside} who were not in the training data"
        if order.has_holdout(data)
        else f"{of}, without people who were not in the training data"
    )
    day = f" on {data.started[:10]}" if data.started else ""
    return f"By divulge {data.divulge}{day}, seed {data.settings.seed}: {compared}. Preconditions: {told.preconditions}"


def _answer(tile: Tile) -> str:
    return f"{formatting.capitalized(state_words(tile.state))}. {tile.sentence}".strip()


def _limit(data: Assessment) -> str:
    """Return what the limit stands for, and who set it."""
    usual = data.settings.acceptable == ACCEPTABLE
    who = "the usual one of divulge, which nobody set for this table" if usual else "set by whoever made the run"
    accepted = [
        f" {a.attack}: up to {100 * a.limit:g}% accepted by {formatting.prose(a.by, 80)} on {a.on} ({a.known})."
        for a in (data.policy.accepted if data.policy else ())
    ]
    return (
        f"{100 * data.settings.acceptable:g}% of members, {who}: how many more members than strangers an attack may "
        f"reach for all that the run can exclude. No law names a number.{''.join(accepted)}"
    )


def _not_covered(data: Assessment, told: Decision) -> str:
    columns = [n.column for n in data.verdict.not_compared]
    silent = f" Not compared with anything: {quoted(columns, _MANY)}." if columns else ""
    return (
        f"{told.not_tested}{silent} Attacks that are not known today, other tables that are released, and the model "
        "that made the table."
    )

"""The modal guess: the commonest target among the synthetic rows with the person's keys."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.attribution.scores import (
    _CAP_PAPER,
    _UNSEEN,
    Unseen,
    modal_scores,
)
from divulge.attacks.checks import (
    binned_note,
    checked_keys,
    modal_baseline,
    one_of,
    record_result,
)
from divulge.attacks.entry import Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result

__all__ = ["modal_guess"]

_MODAL_GUESS_WORDS = Words(
    says="I look up the synthetic rows that share a person's key, and name the target that most of them have.",
    knows="The keys of one person of the real table, and the whole synthetic table. Nothing about the target.",
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict. " + CODED,
    formula=(
        "score = 1 / u if the person's own target is among the u commonest of the matching rows, else 0\n"
        "p_T, p_C = mean score of members, of strangers\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline = share of the commonest target in the real table\n"
        'A key that no synthetic row has: score 0 ("zero"), left out ("skip"), or the synthetic rows vote\n'
        'whose key differs in the fewest columns ("nearest").'
    ),
    reading=(
        "The rate is the share of people guessed right: 1 is everybody, 0 nobody. The baseline is naming the "
        "commonest value for everybody; at or below it the table adds nothing to that. Risk 0 means that strangers "
        "are guessed right as often, 1 that every member is guessed right, and a negative risk that strangers are "
        "guessed right more often."
    ),
    silent=(
        "A bare majority counts like a unanimous class: how sure the table looked is not told.",
        "People with a rare target can be exposed while the rate stands at the baseline.",
        "Without a holdout it does not separate inference from disclosure.",
    ),
    settings={
        "unseen": (
            'Records whose key no synthetic row has: "zero" scores them 0, "skip" leaves them out, "nearest" lets '
            "the synthetic rows vote whose key differs in the fewest columns."
        ),
    },
)


@attack(
    family="attribution",
    question="I name the target that most synthetic rows with the same key have.",
    needs="keys, target",
    reference=_CAP_PAPER + " Section on predictive success.",
    words=_MODAL_GUESS_WORDS,
    sampled=True,
    plan=per_pair(searched="first"),
)
def modal_guess(case: Case, *, keys: Sequence[str], target: str, unseen: Unseen = "zero") -> Result:
    """Return how often the commonest target among the matching synthetic rows is the person's own.

    Ties are shared: two equally common targets count one half each. `unseen` is as in `cap`.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"smokes": ["yes", "yes", "no"], "ill": ["yes", "no", "no"]})
    >>> modal_guess(real, real, keys=["smokes"], target="ill").real.hits
    2.0
    """
    one_of("unseen", unseen, _UNSEEN)
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    return record_result(
        case,
        table,
        modal_scores(table, unseen),
        attack="modal_guess",
        variant=unseen,
        keys=keys,
        target=target,
        baseline=modal_baseline(table),
        notes=[*notes, *binned_note(case, [*keys, target])],
    )

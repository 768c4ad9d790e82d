"""`divulge attacks` and `divulge explain`."""

from __future__ import annotations

import json
from typing import Any

import click

from divulge.cli.log import say
from divulge.cli.root import cli

__all__ = ["attacks", "explain"]


@cli.command(short_help="List the attacks.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the catalogue as JSON, with the full explanation of each attack."
)
def attacks(as_json: bool) -> None:
    """List the attacks: the question, the data and the reference of each."""
    from divulge.attacks.entry import CATALOGUE

    names = sorted(CATALOGUE, key=lambda n: (CATALOGUE[n].family, n))
    if as_json:
        from divulge.report.explain import record

        click.echo(json.dumps([record(name) for name in names], indent=2))
        return
    for name in names:
        entry = CATALOGUE[name]
        click.echo(
            f"{name}  [{entry.family}]\n  asks   {entry.question}\n  needs  {entry.needs}\n  from   {entry.reference}\n"
        )


def _begun(_: Any, __: Any, incomplete: str) -> list[str]:
    """Return the attacks and measures whose name begins with the given text, for completion in a shell."""
    from divulge.attacks.entry import CATALOGUE
    from divulge.core.threat_model import PRESETS
    from divulge.measures.catalogue import all_measures
    from divulge.measures.linked.catalogue import linked_measures

    known = sorted({*CATALOGUE, *PRESETS, *(m.name for m in (*all_measures(), *linked_measures()))})
    return [name for name in known if name.startswith(incomplete)]


@cli.command(short_help="Explain one attack or one measure of fidelity.")
@click.argument("attack", required=False, shell_complete=_begun)
def explain(attack: str | None) -> None:
    """Explain ATTACK: what the attacker knows, the data, the formula, how to read it, what it does not tell.

    ATTACK may also be a measure of fidelity, such as column_pairs, or a preset of an actor, such as insider. A name may
    carry a variant: "cap (zero)", cap[zero].
    Without a name, the command lists the attacks and the measures.
    """
    from divulge.report.explain import attack_of
    from divulge.report.explain_measure import measure_of
    from divulge.report.explanations import explain as words

    click.echo(words(attack))
    if attack is not None and measure_of(attack) is None and any(bracket in attack for bracket in "[("):
        say(f"this explains {attack_of(attack).name} with all its variants.")

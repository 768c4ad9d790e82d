"""The group of commands, and the order of its help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from divulge.cli.log import log_option
from divulge.core import __version__

__all__ = ["COMMANDS", "OPTIONS", "cli"]

COMMANDS: Mapping[str, Sequence[str]] = {
    "Assess": ("split", "plan", "assess", "membership", "changes", "demo"),
    "Compare and audit": ("compare", "audit"),
    "Quality and fidelity": ("fidelity", "quality", "diagnose"),
    "Release": ("policy", "gate", "render", "verify"),
    "Tables and words": ("schema", "attacks", "explain", "completion"),
}
"""The commands in the order of `divulge --help`."""
OPTIONS: Mapping[str, Sequence[str]] = {
    "Tables": ("--holdout", "--together", "--schema", "--tables", "--unit", "--ignore", "--missing", "--sequence-key",
               "--sequence-index", "--allow-files-under"),
    "Attacker": ("--keys", "--targets", "--secrets", "--subgroups", "--groups", "--known-members", "--people"),
    "What to run": ("--search", "--models", "--membership", "--fidelity", "--fidelity-models",
                    "--measures", "--columns", "--scores", "--positive-control", "--tolerance", "--seed", "--level"),
    "Gate": ("--acceptable", "--policy", "--fail-on", "--baseline", "--junit"),
    "Machine": ("--engine", "--spill", "--beyond-memory", "--jobs", "--budget", "--timeout", "--resume"),
    "Output": ("--out", "--edition", "--reveal", "--json", "--html", "--pdf", "--open", "--log", "--quiet", "--verbose",
               "--help"),
}  # fmt: skip
"""The options of all commands, by the headings of their help; others of a command stand first."""
_MANY = 10
"""Options up to which a help has one heading."""


class _Command(click.Command):
    """A command that lists many options under headings; one that can be quiet also takes --log."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        place = next((i for i, p in enumerate(self.params) if "--quiet" in p.opts), None)
        if place is not None:
            self.params.insert(place, log_option)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        if len(options) <= _MANY:
            super().format_options(ctx, formatter)
            return
        place = {option: heading for heading, members in OPTIONS.items() for option in members}
        for heading in ("Options", *OPTIONS):
            members = [p for p in options if next((place[o] for o in p.opts if o in place), "Options") == heading]
            records = [p.get_help_record(ctx) for p in members]
            if members:
                with formatter.section(heading):
                    formatter.write_dl([record for record in records if record is not None])


class _Group(click.Group):
    """The commands under headings."""

    command_class = _Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in names])


_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=_Group, context_settings=_CONTEXT, invoke_without_command=True)
@click.version_option(__version__, prog_name="divulge")
@click.pass_context
def cli(context: click.Context) -> None:
    """What does your synthetic table divulge about real people?

    
    divulge demo                                                        assess a survey that comes with divulge
    divulge assess real.csv synthetic.csv holdout.csv                   attack a synthetic table, write a report
    divulge compare real.csv a.csv b.csv --holdout holdout.csv          rank candidate tables by risk
    divulge render divulge-report/assessment.json --edition external    the report for the recipient

    `divulge COMMAND --help` has the options and examples of a command.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())

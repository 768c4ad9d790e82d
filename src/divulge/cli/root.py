"""The group of commands."""

from __future__ import annotations

import click

from divulge.core import __version__

__all__ = ["cli"]

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="divulge")
def cli() -> None:
    """What does your synthetic table divulge about real people?

    
    divulge split data.csv --holdout 0.5 --unit household     set a holdout aside before training
    divulge assess real.csv synthetic.csv --holdout holdout.csv --keys age,sex,zip --targets income
    divulge assess real.csv a.csv b.csv c.csv --together --holdout holdout.csv     several tables of one training set
    divulge plan real.csv synthetic.csv --holdout holdout.csv     what assess will need and can find; no attack
    divulge compare real.csv a.csv b.csv --holdout holdout.csv     rank candidate releases
    divulge membership real.csv a.csv b.csv --holdout holdout.csv     is somebody in the training data?
    divulge changes real1.csv syn1.csv real2.csv syn2.csv --unit id     do two releases tell who left?
    divulge quality real.csv synthetic.csv --schema metadata.json      how alike the tables are, as SDMetrics scores it
    divulge diagnose real synthetic --html diagnosis.html     form, limits and keys of the tables in two folders
    divulge render divulge-report/assessment.json --edition external     the report for the recipient
    divulge policy > policy.toml            conditions of a release; edit them, pass them to assess or gate
    divulge schema real.csv > schema.toml   how each column is read; edit it, pass it back
    divulge schema --tables data > schema.toml   the same for several tables, with keys and relations
    divulge explain cap                     explain one attack: attacker, formula, how to read it
    divulge demo                            assess a survey that comes with divulge
    """

"""The group of commands."""

from __future__ import annotations

import click

from divulge import __version__

__all__ = ["cli"]

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="divulge")
def cli() -> None:
    """What does your synthetic table divulge about real people?

    
    divulge assess real.csv synthetic.csv --holdout holdout.csv --keys age,sex,zip --targets income
    divulge demo                            the main job on a bundled real table
    divulge schema real.csv > schema.toml   what was inferred and why; edit it, pass it back
    divulge attacks                         the catalogue
    """

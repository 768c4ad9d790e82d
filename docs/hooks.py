"""Hooks of mkdocs: a page for each attack of the catalogue, and its place in the navigation.

The pages are made while the site is built, so that a new attack needs no edit here. Each runs its example: one that
raises, or prints something else than its docstring says, ends the build.
"""

import functools
import itertools
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from divulge.attacks import CATALOGUE
from divulge.core.errors import DivulgeError
from divulge.report.explain import page

sys.path.insert(0, str(Path(__file__).parent))
from gallery_reports import REPORTS, made  # beside this file, which mkdocs reads as a module of its own

__all__ = ["on_config", "on_files"]

INDEX = "attacks.md"


def on_config(config):
    """Put the pages of the attacks under the entry of their index, by family."""
    for entry in config.nav or []:
        title, target = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if target == INDEX:
            entry[title] = [{"Overview": INDEX}, *by_family()]
    return config


def on_files(files, config):
    """Add the page of each attack, and the reports of the gallery."""
    for name in CATALOGUE:
        files.append(File.generated(config, f"attacks/{name}.md", content=written(name)))
    for name in REPORTS:
        files.append(File.generated(config, f"gallery/{name}.html", content=made(name).to_html()))
    return files


def by_family():
    """Return navigation entries: families and the names of their attacks, both in alphabetical order."""
    names = sorted(CATALOGUE, key=lambda n: (CATALOGUE[n].family, n))
    families = itertools.groupby(names, key=lambda n: CATALOGUE[n].family)
    return [{family.capitalize(): [{n: f"attacks/{n}.md"} for n in members]} for family, members in families]


@functools.cache
def written(name):
    """Return a page, made once for all builds of a running server."""
    try:
        return page(name)
    except DivulgeError as error:
        raise PluginError(str(error)) from error

"""The folder of a run's finished tests, and what of it a run that goes on takes over."""

from __future__ import annotations

from dataclasses import replace

from divulge.case.case import Case
from divulge.case.contents import contents, gathered_columns
from divulge.core import __version__
from divulge.report.environment import package_versions
from divulge.run.making.checkpoints import About, CheckpointStore, about_of, key_of
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.tables.counting import COUNTING

__all__ = ["as_before", "store_of"]


def store_of(case: Case, attacker: Attacker, reading: Reading, options: RunOptions) -> CheckpointStore | None:
    """Return the folder of finished tests; None where none is named.

    It is made after the settings are checked, so that a mistake in them leaves no folder behind.

    Raises
    ------
    SettingError
        The folder cannot be used.
    TableError
        An engine holds the tables, and one of them is not as it was when the tests in the folder were kept.
    """
    if options.keep is None:
        return None
    store = CheckpointStore(options.keep, resume=options.resume)
    if options.engine in COUNTING:
        tables = {t.role: key_of([own]) for t, own in zip(case.tables, contents(case), strict=True)}
        store.check_tables(About(_settings(case, attacker, reading, options), tables, options.sample))
    return store


def as_before(options: RunOptions) -> RunOptions:
    """Return the options of a run that goes on, with as many people asked as before where nobody names a number.

    How many fit may be another number by then, and no kept test would be about the people asked.
    """
    if not options.resume or options.keep is None or options.people is not None:
        return options
    before = about_of(options.keep)
    return options if before is None or before.people is None else replace(options, people=before.people)


def _settings(case: Case, attacker: Attacker, reading: Reading, options: RunOptions) -> str:
    """Return a hash of what the hashes of the tables depend on besides the tables."""
    return key_of([
        __version__, str(package_versions()), repr(attacker), repr(reading), repr(case.missing), repr(case.seed),
        options.engine, options.search, repr(options.sample), *gathered_columns(case),
    ])  # fmt: skip

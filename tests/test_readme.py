"""What the README promises is what happens; its examples are run by test_pages.py."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_the_two_commands_are_there_word_for_word():
    setup = "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && "
    console = "\n".join(blocks("console"))
    assert setup + ".venv/bin/divulge demo\n" in console
    assert setup + ".venv/bin/python -m pytest\n" in console


def test_every_option_in_the_readme_exists():
    from divulge.cli import cli

    known = {o for command in cli.commands.values() for p in command.params for o in p.opts}
    wanted = set(re.findall(r"(?<!\S)`?(--[a-z][a-z-]+)", README)) | set(
        re.findall(r"divulge [^`\n]*?(--[a-z-]+)", README)
    )
    assert wanted - {"--help"} <= known
    assert {"--holdout", "--edition"} <= wanted


def test_links_lead_somewhere():
    root = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / target).exists(), target


def test_it_is_read_in_one_sitting():
    assert len(README.splitlines()) <= 150

"""Parts of the pages: Markdown tables, pictures in files, and files shown as they are."""

import itertools
import textwrap
from pathlib import Path

__all__ = [
    "DOCS",
    "ROOT",
    "first_column",
    "markdown_table",
    "picture",
    "saved",
    "say",
    "show_file",
    "show_table",
    "write",
]

DOCS = Path(__file__).parent
ROOT = DOCS.parent
UPDATE = False
"""Whether pictures are written; `--update` of tests/test_pages.py sets it."""
_INK, _PAPER = "#24292f", "#ffffff"  # a picture in a file does not know whether the page is dark


class StaleError(Exception):
    """A picture is not what its program draws."""


def markdown_table(head, rows):
    """Return a markdown table."""
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def picture(name, width, height, drawing, description):
    """Return the link to a picture in `docs/pictures`; write the file, or raise where it is stale."""
    write(
        DOCS / "pictures" / f"{name}.svg",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'fill="none" stroke="none" color="{_INK}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>\n{drawing}\n</svg>\n',
    )
    return f"![{description}](pictures/{name}.svg)"


def saved(name, plot, folder=""):
    """Return the link to a plot of `divulge.sdmetrics` in `docs/pictures`, from a page whose folder is named."""
    write(DOCS / "pictures" / f"{name}.svg", plot.svg + "\n")
    return f"![Plot of {plot.picture.title.replace(chr(34), '')}]({folder}pictures/{name}.svg)"


def write(path, text):
    """Write a file that a page shows, or raise where it is stale."""
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        raise StaleError(f"{path.name} is stale; pytest tests/test_pages.py --slow --update writes it anew")


def show_file(name, language):
    """Print a file of the repository as a fence."""
    print(f'\n```{language} title="{name}"\n{(ROOT / name).read_text(encoding="utf-8")}```\n')


def show_table(path, head):
    """Print the Markdown table of a file whose first line begins so."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(head))
    print("\n" + "\n".join(itertools.takewhile(lambda line: line.startswith("|"), lines[first:])) + "\n")


def say(sentence):
    """Print a sentence in lines of at most 118 characters."""
    print(textwrap.fill(sentence, 118, break_on_hyphens=False, break_long_words=False))


def first_column(page, head):
    """Return the names in code of the first column of a table of a page, to be held against the program."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[lines.index(head) + 2 :])
    return [row.split("`")[1] for row in rows]

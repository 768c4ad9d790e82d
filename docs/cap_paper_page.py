"""Tables and figures of the page on the CAP paper.

`cap-paper.md` imports this. Every row that compares a number with the paper is checked when it is made: a number that
moves raises.
"""

import textwrap
from dataclasses import dataclass
from html import escape

import numpy as np
from parts import markdown_table, picture

__all__ = [
    "Row",
    "boxplots",
    "claim",
    "crosstabs",
    "figure",
    "histograms",
    "number",
    "verdicts",
]

ORANGE, BLUE = "#e8590c", "#3b82f6"  # at least 3:1 on the white and on the dark page


class PaperError(Exception):
    """A computed number and what the page says about it no longer fit."""


@dataclass(frozen=True, slots=True)
class Row:
    """One statement: what we computed, what the paper prints, and whether they agree."""

    statement: str
    computed: str
    paper: str
    verdict: str


def claim(statement, computed, paper, holds, *, erratum=""):
    """Return a row for a statement in words; raise when `holds` is not what the page expects."""
    if bool(holds) == bool(erratum):
        wanted = erratum or "agreement"
        raise PaperError(f"{statement}: computed {computed}, paper {paper}, expected {wanted}")
    return Row(statement, str(computed), paper, f"**no**: {erratum}" if erratum else "agrees")


def number(statement, computed, paper, *, erratum=""):
    """Return a row for a number, compared at the digits that the paper prints."""
    digits = len(paper.partition(".")[2])
    shown = f"{computed:.6f}" if digits else f"{computed:g}"
    return claim(statement, shown, paper, f"{computed:.{digits}f}" == paper, erratum=erratum)


def verdicts(*rows):
    """Return the rows as a markdown table and a last line that counts those that agree."""
    body = [(row.statement, row.computed, row.paper, row.verdict) for row in rows]
    table = markdown_table(("statement", "computed", "paper", "verdict"), body)
    wrong = sum(row.verdict != "agrees" for row in rows)
    return f"{table}\n\nStatements that agree: {len(rows) - wrong} of {len(rows)}.\n"


def crosstabs(tables):
    """Return small tables as one markdown table: a row for each target, and one line with its three keys a table."""
    size = len(next(iter(tables.values()))[0])
    head = ("table", *(f"T{i + 1}: {' '.join(f'K{j + 1}' for j in range(size))}" for i in range(size)))
    rows = [(caption, *(" ".join(map(str, line)) for line in table)) for caption, table in tables.items()]
    return markdown_table(head, rows)


# Figures: panels two by two in one SVG.

WIDTH, ROW_HEIGHT = 720, 250
PANEL_WIDTH, PANEL_HEIGHT = 300, 180
LEFT, TOP = (46, 406), 34


def figure(name, description, panels, caption):
    """Return a figure of panels, each an SVG fragment made by a panel function: a picture and its caption."""
    height = ROW_HEIGHT * ((len(panels) + 1) // 2)
    drawing = "\n".join(
        f'<g transform="translate({LEFT[k % 2]} {TOP + ROW_HEIGHT * (k // 2)})">{panel}</g>'
        for k, panel in enumerate(panels)
    )
    return f"\n{picture(name, WIDTH, height, drawing, description)}\n\n{textwrap.fill(caption, 118)}\n"


def boxplots(title, boxes, own):
    """Return a panel of boxplots, left to right by mean.

    Each box is (label, values, mean): the individual CAPs of all original records and their mean.
    """
    parts = [_frame(title), _y_axis(), _text(-34, PANEL_HEIGHT / 2, "individual CAP", "middle", turned=True)]
    step = PANEL_WIDTH / len(boxes)
    for place, (label, values, mean) in enumerate(sorted(boxes, key=lambda box: round(box[2], 9))):
        x = (place + 0.5) * step
        low, first, middle, third, high = (_y(v) for v in np.percentile(values, [0, 25, 50, 75, 100]))
        parts += [
            _line(x, low, x, high, opacity=0.55),
            f'<rect x="{x - 4.5:.1f}" y="{third:.1f}" width="9" height="{max(first - third, 1):.1f}" '
            f'fill="currentColor" fill-opacity="0.15" stroke="currentColor" stroke-opacity="0.55"/>',
            _line(x - 4.5, middle, x + 4.5, middle, width=1.5),
            f'<circle cx="{x:.1f}" cy="{_y(mean):.1f}" r="3" fill="{ORANGE}"/>',
            _text(x, PANEL_HEIGHT + 15, label, "middle"),
        ]
    return "".join([*parts, _own_line_across(own)])


def histograms(title, version_1, version_2, own):
    """Return a panel with the means of many tables: version 1 filled, version 2 as an outline."""
    edges = np.linspace(0, 1, 51)
    # A mean of 1/3 or 1 may round to either side of an edge.
    filled, outline = (np.histogram(np.round(v, 9), edges)[0] for v in (version_1, version_2))
    top = max(filled.max(), outline.max())
    parts = [_frame(title), _text(-34, PANEL_HEIGHT / 2, "tables", "middle", turned=True)]
    parts += [_text(-6, 4 + 12, f"{top}", "end"), _text(-6, PANEL_HEIGHT + 4, "0", "end")]
    scale = (PANEL_HEIGHT - 12) / top
    width = PANEL_WIDTH / len(filled)
    for counts, style in (
        (filled, 'fill="currentColor" fill-opacity="0.25"'),
        (outline, 'stroke="currentColor" stroke-opacity="0.7"'),
    ):
        steps = " ".join(f"V{PANEL_HEIGHT - c * scale:.1f} H{(k + 1) * width:.1f}" for k, c in enumerate(counts))
        parts.append(f'<path d="M0 {PANEL_HEIGHT} {steps} V{PANEL_HEIGHT}" {style}/>')
    parts += [_text(v * PANEL_WIDTH, PANEL_HEIGHT + 17, f"{v:g}", "middle") for v in (0, 0.25, 0.5, 0.75, 1)]
    x = own * PANEL_WIDTH
    parts.append(_line(x, 0, x, PANEL_HEIGHT, colour=BLUE, width=2, dashes="6 4"))
    anchor, gap = ("end", -6) if own > 0.7 else ("start", 6)
    parts.append(_text(x + gap, 14, f"original {own:.3f}", anchor))
    return "".join(parts)


def _y(value):
    return PANEL_HEIGHT * (1 - value)


def _line(x1, y1, x2, y2, *, colour="currentColor", width=1.0, opacity=1.0, dashes=""):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}" stroke-opacity="{opacity}"{dashed}/>'
    )


def _text(x, y, words, anchor, *, turned=False, bold=False):
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor"{weight}{turn}>{escape(words)}</text>'


def _frame(title):
    return _text(0, -10, title, "start", bold=True) + _line(0, PANEL_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT)


def _y_axis():
    return "".join(
        _text(-6, _y(v) + 4, f"{v:g}", "end") + (_line(0, _y(v), PANEL_WIDTH, _y(v), opacity=0.15) if v else "")
        for v in (0, 0.25, 0.5, 0.75, 1)
    )


def _own_line_across(own):
    y = _y(own)
    return _line(0, y, PANEL_WIDTH, y, colour=BLUE, width=2, dashes="6 4")

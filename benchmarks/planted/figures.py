"""The two figures of the page as SVG: the smallest dose by world and tool, and alarms on null worlds."""

from __future__ import annotations

from html import escape

from .doses import wilson
from .tables import Numbers

CELL, HEIGHT, LEFT, TOP = 92, 22, 250, 70
FONT = 'font-family="sans-serif" font-size="12"'


def svg(width: float, height: float, title: str, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" {FONT}>'
    ground = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, *, anchor: str = "start", fill: str = "#1a1a1a") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


def shade(dose: float | None) -> tuple[str, str]:
    """Return ground and ink: the smaller the dose that is found, the darker; white where none is."""
    for limit, ground, ink in ((0.02, "#08306b", "#ffffff"), (0.05, "#2171b5", "#ffffff"), (0.1, "#6baed6", "#1a1a1a")):
        if dose is not None and dose <= limit:
            return ground, ink
    return ("#deebf7", "#1a1a1a") if dose is not None else ("#ffffff", "#5a5a5a")


def heat_map(numbers: Numbers, rule: str) -> str:
    """Return the smallest dose that each tool finds in each world."""
    tools = [t for t in numbers.tools() if rule == "5%" or numbers.has_words(t)]
    worlds = numbers.worlds()
    parts = [text(LEFT + (i + 0.5) * CELL, TOP - 10 - 14 * (i % 2), t, anchor="middle") for i, t in enumerate(tools)]
    for row, (world, base) in enumerate(worlds):
        y = TOP + row * HEIGHT
        words = world.name if base == world.bases[0] else f"{world.name} ({base})"
        parts.append(text(LEFT - 8, y + 15, words, anchor="end"))
        for i, tool in enumerate(tools):
            cell = numbers.cell(tool, world, base, rule)
            ground, ink = shade(cell.threshold.dose)
            stroke = "#9a9a9a" if cell.threshold.alarms else "#e6e6e6"
            x = LEFT + i * CELL
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{HEIGHT - 2}" fill="{ground}" stroke="{stroke}"/>'
            )
            parts.append(text(x + CELL / 2, y + 15, cell.dose, anchor="middle", fill=ink))
    title = "Smallest dose found with a power of 80%, " + ("by own words" if rule == "own" else "at 5% alarms")
    parts.append(text(8, 20, title))
    beyond = max(8, 3.6 * max(map(len, tools), default=0) - CELL / 2)  # of the last name, which is centred
    return svg(LEFT + len(tools) * CELL + beyond, TOP + len(worlds) * HEIGHT + 8, title, parts)


def alarms(numbers: Numbers) -> str:
    """Return the share of null worlds with an alarm by the tool's own words, with its 95% interval."""
    title = "Alarms on tables that divulge nobody, by the tool's own words (95% interval; the line is 5%)"
    tools = [t for t in numbers.tools() if numbers.has_words(t)]
    width, parts = 420.0, [text(8, 20, title)]
    bottom = 40 + len(tools) * 28
    parts.append(
        f'<line x1="{210 + 0.05 * width:g}" y1="32" x2="{210 + 0.05 * width:g}" y2="{bottom}" stroke="#b22222"/>'
    )
    for i, tool in enumerate(tools):
        pairs = numbers.null_alarms(tool).values()
        k, n = sum(a for a, _ in pairs), sum(b for _, b in pairs)
        low, high = wilson(k, n)
        y = 50 + i * 28
        parts.append(text(200, y + 4, tool, anchor="end"))
        x1, x2 = 210 + low * width, 210 + high * width
        parts.append(f'<line x1="{x1:.1f}" y1="{y}" x2="{x2:.1f}" y2="{y}" stroke="#2171b5" stroke-width="2"/>')
        parts.append(f'<circle cx="{210 + (k / n if n else 0) * width:.1f}" cy="{y}" r="4" fill="#08306b"/>')
        parts.append(text(210 + width + 12, y + 4, f"{k} of {n}"))
    parts += [
        text(210 + s * width, bottom + 16, percent, anchor="middle")
        for s, percent in ((0, "0"), (0.5, "50%"), (1, "100%"))
    ]
    return svg(210 + width + 110, bottom + 26, title, parts)

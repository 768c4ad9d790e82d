"""The pictures of `neighbours.md` and `speed.md`: cost against rows and columns, on two logarithmic scales."""

import json
from html import escape
from math import log10
from pathlib import Path

from parts import markdown_table, picture

__all__ = ["growth", "rows"]

INK = ("#e8590c", "#3b82f6")  # at least 3:1 on the white and on the dark page
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 270, 56, 14, 34, 44


def rows(curve, script="neighbours"):
    """Return the lines of one picture from a benchmark's own output: name -> points (x, y)."""
    found = json.loads(Path(__file__).with_name(f"{script}.json").read_text())["rows"]
    lines = {}
    for row in found:
        if row.get("curve") == curve:
            lines.setdefault(row["line"], []).append((row["x"], row["y"]))
    if not lines:
        raise ValueError(f"{script}.json holds no curve {curve!r}: run benchmarks/{script}.py")
    return lines


def _ticks(low, high):
    steps = [m * 10.0**e for e in range(-3, 9) for m in (1, 2, 5)]
    inside = [t for t in steps if low * 0.999 <= t <= high * 1.001]
    return inside if len(inside) <= 8 else [t for t in inside if f"{t:e}".startswith("1")]


def _short(value):
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def growth(name, title, x_label, y_label, lines, x_ticks):
    """Return a picture of lines, and the numbers behind it as a table."""
    xs, ys = zip(*(p for points in lines.values() for p in points), strict=True)
    low, high = min(ys) / 1.4, max(ys) * 1.4

    def x_at(x):
        return LEFT + (log10(x) - log10(min(xs))) / (log10(max(xs)) - log10(min(xs))) * (WIDTH - LEFT - RIGHT)

    def y_at(y):
        return HEIGHT - BOTTOM - (log10(y) - log10(low)) / (log10(high) - log10(low)) * (HEIGHT - TOP - BOTTOM)

    text = '<text font-size="11" fill="currentColor" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>'
    line = '<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="currentColor" stroke-opacity="{}"/>'
    parts = []
    for y in _ticks(low, high):
        parts.append(line.format(LEFT, y_at(y), WIDTH - RIGHT, y_at(y), 0.18))
        parts.append(text.format(LEFT - 6, y_at(y) + 4, "end", _short(y)))
    for x in x_ticks:
        parts.append(line.format(x_at(x), HEIGHT - BOTTOM, x_at(x), HEIGHT - BOTTOM + 4, 0.6))
        parts.append(text.format(x_at(x), HEIGHT - BOTTOM + 17, "middle", _short(x)))
    parts.append(line.format(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, 0.6))
    parts.append(text.format((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle", escape(x_label)))
    for i, (line_name, points) in enumerate(lines.items()):
        path = "L".join(f"{x_at(x):.1f} {y_at(y):.1f}" for x, y in points)
        dash = ' stroke-dasharray="6 4"' if i else ""
        parts.append(f'<path d="M{path}" fill="none" stroke="{INK[i]}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.5" fill="{INK[i]}"/>' for x, y in points]
        at = LEFT + 190 * i
        parts.append(f'<path d="M{at} 14h26" stroke="{INK[i]}" stroke-width="2"{dash}/>')
        parts.append(text.format(at + 32, 18, "start", escape(line_name)))
    table = markdown_table(
        (x_label, *lines),
        [
            (_short(x), *(f"{dict(points).get(x, float('nan')):.3g}" for points in lines.values()))
            for x in sorted(set(xs))
        ],
    )
    told = f"{title} {y_label}"
    return f"\n**{title}** {y_label}.\n\n{picture(name, WIDTH, HEIGHT, chr(10).join(parts), told)}\n\n{table}\n"

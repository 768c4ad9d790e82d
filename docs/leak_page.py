"""People, lines and figures of `leak-experiment.md` and `questions.md`, which import this."""

import numpy as np
from cap_paper_page import BLUE, ORANGE, PANEL_HEIGHT, PANEL_WIDTH, _frame, _line, _text, _y, _y_axis

__all__ = ["between", "population", "risks", "straight"]


class LeakError(Exception):
    """A computed number and what the page says about it no longer fit."""


def population(rng, n):
    """Return n simulated people as columns: three numbers and five categories that depend on each other."""
    age = rng.normal(45, 15, n).clip(18, 90).round()
    education = rng.integers(0, 5, n)
    income = np.exp(rng.normal(6 + 0.01 * age + 0.2 * education, 0.5))
    return {
        "age": age,
        "household": rng.integers(1, 6, n).astype(str),
        "education": education.astype(str),
        "region": rng.integers(0, 10, n).astype(str),
        "income": income.round(1),
        "rent": (0.3 * income * np.exp(rng.normal(0, 0.3, n))).round(),
        "job": ((education + rng.integers(0, 4, n)) % 8).astype(str),
        "illness": np.digitize(age + rng.normal(0, 12, n), [35, 50, 65]).astype(str),
    }


def between(what, low, value, high):
    """Return the value; raise when it is outside the band that the page states."""
    if not low <= value <= high:
        raise LeakError(f"{what}: {value:.4f} is outside {low:g} to {high:g}")
    return value


def straight(x, y):
    """Return intercept and slope of the least squares line, and the largest distance of a point from it."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(intercept), float(slope), float(np.abs(y - intercept - slope * np.asarray(x)).max())


def risks(title, points, expected, *, x_label=False):
    """Return a panel of risks with their intervals against the share that was leaked.

    Each point is (share, risk, low, high); `expected` maps a share to the risk that theory gives.
    """
    parts = [_frame(title), _y_axis(), _text(-34, PANEL_HEIGHT / 2, "risk", "middle", turned=True)]
    parts += [_text(f * PANEL_WIDTH, PANEL_HEIGHT + 18, f"{f:g}", "middle") for f in (0, 0.25, 0.5, 0.75, 1)]
    if x_label:
        parts.append(_text(PANEL_WIDTH / 2, PANEL_HEIGHT + 33, "share of the synthetic table that is leaked", "middle"))
    path = "L".join(f"{PANEL_WIDTH * t / 50:.1f} {_y(expected(t / 50)):.1f}" for t in range(51))
    parts.append(f'<path d="M{path}" stroke="{BLUE}" stroke-width="2" stroke-dasharray="6 4"/>')
    for share, risk, low, high in points:
        x, floor = share * PANEL_WIDTH, -0.05
        parts.append(_line(x, _y(max(low, floor)), x, _y(min(high, 1)), colour=ORANGE, width=2))
        parts.append(f'<circle cx="{x:.1f}" cy="{_y(max(risk, floor)):.1f}" r="3.5" fill="{ORANGE}"/>')
    return "".join(parts)

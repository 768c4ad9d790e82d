"""The comparisons of one attack as a figure: an SVG with its own styles, for use without the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import escape

from divulge.core.atomic_write import written
from divulge.core.result import percent, tidy
from divulge.report import formatting, order
from divulge.report.documents import html_charts
from divulge.report.model import Assessment, ResultRecord

__all__ = ["Figure", "drawable", "figure"]

_MOST = 40
_WIDTH, _LINE, _TOP = 760, 18, 62
_SCALE = 1.5  # of the ladder, which is drawn 360 wide

_STYLE = (
    "svg{font-family:system-ui,sans-serif}text{fill:#1d2430;font-size:12px}.title{font-size:15px;font-weight:600}"
    ".tick{fill:#5a6474;font-size:11px}.acc{fill:#7a5600}.zero{stroke:#1d2430;stroke-width:1.2}"
    ".grid{stroke:#d9dce1;stroke-width:1}.accept{stroke:#7a5600;stroke-width:1.2;stroke-dasharray:3 3}"
    ".baseline{stroke:#5a6474;stroke-width:2.5}.thin{stroke:#5a6474;stroke-width:1.5}"
    ".thick{stroke:#1d2430;stroke-width:4.5}.arrow{fill:#5a6474}.band{fill:#dfe2e6}.mark{stroke:#fff;stroke-width:1.2}"
    ".m-excess{fill:#a83210}.m-unsure{fill:#7a5600}.m-none{fill:#24598f}.m-rate{fill:#1d2430}path{stroke-linecap:butt}"
)
"""The light colours of the page; the figure also draws its background, as it may be shown on any other."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as SVG, which a notebook displays."""

    svg: str

    def to_svg(self) -> str:
        """Return the figure as SVG text."""
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the figure as an SVG file, and return where it is."""
        written(self.svg, path)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Figure: {len(self.svg):,} characters of SVG>"

    def _repr_html_(self) -> str:
        return self.svg


def drawable(data: Assessment) -> list[ResultRecord]:
    """Return the results that can be drawn: those with a risk or its limits, without a holdout those with a rate."""
    if not order.has_holdout(data):
        return [r for r in order.judged(data.results) if formatting.rate_of(r.real) is not None]
    which = ("value", "high", "high_simultaneous")
    return [r for r in order.judged(data.results) if any(formatting.risk_value(r, w) is not None for w in which)]


def figure(data: Assessment, attack: str) -> Figure:
    """Return a figure of the comparisons of one attack, the 40 worst at most: risks, or rates without a holdout."""
    every = [r for r in drawable(data) if r.attack == attack]
    shown, risks = every[:_MOST], order.has_holdout(data)
    acceptable = (data.settings.acceptable) if risks else None
    title = f"{attack.replace('_', ' ')}: {'risk' if risks else 'rate of members'}"
    about = (
        "Risk is the excess over strangers. Thick lines: the interval of one comparison; thin: simultaneous over those "
        "of the attack."
        if risks
        else "Dots: share of members for whom the attack is right; bars: without the synthetic table."
    )
    rungs = [html_charts.rung(str(i), r, risks) for i, r in enumerate(shown, 1)]
    drawn = str(html_charts.ladder("fig", title, about, rungs, acceptable))
    height = _height(drawn) * _SCALE
    lines = [_told(f"{i}  {line(r, risks)}") for i, r in enumerate(shown, 1)]
    if len(every) > len(shown):
        lines.append(f"{len(every) - len(shown):,} more are in assessment.json.")
    below = _TOP + height + _LINE
    texts = [
        f'<text class="title" x="16" y="26">{_escaped(title)}</text>', f'<text x="16" y="46">{_escaped(about)}</text>',
        *(f'<text x="16" y="{below + i * _LINE:g}">{_escaped(t)}</text>' for i, t in enumerate(lines)),
    ]  # fmt: skip
    whole = below + len(lines) * _LINE
    inner = drawn.replace("<svg ", f'<svg x="16" y="{_TOP}" width="{360 * _SCALE:g}" height="{height:g}" ', 1)
    return Figure(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {whole:g}" width="{_WIDTH}" '
        f'height="{whole:g}"><style>{_STYLE}</style><rect width="{_WIDTH}" height="{whole:g}" fill="#fff"/>'
        f"{inner}{''.join(texts)}</svg>\n"
    )


def _height(svg: str) -> float:
    """Return the height of a chart, from its view box."""
    return float(svg.partition('viewBox="')[2].partition('"')[0].split()[3])


def line(r: ResultRecord, risks: bool) -> str:
    head = formatting.label(r)
    if not risks:
        return f"{head}: {formatting.rated(r.real)}, {percent(formatting.rate_of(r.baseline))} without the table"
    value = "" if formatting.risk_value(r) is None else f"{formatting.limit(formatting.risk_value(r))} "
    return f"{head}: {value}({formatting.interval(r.risk)}), {r.verdict}"


def _told(text: str, most: int = 110) -> str:
    return formatting.brief(text, most)


def _escaped(text: str) -> str:
    return str(escape(tidy(text)))

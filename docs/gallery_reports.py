"""The reports of the gallery: simulated people, and tables about them.

`python docs/gallery_reports.py copies` writes copies.html into the folder where you are, and `python
docs/gallery_reports.py pictures` the pictures of the first pages into docs/pictures, by Chromium and Pillow.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import divulge

__all__ = ["REPORTS", "make", "tables"]

REPORTS = {
    "copies": "A fresh sample of the population, in which one row in ten is the row of a person.",
    "overfit": "The rows of the people themselves, with three cells in ten drawn anew.",
    "filtered": "A fresh sample, without the half of its rows nearest to people: the hole tells who is a member.",
    "no-holdout": "The table with copies once more, assessed without people whom the synthesizer never saw.",
    "clean": "A fresh sample. Nobody in it was in the training data, and 1,500 people are too few to say so.",
    "cleared": "The same with 12,000 people: what a table looks like that nothing speaks against.",
}
PEOPLE, MANY = 1500, 12_000


def people(seed, n=PEOPLE):
    """Return people of the survey: what they earn depends on age and schooling, how they feel on both and on chance."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    school = rng.choice(["none", "middle", "high", "college"], n, p=[0.1, 0.3, 0.4, 0.2])
    years = np.select([school == "none", school == "middle", school == "high"], [0, 4, 8], 12)
    income = np.round(np.exp(6.6 + 0.06 * years + 0.01 * np.minimum(age, 60) + 0.4 * rng.standard_normal(n)), -1)
    region = rng.choice(list("ABCDEFGH"), n)
    health = np.clip(np.round(8 - age / 25 + years / 8 + rng.standard_normal(n)), 1, 9).astype(int)
    return pl.DataFrame({"age": age, "school": school, "income": income, "region": region, "health": health})


def filtered(fresh, real):
    """Return the rows of a table without those near to a person: a filter that hides copies and tells members."""
    near = divulge.nearest(fresh, real)
    return fresh.filter(pl.Series(near.distances[:, 0] > np.quantile(near.distances[:, 0], 0.5)))


def overfit(real, seed):
    """Return the rows of a table with three cells in ten drawn anew."""
    rng = np.random.default_rng(seed)
    n = real.height
    cells = {c: pl.Series(c, rng.random(n) < 0.3) for c in real.columns}
    drawn = {c: real[c].gather(rng.integers(0, n, n)) for c in real.columns}
    return real.with_columns(pl.when(cells[c]).then(drawn[c]).otherwise(pl.col(c)).alias(c) for c in real.columns)


def tables(name):
    """Return real table, synthetic table and holdout, which is None where there are no strangers."""
    n = MANY if name == "cleared" else PEOPLE
    real, holdout, fresh = people(11, n), people(17, n), people(13, n)
    copied = pl.concat([real.head(n // 10), fresh.tail(n - n // 10)])
    if name == "filtered":
        return real, filtered(pl.concat([fresh, people(14)]), real), holdout
    synthetic = {"copies": copied, "no-holdout": copied, "overfit": overfit(real, 15)}.get(name, fresh)
    return real, synthetic, None if name == "no-holdout" else holdout


def make(name, folder="."):
    """Write a report into a folder, as NAME.html, and return it."""
    real, synthetic, holdout = tables(name)
    report = divulge.assess(
        real, synthetic, holdout=holdout, keys=["age", "school", "region"], targets=["income", "health"], models=False,
    )  # fmt: skip
    report.to_html(Path(folder) / f"{name}.html")
    return report


def picture(page, out, height=900):
    """Write the top of a page as a small picture of a few colours."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        shot = f"--screenshot={profile}/shot.png"
        subprocess.run(["chromium", *flags, f"--window-size=1024,{height}", shot, f"file://{page}"], check=True)
        shown = Image.open(f"{profile}/shot.png").convert("RGB")
        shown = shown.resize((700, round(700 * height / 1024)), Image.Resampling.LANCZOS)
        shown.quantize(48, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(out, optimize=True)


def main(names):
    """Write the reports that are named, or the pictures of all."""
    if names != ["pictures"]:
        for name in names:
            make(name)
        return
    docs = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        for name in REPORTS:
            make(name, folder)
            picture(Path(folder, f"{name}.html"), docs / "pictures" / f"gallery-{name}.png")
        subprocess.run([sys.executable, "-m", "divulge", "demo", "--out", f"{folder}/demo"], check=False)
        picture(Path(folder, "demo", "report.html"), docs / "first-page.png", 740)


if __name__ == "__main__":
    main(sys.argv[1:])

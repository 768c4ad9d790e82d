"""Membership scores beside the formulas of Synth-MIA on the same tables, in one run; and what the scores cost.

    python benchmarks/membership.py --data DIR            15 published tables: AUC of each score, p-value, best peer
    python benchmarks/membership.py --speed               CPU seconds of all nine scores, simulated people, one thread
    python benchmarks/membership.py --data DIR --json F   also write the numbers

DIR holds the folders hepatitis, census2k, breast_cancer and adult, each with the real table (train), the holdout and
synthetic tables. Synth-MIA is not on the package index, so its attacks stand here as their published formulas, with its
design: half of the holdout is the reference, the other half the strangers; all columns as numbers between 0 and 1 and
indicators, Euclidean distances. Its kernel densities stop with a singular covariance on such tables ("stops").
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX", "NUMBA_NUM")}
PUBLISHED = {
    "hepatitis a sampling": ("hepatitis", "a_hepatitis_sampling_baseline.parquet"),
    "hepatitis b SMOTE": ("hepatitis", "b_hepatitis_smote_baseline.parquet"),
    "hepatitis c DAIB": ("hepatitis", "c_hepatitis_daib_baseline.parquet"),
    "hepatitis d DataSynthesizer": ("hepatitis", "d_hepatitis_datasynthesizer_syn.parquet"),
    "hepatitis e synthpop, tuned": ("hepatitis", "e_hepatitis_synthpop_syn_best.parquet"),
    "hepatitis h synthpop": ("hepatitis", "h_hepatitis_synthpop_1_syn.parquet"),
    "census2k flip 30 %": ("census2k", "syn_flip30.parquet"),
    "census2k mostly": ("census2k", "syn_mostly.parquet"),
    "breast cancer synthpop": ("breast_cancer", "synthpop.csv"),
    "hepatitis f CTGAN, tuned": ("hepatitis", "f_hepatitis_CTGAN_syn_best.parquet"),
    "hepatitis g ADS-GAN, tuned": ("hepatitis", "g_hepatitis_ADSGAN_syn_best.parquet"),
    "hepatitis i Bayes net": ("hepatitis", "i_hepatitis_BN_7_syn.parquet"),
    "hepatitis j CTGAN": ("hepatitis", "j_hepatitis_CTGAN_9_syn.parquet"),
    "hepatitis k ADS-GAN": ("hepatitis", "k_hepatitis_ADSGAN_2_syn.parquet"),
    "Adult CTGAN": ("adult", "ctgan.parquet"),
}
"""The first nine leak, the last six do not."""
ADULT_ROWS = (4_000, 8_000, 4_000)
SPEED = ((2_000, 2_000, 2_000), (10_000, 10_000, 10_000))


# ---------------------------------------------------------------- tables


def read(path: Path) -> pl.DataFrame:
    """Return a table of a file."""
    return pl.read_csv(path, infer_schema_length=None) if path.suffix == ".csv" else pl.read_parquet(path)


def published(data: Path, name: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return real, synthetic and holdout of a published table; of Adult a sample of each."""
    folder, file = PUBLISHED[name]
    here = data / folder
    stems = {p.stem: p for p in here.iterdir()}
    real, holdout = read(stems["train"]), read(stems.get("holdout", stems.get("control", here)))
    tables = real, read(here / file), holdout
    if folder == "adult":
        rng = np.random.default_rng(0)
        drawn = (t[rng.choice(len(t), n, replace=False)] for t, n in zip(tables, ADULT_ROWS, strict=True))
        tables = tuple(drawn)  # type: ignore[assignment]  # three tables in, three out
    return tables


def simulated(sizes: tuple[int, int, int]) -> list[pl.DataFrame]:
    """Return real, synthetic and holdout of 15 columns, two of five numbers, tied together by a hidden number."""
    out = []
    for seed, n in enumerate(sizes):
        rng = np.random.default_rng(seed)
        hidden, table = rng.normal(size=n), {}
        for i in range(15):
            values = hidden * (0.5 + i % 3 / 2) + rng.normal(size=n)
            if i % 5 < 2:
                table[f"n{i}"] = np.round(values * 10, 2) if i % 5 else np.round(values * 10)
            else:
                size = (2, 5, 9, 16, 42)[i % 5 if i % 7 else 4]
                codes = np.clip(((values + 4) / 8 * size).astype(int), 0, size - 1)
                table[f"c{i}"] = np.array([f"level {j}" for j in range(size)])[codes]
        out.append(pl.DataFrame(table))
    return out


# ---------------------------------------------------------------- the formulas of Synth-MIA


def encoded(tables: tuple[pl.DataFrame, ...]) -> list[np.ndarray]:
    """Return numbers between 0 and 1 and indicators of categories."""
    from divulge.case.case import build_case
    from divulge.case.distances import distance_columns
    from divulge.case.features import features_of

    case = build_case(*tables)
    features = features_of(case, distance_columns(case)[0])
    both = np.vstack([features.people, features.synthetic])
    parts = []
    for values, numeric in zip(both.T, features.numeric, strict=True):
        if numeric:
            parts.append(((values - values.min()) / max(1.0, np.ptp(values)))[:, None])
        else:
            parts.append((values[:, None] == np.unique(values)) * 1.0)
    x, n, t = np.hstack(parts), len(features.people), case.n_rows("real")
    return [x[:t], x[n:], x[t:n]]


def peers(tables: tuple[pl.DataFrame, ...]) -> dict[str, float | str]:
    """Return the AUC of each published attack, half of the holdout being the reference."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.neighbors import NearestNeighbors

    real, synthetic, holdout = encoded(tables)
    order = np.random.default_rng(0).permutation(len(holdout))
    half = len(order) // 2
    reference, strangers = holdout[order[:half]], holdout[order[half:]]
    asked = np.vstack([real, strangers])
    is_member = np.arange(len(asked)) < len(real)
    k = 20
    to_synthetic = NearestNeighbors(n_neighbors=k).fit(synthetic).kneighbors(asked)[0]
    to_reference = NearestNeighbors(n_neighbors=k).fit(reference).kneighbors(asked)[0]
    radius = np.median(to_synthetic[:, 0])
    near = NearestNeighbors(radius=radius).fit(synthetic).radius_neighbors(asked, return_distance=False)
    both = np.vstack([synthetic, reference])
    ranked = NearestNeighbors(n_neighbors=k).fit(both).kneighbors(asked, return_distance=False)
    inside = (ranked < len(synthetic)).sum(axis=1)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1).fit(both, np.arange(len(both)) < len(synthetic))
    scores = {
        "dcr": -to_synthetic[:, 0],
        "dcr difference": to_reference[:, 0] - to_synthetic[:, 0],
        "dpi": inside / np.maximum(k - inside, 0.5),
        "monte carlo": np.array([len(rows) for rows in near]),
        "classifier": forest.predict_proba(asked)[:, 1],
    }
    out: dict[str, float | str] = {name: float(roc_auc_score(is_member, s)) for name, s in scores.items()}
    return out | {"domias": _kernels(asked, synthetic, reference, is_member)}


def _kernels(asked: Any, synthetic: Any, reference: Any, is_member: Any) -> float | str:
    from scipy.stats import gaussian_kde
    from sklearn.metrics import roc_auc_score

    try:
        densities = [gaussian_kde(t.T).logpdf(asked.T) for t in (synthetic, reference)]
    except (np.linalg.LinAlgError, ValueError):
        return "stops"
    return float(roc_auc_score(is_member, np.nan_to_num(densities[0] - densities[1])))


# ---------------------------------------------------------------- what is measured


def measured(data: Path, name: str) -> dict[str, Any]:
    """Return the AUC and adjusted p-value of each score on a published table, and the peers'."""
    import divulge

    real, synthetic, holdout = published(data, name)
    began = time.process_time()
    found = divulge.membership(real, synthetic, holdout=holdout, known_members=True)
    seconds = time.process_time() - began
    named = divulge.membership(
        real, synthetic, holdout=holdout, scores=["dcr", "dcr difference", "monte carlo", "domias", "gen-lra"]
    )
    n, m = len(real), len(holdout)
    return {
        "table": name,
        "seconds": seconds,
        "error": ((n + m + 1) / (12 * n * m)) ** 0.5,
        "auc": {r.variant: r.context["AUC"] for r in (*found, *named)},
        "p": {r.variant: r.p_adjusted for r in found},
        "tpr10": {r.variant: r.context["TPR at FPR 10%"] for r in found},
        "tpr1": {r.variant: r.context["TPR at FPR 1%"] for r in found},
        "verdict": {r.variant: r.verdict for r in found},
        "blind": found[0].context["AUC without the synthetic table"],
        "blind p": found[0].context["p-value without the synthetic table"],
        "peers": peers((real, synthetic, holdout)),
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown, the highest single score in bold."""
    names = [v for v in rows[0]["auc"] if v != "known members"]
    head = ["table", *names, "known members", "smallest p", "blind", "best peer"]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in rows:
        best = max(names, key=lambda name: row["auc"][name])
        cells = [f"**{row['auc'][n]:.3f}**" if n == best else f"{row['auc'][n]:.3f}" for n in names]
        numbers = {n: a for n, a in row["peers"].items() if isinstance(a, float)}
        peer = max(numbers, key=lambda name: numbers[name])
        least = min(p for v, p in row["p"].items() if v != "known members")
        cells += [f"{row['auc']['known members']:.3f}", f"{least:.4f}", f"{row['blind']:.3f}"]
        lines.append(f"| {row['table']} | {' | '.join(cells)} | {numbers[peer]:.3f} ({peer}) |")
    return "\n".join(lines)


def goals(rows: list[dict[str, Any]]) -> list[str]:
    """Return how the goals are met."""
    out = []
    for number, row in enumerate(rows):
        single = max(a for v, a in row["auc"].items() if v in row["p"] and v != "known members")
        peer = max(a for a in row["peers"].values() if isinstance(a, float))
        least = min(p for v, p in row["p"].items() if v != "known members")
        if number < 9:
            met = single >= peer - row["error"]
            out.append(f"{row['table']}: best single {single:.3f}, best peer {peer:.3f}, met {met}; smallest p {least}")
        else:
            out.append(f"{row['table']}: smallest p {least}, met {least > 0.01}")
        out.append(
            f"    stack less best single {row['auc']['known members'] - single:+.3f}, {row['seconds']:.1f} CPU s"
        )
    return out


def timed(sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Return the CPU seconds of a second call, in a process of its own with one thread."""
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import membership as b, divulge\n"
        "sizes = tuple(int(x) for x in sys.argv[2:])\n"
        "real, synthetic, holdout = b.simulated(sizes)\n"
        "small = [t[:300] for t in (real, synthetic, holdout)]\n"
        "divulge.membership(small[0], small[1], holdout=small[2])\n"
        "seconds = []\n"
        "for known in (False, True):\n"
        "    began = time.process_time()\n"
        "    found = divulge.membership(real, synthetic, holdout=holdout, known_members=known)\n"
        "    seconds.append(time.process_time() - began)\n"
        "print(*seconds)\n"
    )
    here = str(Path(__file__).resolve().parent)
    done = subprocess.run(
        [sys.executable, "-c", code, here, *map(str, sizes)],
        env=os.environ | ONE_THREAD, check=True, capture_output=True, text=True,
    )  # fmt: skip
    nine, known = map(float, done.stdout.split())
    return {"sizes": sizes, "nine": nine, "nine and known members": known}


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the published tables")
    parser.add_argument("--tables", help="parts of the names of tables, separated by commas; all if left out")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    out: dict[str, Any] = {}
    if chosen.data:
        parts = chosen.tables.split(",") if chosen.tables else [""]
        names = [name for name in PUBLISHED if any(part in name for part in parts)]
        out["tables"] = [measured(chosen.data, name) for name in names]
        print(markdown(out["tables"]))
        if len(names) == len(PUBLISHED):
            print("\n" + "\n".join(goals(out["tables"])))
    if chosen.speed:
        out["speed"] = [timed(sizes) for sizes in SPEED]
        for row in out["speed"]:
            print(
                f"{row['sizes']}: nine scores {row['nine']:.1f} CPU s, "
                f"with known members {row['nine and known members']:.1f}"
            )
    if chosen.json:
        chosen.json.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()

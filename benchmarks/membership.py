"""Membership scores beside the formulas of Synth-MIA on the same tables, in one run; and what the scores cost.

    python benchmarks/membership.py --data DIR            15 published tables: AUC of each score, p-values, best peer
    python benchmarks/membership.py --speed               CPU seconds of all nine scores, simulated people, one thread
    python benchmarks/membership.py --data DIR --large 1000000,1000000,250000
                                                          scores of neighbours and margins beside `exposure`
    ... --json FILE --docs docs/membership.md             also write the numbers, and put the tables into the page

DIR holds the folders hepatitis, census2k, breast_cancer and adult, each with the real table (train), the holdout and
synthetic tables. Synth-MIA is not on the package index, so its attacks stand here as their published formulas, with its
design: half of the holdout is the reference, the other half the strangers; all columns as numbers between 0 and 1 and
indicators, Euclidean distances. Its kernel densities (domias, density, gen-lra) stop with a singular covariance on such
tables ("stops"); its LOGAN needs torch and is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
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
NEAR = ("ratio", "hit", "2-way margins", "3-way margins", "4-way margins", "rare 4-way margins")
"""Scores of margins and of the neighbours that `exposure` searches; "dpi" needs 20 of both tables."""
ALONE = {"distances": "hit", "classifier": "classifier", "margins": "4-way margins"}
"""One score of each kind: who is claimed by it and by neither of the others, 10% of strangers by each."""
CHECKS = {"seen alone": 0.05, "quiet": 0.01}
"""Adjusted p-values up to which a score sees a table, and above which a table counts as quiet."""


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
    near, within = (
        NearestNeighbors(radius=r).fit(synthetic).radius_neighbors(asked, return_distance=False) for r in (radius, 1.0)
    )
    both = np.vstack([synthetic, reference])
    ranked = NearestNeighbors(n_neighbors=k).fit(both).kneighbors(asked, return_distance=False)
    inside = (ranked < len(synthetic)).sum(axis=1)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1).fit(both, np.arange(len(both)) < len(synthetic))
    scores = {
        "dcr": -to_synthetic[:, 0],
        "dcr difference": to_reference[:, 0] - to_synthetic[:, 0],
        "dpi": inside / np.maximum(k - inside, 0.5),
        "monte carlo": np.array([len(rows) for rows in near]),
        "local neighbourhood": np.array([len(rows) for rows in within]),
        "classifier": forest.predict_proba(asked)[:, 1],
    }
    out: dict[str, float | str] = {name: float(roc_auc_score(is_member, s)) for name, s in scores.items()}
    return out | _kernels(asked, synthetic, reference, is_member)


def _kernels(asked: Any, synthetic: Any, reference: Any, is_member: Any) -> dict[str, float | str]:
    from scipy.stats import gaussian_kde
    from sklearn.metrics import roc_auc_score

    try:
        densities = [gaussian_kde(t.T).logpdf(asked.T) for t in (synthetic, reference)]
    except (np.linalg.LinAlgError, ValueError):
        return dict.fromkeys(("domias", "density", "gen-lra"), "stops")
    domias = float(roc_auc_score(is_member, np.nan_to_num(densities[0] - densities[1])))
    return {"domias": domias, "density": float(roc_auc_score(is_member, np.nan_to_num(densities[0])))}


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
        "gain": [found[-1].context[GAIN + limit] for limit in ("", ", lower limit", ", upper limit")],
        "alone": claimed_alone(found),
        "tpr10": {r.variant: r.context["TPR at FPR 10%"] for r in found},
        "tpr1": {r.variant: r.context["TPR at FPR 1%"] for r in found},
        "verdict": {r.variant: r.verdict for r in found},
        "blind": found[0].context["AUC without the synthetic table"],
        "blind p": found[0].context["p-value without the synthetic table"],
        "peers": peers((real, synthetic, holdout)),
    }


def claimed_alone(found: Any) -> dict[str, list[float]]:
    """Return the shares of members and of strangers whom one kind of score claims and no other, and whom all claim."""
    own = {r.variant: r.individual for r in found if r.individual is not None}
    sides = [own[score] for score in ALONE.values()]
    thresholds = [np.sort(s.holdout)[::-1][int(0.1 * (len(s.holdout) + 1)) - 1] for s in sides]
    out: dict[str, list[float]] = {kind: [] for kind in (*ALONE, "all three")}
    for side in ("real", "holdout"):
        claims = np.array([getattr(s, side) > t for s, t in zip(sides, thresholds, strict=True)])
        for kind, mine in zip(ALONE, claims, strict=True):
            out[kind].append(float(np.mean(mine & (claims.sum(axis=0) == 1))))
        out["all three"].append(float(claims.all(axis=0).mean()))
    return out


def alone(rows: list[dict[str, Any]]) -> str:
    """Return who is claimed by one kind of score alone, as Markdown."""
    kinds = list(rows[0]["alone"])
    heads = [f"{k} alone ({ALONE[k]})" if k in ALONE else k for k in kinds]
    lines = [_line(["table", *heads])]
    for row in rows:
        pairs = [row["alone"][kind] for kind in kinds]
        lines.append(_line([row["table"], *(f"{m:.3f} ({s:.3f})" for m, s in pairs)]))
    return _with_rule(lines)


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the AUCs as Markdown, the highest single score in bold."""
    names = [v for v in rows[0]["auc"] if v != "known members"]
    lines = [_line(["table", *names, "known members", "smallest p", "blind", "best peer"])]
    for row in rows:
        best = max(names, key=lambda name: row["auc"][name])
        cells = [f"**{row['auc'][n]:.3f}**" if n == best else f"{row['auc'][n]:.3f}" for n in names]
        peer = best_peer(row)
        cells += [f"{row['auc']['known members']:.3f}", f"{least_p(row):.4f}", f"{row['blind']:.3f}"]
        lines.append(_line([row["table"], *cells, f"{row['peers'][peer]:.3f} ({peer})"]))
    return _with_rule(lines)


def p_values(rows: list[dict[str, Any]]) -> str:
    """Return the adjusted p-value of each score, and which kinds of score see the table, as Markdown."""
    names = [v for v in rows[0]["p"] if v != "known members"]
    lines = [_line(["table", *names, "known members"])]
    lines += [_line([row["table"], *(f"{row['p'][n]:.4f}" for n in (*names, "known members"))]) for row in rows]
    return _with_rule(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _with_rule(lines: list[str]) -> str:
    return "\n".join([lines[0], "|" + " --- |" * (lines[0].count("|") - 1), *lines[1:]])


def best_peer(row: dict[str, Any]) -> str:
    """Return the published attack with the highest AUC of those that ran."""
    return max((n for n, a in row["peers"].items() if isinstance(a, float)), key=lambda name: row["peers"][name])


def least_p(row: dict[str, Any]) -> float:
    """Return the smallest adjusted p-value of the nine scores."""
    return min(p for v, p in row["p"].items() if v != "known members")


GAIN = "gain over the best single score"
KINDS = {
    "distances": ("ratio", "hit", "dpi"),
    "classifier": ("classifier",),
    "margins": ("2-way margins", "3-way margins", "4-way margins", "rare 4-way margins"),
}


def seen_by(row: dict[str, Any]) -> list[str]:
    """Return the kinds of score of which some score tells members from strangers."""
    return [k for k, names in KINDS.items() if min(row["p"][n] for n in names) <= CHECKS["seen alone"]]


def goals(rows: list[dict[str, Any]]) -> list[str]:
    """Return how the goals are met, by table."""
    out = []
    for number, row in enumerate(rows):
        single = max(a for v, a in row["auc"].items() if v in row["p"] and v != "known members")
        peer = row["peers"][best_peer(row)]
        what = f"{row['table']}: smallest adjusted p {least_p(row):.4f}"
        if number < 9:
            met = single >= peer - row["error"]
            what += f"; best single {single:.3f}, best peer {peer:.3f} (error {row['error']:.3f}), met {met}"
        else:
            what += f", above {CHECKS['quiet']} {least_p(row) > CHECKS['quiet']}"
        gain = [f"{x:+.3f}" for x in row["gain"]]
        out.append(f"{what}; seen by {', '.join(seen_by(row)) or 'no kind'}")
        out.append(
            f"    known members over the best single score: {gain[0]} ({gain[1]} to {gain[2]}), adjusted p "
            f"{row['p']['known members']:.4f}; {row['seconds']:.1f} CPU s"
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


def beside_exposure(data: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return CPU seconds and memory of `exposure` and of scores of neighbours and margins on the same large tables.

    The tables are members, synthetic rows and strangers drawn from a Gaussian copula fitted to Adult. Each call has a
    process of its own; reading the files is not timed, and the memory is that of the whole process.
    """
    from neighbours import adult_copula, frame

    out: dict[str, Any] = {"sizes": sizes}
    with tempfile.TemporaryDirectory() as folder:
        for seed, n in enumerate(sizes):
            frame(adult_copula(str(data / "adult"), n, seed), "polars").write_parquet(f"{folder}/{seed}.parquet")
        scored = "divulge.membership(real, synthetic, holdout=holdout, scores={})"
        for name, call in (
            ("exposure", "divulge.exposure(real, synthetic, holdout=holdout)"),
            ("without dpi", scored.format(list(NEAR))),
            ("with dpi", scored.format([*NEAR, "dpi"])),
        ):
            code = (
                "import json, resource, time, polars as pl, divulge\n"
                f"attack = lambda real, synthetic, holdout: {call}\n"
                f"tables = [pl.read_parquet(f'{folder}/{{i}}.parquet') for i in range(3)]\n"
                "attack(*(t[:300] for t in tables))\n"
                "cpu, wall = time.process_time(), time.perf_counter()\n"
                "attack(*tables)\n"
                "cpu, wall = time.process_time() - cpu, time.perf_counter() - wall\n"
                "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
                "print(json.dumps({'cpu': cpu, 'wall': wall, 'GB': peak}))\n"
            )
            done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
            out[name] = json.loads(done.stdout)
    return out


def large_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the cost beside `exposure` as Markdown."""
    head = ["members, synthetic rows, strangers", "scores", "CPU s", "`exposure`, CPU s", "ratio", "memory, GB"]
    lines = [_line(head)]
    for r in rows:
        for name in ("without dpi", "with dpi"):
            mine, its = r[name], r["exposure"]["cpu"]
            cells = [f"{mine['cpu']:.1f}", f"{its:.1f}", f"{mine['cpu'] / its:.2f}", f"{mine['GB']:.1f}"]
            lines.append(_line([" + ".join(f"{n:,}" for n in r["sizes"]), f"neighbours and margins, {name}", *cells]))
    return _with_rule(lines)


def main() -> None:
    """Measure what was asked for, print it and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the published tables")
    parser.add_argument("--tables", help="parts of the names of tables, separated by commas; all if left out")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--large", action="append", default=[], metavar="N,M,K",
                        help="members, synthetic rows, strangers; may be given several times")  # fmt: skip
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", type=Path, help="page whose tables are replaced")
    parser.add_argument("--numbers", type=Path, action="append", default=[], metavar="FILE",
                        help="also take what an earlier run wrote with --json")  # fmt: skip
    chosen = parser.parse_args()
    earlier = [json.loads(path.read_text()) for path in chosen.numbers]
    out: dict[str, Any] = {
        name: [row for file in earlier for row in file.get(name, [])] for name in ("large", "tables")
    }
    tables: dict[str, str] = {}
    out["large"] += [beside_exposure(chosen.data, tuple(map(int, sizes.split(",")))) for sizes in chosen.large]
    if out["large"]:
        tables["membership large"] = large_markdown(out["large"])
    if chosen.data and (chosen.tables or not chosen.large):
        parts = chosen.tables.split(",") if chosen.tables else [""]
        out["tables"] += [measured(chosen.data, n) for n in PUBLISHED if any(part in n for part in parts)]
    if out["tables"]:
        out["tables"].sort(key=lambda row: list(PUBLISHED).index(row["table"]))
        tables |= {"membership": markdown(out["tables"]), "membership p": p_values(out["tables"])}
        tables["membership alone"] = alone(out["tables"])
        if len(out["tables"]) == len(PUBLISHED):
            out["goals"] = goals(out["tables"])
    if chosen.speed:
        out["speed"] = [timed(sizes) for sizes in SPEED]
    _told(out, tables)
    if chosen.json:
        chosen.json.write_text(json.dumps(out, indent=1) + "\n")
    if chosen.docs:
        from cap import put_between_marks

        for mark, table in tables.items():
            if f"<!-- {mark} -->" in chosen.docs.read_text():
                put_between_marks(chosen.docs, table, mark)


def _told(out: dict[str, Any], tables: dict[str, str]) -> None:
    print("\n\n".join(tables.values()))
    print("\n".join(out.get("goals", [])))
    for row in out.get("speed", []):
        both = row["nine"], row["nine and known members"]
        print(f"{row['sizes']}: nine scores {both[0]:.1f} CPU s, with known members {both[1]:.1f}")


if __name__ == "__main__":
    main()

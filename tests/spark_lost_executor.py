"""A program: a search in a Spark of two executors, one of which is killed by the first task that runs there.

    python tests/spark_lost_executor.py FOLDER folder|blocks|counts

`blocks` and `folder` are the two ways of `divulge.nearest`, with half of the people alike; `counts` is an attack by
counts, whose executor is killed between two questions. It prints what the digest of the answer is, and that of one
process.
"""

import hashlib
import os
import signal
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyspark

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)  # the executors of a local cluster are started from there

import divulge
from divulge.case import spark_search
from divulge.tables._spark_counts import SparkCounts

NAMES = ("distance", "index", "n_ties")


def session():
    """Return a session of two executors in processes of their own."""
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .getOrCreate()
    )


def people(n, seed):
    """Return people of whom half are alike."""
    rng = np.random.default_rng(seed)
    job = np.where(rng.random(n) < 0.5, 0, rng.integers(0, 9, n))
    return pl.DataFrame({"job": job.astype(str), "rooms": np.where(job == 0, 3, rng.integers(1, 7, n)),
                         "pay": np.where(job == 0, 10, rng.integers(0, 50, n))})  # fmt: skip


def executors():
    """Return the processes of executors that this process has begun."""
    found, parents = [], {}
    for entry in Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue

    def ours(pid):
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return [pid for pid in found if ours(pid)]


def dying(make, died):
    """Return functions for Spark of which the first task kills its executor: the parent of the parent of its worker."""

    def made(*given):
        inner = make(*given)

        def once():
            try:
                os.close(os.open(died, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            daemon = os.getppid()
            executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
            assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
            os.kill(executor, signal.SIGKILL)

        def by_batches(batches):
            once()
            return inner(batches)

        def by_tables(left, right):
            once()
            return inner(left, right)

        return by_batches if make.__name__ == "_by_folder" else by_tables

    return made


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def searched(spark, folder, by_folder):
    asked, reference = people(600, 1).with_columns(person=pl.int_range(600)), people(900, 2)
    asked.write_parquet(folder / "asked.parquet")
    died = str(folder / "died")
    spark_search._by_folder = dying(spark_search._by_folder, died)
    spark_search._by_pair = dying(spark_search._by_pair, died)
    shared = folder / "shared"
    shared.mkdir()
    frame = spark.read.parquet(str(folder / "asked.parquet")).repartition(4)
    found = divulge.nearest(frame, reference, 2, id="person", spill=shared if by_folder else None)
    there = pl.from_arrow(found.toArrow()).sort("person", "rank")
    assert Path(died).exists() and not list(shared.iterdir())
    here = divulge.nearest(asked.drop("person"), reference, 2)
    columns = [there[name].to_numpy().reshape(600, 2) for name in NAMES]
    print(digest(columns[0], columns[1], columns[2][:, 0]), digest(*here))


def counted(spark, folder):
    tables = [people(n, seed) for seed, n in enumerate((900, 900, 400))]
    for i, frame in enumerate(tables):
        frame.write_parquet(folder / f"{i}.parquet")
    frames = [spark.read.parquet(str(folder / f"{i}.parquet")).repartition(4) for i in range(3)]
    usual, killed = SparkCounts.cells, []

    def cells(self, *given):
        if not killed:  # values are held by the executors, and their codes are sent next
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)
        return usual(self, *given)

    SparkCounts.cells = cells
    asked = {"keys": ["job", "rooms"], "target": "pay"}
    found = divulge.cap(*frames[:2], holdout=frames[2], engine="spark", **asked)
    assert killed
    print(str(found), str(divulge.cap(*tables[:2], holdout=tables[2], **asked)), sep="\n")


if __name__ == "__main__":
    place, what = Path(sys.argv[1]), sys.argv[2]
    there = session()
    there.sparkContext.setLogLevel("OFF")
    if what == "counts":
        counted(there, place)
    else:
        searched(there, place, what == "folder")
    there.stop()

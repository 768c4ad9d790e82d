"""Write real.csv, synthetic.csv and holdout.csv for the examples; your own synthesizer takes the place of this file.

python make_tables.py             # a synthesizer with large leaves: of this draw no test tells whom it was trained on
python make_tables.py --plant 80  # last night's build: 80 of its rows are copies of real people
"""

from __future__ import annotations

import argparse

import numpy as np

from divulge.demo import tables
from divulge.demo.trees import synthesize


def main() -> None:
    """Write the three tables into the working folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plant", type=int, default=0, metavar="N", help="synthetic rows that become copies of people")
    n_planted = parser.parse_args().plant
    real, _, holdout = tables()
    synthetic = synthesize(real, np.random.default_rng(4), min_leaf=200)
    planted = real.head(n_planted).vstack(synthetic.tail(len(synthetic) - n_planted))
    for name, table in {"real": real, "synthetic": planted, "holdout": holdout}.items():
        table.write_csv(f"{name}.csv")


if __name__ == "__main__":
    main()

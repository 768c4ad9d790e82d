"""People and synthetic rows on which the DOMIAS package and divulge were both run; plain Python, so that either can.

"line" is one column of numbers, so that the package's Euclidean distance is divulge's times the range of the people.
"cloud" has three columns; the package whitens each table by its own covariance, so the tests whiten them first.
"""

import random


def rows(seed: int, n: int, width: int) -> list[list[float]]:
    rng = random.Random(seed)
    return [[round(rng.gauss(0, 1), 4) for _ in range(width)] for _ in range(n)]


LINE = {"real": rows(1, 11, 1), "holdout": rows(2, 10, 1), "synthetic": rows(3, 15, 1)}
CLOUD = {"asked": rows(4, 9, 3), "reference": rows(5, 40, 3), "synthetic": rows(6, 50, 3)}

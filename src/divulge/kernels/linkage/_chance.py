"""The probability that two random draws share a row."""

from __future__ import annotations

__all__ = ["link_probability"]


def link_probability(
    tied: int, taken: int, other_tied: int, other_taken: int, tied_sure: int, sure_tied: int, both_tied: int
) -> float:
    """Return the probability that two draws share a row, or draw a row that is sure in the other list.

    No row is sure in both lists. A row is sure in a list if it is strictly nearer than the k-th distance.

    Parameters
    ----------
    tied, taken
        Rows that tie for the last places of the first list, and how many of them are drawn.
    other_tied, other_taken
        The same for the other list.
    tied_sure
        Rows among `tied` that are sure in the other list.
    sure_tied
        Rows among `other_tied` that are sure in the first list.
    both_tied
        Rows among `tied` and `other_tied`.

    Examples
    --------
    Each list draws one of three rows, and two of these are the same in both: 2 / 9.

    >>> round(link_probability(3, 1, 3, 1, 0, 0, 2), 9)
    0.222222222
    """
    missed = 1.0  # the first draw avoids the rows that are sure in the other list
    for i in range(taken):
        missed *= (tied - tied_sure - i) / (tied - i)
        if missed <= 0.0:
            return 1.0
    rest = tied - tied_sure
    least, most = max(0, taken - (rest - both_tied)), min(taken, both_tied)
    middle = ((taken + 1) * (both_tied + 1)) // (rest + 2)
    # hypergeometric weights of the number of `both_tied` that it draws, from the likeliest number down and up
    total, avoided = 0.0, 0.0
    for upwards in range(2):
        weight = 1.0
        j = middle
        while (j <= most) if upwards == 1 else (j >= least):
            if j != middle or upwards == 1:
                avoids = weight
                for i in range(other_taken):
                    avoids *= (other_tied - sure_tied - j - i) / (other_tied - i)
                    if avoids <= 0.0:
                        avoids = 0.0
                        break
                total += weight
                avoided += avoids
            if upwards == 1:
                weight *= ((both_tied - j) * (taken - j)) / ((j + 1) * (rest - both_tied - taken + j + 1))
                j += 1
            else:
                weight *= (j * (rest - both_tied - taken + j)) / ((both_tied - j + 1) * (taken - j + 1))
                j -= 1
    return 1.0 - missed * (avoided / total)

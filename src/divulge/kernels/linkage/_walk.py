"""The loop of `record_linkage` (`_native/linkage.c`): the near rows of one half, and their places in the other."""

from __future__ import annotations

from divulge.kernels._box_tree import EXACT
from divulge.kernels._native.library import Kernel, Struct

__all__ = ["TASK", "walk"]

TASK = Struct(
    pair="i8*", place="i8*", query="i8*", other="i8*", start="i8*", rows="i8*", distances="f8*",
    cell_start="i8*", cells="u4*", near="i8*", near_width="i8", few="i8*", searches="i8",
    places="f8*", other_places="f8*", sure="i8*", tied="i8*", other_sure="i8*", other_tied="i8*", n_near="i8",
    ks="i8*", n_ks="i8", swapped="i8", out="f8!",
)  # fmt: skip
"""What the loop needs, in the order of `linkage_t`."""

walk = Kernel("linkage", TASK, EXACT, "i8", "i8")
"""Fill in the probabilities of the pairs first to last - 1, over the listed rows of each pair's first half."""

"""Any text, for hypothesis; its own strategy first makes a table of all characters, which takes two seconds."""

from hypothesis import strategies as st

CHARACTERS = st.one_of(st.integers(32, 126), st.integers(0, 0xD7FF), st.integers(0xE000, 0x10FFFF)).map(chr)
"""All but the halves of characters (surrogates), which no file can hold; half of them are those of English."""


def any_texts(**sizes):
    """Texts of any characters; `min_size` and `max_size` as of lists."""
    return st.lists(CHARACTERS, **sizes).map("".join)

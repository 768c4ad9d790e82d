"""A report's page inside a notebook."""

from __future__ import annotations

from html import escape

__all__ = ["framed"]


def framed(page: str, title: str) -> str:
    """Return a page in a frame of its own, whose style and script reach nothing of the notebook.

    The sandbox lets the page's script sort and filter tables. The page has no origin: it can read neither the notebook
    nor its cookies, open no window and send no form.

    Examples
    --------
    >>> framed("<p>", "a").rpartition("srcdoc")[2]
    '="&lt;p&gt;"></iframe>'
    """
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts" '
        f'style="width:100%;height:640px;border:1px solid #8888" srcdoc="{escape(page)}"></iframe>'
    )

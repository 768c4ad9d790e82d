"""The report as PDF, printed by a browser or WeasyPrint that is installed: divulge itself draws no pages."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Never

from divulge.core.atomic_write import replaced
from divulge.core.errors import SettingError
from divulge.report.documents.weasyprint_page import adapted

__all__ = ["check_printer", "printed", "printer"]

_BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge",
    "brave-browser",
)  # fmt: skip
_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_FLAGS = (
    "--headless", "--disable-gpu", "--disable-extensions", "--disable-background-networking", "--disable-sync",
    "--no-first-run", "--no-pdf-header-footer",
)  # fmt: skip
_SECONDS = 180
_NONE = (
    "--pdf: neither Chromium (Chrome, Edge) nor WeasyPrint is installed. hint: install one, or open report.html in a "
    "browser and print it."
)


def printer() -> str | None:
    """Return the path of a browser that can print, None where there is none."""
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    return found or next((path for path in _APPS if os.access(path, os.X_OK)), None)


def check_printer() -> None:
    """Raise a `SettingError` where neither a browser nor WeasyPrint is installed."""
    if printer() is None and find_spec("weasyprint") is None:
        raise SettingError(_NONE)


def printed(page: str, path: str | Path) -> Path:
    """Print a page of `Report.to_html` to a PDF file, under a temporary name first, and return the file.

    A browser prints it where one is installed, else WeasyPrint. The policy of the page forbids every request. Its own
    script runs in a browser: with scripts off, Chromium prints nothing.

    Parameters
    ----------
    page
        The page as text.
    path
        The PDF file to write.

    Raises
    ------
    SettingError
        Neither is installed, or it could not print.
    """
    by = printer()
    content = _by_weasyprint(page) if by is None else _by_browser(by, page)
    if not content.startswith(b"%PDF"):
        raise SettingError("--pdf: printing gave no PDF. hint: open report.html in a browser and print it.")
    replaced(Path(path), content)
    return Path(path)


def _by_browser(browser: str, page: str) -> bytes:
    """Return the PDF that a browser prints, in a profile of its own that is removed."""
    with tempfile.TemporaryDirectory(prefix="divulge-print-") as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # as root it has no sandbox
        command = [browser, *_FLAGS, *root, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}",
                   source.as_uri()]  # fmt: skip
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            why = type(error).__name__
            raise SettingError(
                f"--pdf: the browser could not print ({why}). hint: open report.html in a browser and print it."
            ) from None


def _by_weasyprint(page: str) -> bytes:
    """Return the PDF that WeasyPrint sets, without a request and without its warnings about rules for browsers."""
    log = logging.getLogger("weasyprint")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        import weasyprint

        return bytes(weasyprint.HTML(string=adapted(page), url_fetcher=_refused).write_pdf())
    except (ImportError, OSError):  # OSError: its library Pango is missing
        raise SettingError(_NONE) from None
    except Exception as error:
        why = type(error).__name__
        raise SettingError(
            f"--pdf: WeasyPrint could not print ({why}). hint: open report.html in a browser and print it."
        ) from None
    finally:
        log.setLevel(before)


def _refused(url: str) -> Never:
    raise ValueError("the page asks for nothing")

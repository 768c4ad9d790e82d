"""The report as PDF, printed by a browser that is installed: divulge itself draws no pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from divulge.core.atomic_write import replaced
from divulge.core.errors import SettingError

__all__ = ["printed", "printer"]

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
    "--pdf: no Chromium (Chrome, Edge) is installed. hint: install one, or open report.html in a browser and print it."
)


def printer() -> str | None:
    """Return the path of a browser that can print, None where there is none."""
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    return found or next((path for path in _APPS if os.access(path, os.X_OK)), None)


def printed(page: str, path: str | Path) -> Path:
    """Print a page of `Report.to_html` to a PDF file, under a temporary name first, and return the file.

    The policy of the page forbids every request. Its own script runs: with scripts off, Chromium prints nothing.

    Parameters
    ----------
    page
        The page as text.
    path
        The PDF file to write.

    Raises
    ------
    SettingError
        No such browser is installed, or it could not print.
    """
    by = printer()
    if by is None:
        raise SettingError(_NONE)
    content = _by_browser(by, page)
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

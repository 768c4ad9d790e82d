import contextlib
import re
import shutil
import socket
import struct
import subprocess
import threading
import zlib

import numpy as np
import polars as pl
import pytest
from report_helpers import HOSTILE
from test_report_questions import NAMES, report, results

import divulge
from divulge.report.notebook import framed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--virtual-time-budget=2000",
]  # fmt: skip

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)

    def people(n):
        names = {"age": 9, "job": 7, "region": 5, "sex": 2, "income": 3, "<script>alert(1)</script>": 4}
        return pl.DataFrame({name: [f"v{v}" for v in rng.integers(0, k, n)] for name, k in names.items()})

    real = people(160)
    synthetic = pl.concat([real[:80], people(80)])
    path = tmp_path_factory.mktemp("report") / "report.html"
    divulge.assess(real, synthetic, holdout=people(160), jobs=1).to_html(path)
    return path


def chromium(tmp_path, *arguments):
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *arguments],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr


def dom(tmp_path, page, fragment=""):
    return chromium(tmp_path, "--dump-dom", f"file://{page}{fragment}")[0]


def rows(text):
    """Return the cells of the rows of the table of all comparisons that are shown."""
    table = text[text.index('aria-label="All comparisons"') :]
    body = re.search("<tbody>(.*?)</tbody>", table, re.DOTALL)[1]
    shown = re.findall("<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [re.sub("<[^>]+>", "", c).strip() for c in re.findall("<t[dh].*?>(.*?)</t[dh]>", r, re.DOTALL)] for r in shown
    ]


def test_the_page_opens_without_a_complaint(tmp_path, page):
    _, complaints = chromium(tmp_path, "--enable-logging=stderr", "--dump-dom", f"file://{page}")
    assert "CONSOLE" not in complaints


def test_a_broken_page_would_complain(tmp_path, page):
    broken = page.with_name("broken.html")
    broken.write_text(page.read_text().replace("</body>", "<script>nonsense()</script></body>"))
    _, complaints = chromium(tmp_path, "--enable-logging=stderr", "--dump-dom", f"file://{broken}")
    assert "Content Security Policy" in complaints


def test_the_filter_narrows_the_table(tmp_path, page):
    everything, some = rows(dom(tmp_path, page)), rows(dom(tmp_path, page, "#filter=income"))
    assert 0 < len(some) < len(everything)
    assert all("income" in " ".join(row) for row in some)


def test_the_number_of_rows_shown_is_told(tmp_path, page):
    text = dom(tmp_path, page, "#filter=income")
    told = re.search(r'<output role="status">([\d,]+) of ([\d,]+) shown</output>', text)
    assert int(told[1]) == len(rows(text))


def test_the_verdict_can_be_chosen(tmp_path, page):
    some = rows(dom(tmp_path, page, "#verdict=cannot tell"))
    assert some
    assert {row[-1] for row in some} == {"cannot tell"}


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_table_sorts_by_number(tmp_path, page, order):
    text = dom(tmp_path, page, f"#sort=risk&order={order}")
    shown = [row[6] for row in rows(text)]
    risks = [float(x) for x in shown if x != "-"]
    assert shown[len(risks) :] == ["-"] * (len(shown) - len(risks))  # what has no risk comes last
    assert risks == sorted(risks, reverse=order == "descending")
    assert f'aria-sort="{order}"' in text


def test_the_table_sorts_by_name(tmp_path, page):
    targets = [row[2] for row in rows(dom(tmp_path, page, "#sort=target&order=ascending"))]
    assert targets.index("sex") > targets.index("age")


@pytest.mark.parametrize(
    ("fragment", "opened"), [("", False), ("#all", True), ("#sort=risk", True), ("#verdict", False)]
)
def test_a_link_into_the_annex_unfolds_what_it_points_to(tmp_path, page, fragment, opened):
    text = dom(tmp_path, page, fragment)
    fold = re.search(r'<details class="fold"([^>]*)><summary>All risks and comparisons', text)
    assert ("open" in fold[1]) == opened


def test_without_the_script_the_table_is_whole(tmp_path, page):
    bare = page.with_name("bare.html")
    bare.write_text(re.sub("<script>.*?</script>", "", page.read_text(), flags=re.DOTALL))
    text = dom(tmp_path, bare)
    assert len(rows(text)) == len(rows(dom(tmp_path, page)))
    assert re.search(r'<form class="tools" hidden', text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_draws_something_at_every_width(tmp_path, page, width, scheme):
    picture = tmp_path / "page.png"
    setting = f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"
    chromium(tmp_path, f"--window-size={width},1600", setting, f"--screenshot={picture}", f"file://{page}")
    drawn_width, levels, mean = _levels(picture)
    assert drawn_width == width
    assert levels > 20
    assert (mean > 128) == (scheme == "light")


def _levels(picture):
    """Return the width, how many byte values occur, and the mean byte of the rows that are stored as they are."""
    content = picture.read_bytes()
    width, height, _, kind = struct.unpack(">IIBB", content[16:26])
    data, at = b"", 8
    while at < len(content):
        size, name = struct.unpack(">I4s", content[at : at + 8])
        data += content[at + 8 : at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    channels = {2: 3, 6: 4}[kind]
    # the first pixel of a line predicted from its left is the pixel itself
    left = lines[lines[:, 0] == 1][:, 1:4]
    first = left if len(left) else lines[:1, 1:4]
    assert lines.shape[1] == 1 + channels * width
    return width, len(np.unique(lines)), float(first.mean())


def test_nothing_is_wider_than_a_phone(tmp_path, page):
    """The document must not scroll sideways; wide tables scroll within their own region."""
    probe = page.with_name("probe.html")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    measure = "<script>document.title = 'w' + document.documentElement.scrollWidth + ' ' + innerWidth</script></body>"
    probe.write_text(text.replace("</body>", measure))
    out, _ = chromium(tmp_path, "--window-size=500,900", "--dump-dom", f"file://{probe}")
    content, window = map(int, re.search(r"<title>w(\d+) (\d+)</title>", out).groups())
    assert content <= window


def test_the_three_questions_fit_a_phone_and_open_without_a_complaint(tmp_path):
    names = [*HOSTILE, "k" * 500, *NAMES[:5]]
    path = tmp_path / "questions.html"
    text = report(results(names), names).to_html()
    path.write_text(text)
    _, complaints = chromium(tmp_path, "--enable-logging=stderr", "--dump-dom", f"file://{path}")
    assert "CONSOLE" not in complaints
    measure = "<script>document.title = 'w' + document.documentElement.scrollWidth + ' ' + innerWidth</script></body>"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    path.write_text(text.replace("</body>", measure))
    out, _ = chromium(tmp_path, "--window-size=500,900", "--dump-dom", f"file://{path}")
    content, window = map(int, re.search(r"<title>w(\d+) (\d+)</title>", out).groups())
    assert content <= window


def test_the_page_prints(tmp_path, page):
    printed = tmp_path / "page.pdf"
    chromium(tmp_path, f"--print-to-pdf={printed}", "--no-pdf-header-footer", f"file://{page}")
    assert printed.read_bytes().startswith(b"%PDF")


class _Proxy(threading.Thread):
    """Listens as a proxy and notes whom a browser asks for; answers nobody."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.asked = []

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                with contextlib.suppress(OSError):
                    self.asked.append(connection.recv(500).split(b"\r\n")[0].decode(errors="replace"))


@pytest.mark.parametrize("policy", [True, False])
def test_no_request_leaves_the_page(tmp_path, page, policy):
    """The page asks for nothing, and its policy stops what somebody might put into it."""
    proxy = _Proxy()
    proxy.start()
    planted = page.with_name(f"planted{policy}.html")
    text = page.read_text()
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    text = text.replace("</main>", '<img src="http://leak.example/x.png" alt=""></main>')
    planted.write_text(text if policy else re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text))
    server = f"--proxy-server=127.0.0.1:{proxy.socket.getsockname()[1]}"
    chromium(tmp_path, server, "--dump-dom", f"file://{planted}")
    proxy.socket.close()
    assert any("leak.example" in a for a in proxy.asked) == (not policy)


def test_the_page_works_in_the_sandbox_of_a_notebook(tmp_path, page):
    frame = framed(page.read_text(), "report")
    assert 'sandbox="allow-scripts"' in frame
    complaints = []
    for sandbox in ("allow-scripts", ""):
        notebook = tmp_path / "notebook.html"
        notebook.write_text("<!doctype html><title>n</title>" + frame.replace("allow-scripts", sandbox, 1))
        told = chromium(tmp_path, "--enable-logging=stderr", "--dump-dom", f"file://{notebook}")[1]
        complaints.append([line for line in told.splitlines() if "CONSOLE" in line])
    assert complaints[0] == []
    assert "Blocked script execution" in complaints[1][0]  # and without the permission nothing is sorted


_MEASURED = """<script>addEventListener('load', () => {
document.querySelectorAll('details').forEach(d => d.open = true);
const least = Math.min(99, ...[...document.querySelectorAll('.chart')].filter(s => s.getBoundingClientRect().width).map(s =>
  s.getBoundingClientRect().width / s.viewBox.baseVal.width * parseFloat(getComputedStyle(s.querySelector('text')).fontSize)));
const over = [...document.querySelectorAll('.tile-bars')].filter(e => e.scrollWidth > e.clientWidth).length;
parent.document.title = ['m', document.documentElement.scrollWidth, innerWidth, least.toFixed(1), over].join(' ')
})</script></body>"""


@pytest.mark.parametrize("width", [390, 1000])
def test_letters_of_charts_can_be_read_on_a_phone_and_labels_of_tiles_stay_within(tmp_path, page, width):
    """Chromium makes no window narrower than 500 px, so that the page stands in a frame."""
    real, other, holdout = (pl.DataFrame({"a": range(i, i + 90), "b": [0, 1] * 45}) for i in (0, 200, 400))
    divulge.compare(real, {"one": other, "two": holdout}, holdout=holdout).to_html(tmp_path / "compared.html")
    for path, tiles in ((page, True), (tmp_path / "compared.html", False)):
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text())
        text = re.sub(r"\d+ of 160 \(\d+%\)", "3,939 of 39,032 (10.1%)", text)
        (tmp_path / "inner.html").write_text(text.replace("</body>", _MEASURED))
        frame = f'<iframe src="inner.html" style="width:{width}px;height:900px"></iframe>'
        (tmp_path / "outer.html").write_text(f"<title>no</title><body>{frame}</body>")
        out, _ = chromium(
            tmp_path, "--window-size=1300,1000", "--allow-file-access-from-files", "--dump-dom",
            f"file://{tmp_path / 'outer.html'}",
        )  # fmt: skip
        content, inner, least, over = map(
            float, re.search(r"<title>m (\d+) (\d+) ([\d.]+) (\d+)</title>", out).groups()
        )
        assert inner == width and over == 0
        assert width > 500 or (content <= inner and least >= 10)
        assert not tiles or "3,939 of 39,032" in text

"""axe-core looks at the report in Chromium, in both colour schemes and at two widths, and finds nothing to say."""

import base64
import hashlib
import io
import json
import os
import re
import tarfile
import urllib.error
import urllib.request

import pytest
from report_helpers import HOSTILE
from test_report_browser import CHROMIUM, chromium
from test_report_questions import NAMES, report, results

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")]

TARBALL = "https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz"
INTEGRITY = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
RUN = """
<script>
axe.run(document, {resultTypes: ["violations"]}).then((found) => {
  const said = {violations: found.violations.map((v) => ({id: v.id, impact: v.impact, help: v.help,
    nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))})), rules: found.passes.length};
  const out = document.createElement("script");
  out.type = "application/json"; out.id = "axe"; out.textContent = JSON.stringify(said).replace(/</g, "\\\\u003c");
  document.body.append(out);
});
</script></body>
"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The source of axe-core, from the npm registry, checked by its hash."""
    try:
        with urllib.request.urlopen(TARBALL, timeout=60) as answer:
            content = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"axe-core cannot be fetched: {error}")
    assert base64.b64encode(hashlib.sha512(content).digest()).decode() == INTEGRITY
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def violations(tmp_path, axe, html, *flags):
    """Return what axe finds on a page, and by how many rules it passed."""
    path = tmp_path / "page.html"
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    path.write_text(html.replace("</body>", f"<script>{axe}</script>{RUN}"))
    out, _ = chromium(tmp_path, "--virtual-time-budget=60000", *flags, "--dump-dom", f"file://{path}")
    found = re.search(r'<script type="application/json" id="axe">(.*?)</script>', out, re.DOTALL)
    assert found, "axe did not finish"
    said = json.loads(found[1])
    return said["violations"], said["rules"]


@pytest.fixture(scope="module")
def pages(request, tmp_path_factory):
    """The report with everything in it, hostile names included, and one without strangers."""
    from report_helpers import change, replaced, tables

    import divulge

    real, synthetic, holdout = tables(names=tuple(HOSTILE))
    given = {"models": False, "jobs": 1, "seed": 1}
    full = divulge.assess(
        real, synthetic, holdout=holdout, search="full", subgroups=[HOSTILE[0]], positive_control=0.1, **given
    )
    other = divulge.assess(real, holdout, holdout=synthetic, **given)
    policy = {
        "name": HOSTILE[0], "sha256": "0" * 64, "kept": False,
        "conditions": [
            {"condition": "any: simultaneous lower limit of risk at most 0", "found": "0.2", "kept": False, "why": "it is"},
            {"condition": "copies must have run", "found": "it ran", "kept": True, "why": ""},
        ],
    }  # fmt: skip
    left_out = [{"attack": "cap", "n": 2, "of": 3, "why": "the time was up"}]
    full = replaced(full, change=change(full.data, other.data), policy=policy, left_out=left_out)
    names = [*HOSTILE, "k" * 300, *NAMES[:5]]
    return {
        "full": full.to_html(),
        "alone": divulge.assess(real, synthetic, **given).to_html(),
        "questions": report(results(names), names).to_html(),
    }


@pytest.mark.parametrize(
    "flags", [("--window-size=1280,900",), ("--window-size=500,900", "--blink-settings=preferredColorScheme=0")]
)
@pytest.mark.parametrize("which", ["full", "alone", "questions"])
def test_axe_finds_no_violation(tmp_path, axe, pages, which, flags):
    found, n_rules = violations(tmp_path, axe, pages[which], *flags)
    assert found == []
    assert n_rules > 20


def test_axe_would_find_one(tmp_path, axe, pages):
    broken = pages["alone"].replace('<html lang="en">', "<html>").replace('role="img"', 'role="nonsense"', 1)
    found, _ = violations(tmp_path, axe, broken)
    assert {"html-has-lang", "aria-roles"} <= {v["id"] for v in found}


def test_the_pages_stay_small(pages):
    assert max(len(p.encode()) for p in pages.values()) < 2_000_000

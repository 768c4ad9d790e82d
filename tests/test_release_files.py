"""What a release is made of agrees: workflow, wheels, versions of Python, and the metadata of citations."""

import json
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())


def runs(job):
    return "\n".join(step.get("run", "") for step in RELEASE["jobs"][job]["steps"])


def test_each_python_that_is_claimed_is_tested():
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert RELEASE["jobs"]["test"]["strategy"]["matrix"]["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


def test_each_wheel_but_that_of_musl_is_tested():
    targets = re.search(r'"\$\{@:-(.*)\}"', (ROOT / ".ci/wheels").read_text())[1].split()
    on = {
        "ubuntu-latest": "linux-x86_64", "ubuntu-24.04-arm": "linux-aarch64", "macos-14": "macos-arm64",
        "macos-15-intel": "macos-x86_64", "windows-latest": "windows-x86_64",
    }  # fmt: skip
    assert [on[name] for name in RELEASE["jobs"]["test"]["strategy"]["matrix"]["os"]] == [
        t for t in targets if t != "musl-x86_64"
    ]


def test_nothing_is_published_untested_or_without_a_tag():
    publish = RELEASE["jobs"]["publish"]
    assert set(publish["needs"]) == {"test", "sdist"} and publish["environment"] == "pypi"
    assert "tag" in publish["if"] and publish["permissions"] == {"id-token": "write"}
    assert RELEASE["permissions"] == {"contents": "read"}
    assert "twine check --strict" in runs("build") and "bash .ci/wheels dist" in runs("build")


def test_the_workflow_reads_the_version():
    text = (ROOT / "src/divulge/core/__init__.py").read_text()
    pattern = re.search(r"sed -n 's/(.*)/\\1/p'", runs("test"))[1].replace(r"\(", "(").replace(r"\)", ")")
    assert re.findall(pattern, text, re.M) == [re.search(r'__version__ = "(.*)"', text)[1]]
    assert '"__version__ = \\"${GITHUB_REF_NAME#v}\\""' in runs("build")


def test_citations_agree():
    cited, doi = yaml.safe_load((ROOT / "CITATION.cff").read_text()), json.loads((ROOT / ".zenodo.json").read_text())
    assert (doi["title"], doi["keywords"]) == (cited["title"], cited["keywords"])
    assert doi["license"] == cited["license"] == PROJECT["license"]
    assert " ".join(cited["abstract"].split()) == doi["description"]
    assert [a["name"] for a in doi["creators"]] == [a["name"] for a in cited["authors"]]

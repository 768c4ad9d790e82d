"""The external edition of an audit: what it shows, what it leaves out, and what its counts give back."""

import json
import sys
from collections import defaultdict

import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge import cli
from divulge.auditing.canaries import CANARIES, GeneratorClaim, against_claim, verdict_on_bound
from divulge.auditing.external import external_audit
from divulge.auditing.hits import counted, verdict_on
from divulge.auditing.model import Audit, AuditedTable, Trained
from divulge.auditing.report import AuditReport, read_audit
from divulge.auditing.result import AuditRecord, Epsilon, People, PerTraining, Run
from divulge.auditing.rules import judge_audit
from divulge.auditing.sentences import about_canaries, about_pairs
from divulge.stats.epsilon import one_run_epsilon, pairs_epsilon

SECRET = "salary of Ann"
HASH = "ab12" * 16
LEVEL = 0.95


def pairs(n, hits, tests=1):
    """Return the result about so many pairs, as the design makes it."""
    fields = counted([PerTraining(run=r, n=part, hits=h) for r, (part, h) in enumerate(((n - 9, max(hits - 9, 0)),
                                                                                       (9, min(hits, 9))))],
                     LEVEL, tests, 0.05)  # fmt: skip
    epsilon = Epsilon(low=pairs_epsilon(n, hits), ceiling=pairs_epsilon(n, n), delta=0.0, level=LEVEL,
                      neighbour="one secret replaced", method="pairs")  # fmt: skip
    verdict, notes = verdict_on(fields, fields["p_value"], LEVEL)
    return AuditRecord(
        test="swapped_secrets", target=SECRET, p_adjusted=fields["p_value"], epsilon=epsilon, verdict=verdict,
        people=People(tested=n, flagged=3, rate=0.1), sentence=about_pairs(SECRET, n, hits, 2),
        context={"right by nearest alone": hits / n}, notes=(*notes, f"exchanged with it: '{SECRET}'"), **fields,
    )  # fmt: skip


def canaries(n, hits, claim):
    """Return the result about so many guesses, as the design makes it."""
    fields = counted([PerTraining(run=0, n=n, hits=hits)], LEVEL)
    bound = Epsilon(low=one_run_epsilon(10 * n, n, hits), ceiling=one_run_epsilon(10 * n, n, n), delta=0.0, level=LEVEL,
                    neighbour="one person more", method="one run")  # fmt: skip
    epsilon = against_claim(bound, GeneratorClaim(claim))
    verdict, notes = verdict_on_bound(fields["p_value"], epsilon, LEVEL)
    return AuditRecord(test="canaries", counts="canaries", p_adjusted=fields["p_value"], epsilon=epsilon, verdict=verdict,
                       notes=tuple(notes), sentence=about_canaries(n, hits), context={CANARIES: 10.0 * n}, **fields)  # fmt: skip


def audit_of(*results, rules=(), n=123):
    """Return an audit with these results."""
    found = Audit(
        version="1", started="2026-11-22T05:15:56+00:00", seconds=12.34, design="secrets",
        settings={"secrets": (SECRET,), "level": LEVEL, "share": 0.3, "row": 17}, seed=987654321, level=LEVEL,
        generator="python train.py --password hunter2 {train} {synthetic}",
        table=AuditedTable(rows=n, columns=("age", SECRET), unit=None, sha256=HASH),
        trainings=Trained(planned=3, done=2, failed=1, left_out=0, seconds=4.56), verdict=results[0].verdict,
        sentence="The synthetic tables disclose something.", outlook=(f"'{SECRET}': about {n} pairs",),
        results=results, notes=(f"column '{SECRET}' has 3 values",),
        runs=(Run(number=0, status="failed", seed=4711, reason=f"lacks the column '{SECRET}'"),),
    )  # fmt: skip
    return replace(found, policy=judge_audit(found, rules))


def shown(audit):
    return AuditReport(external_audit(audit)).to_json()


def editions(made, sizes):
    """Return the counts behind each edition that some count of these sizes gives."""
    behind = defaultdict(set)
    for n in sizes:
        for hits in range(n + 1):
            behind[shown(audit_of(made(n, hits)))].add((n, hits))
    return behind


@pytest.mark.slow
def test_an_edition_gives_no_count_of_pairs_back():
    found = {}
    for edition, counts in editions(pairs, range(33, 48)).items():
        found[edition] = json.loads(edition)["results"][0]
        assert len({h for _, h in counts}) >= (5 if found[edition]["hits"] else 10), edition
        assert len({n for n, _ in counts}) >= 5
    assert any(r["hits"] for r in found.values()) and any(r["n"] is None for r in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("claim", [0.5, 0.0, 1.0])
def test_an_edition_gives_no_count_of_canaries_back(claim):
    for edition, counts in editions(lambda n, h: canaries(n, h, claim), range(33, 48)).items():
        result = json.loads(edition)["results"][0]
        assert len({h for _, h in counts}) >= (5 if result["hits"] else 10), edition
        low = result["epsilon"]["low"]
        assert low is None or low <= min(canaries(n, h, claim).epsilon.low for n, h in counts) + 1e-9


def test_limits_hold_for_every_count_that_is_shown_in_the_same_way():
    result = external_audit(audit_of(pairs(120, 60))).results[0]
    assert (result.n, result.hits, result.rate) == (120, 60.0, 0.5)
    for n in range(118, 123):
        for hits in range(58, 63):
            own = pairs(n, hits)
            assert result.interval.low <= own.interval.low and own.interval.high <= result.interval.high
            assert result.risk.low_simultaneous <= own.risk.low_simultaneous
            assert own.risk.high_simultaneous <= result.risk.high_simultaneous
            assert result.epsilon.low <= own.epsilon.low


def test_documents_hold_no_name_seed_hash_command_or_person():
    found = AuditReport(audit_of(pairs(120, 90), rules=[f"swapped_secrets[{SECRET}].p < 0.01"]),
                        people=pl.DataFrame({"row": [1]}))  # fmt: skip
    outside = found.external()
    assert outside.people is None
    for text in (outside.to_json(), outside.to_html(), outside.to_markdown(), outside.to_junit(), str(outside)):
        for secret in ("salary", "Ann", HASH, "hunter2", "987654321", "4711", "people.parquet", "12.34", "123 "):
            assert secret not in text
        assert "column 2" in text
    assert "external edition" in outside.to_html() and "seed" not in outside.to_markdown()
    assert "Of 120 pairs of people who exchanged 'column 2' or not by a coin (2 trainings)" in outside.to_markdown()
    assert SECRET in found.external(["columns"]).to_markdown()
    assert outside.audit.settings == {"level": LEVEL, "share": 0.3, "secrets": ["column 2"]}


@pytest.mark.parametrize("test", ["random_halves", "target", "domain"])
def test_numbers_about_scores_and_single_people_are_withheld(test):
    told = external_audit(audit_of(replace(pairs(120, 90), test=test, target=None, epsilon=None))).results[0]
    assert told.verdict == "excess found" and told.sentence.endswith("the verdict is «excess found»")
    assert told.hits is told.rate is told.interval is told.risk is told.p_value is told.people is None
    assert told.n == {"random_halves": 120, "target": 120, "domain": None}[test]


def test_a_contradicted_claim_stays_contradicted():
    outside = external_audit(audit_of(canaries(60, 60, 1.0)))
    assert outside.results[0].hits is None and outside.results[0].epsilon.rejected
    assert outside.sentence.startswith("Nothing is concluded: 1 of 3 trainings failed")
    well = replace(
        audit_of(canaries(60, 60, 1.0)), trainings=Trained(planned=1, done=1, failed=0, left_out=0, seconds=1.0)
    )
    assert external_audit(well).sentence.startswith(
        "The claim that epsilon is at most 1 is contradicted: it is at least 1."
    )


def test_an_external_edition_stays_as_it_is():
    outside = external_audit(audit_of(pairs(120, 60)))
    assert external_audit(outside) == outside
    with pytest.raises(divulge.SettingError, match="with other names"):
        external_audit(outside, ["columns"])


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line and return exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return run


def test_render_writes_the_external_edition_of_an_audit(command, tmp_path):
    own = AuditReport(audit_of(pairs(120, 90)), people=pl.DataFrame({"row": [1]}))
    source = own.write(tmp_path / "audit") / "audit.json"
    status, out, _ = command("render", source, "--edition", "external")
    folder = tmp_path / "audit" / "external"
    assert status == 0 and "external/audit.html" in out
    assert sorted(p.name for p in folder.iterdir()) == ["audit.html", "audit.json", "audit.md", "junit.xml"]
    assert read_audit(folder / "audit.json") == own.external().audit
    assert command("render", source, "--format", "md")[0] == 0
    assert (tmp_path / "audit" / "audit.md").read_text() == own.to_markdown()
    for words, why in (
        ((source, "--edition", "external", "--out", tmp_path / "audit"), "--out: the folder holds"),
        ((source, "--out", folder), "--out: the folder holds"),
        ((folder / "audit.json", "--edition", "custodian"), "lacks what the custodian's edition shows"),
        ((source, "--reveal", "columns"), "a custodian's edition names all columns"),
        ((source, "--annex", "--pdf", tmp_path / "x.pdf"), "an audit has none"),
    ):
        status, _, err = command("render", *words)
        assert status == 2 and why in err

"""The table of README: what four tools say of the same two synthetic tables, from `four_tools.json`."""

import json

from parts import DOCS, markdown_table

__all__ = ["table"]


def table():
    """Return the table: a row for each tool."""
    told = json.loads((DOCS / "four_tools.json").read_text(encoding="utf-8"))
    says = {"sdmetrics": _scores, "anonymeter": _risks, "syntheval": _losses, "divulge": _verdict}
    names = {"sdmetrics": "SDMetrics", "anonymeter": "Anonymeter", "syntheval": "SynthEval", "divulge": "**divulge**"}
    rows = [
        (
            f"{names[tool]} {told[tool]['version']}",
            say(told[tool]["clean"]),
            say(told[tool]["copies"]),
            told[tool]["seconds"],
        )
        for tool, say in says.items()
    ]
    return markdown_table(("tool", "of the table that copies nobody", "of that with one in ten copied", "s"), rows)


def _scores(found):
    short = {
        "DCROverfittingProtection": "DCR overfitting",
        "DisclosureProtection": "disclosure",
        "NewRowSynthesis": "new rows",
    }
    return "scores, 1 is no risk: " + ", ".join(f"{short[name]} {value:.2f}" for name, value in found.items())


def _risks(found):
    return "risk: " + ", ".join(f"{name} {_interval(*risk)}" for name, risk in sorted(found.items()))


def _losses(found):
    words = {
        "priv_loss_nnaa": "loss NNAA",
        "priv_loss_nndr": "loss NNDR",
        "hit_rate": "hitting rate",
        "mia_recall": "membership recall",
    }
    return ", ".join(f"{word} {found[name][0]:.2f}" for name, word in words.items())


def _verdict(found):
    risks = {name: value for name, value in sorted(found.items()) if name != "verdict"}
    return f"**{found['verdict']}**; " + _risks(risks)


def _interval(value, low, high):
    return f"{value:.2f} ({low:.2f} to {high:.2f})".replace("-0.00", "0.00")

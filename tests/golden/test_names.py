"""The names and paths of SDMetrics 0.32.0, and the shapes of its demos: `names.json`, made by `remake_names.py`."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from divulge.core.errors import SettingError
from divulge.sdmetrics import demos, load_demo
from divulge.sdmetrics.paths import PATHS
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

pd = pytest.importorskip("pandas")

FILE = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))
LEFT_OUT = (
    "sdmetrics.multi_table.statistical.constraints",
    "sdmetrics.reports.base_report",
    "sdmetrics.reports.base_unified_report",
    "sdmetrics.reports.multi_table.base_multi_table_report",
    "sdmetrics.reports.single_table.plot_utils",
    "sdmetrics.reports.utils",
    "sdmetrics.single_table.data_augmentation.base",
    "sdmetrics.single_table.data_augmentation.utils",
    "sdmetrics.single_table.privacy.dcr_utils",
    "sdmetrics.single_table.privacy.util",
    "sdmetrics.single_table.utils",
    "sdmetrics.timeseries.ml_scorers",
    "sdmetrics.utils",
)
"""What SDMetrics' metrics and reports are made of; and its classes of constraints, which a dictionary names."""
LEFT_OUT_NAMES = {
    "CategoricalSklearnAttacker", "CategoricalType", "NBWrapper", "NumericalSklearnAttacker", "SVCWrapper", "SVRWrapper",
    "f1_macro", "ml_scorers", "set_plotly_config",
}  # fmt: skip


def is_left_out(path: str) -> bool:
    return any(path == out or path.startswith(f"{out}.") for out in LEFT_OUT)


def test_every_path_of_sdmetrics_has_its_names():
    lacking = []
    for path, names in FILE["modules"].items():
        if is_left_out(path):
            continue
        module = importlib.import_module(f"divulge.{path}")
        for name in set(names) - LEFT_OUT_NAMES:
            try:
                found = getattr(module, name, None) or importlib.import_module(f"divulge.{path}.{name}")
            except ImportError:
                found = None
            if found is None:
                lacking.append(f"{path}.{name}")
    assert lacking == []
    assert len(FILE["modules"]) > 120 and all(
        any(is_left_out(p) for p in FILE["modules"] if p.startswith(o)) for o in LEFT_OUT
    )


def test_a_path_has_the_object_of_the_package():
    n = 0
    for home, below in PATHS.items():
        package = importlib.import_module(f"divulge.sdmetrics.{home}")
        for path, names in below.items():
            assert set(names) <= set(FILE["modules"][f"sdmetrics.{home}.{path}"])
            for name in names:
                assert getattr(importlib.import_module(f"divulge.sdmetrics.{home}.{path}"), name) is getattr(
                    package, name
                )
                n += 1
    assert n > 100


@pytest.mark.slow
def test_paths_are_imported_first_of_all():
    lines = (
        "import divulge.sdmetrics.single_table.efficacy.binary",
        "from divulge.sdmetrics.timeseries.efficacy import LSTMClassifierEfficacy",
        "from divulge.sdmetrics.multi_table.statistical import ConstraintAdherence",
        "from divulge.sdmetrics.single_table.privacy import cap",
        "import divulge; divulge.sdmetrics.single_table.efficacy.binary.BinaryMLPClassifier; cap.CategoricalCAP",
    )
    subprocess.run([sys.executable, "-c", "; ".join(lines)], check=True, timeout=120)


# --- demos ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("modality", FILE["demos"])
def test_a_demo_has_the_shape_of_sdmetrics_own(modality):
    expected = FILE["demos"][modality]
    real, synthetic, metadata = load_demo(modality)
    assert metadata == expected["metadata"]
    assert list(real) == list(synthetic) == list(expected["tables"])
    for name, table in expected["tables"].items():
        assert [len(real[name]), len(synthetic[name])] == table["rows"]
        for side in (real, synthetic):
            kinds = {
                c: "O" if not hasattr(t, "itemsize") or t.kind == "O" else t.kind for c, t in side[name].dtypes.items()
            }
            assert kinds == table["dtypes"]
        assert not real[name].equals(synthetic[name])
        pd.testing.assert_frame_equal(real[name], load_demo(modality)[0][name])


@pytest.mark.slow
def test_a_demo_gives_reports_between_nothing_and_perfection():
    for modality in FILE["demos"]:
        for report, least in ((QualityReport(), 0.4), (DiagnosticReport(), 0.9)):
            report.generate(*load_demo(modality), verbose=False)
            assert least < report.get_score() <= (0.99 if least < 0.5 else 1)
    shop = load_demo()[0]
    assert set(shop["sessions"]["user_id"]) <= set(shop["users"]["user_id"])


def test_the_other_calls_of_the_demos():
    assert len(demos.load_multi_table_demo()[0]) == 3
    assert demos.load_single_table_demo()[2] == load_demo("single_table")[2]
    assert list(demos.load_timeseries_demo()[0]) == ["timeseries"]
    table, metadata = demos.download_demo("sequential")
    assert table.shape == (700, 6) and metadata["tables"]["timeseries"]["sequence_key"] == "store_id"
    assert list(demos.download_demo("multi_table", "users")[0]) == ["users", "sessions", "transactions"]
    with pytest.raises(SettingError, match=r"no demo 'tabular'. hint: one of multi_table"):
        load_demo("tabular")
    with pytest.raises(SettingError, match=r"nothing is downloaded. hint: one of student_placements"):
        demos.download_demo("single_table", "fake_hotel_guests")

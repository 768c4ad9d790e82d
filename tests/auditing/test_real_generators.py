"""Generators of other packages, as their users call them; each test is skipped where its package is missing.

docs/how-to/audit.md says with which versions they ran.
"""

import pytest
from coin_design import Coins
from helpers_of_audits import people

import divulge
from divulge.auditing.adapters import synthesize

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]


def trained_and_audited(generator):
    """Train a generator once here, and twice in an audit, in processes of their own."""
    table = people(200)
    made = synthesize(generator, table, 3, 50)
    assert made.n_rows == 50 and set(made.columns) == set(table.columns)
    assert set(made.named()["ill"].unique()) <= {"yes", "no"}
    report = divulge.audit(table, generator, design=Coins("ill"), runs=2)
    assert report.audit.trainings.done == 2
    assert not any("process" in note for note in report.audit.notes)
    assert {r.rows for r in report.audit.runs} == {200}


def sdv_metadata(table):
    """Return what SDV finds out about a table; the name of the method depends on the version."""
    from sdv.metadata import Metadata

    if hasattr(Metadata, "detect_from_dataframe"):
        return Metadata.detect_from_dataframe(table)
    return Metadata.detect_from_dataframes({"people": table})


@pytest.mark.parametrize(("name", "settings"), [("GaussianCopulaSynthesizer", {}), ("CTGANSynthesizer", {"epochs": 2})])
def test_synthesizers_of_sdv(name, settings):
    single_table = pytest.importorskip("sdv.single_table")
    generator = getattr(single_table, name)(sdv_metadata(people(200).to_pandas()), **settings)
    trained_and_audited(generator)


def test_ctgan_alone():
    ctgan = pytest.importorskip("ctgan")

    def generator(table, seed):
        frame = table.to_pandas()
        model = ctgan.CTGAN(epochs=2)
        model.fit(frame, ["ill", "zip"])
        return model.sample(len(frame))

    report = divulge.audit(people(100), generator, design=Coins("ill"), runs=2)
    assert report.audit.trainings.done == 2 and report.audit.notes == ()


@pytest.mark.parametrize("name", ["marginal_distributions", "bayesian_network"])
def test_plugins_of_synthcity(name):
    plugins = pytest.importorskip("synthcity.plugins")
    trained_and_audited(plugins.Plugins().get(name))


def test_the_spanning_tree_of_smartnoise():
    snsynth = pytest.importorskip("snsynth")

    def generator(table, seed):
        frame = table.to_pandas()
        model = snsynth.Synthesizer.create("mst", epsilon=1.0)
        model.fit(frame, preprocessor_eps=0.3)
        return model.sample(len(frame))

    report = divulge.audit(people(200), generator, design="canaries", claim=1.0, delta=1e-5, runs=1)
    assert report.audit.trainings.done == 1
    assert not report.audit.results[0].epsilon.rejected


def test_the_private_bayes_net_of_datasynthesizer(tmp_path):
    describer = pytest.importorskip("DataSynthesizer.DataDescriber")
    from DataSynthesizer.DataGenerator import DataGenerator

    people(200).write_csv(tmp_path / "train.csv")
    model = describer.DataDescriber(category_threshold=20)
    model.describe_dataset_in_correlated_attribute_mode(str(tmp_path / "train.csv"), k=1, epsilon=1)
    model.save_dataset_description_to_file(str(tmp_path / "described.json"))
    made = DataGenerator()
    made.generate_dataset_in_correlated_attribute_mode(60, str(tmp_path / "described.json"))
    assert synthesize(lambda table: made.synthetic_dataset, people(60), 0, 60).n_rows == 60

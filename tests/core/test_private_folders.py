"""Folders for what does not fit into memory: what a killed process left is removed, and nothing else."""

import os
import shutil
import subprocess
import sys

import pytest

from divulge.core import private_folders
from divulge.core.private_folders import PrivateFolder, remove_private_folders

pytestmark = pytest.mark.skipif(private_folders.fcntl is None, reason="no file locks")
KILLED = """
import os, signal, sys
from divulge.core.private_folders import PrivateFolder
folder = PrivateFolder("divulge-codes-", sys.argv[1])
(folder.path / "0.codes").write_text("codes")
os.kill(os.getpid(), signal.SIGKILL)
"""


def names(parent):
    return sorted(p.name for p in parent.iterdir())


@pytest.mark.slow
def test_what_a_killed_process_left_goes_with_the_next_folder(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    left = names(tmp_path)
    assert len(left) == 1 and (tmp_path / left[0] / "0.codes").exists()
    folder = PrivateFolder("divulge-", tmp_path)
    assert names(tmp_path) == [folder.path.name]
    folder.remove()
    assert names(tmp_path) == []


def test_what_is_in_use_or_not_ours_stays(tmp_path):
    used, other = PrivateFolder("divulge-codes-", tmp_path), tmp_path / "divulge-report"
    other.mkdir()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / private_folders._LOCK).touch()
    (tmp_path / "divulge-link").symlink_to(tmp_path / "thesis")
    before = names(tmp_path)
    PrivateFolder("divulge-", tmp_path).remove()
    assert names(tmp_path) == before and used.path.exists()
    remove_private_folders()
    assert not used.path.exists()


def test_a_folder_without_its_process_is_one_whose_lock_nobody_holds(tmp_path):
    folder = PrivateFolder("divulge-codes-", tmp_path)
    copy = tmp_path / "divulge-codes-left"
    shutil.copytree(folder.path, copy)  # the file of the lock, and nobody who holds it
    PrivateFolder("divulge-", tmp_path).remove()
    assert names(tmp_path) == [folder.path.name]
    folder.remove()


def test_a_folder_of_another_user_stays(tmp_path, monkeypatch):
    (tmp_path / "divulge-left").mkdir()
    (tmp_path / "divulge-left" / private_folders._LOCK).touch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345)
        PrivateFolder("divulge-", tmp_path).remove()
        assert names(tmp_path) == ["divulge-left"]
    PrivateFolder("divulge-", tmp_path).remove()
    assert names(tmp_path) == []


def test_a_folder_of_another_machine_stays(tmp_path):
    """On a disk that machines share, a lock of one may be unknown to the other."""
    (tmp_path / "divulge-left").mkdir()
    (tmp_path / "divulge-left" / "in-use-00000000.lock").touch()
    PrivateFolder("divulge-", tmp_path).remove()
    assert names(tmp_path) == ["divulge-left"]


def test_a_file_system_without_locks_has_folders_too(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError("no locks")

    monkeypatch.setattr(private_folders.fcntl, "flock", refused)
    one, other = PrivateFolder("divulge-", tmp_path), PrivateFolder("divulge-", tmp_path)
    assert one.path.exists() and other.path.exists()
    one.remove()
    other.remove()
    assert names(tmp_path) == []

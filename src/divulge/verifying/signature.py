"""Signatures of a report by OpenSSH: divulge has no format and no keys of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.report.content import assessment_bytes

__all__ = ["NAMESPACE", "signer"]

NAMESPACE = "divulge"
"""What a signature is for: `ssh-keygen -Y sign -n divulge`."""
_SECONDS = 30


def signer(report: str | Path, signature: str | Path, signers: str | Path) -> str | None:
    """Return who signed a report, by a file of allowed signers; None where the signature is not of one of them.

    Parameters
    ----------
    report
        The assessment.json that was signed.
    signature
        The file that `ssh-keygen -Y sign -f KEY -n divulge assessment.json` wrote: assessment.json.sig.
    signers
        OpenSSH's file of allowed signers: a name and a public key a line.

    Raises
    ------
    SettingError
        ssh-keygen is not installed, or one of the files is not there.
    """
    keygen = shutil.which("ssh-keygen")
    if keygen is None:
        raise SettingError("--signature: ssh-keygen is not installed. hint: install OpenSSH.")
    for option, path in (("--signature", signature), ("--signers", signers)):
        if not Path(path).is_file():
            raise SettingError(f"{option}: no such file. hint: docs/how-to/verify.md says how to make it.")
    files = ["-s", str(signature), "-f", str(signers)]
    named = _run([keygen, "-Y", "find-principals", *files])
    for name in (named or b"").decode("utf-8", "replace").splitlines():
        checked = [keygen, "-Y", "verify", "-I", name, "-n", NAMESPACE, *files]
        if name and _run(checked, assessment_bytes(Path(report))) is not None:
            return tidy(name)
    return None


def _run(command: list[str], given: bytes = b"") -> bytes | None:
    """Return what a command prints; None where it ends with another status than 0."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise SettingError(
            f"--signature: ssh-keygen could not be run ({type(error).__name__}). hint: run it by hand."
        ) from None
    return done.stdout if done.returncode == 0 else None

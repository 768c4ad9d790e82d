"""What pip does beside copying files: it builds the library of compiled loops.

With a C compiler on the machine, by that; else by the one of the `ziglang` package, which is asked for only then. Where
neither works, or DIVULGE_BUILD=numpy says so, divulge is installed without the library and computes the same with numpy
(more slowly). DIVULGE_PLATFORM names the platform of the wheel where it is not this machine (docs/how-to/install.md).
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = Path("src", "divulge", "kernels", "_native")
_ZIG = "ziglang>=0.13,<0.17"
_ZIG_RUNS_ON = {"x86_64", "amd64", "aarch64", "arm64"}


def _builder() -> ModuleType:
    """Return `build.py`, which imports nothing of divulge."""
    path = Path(__file__).parent / _FOLDER / "build.py"
    spec = importlib.util.spec_from_file_location("divulge_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _numpy_only() -> bool:
    return os.environ.get("DIVULGE_BUILD") == "numpy"


class KernelsHook(BuildHookInterface[Any]):
    """Builds the library and says which platform the wheel is for."""

    def dependencies(self) -> list[str]:
        """Return the compiler from the package index where the machine has none."""
        if _numpy_only() or platform.machine().lower() not in _ZIG_RUNS_ON or os.environ.get("CC"):
            return []
        if _builder().working_compiler():
            return []
        return [_ZIG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library: for an editable installation in place, if need be; else into the wheel."""
        make = _builder()
        if version == "editable" and not _numpy_only() and make.is_current():
            return
        compiler = None if _numpy_only() else make.working_compiler()
        if compiler is None and os.environ.get("CC") and not _numpy_only():
            raise RuntimeError(
                f"CC={os.environ['CC']} compiles no program. hint: unset it, or set DIVULGE_BUILD=numpy."
            )
        if compiler is None:
            self.app.display_warning("divulge is installed without its compiled loops: no C compiler")
            return
        if version == "editable":
            make.build(make.HERE, compiler)
            return
        self._place = tempfile.TemporaryDirectory()
        library = make.build(Path(self._place.name), compiler)
        machine = os.environ.get("DIVULGE_PLATFORM") or sysconfig.get_platform()
        build_data["force_include"][str(library)] = f"divulge/kernels/_native/{make.file_name(machine)}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{machine.replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built for a wheel."""
        if hasattr(self, "_place"):
            self._place.cleanup()

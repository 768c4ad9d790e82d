"""numpy.f2py loads on first use: scipy.special takes all names of numpy, and with them this one, which nobody uses.

It wraps Fortran, and its import takes a twentieth of the time of all that a run imports.
"""

import importlib.util
import sys

import numpy as np

_NAME = "numpy.f2py"

if _NAME not in sys.modules and (spec := importlib.util.find_spec(_NAME)) is not None and spec.loader is not None:
    loader = spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    np.f2py = sys.modules[_NAME] = module  # as an import does it
    loader.exec_module(module)

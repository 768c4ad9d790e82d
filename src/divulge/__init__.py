"""divulge: what does your synthetic table divulge about real people?

The public names stand in `__init__.pyi` and load on first use, so that `import divulge` costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""divulge: what does your synthetic table divulge about real people?

The public names stand in `__init__.pyi` and load on first use, so that `import divulge` costs next to nothing.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_functions: dict[str, object] = {}


def __getattr__(name: str) -> object:
    from types import FunctionType

    if name in _functions:
        return _functions[name]
    found = _load(name)
    if isinstance(found, FunctionType):
        from divulge.core.calls import with_hints

        found = _functions[name] = with_hints(name, found)
        globals().pop(name, None)  # lazy_loader keeps the function without hints there
    return found

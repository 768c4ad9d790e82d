"""The public functions: calls that do not fit have a hint, and a third table is the holdout."""

import inspect
import pickle
from types import FunctionType

import pytest

import divulge

FUNCTIONS = [name for name in divulge.__all__ if isinstance(getattr(divulge, name), FunctionType)]
HOLDOUT = [
    name for name in FUNCTIONS
    if [*inspect.signature(getattr(divulge, name)).parameters][:3] == ["real", "synthetic", "holdout"]
]  # fmt: skip
"""Functions whose third argument is the holdout."""


def test_no_function_is_documented_twice():
    assert not [
        f for f in vars(divulge).values() if isinstance(f, FunctionType) and f.__doc__
    ]  # doctests run in their files


def test_the_functions_are_found():
    assert {"assess", "cap", "column_shapes", "aggregates", "fidelity", "plan", "read", "split"} <= {*FUNCTIONS}
    assert {"assess", "plan", "cap", "membership", "column_shapes", "fidelity", "utility"} <= {*HOLDOUT}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_name_and_too_many_arguments_have_a_hint(name):
    function = getattr(divulge, name)
    parameters = [n for n, p in inspect.signature(function).parameters.items() if p.kind is not p.VAR_KEYWORD]
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) .*unexpected keyword argument .*hint: did you mean '{parameters[-1]}'\?$"
    ):
        function(**{f"{parameters[-1]}_": 1})
    with pytest.raises(TypeError, match=rf"^{name}\(\) takes at most .*hint: name the others"):
        function(*range(50))
    if any(
        p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()
    ):
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing a required argument: .*hint: call {name}\("):
            function()
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", HOLDOUT)
def test_a_third_table_is_the_holdout_and_nothing_is_a_fourth(name):
    kinds = [p.kind for p in inspect.signature(getattr(divulge, name)).parameters.values()]
    assert kinds[2] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {*kinds[3:]} <= {inspect.Parameter.KEYWORD_ONLY}


def test_a_third_table_gives_what_a_named_holdout_gives():
    from divulge.demo import tables

    real, synthetic, holdout = tables()
    given = divulge.cap(real, synthetic, holdout, keys=["age"], target="vote")
    assert str(given) == str(divulge.cap(real, synthetic, holdout=holdout, keys=["age"], target="vote"))
    assert "strangers" in str(given)

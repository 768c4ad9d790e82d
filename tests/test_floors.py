"""Imports go down the floors only, and the two rooms of floor 1 do not know each other."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "divulge"

ROOM_A, ROOM_B = (
    {"frames", "values", "files"},
    {
        "encode",
        "counts",
        "kernels",
        "gower",
        "hamming",
        "votes",
        "neighbours",
        "vector",
        "boxes",
        "tiles",
        "engine",
        "links",
        "walks",
        "predicates",
        "conjunctions",
        "ballot",
    },
)
FLOORS = [
    {
        "anonymity_loss",
        "errors",
        "schema",
        "threat",
        "intervals",
        "comparison",
        "families",
        "estimate",
        "result",
        "crosstab",
        "attraction",
        "isolation",
        "hashing",
        "ranking",
    },
    ROOM_A | ROOM_B,
    {"case", "distances"},
    {"attacks", "preconditions", "utility"},
    {"records", "control", "report", "assessment", "comparing", "gate", "policy", "keeping", "splitting", "change"},
    {"cli", "demo", "sdmetrics", "testing", "__main__"},
]


def floor_of(module: str) -> int:
    return next(i for i, floor in enumerate(FLOORS) if module in floor)


def imports(path: Path) -> set[str]:
    """Names of the modules of ours that a file imports, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "divulge":
            rest = node.module.split(".")[1:]
            found |= {rest[0]} if rest else {a.name for a in node.names if a.name != "__version__"}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("divulge.")}
    return found


def modules() -> list:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if name != "__init__":
            found.append(pytest.param(name, path, id=str(path.relative_to(SOURCE))))
    return found


@pytest.mark.parametrize(("name", "path"), modules())
def test_imports_go_down_only(name, path):
    for other in imports(path) - {name}:
        assert floor_of(other) <= floor_of(name), f"{name} imports {other} from a higher floor"


@pytest.mark.parametrize(("name", "path"), modules())
def test_the_rooms_do_not_know_each_other(name, path):
    if name in ROOM_A:
        assert not imports(path) & ROOM_B
    if name in ROOM_B:
        assert not imports(path) & ROOM_A


def test_only_frames_imports_narwhals():
    users = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom) and "narwhals" in ast.dump(node):
                users.add(path.name)
    assert users == {"frames.py"}

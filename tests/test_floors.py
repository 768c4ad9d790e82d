"""The plan of the house: floors are folders, imports go down only, and what is private stays in its folder."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent / "src" / "divulge"

FLOORS = [
    {"core"},
    {"stats", "tables", "kernels"},
    {"case"},
    {"attacks", "measures"},
    {"report"},
    {"run", "release"},
    {"auditing", "verifying"},
    {"cli", "sdmetrics", "demo", "testing", "__main__"},
]
FORMULAS = "stats/crosstab.py"  # one page of formulas, most of it the documentation of each; longer than others
APART = [
    ("stats", "tables"),
    ("stats", "kernels"),
    ("tables", "kernels"),
    ("attacks", "measures"),
    ("run", "release"),
    ("auditing", "verifying"),
]


class Import(NamedTuple):
    """One name that a file takes from a module of ours; parts of paths below `divulge`, without the ending."""

    by: tuple[str, ...]
    module: tuple[str, ...]
    name: str | None
    """None where the module itself is taken."""

    def __str__(self) -> str:
        return f"{'/'.join(self.by)} takes {'.'.join(self.module)}{f'.{self.name}' if self.name else ''}"


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements, of which there is one for a dozen nodes; expressions hold none."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        for inside in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, inside, ())


@cache
def is_module(parts: tuple[str, ...]) -> bool:
    return SOURCE.joinpath(*parts).with_suffix(".py").exists() or SOURCE.joinpath(*parts, "__init__.py").exists()


def names_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(SOURCE).with_suffix("").parts


def taken_by(by: tuple[str, ...], tree: ast.Module) -> Iterator[Import]:
    """Yield what a file takes: by an import, and as an attribute of a module that it imported."""
    modules = {}
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "divulge":
            module = tuple(node.module.split(".")[1:])
            for alias in node.names:
                inner = (*module, alias.name)
                if is_module(inner):
                    modules[alias.asname or alias.name] = inner
                    yield Import(by, inner, None)
                else:
                    yield Import(by, module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "divulge":
                    yield Import(by, tuple(alias.name.split(".")[1:]), None)
    for node in ast.walk(tree) if modules else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield Import(by, modules[node.value.id], node.attr)


@cache
def files() -> tuple[Path, ...]:
    """Return the files of the package but its own `__init__`, which names the public."""
    return tuple(p for p in sorted(SOURCE.rglob("*.py")) if p != SOURCE / "__init__.py")


class Seen(NamedTuple):
    """What all rules look at; a file is parsed once, and its tree is not kept."""

    imports: tuple[Import, ...]
    long: tuple[str, ...]


@cache
def seen() -> Seen:
    taken, long = [], []
    for path in files():
        source = path.read_text(encoding="utf-8")
        tree, name = ast.parse(source), str(path.relative_to(SOURCE))
        taken += [i for i in taken_by(names_of(path), tree) if i.module]
        long += [] if name == FORMULAS else too_long(name, source, tree)
    return Seen(tuple(taken), tuple(long))


def imports() -> tuple[Import, ...]:
    return seen().imports


def floor_of(parts: tuple[str, ...]) -> int:
    return next(i for i, floor in enumerate(FLOORS) if parts[0] in floor)


def upward(found: tuple[Import, ...]) -> list[str]:
    return [str(i) for i in found if floor_of(i.module) > floor_of(i.by)]


def between_rooms_apart(found: tuple[Import, ...]) -> list[str]:
    return [str(i) for i in found if any({i.by[0], i.module[0]} == set(pair) for pair in APART)]


def between_families(found: tuple[Import, ...]) -> list[str]:
    """Return what an attack family takes from another one; `attacks/*.py` are there for all."""
    inside = [i for i in found if i.by[0] == i.module[0] == "attacks" and len(i.by) > 2]
    families = {path.parent.name for path in files() if names_of(path)[0] == "attacks"} - {"attacks"}
    return [str(i) for i in inside if len(i.module) > 1 and i.module[1] in families - {i.by[1]}]


def private_elsewhere(found: tuple[Import, ...]) -> list[str]:
    """Return what is taken of private files and names by files that do not stand in their folder or below it."""
    out = []
    for i in found:
        for depth, part in enumerate((*i.module, *([i.name] if i.name else []))):
            home = i.module[:depth] if depth < len(i.module) else folder_of(i.module)
            if part.startswith("_") and not part.startswith("__") and i.by[: len(home)] != home:
                out.append(str(i))
    return out


def folder_of(module: tuple[str, ...]) -> tuple[str, ...]:
    return module if SOURCE.joinpath(*module).is_dir() else module[:-1]


def circles(found: tuple[Import, ...]) -> list[str]:
    """Return the files that import each other, in however many steps."""
    after: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for i in found:
        after.setdefault(own_file(i.by), set()).add(own_file(i.module))
    reached = {file: reach(file, after) for file in after}
    return sorted("/".join(file) for file, others in reached.items() if file in others)


def own_file(parts: tuple[str, ...]) -> tuple[str, ...]:
    return (*parts, "__init__") if SOURCE.joinpath(*parts).is_dir() else parts


def reach(start: tuple[str, ...], after: dict[tuple[str, ...], set[tuple[str, ...]]]) -> set[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    waiting = list(after.get(start, ()))
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting += after.get(file, ())
    return seen


def test_every_file_has_a_floor():
    rooms = set().union(*FLOORS)
    assert [str(p.relative_to(SOURCE)) for p in files() if names_of(p)[0] not in rooms] == []


def test_every_room_stands():
    assert {room for floor in FLOORS for room in floor} <= {names_of(path)[0] for path in files()}


def test_imports_go_down_only():
    assert upward(imports()) == []


def test_rooms_of_one_floor_stand_apart():
    assert between_rooms_apart(imports()) == []


def test_a_family_of_attacks_takes_nothing_from_another():
    assert between_families(imports()) == []


def test_private_names_stay_in_their_folder():
    assert private_elsewhere(imports()) == []


def test_no_circle_of_files():
    assert circles(imports()) == []


def test_only_frames_imports_narwhals():
    users = {
        str(path.relative_to(SOURCE))
        for path in files()
        if re.search(r"^\s*(?:from|import) narwhals\b", path.read_text(encoding="utf-8"), flags=re.M)
    }
    assert users == {"tables/frames.py"}


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function's body without its documentation."""
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def too_long(name: str, source: str, tree: ast.Module) -> list[str]:
    """Return the name of a file above 500 lines, and those of functions above 60."""
    functions = [n for n in statements(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [f"{name} {f.name}" for f in functions if code_lines(f) > 60]
    return long + [name] * (len(source.splitlines()) > 500)


def test_files_and_functions_are_short():
    assert seen().long == ()


PLANTED = (
    Import(("core", "errors"), ("stats", "intervals"), None),
    Import(("stats", "intervals"), ("kernels", "runtime"), None),
    Import(("attacks", "distance", "dcr"), ("attacks", "inference", "inference"), "inference"),
    Import(("attacks", "checks"), ("stats", "intervals"), "_t"),
    Import(("case", "case"), ("kernels", "_simd"), None),
    Import(("stats", "intervals"), ("stats", "isolation"), None),
    Import(("stats", "isolation"), ("stats", "intervals"), None),
)


def test_each_rule_sees_what_it_forbids():
    """The same functions on a house with one breach of each kind."""
    assert upward(PLANTED) == [str(PLANTED[0])]
    assert between_rooms_apart(PLANTED) == [str(PLANTED[1])]
    assert between_families(PLANTED) == [str(PLANTED[2])]
    assert private_elsewhere(PLANTED) == [str(PLANTED[3]), str(PLANTED[4])]
    assert circles(PLANTED) == ["stats/intervals", "stats/isolation"]


def test_a_private_name_is_seen_through_its_module():
    source = "from divulge.tables import readers as files\nfiles._excel(b'', '')\nfiles.read('a.csv')"
    found = tuple(taken_by(("run", "holdout_split"), ast.parse(source)))
    assert private_elsewhere(found) == ["run/holdout_split takes tables.readers._excel"]


def test_a_long_file_and_a_long_function_are_seen():
    body = "    x = 1\n"
    text = f'    """Text.\n{body * 70}    """\n'
    assert long_in(f"def f():\n{text}{body * 60}") == []
    assert long_in(f"def f():\n{body * 61}") == ["a.py f"]
    assert long_in("x = 1\n" * 501) == ["a.py"]


def long_in(source: str) -> list[str]:
    return too_long("a.py", source, ast.parse(source))

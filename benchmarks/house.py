"""How large the code is and how it hangs together: figures that a change of its structure is measured by.

    python benchmarks/house.py                 this tree
    python benchmarks/house.py ../old/src      another one
    python benchmarks/house.py --json

What a file takes of others is read as `tests/test_floors.py` reads it. Tokens differ between versions of Python: from
3.12 on an f-string is several. CPU is user and system time of a process of its own, the median of five after one that
compiles.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import test_floors as floors  # noqa: E402 # it stands in tests

MOST_FILES = 20
"""Files of a folder, `__init__.py` apart, above which it is listed."""
REGISTERING = {"attack": "attacks", "measure": "measures", "linked_measure": "measures"}
"""Decorators that enter an attack or a measure, and the folder in which its name may be a literal."""
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip
CALLS = {
    "divulge.cap": """
import divulge, polars
people = polars.DataFrame({"age": [30, 41, 30, 52], "job": ["a", "b", "a", "b"], "ill": ["y", "y", "n", "n"]})
divulge.cap(people, people, keys=["age", "job"], target="ill")
""",
    "KSComplement": "from divulge.sdmetrics.single_column import KSComplement",
}
COUNTED = """
import resource, sys
used = resource.getrusage(resource.RUSAGE_SELF)
files = [n for n, m in sys.modules.items() if n.split(".")[0] == "divulge" and getattr(m, "__file__", None)]
print(len(files), used.ru_utime + used.ru_stime)
"""
RUNS = 5
Function = ast.FunctionDef | ast.AsyncFunctionDef


class File(NamedTuple):
    """A file of the package, parsed."""

    names: tuple[str, ...]
    text: str
    tree: ast.Module

    def __str__(self) -> str:
        return "/".join(self.names)

    @property
    def room(self) -> str:
        return self.names[0]


@cache
def files() -> tuple[File, ...]:
    every = [*floors.files(), floors.SOURCE / "__init__.py"]
    texts = [(floors.names_of(path), path.read_text(encoding="utf-8")) for path in every]
    return tuple(File(names, text, ast.parse(text)) for names, text in texts)


# ---------------------------------------------------------------- size


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a text alone: the documentation of what is around it or before it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def n_tokens(file: File) -> int:
    told = {(n.lineno, n.col_offset) for n in floors.statements(file.tree) if is_text(n)}
    found = tokenize.generate_tokens(io.StringIO(file.text).readline)
    # columns of ast are bytes: before a documentation there are blanks alone
    return sum(t.type not in LAYOUT and not (t.type == tokenize.STRING and t.start in told) for t in found)


def n_statements(file: File) -> int:
    return sum(not is_text(node) for node in floors.statements(file.tree))


def public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """Yield functions and classes without an underscore, and such methods of such classes."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            yield from public(node.body) if isinstance(node, ast.ClassDef) else ()


def documentation(node: ast.AST) -> int:
    return len((ast.get_docstring(node, clean=False) or "").splitlines())  # type: ignore[arg-type] # of a definition


# ---------------------------------------------------------------- imports


class AtImport(ast.NodeTransformer):
    """Leave of a file what runs when it is imported."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [ast.Pass()]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return ast.Constant(None)

    def visit_If(self, node: ast.If) -> Any:
        test = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", "")
        if test == "TYPE_CHECKING":
            return [self.visit(inner) for inner in node.orelse]
        return self.generic_visit(node)


def longest_chain() -> list[str]:
    """Return files of which each imports the next when it is imported, as many as there are."""
    after: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for file in files():
        if file.names != ("__init__",):
            tree = AtImport().visit(ast.parse(file.text))
            taken = [i.module for i in floors.taken_by(file.names, tree) if i.module]
            after[floors.own_file(file.names)] = {floors.own_file(module) for module in taken} - {file.names}
    chains: dict[tuple[str, ...], list[tuple[str, ...]]] = {}

    def chain(file: tuple[str, ...]) -> list[tuple[str, ...]]:
        if file not in chains:
            chains[file] = [file]  # where files import each other, the chain ends
            chains[file] = [file, *max((chain(f) for f in sorted(after.get(file, ()))), key=len, default=[])]
        return chains[file]

    return ["/".join(names) for names in max(map(chain, sorted(after)), key=len)]


def importing(file: File) -> Iterator[tuple[str, bool]]:
    """Yield the functions of a file that import something themselves, and whether it is something of divulge."""
    for node in ast.walk(file.tree):
        if isinstance(node, Function):
            found = [n for n in own_statements(node) if isinstance(n, ast.Import | ast.ImportFrom)]
            if found:
                modules = [getattr(n, "module", None) or n.names[0].name for n in found]
                yield f"{file}.{node.name}", any(m.split(".")[0] == "divulge" for m in modules)


def own_statements(function: Function) -> Iterator[ast.stmt]:
    """Yield the statements of a function without those of functions and classes in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, Function | ast.ClassDef):
            waiting += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]


# ---------------------------------------------------------------- names


def repeated_classes() -> dict[str, list[str]]:
    """Return names of classes with the files that define one, where these are several; `sdmetrics` is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files():
        if file.room != "sdmetrics":
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef):
                    found[node.name].add(str(file))
    return {name: sorted(where) for name, where in sorted(found.items()) if len(where) > 1}


def entered() -> dict[str, str]:
    """Return the names of attacks and measures, each with the folder of its family."""
    found = {}
    for file in files():
        for node in file.tree.body:
            for decorator in getattr(node, "decorator_list", ()):
                name = getattr(getattr(decorator, "func", decorator), "id", "")
                if name in REGISTERING and isinstance(node, ast.FunctionDef):
                    found[node.name] = REGISTERING[name]
    return found


def literals(file: File) -> Iterator[str]:
    """Yield the texts of a file, without documentation and `__all__`."""
    left_out: set[int] = set()
    for node in floors.statements(file.tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if is_text(node) or any(getattr(t, "id", "") == "__all__" for t in targets):
            left_out |= {id(inner) for inner in ast.walk(node)}
    for part in ast.walk(file.tree):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in left_out:
            yield part.value


def names_elsewhere() -> Counter[str]:
    """Return how often files outside the family of an attack or measure have its name as a text."""
    known, found = entered(), Counter[str]()
    for file in files():
        found[str(file)] += sum(text in known and known[text] != file.room for text in literals(file))
    for path in floors.SOURCE.rglob("*.j2"):
        texts = re.findall(r"""["'](\w+)["']""", path.read_text(encoding="utf-8"))
        found[path.relative_to(floors.SOURCE).as_posix()] += sum(text in known for text in texts)
    return +found


def sets_signature(file: File) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "__signature__" and isinstance(node.ctx, ast.Store)
        for node in ast.walk(file.tree)
    )


def crowded() -> dict[str, int]:
    folders = Counter("/".join(f.names[:-1]) for f in files() if f.names[-1] != "__init__")
    return {folder: n for folder, n in folders.most_common() if n > MOST_FILES}


# ---------------------------------------------------------------- what a call loads


def loaded(code: str, source: Path, runs: int = RUNS) -> tuple[int, float]:
    """Return modules of divulge that a new process has loaded at the end of a call, and its seconds of CPU."""
    ends = []
    for _ in range(1 + runs):
        done = subprocess.run(
            [sys.executable, "-c", code + COUNTED], env=os.environ | {"PYTHONPATH": str(source)}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        n, cpu = done.stdout.split()
        ends.append((int(n), float(cpu)))
    return ends[-1][0], statistics.median(cpu for _, cpu in ends[1:])


# ---------------------------------------------------------------- all of it


def figures(source: Path) -> dict[str, tuple[Any, Any]]:
    """Return each figure with its value and what it is made of."""
    named = [node for file in files() for node in public(file.tree.body)]
    lines = sum(map(documentation, named))
    inside = [found for file in files() for found in importing(file)]
    chain, classes, elsewhere = longest_chain(), repeated_classes(), names_elsewhere()
    calls = {name: loaded(code, source) for name, code in CALLS.items()}
    signed = [str(file) for file in files() if sets_signature(file)]
    return {
        "files": (len(files()), ""),
        "tokens": (sum(map(n_tokens, files())), f"Python {platform.python_version()}"),
        "statements": (sum(map(n_statements, files())), ""),
        "docstring lines per public name": (round(lines / len(named), 2), f"{lines:,} lines, {len(named):,} names"),
        "longest import chain": (len(chain), " > ".join(chain)),
        "functions with imports inside": (len(inside), f"{sum(own for _, own in inside)} of divulge"),
        f"folders with more than {MOST_FILES} files": (len(crowded()), crowded()),
        "class names in several files": (len(classes), {name: len(where) for name, where in classes.items()}),
        "names of attacks or measures elsewhere": (elsewhere.total(), dict(elsewhere.most_common(8))),
        "files that set `__signature__`": (len(signed), signed),
        "`fmt: skip`": (sum(file.text.count("# fmt: skip") for file in files()), ""),
        **{f"modules loaded by `{name}`": (n, "") for name, (n, _) in calls.items()},
        **{f"CPU of `{name}`, s": (round(cpu, 2), f"median of {RUNS}") for name, (_, cpu) in calls.items()},
    }


def told(made_of: Any) -> str:
    if isinstance(made_of, dict):
        return ", ".join(f"{name} {n}" for name, n in made_of.items())
    return ", ".join(made_of) if isinstance(made_of, list) else str(made_of)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "src", help="folder that holds `divulge`")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    source = given.source.resolve()
    floors.SOURCE = source / "divulge"
    found = figures(source)
    if given.json:
        print(json.dumps({name: {"value": value, "of": of} for name, (value, of) in found.items()}, indent=1))
        return
    print("| figure | value | |\n| --- | ---: | --- |")
    for name, (value, of) in found.items():
        print(f"| {name} | {value:,} | {told(of)} |")


if __name__ == "__main__":
    main()

"""The API page: signatures and numpydoc texts of the public names, as they stand in the source.

mkdocstrings was tried: it gives each of "keys, targets, schema" the description and the type of the first, and shows
functions of the catalogue with the argument that the decorator takes away.
"""

import ast
import inspect
import re
import textwrap
import typing

__all__ = ["described", "error_tree"]

_HEAD = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", flags=re.M)


def described(name, thing, *, level=3, members=True):
    """Return Markdown: heading with an anchor of the name, signature, sections of the docstring, members."""
    text = inspect.getdoc(thing) or ""
    out = [_headed(name, name, level)]
    if callable(thing) and not (inspect.isclass(thing) and _is_record(thing)):
        out.append(_signature(name, thing))
    out.append(_body(text))
    if inspect.isclass(thing) and members:
        out += _members(name, thing, level)
    return "\n\n".join(out) + "\n"


def _headed(name, anchor, level):
    return f'<a id="{anchor}"></a>\n\n{"#" * level} `{name}`'


def error_tree(root):
    """Return the error classes below a root as a nested list, each with the first line of its docstring."""
    lines = []

    def walk(cls, depth):
        lines.append(f"{'    ' * depth}- **`{cls.__name__}`**: {_prose((inspect.getdoc(cls) or '').splitlines()[0])}")
        for child in sorted(cls.__subclasses__(), key=lambda c: c.__name__):
            if child.__module__.startswith("divulge."):
                walk(child, depth + 1)

    walk(root, 0)
    return "\n".join(lines)


def _is_record(cls):
    """Whether a class is made by the library and not by its user."""
    return hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__struct_fields__")


def _signature(name, thing):
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except ValueError:
        return ""
    shown, starred = [], False
    for p in parameters:
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            shown, starred = [*shown, "*"], True
        default = "" if p.default is p.empty else f"={_default(p)}"
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        shown.append(f"{stars}{p.name}{default}")
    one = f"{name}({', '.join(shown)})"
    if len(one) > 80:
        one = f"{name}(\n{textwrap.fill(', '.join(shown), 74, initial_indent='    ', subsequent_indent='    ')},\n)"
    return f"```python\n{one}\n```"


def _default(parameter):
    machine = callable(parameter.default) or parameter.name == "jobs"  # as many as there are processors
    return "..." if machine else repr(parameter.default)


def _body(text):
    """Return a docstring as Markdown; its sections become paragraphs with a bold word in front."""
    parts = _HEAD.split(text)
    out = [_prose(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title == "Examples":
            out.append("**Example**\n\n```pycon\n" + textwrap.dedent(body).strip("\n") + "\n```")
        elif title in ("Parameters", "Raises", "Returns", "Attributes"):
            out.append(f"**{title}**\n\n" + _listed(body))
        else:
            out.append(f"**{title}**\n\n{_prose(body)}")
    return "\n\n".join(x for x in out if x.strip())


def _listed(body):
    """Return the entries of a numpydoc section: a name a line, its text indented below."""
    out = []
    for line in textwrap.dedent(body).strip("\n").splitlines():
        if line and not line.startswith(" "):
            out.append([line, []])
        elif out:
            out[-1][1].append(line.strip())
    return "\n".join(f"- **`{head}`** {_prose(' '.join(more))}".rstrip() for head, more in out)


def _prose(text):
    """Return running text: paragraphs kept, angle brackets and stars outside code shown as they are."""
    pieces = re.split(r"(`[^`]*`)", textwrap.dedent(text).strip())
    return "".join(p if p.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", p) for p in pieces)


def _members(name, cls, level):
    fields = _field_texts(cls)
    out = []
    if fields:
        out.append("**Fields**\n\n" + "\n".join(f"- **`{n}`** {_prose(t)}".rstrip() for n, t in fields.items()))
    for n, member in vars(cls).items():
        if n.startswith("_") or n in fields:
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property):
            out.append(_headed(n, f"{name}.{n}", level + 1) + "\n\n" + _body(inspect.getdoc(member) or ""))
        elif inspect.isfunction(function) and inspect.getdoc(function):
            bound = getattr(cls, n) if isinstance(member, classmethod) else function
            head = _headed(n, f"{name}.{n}", level + 1)
            out.append(f"{head}\n\n{_signature(n, bound)}\n\n{_body(inspect.getdoc(function))}")
    return out


def _field_texts(cls):
    """Return annotated fields and the string below each, or its description in the schema; inherited ones first."""
    found = {}
    for base in cls.__mro__[1:]:
        if _is_record(base) and base.__module__.startswith("divulge."):
            found = _field_texts(base) | found
    hints = typing.get_type_hints(cls, include_extras=True)
    told = {n: m.description for n, t in hints.items() for m in getattr(t, "__metadata__", ()) if m.description}
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    for node, following in zip(tree, [*tree[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            below = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            found[node.target.id] = (
                " ".join(str(following.value.value).split()) if below else told.get(node.target.id, "")
            )
    return found

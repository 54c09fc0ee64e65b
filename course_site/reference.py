"""Reference pages from the library's docstrings and signatures, read from its source: each signature as it stands there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.ext.napoleon import Config, GoogleDocstring

# Concepts in the order of the lessons, and what is left out: what only other modules of the library use.
CONCEPTS = (
    "similarity", "attention", "blockwise_attention", "linear_attention", "masks", "positions", "kv_cache", "multi_head",
    "distributed", "recording", "memory", "layers", "models", "circuits", "tokenizers", "decoding", "datasets", "training",
    "metrics", "pretrained", "results", "small_models", "plotting", "diagrams", "widgets",
)  # fmt: skip
RAISED = re.compile(r"^:raises .*(?:\n(?!:).+)*", re.MULTILINE)  # napoleon leaves its further lines without an indent
SECTIONS = Config(napoleon_custom_sections=["Source"], napoleon_use_rtype=False, napoleon_use_ivar=True)


def write_reference(library: Path, folder: Path) -> None:
    """Write a page for each concept of ``library``, and an index of them, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for concept in CONCEPTS:
        (folder / f"{concept}.rst").write_text(page(library, concept), encoding="utf-8")
    (folder / "index.rst").write_text(_index(library), encoding="utf-8")


def modules(library: Path, concept: str) -> list[Path]:
    """The files of one concept, the package's own text first."""
    single = library / f"{concept}.py"
    return (
        [single]
        if single.is_file()
        else sorted((library / concept).glob("*.py"), key=lambda p: (p.stem != "__init__", p.stem))
    )


def page(library: Path, concept: str) -> str:
    """One concept as reStructuredText."""
    title = f"course_utils.{concept}"
    files = [path for path in modules(library, concept) if path.stem != "__main__"]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    imports = [node for node in trees[files[0]].body if isinstance(node, ast.ImportFrom)]
    lines = [f".. _{concept}-reference:", "", title, "=" * len(title), ""]
    for path, tree in trees.items():
        own = path.stem in (concept, "__init__")
        exported = {alias.name for node in imports if node.module == path.stem for alias in node.names}
        entries = list(_documented(tree, title if own else f"{title}.{path.stem}", title, exported))
        if not own:
            if not any(".. py:currentmodule" not in line for line in entries if line):
                continue
            lines += [path.stem, "-" * len(path.stem), ""]
        lines += [*(ast.get_docstring(tree) or "").splitlines(), "", *entries, ""]
    return "\n".join(lines) + "\n"


def _documented(tree: ast.Module, module: str, package: str, exported: set[str]) -> Iterator[str]:
    """What is said of each name, under the module from which a reader imports it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f".. py:currentmodule:: {package if node.name in exported else module}"
            yield ""
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and node.name != "main":
            yield from _entry("function", f"{node.name}{_signature(node)}", node)
        elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
            yield from _entry("class", f"{node.name}{_construction(node)}", node)
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name[0] != "_" and ast.get_docstring(part):
                    kind = "property" if any(_is_property(decorator) for decorator in part.decorator_list) else "method"
                    text = part.name if kind == "property" else f"{part.name}{_signature(part, bound=True)}"
                    yield from _entry(kind, text, part, indent="   ")


def _is_property(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == "property"


def _entry(kind: str, text: str, node: ast.FunctionDef | ast.ClassDef, indent: str = "") -> Iterator[str]:
    yield f"{indent}.. py:{kind}:: {text}"
    yield ""
    described = "\n".join(GoogleDocstring(ast.get_docstring(node) or "", SECTIONS).lines())
    described = RAISED.sub(lambda match: " ".join(match.group().split()), described)
    yield from (f"{indent}   {line}".rstrip() for line in described.splitlines())
    yield ""


def _signature(node: ast.FunctionDef, bound: bool = False) -> str:
    arguments = node.args
    if bound and arguments.args and not any(ast.unparse(d) == "staticmethod" for d in node.decorator_list):
        arguments.args = arguments.args[1:]  # self, cls
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){returned}"


def _construction(node: ast.ClassDef) -> str:
    """What the class is called with: of ``__init__``, or the fields of a dataclass or named tuple."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            part.returns = None
            return _signature(part, bound=True)
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    is_record = bool(node.decorator_list) or any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    return f"({', '.join(ast.unparse(field) for field in fields)})" if fields and is_record else ""


def _index(library: Path) -> str:
    title = "The library"
    lines = [
        title,
        "=" * len(title),
        "",
        "What a notebook may import, one page a concept, in the order of the lessons.",
        "",
    ]
    for concept in CONCEPTS:
        tree = ast.parse(modules(library, concept)[0].read_text(encoding="utf-8"))
        summary = (ast.get_docstring(tree) or "").partition("\n\n")[0]
        lines += [f":doc:`course_utils.{concept} <{concept}>`", *(f"   {line}" for line in summary.splitlines()), ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {concept}" for concept in CONCEPTS)]
    return "\n".join(lines) + "\n"

"""The shape of the library: who may import whom, how long a module is, what the project never says."""

import ast
import re
import subprocess
import sys

import pytest

# Lower concepts first: a module imports only what stands above it in this list.
ORDER = [
    "arguments", "similarity", "attention", "masks", "positions", "kv_cache", "multi_head", "layers", "models", "recurrent",
    "tokenizers", "decoding", "optimizers", "training", "metrics", "datasets", "pretrained", "pronounce",
    "language_model", "evaluate", "train", "ablation", "plotting", "widgets", "checks",
]  # fmt: skip
ALONE = {"authoring": set(), "grading": {"checks"}}  # what each of these may import of the library
MAX_LINES = 300


def modules(root):
    return sorted((root / "course_utils").rglob("*.py"))


def concept(root, path):
    return path.relative_to(root / "course_utils").parts[0].removesuffix(".py")


def imported_concepts(root, path):
    package = path.relative_to(root).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            names = [base, *([*base, alias.name] for alias in node.names)]
        else:
            continue
        found |= {name[1] for name in names if name[0] == "course_utils" and len(name) > 1}
    return found


def test_arrows_point_down_the_list_only(root):
    seen = set()
    for path in modules(root):
        name = concept(root, path)
        if name == "__init__":
            assert not imported_concepts(root, path)
            continue
        others = imported_concepts(root, path) - {name}
        seen.add(name)
        if name in ALONE:
            assert others <= ALONE[name], f"{path}: imports {others}"
        else:
            assert name in ORDER, f"{path}: give {name} a place in ORDER"
            known = {other for other in others if other in ORDER or other in ALONE}
            assert known <= set(ORDER[: ORDER.index(name)]), f"{path}: imports {others}"
    assert {"similarity", "attention", "checks", "authoring"} <= seen


@pytest.mark.parametrize("package", ["checks", "authoring", "grading"])
def test_no_cycles_inside_a_package(root, package):
    folder = root / "course_utils" / package
    needs = {}
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text())
        guarded = {id(n) for i in ast.walk(tree) if isinstance(i, ast.If) for n in ast.walk(i)}
        needs[path.stem] = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.level == 1 and id(node) not in guarded
            for name in ([node.module] if node.module else [alias.name for alias in node.names])
        }
    done = set()
    while ready := {name for name, wanted in needs.items() if name not in done and wanted <= done}:
        done |= ready
    assert done == set(needs), f"in a cycle: {set(needs) - done}"


def test_modules_stay_short(root):
    long = {
        p.name: n
        for p in modules(root)
        if (n := len(p.read_text().splitlines())) > MAX_LINES and "lesson_" not in p.name
    }
    assert not long


def test_everything_public_has_a_docstring(root):
    bare = []
    for path in modules(root):
        tree = ast.parse(path.read_text())
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        owners = [tree, *classes]
        functions = [
            node for owner in owners for node in owner.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
        ]
        for node in (*owners, *functions):
            if not ast.get_docstring(node):
                bare.append(f"{path.name}: {getattr(node, 'name', 'the module')}")
    assert not bare


def test_no_module_does_its_work_at_import(root):
    """Importing prints nothing and writes nothing."""
    names = [
        ".".join(p.relative_to(root).with_suffix("").parts)
        for p in modules(root)
        if p.stem not in ("__main__", "__init__")
    ]
    code = f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_tests_mirror_the_library(root):
    missing = []
    for path in modules(root):
        parts = path.relative_to(root / "course_utils").parts
        if path.stem in ("__init__", "__main__") or path.stem.startswith("lesson_"):
            continue
        if not (root / "tests").joinpath(*parts[:-1], f"test_{path.name}").is_file():
            missing.append("/".join(parts))
    assert not missing, "these have no test file of their own"


FORBIDDEN = re.compile(
    r"pypi\.org|download\.pytorch\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org|/root/|/home/\w+/|\bTODO\b|\bFIXME\b",
    re.IGNORECASE,
)


def test_the_project_speaks_of_itself_alone(root):
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, cwd=root, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        path = root / name
        if path.is_file() and path.suffix not in (".png", ".safetensors") and name != "tests/test_architecture.py":
            found = FORBIDDEN.search(path.read_text(encoding="utf-8"))
            assert not found, f"{name} says {found.group(0)!r}"

"""The shape of the library: who may import whom, how long a module is, what the project never says."""

import ast
import graphlib
import re
import subprocess
import sys

import pytest
from code_map import FENCE, PAGE, concept, imported, picture
from needs import install_command

# Lower concepts first: a module imports only what stands above it in this list.
ORDER = [
    "files", "own_copy", "memory", "progress_log", "arguments", "similarity", "masks", "attention", "blockwise_attention",
    "linear_attention", "positions", "kv_cache", "multi_head", "distributed", "recording", "layers", "models",
    "circuits", "tokenizers", "decoding", "datasets", "training", "metrics", "pretrained", "results",
    "small_models", "plotting", "diagrams", "widgets",
]  # fmt: skip
# What each package may import of the library. The checks are about all of it.
PACKAGES = {
    "course_utils": set(ORDER),
    "course_checks": set(ORDER),
    "course_grader": {"files"},
    "course_authoring": {"files"},
}
# The site shows all of it, the experiments train it; both import what they like, and nobody imports them.
PACKAGES["course_site"] = PACKAGES["experiments"] = set(ORDER)
MAX_LINES = 300


def modules(root, package=""):
    return [path for name in PACKAGES if name.startswith(package) for path in sorted((root / name).rglob("*.py"))]


def test_arrows_point_down_the_list_only(root):
    seen = set()
    for path in modules(root, "course_utils"):
        _, name = concept(root, path)
        seen.add(name)
        others = imported(root, path) - {("course_utils", name)}
        if name == "__init__":
            assert others == {("course_utils", "progress_log")}, f"{path}: imports {others}"
            continue
        assert name in ORDER, f"{path}: give {name} a place in ORDER"
        assert {package for package, _ in others} <= {"course_utils"}, f"{path}: imports {others}"
        known = {other for _, other in others if other in ORDER}
        assert known <= set(ORDER[: ORDER.index(name)]), f"{path}: imports {others}"
    assert seen - {"__init__"} == set(ORDER)


def test_the_picture_is_what_the_imports_say(root):
    page = (root / PAGE).read_text(encoding="utf-8")
    assert FENCE.findall(page) == [picture(root)], "run: python tests/code_map.py"
    for path in re.findall(r"`((?:course_|tests/|sources/|docs/|\.ci|\.github)[\w./]*)`", page):
        assert (root / path).exists(), f"{PAGE} names {path}, which is not there"


@pytest.mark.parametrize("package", ["course_grader", "course_authoring"])
def test_the_other_packages_use_little_of_the_library(root, package):
    for path in modules(root, package):
        others = {(owner, other) for owner, other in imported(root, path) if owner != package}
        allowed = {("course_utils", name) for name in (*PACKAGES[package], "__version__")}
        if package == "course_grader":
            allowed |= {("course_checks", name) for name in ("catalogue", "deciding", "running")}
        assert others <= allowed, f"{path}: imports {others - allowed}"


def test_nobody_imports_the_site_or_the_experiments(root):
    for path in modules(root):
        own = path.relative_to(root).parts[0]
        assert not {owner for owner, _ in imported(root, path)} & {"course_site", "experiments"} - {own}, path


def test_notebooks_import_nothing_but_the_library(root):
    for path in sorted((root / "sources").rglob("*.py")):
        assert {owner for owner, _ in imported(root, path)} <= {"course_utils", "course_checks"}, path


def test_the_library_and_the_build_know_nothing_of_the_checks(root):
    for package in ("course_utils", "course_authoring"):
        for path in modules(root, package):
            assert "course_checks" not in {owner for owner, _ in imported(root, path)}, path


@pytest.mark.parametrize(
    "package",
    ["course_checks", "course_utils/training", "course_utils/pretrained", "course_authoring", "course_grader"],
)
def test_no_cycles_inside_a_package(root, package):
    paths = sorted((root / package).rglob("*.py"))
    names = {path: dotted(root, path) for path in paths}
    needs = {names[path]: wanted(path, names[path], set(names.values())) for path in paths}
    list(graphlib.TopologicalSorter(needs).static_order())  # raises CycleError, which names the cycle


def dotted(root, path):
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def wanted(path, name, known):
    """The modules of the package that a file imports when it runs (not those that only its annotations need)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {id(n) for i in ast.walk(tree) if isinstance(i, ast.If) for n in ast.walk(i)}
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in guarded:
            base = [*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else [])]
            found |= {".".join([*base, alias.name]) for alias in node.names} | {".".join(base)}
    return found & known - {name, ".".join(package)}


def test_what_runs_beside_an_answer_knows_no_right_one(root):
    """The line of trust is a folder line: nothing in running imports what decides, or a lesson's file."""
    checks = root / "course_checks"
    names = {path: dotted(root, path) for path in checks.rglob("*.py")}
    for path, name in names.items():
        if "running" in path.parts:
            others = wanted(path, name, set(names.values()))
            assert all(other.startswith("course_checks.running") for other in others), f"{path}: {others}"


def test_what_runs_inside_the_sandbox_imports_nothing_from_outside(root):
    """The line of trust of the grader is a folder line too."""
    allowed = ("course_grader.in_sandbox", "course_checks.running")
    for path in (root / "course_grader" / "in_sandbox").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1, path
            elif isinstance(node, ast.ImportFrom | ast.Import):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
                assert all(n.startswith(allowed) or n.split(".")[0] not in PACKAGES for n in names), path


def test_modules_stay_short(root):
    long = {p.name: n for p in modules(root) if (n := len(p.read_text(encoding="utf-8").splitlines())) > MAX_LINES}
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
        of_an_exercise = path.parent.name.startswith(("lesson_", "drivers"))  # they say it at the top
        for node in owners[:1] if of_an_exercise else (*owners, *functions):
            if not ast.get_docstring(node):
                bare.append(f"{path.name}: {getattr(node, 'name', 'the module')}")
    assert not bare


def test_no_module_does_its_work_at_import(root):
    """Importing prints nothing and writes nothing."""
    names = [
        ".".join(p.relative_to(root).with_suffix("").parts)
        for p in modules(root)
        if p.stem not in ("__main__", "__init__") and ("course_site" not in p.parts or install_command("site") == "")
    ]
    code = f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


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

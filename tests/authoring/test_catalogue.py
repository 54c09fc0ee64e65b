"""The catalogue of exercises: what the sources say, written by the build and held by the check."""

import json

import pytest

from course_authoring.build import build, check, read_sources
from course_authoring.catalogue import PATH, catalogue_text


def test_it_says_what_the_sources_say(project):
    sources, _ = read_sources(project)
    entries = json.loads(catalogue_text(sources))
    assert entries["5.1"] == {"title": "Square", "points": 3, "answer": "square"}
    assert list(entries) == ["5.1", "5.2"]


def test_a_quiz_has_its_options(project):
    path = project / "sources/exercises/05_masking.py"
    text = path.read_text()
    sources, _ = read_sources(project)
    assert json.loads(catalogue_text(sources))["5.2"]["options"] == {}
    path.write_text(
        text.replace("# ### 5.2", "# ### 5.2", 1).replace(
            '# %% tags=["quiz"]', '#\n# - **a.** one\n# - **b.** $x_1$, two\n\n# %% tags=["quiz"]', 1
        )
    )
    sources, _ = read_sources(project)
    assert json.loads(catalogue_text(sources))["5.2"]["options"] == {"a": "one", "b": "$x_1$, two"}


def test_the_build_writes_it_and_the_check_misses_it(project):
    assert PATH in build(project)
    assert check(project) == [] and PATH not in build(project)
    (project / PATH).write_text("{}\n")
    assert check(project) == [f"{PATH}: not what the exercise sources say; run `make build`"]
    assert build(project) == [PATH]


@pytest.mark.parametrize("only", ["05", None])
def test_it_is_whole_whatever_is_built(project, only):
    build(project, only)
    assert set(json.loads((project / PATH).read_text())) == {"5.1", "5.2"}

"""The first code cell, run as Colab would: in an environment with Colab's own torch, from this checkout as the address."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from course_authoring.assemble import COLAB_INSTALL
from course_utils import __version__

COLAB_TORCH = "2.6.0"
STAND_IN = "import sys, types\nsys.modules['google.colab'] = types.ModuleType('google.colab')\n"


@pytest.fixture(scope="module")
def cell(root):
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    return COLAB_INSTALL.format(address=root.as_uri())


def test_outside_colab_it_does_nothing(cell, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("it ran something"))
    exec(cell, {})


@pytest.mark.slow  # downloads what the course needs into an environment of its own
def test_in_colab_it_installs_the_course_and_keeps_torch(cell, root, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = next(p for p in (tmp_path / "venv/bin/python", tmp_path / "venv/Scripts/python.exe") if p.exists())

    def run(code):
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    site = run("import sysconfig; print(sysconfig.get_paths()['purelib'])")
    info = Path(site) / f"torch-{COLAB_TORCH}.dist-info"  # Colab's torch, as pip sees it
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {COLAB_TORCH}\n")
    (info / "RECORD").write_text("")
    (info / "INSTALLER").write_text("colab\n")
    run(STAND_IN + cell)
    version = "from importlib.metadata import version; print(version('attention-course'), version('torch'))"
    assert run(version) == f"{__version__} {COLAB_TORCH}"
    where = run("import course_utils, course_authoring; print(course_utils.__file__)")
    assert Path(where).is_relative_to(tmp_path)
    assert sys.prefix not in where
    shipped = {path.name for path in Path(where).with_name("pretrained").joinpath("data").iterdir()}
    assert shipped >= {
        path.name for path in (root / "course_utils" / "pretrained" / "data").glob("*.*") if path.is_file()
    }

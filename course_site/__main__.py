"""Command line: ``python -m course_site`` builds the site, and looks at every link in it."""

import argparse
import shutil
import sys
import time
from pathlib import Path

from sphinx.cmd.build import build_main

from .layout import HERE, lay_out
from .links import problems


def sphinx_options(source: Path, site: Path, doctrees: Path, jobs: str) -> list[str]:
    """What ``sphinx-build`` is called with: all anew, and a warning is an error."""
    paths = {"html_static_path": "_static", "html_extra_path": "extra", "html_favicon": "_static/favicon.svg"}
    places = [word for name, path in paths.items() for word in ("-D", f"{name}={source / path}")]
    strict = ["-E", "-a", "-q", "-W", "--keep-going", "-j", jobs]
    return ["-b", "html", "-c", str(HERE), "-d", str(doctrees), *strict, *places, str(source), str(site)]


def main(arguments: list[str] | None = None) -> int:
    """Build; returns the process's exit status: 0 well, 1 something named is wrong."""
    parser = argparse.ArgumentParser(prog="python -m course_site", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/site"), help="where to (default: build/site)")
    parser.add_argument("--jobs", default="auto", help="processes (default: one a core)")
    options = parser.parse_args(arguments)
    site, source = options.output.resolve(), options.output.resolve().with_name(f"{options.output.name}-source")
    started = time.monotonic()
    lay_out(source)
    laid_out = time.monotonic()
    shutil.rmtree(site, ignore_errors=True)
    status = build_main(sphinx_options(source, site, site.with_name(f"{site.name}-doctrees"), options.jobs))
    if status:
        return 1
    wrong = problems(site)
    for problem in wrong:
        print(f"wrong: {problem}", file=sys.stderr)
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    pages = {path: size for path, size in sizes.items() if path.suffix == ".html"}
    print(
        f"{len(pages)} pages, the largest {max(pages.values()) / 1e6:.2f} MB, {sum(sizes.values()) / 1e6:.0f} MB in all; "
        f"{len(wrong) or 'no'} wrong link(s); {laid_out - started:.0f} s to lay out, {time.monotonic() - laid_out:.0f} s to build"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

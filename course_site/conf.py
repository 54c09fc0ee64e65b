"""Sphinx's configuration. Nothing is run, and nothing is loaded from elsewhere."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from course_authoring.address import public_address  # noqa: E402

_project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Attention"
html_title = "Attention, from the dot product to a Transformer"
copyright = "its authors, under the MIT license"  # noqa: A001
release = _project["version"]
language = "en"

extensions = ["myst_nb", "sphinx.ext.mathjax", "course_site.extension"]
root_doc = "index"
templates_path = ["page_templates", "."]  # the live page is its own template
exclude_patterns = ["extra", "_static"]
nb_execution_mode = "off"  # what is published is what nbval has verified
nb_ipywidgets_js = {}  # MyST-NB's own loads from two servers
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
mathjax_path = "mathjax/tex-svg.js"  # one file, with its fonts inside
mathjax3_config = {"options": {"enableMenu": False}}  # the menu loads more files
pygments_style = "a11y-high-contrast-light"

html_theme = "sphinx_book_theme"
html_css_files = ["site.css", "try_it.css"]
html_js_files = [("access.js", {"defer": "defer"}), ("phone.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_persistent": [],  # the search stands in the side bar
    **({"repository_url": _address, "use_repository_button": True} if (_address := public_address(ROOT)) else {}),
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navigation_with_keys": False,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "footer_content_items": ["copyright"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

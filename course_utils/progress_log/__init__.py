"""What a student has done: which exercises were passed and when, and which predictions were made.

One small JSON file on the student's own machine; nothing is ever sent. ``course_utils.progress()`` shows it. Entries are
made only where a person runs a notebook: JupyterLab and its kin name the cell that they run, or pass a click on. nbval, the
build and graders do neither, and nothing is read or written there. The environment variable ``ATTENTION_COURSE_PROGRESS``
names another file, or is ``off``.
"""

from .store import passed, predicted
from .table import begin_anew, show

__all__ = ["begin_anew", "passed", "predicted", "show"]

"""The build: jupytext sources in ``sources/`` become the notebooks in ``notebooks/``, ``solutions/`` and ``exercises/``.

One direction only. ``python -m course_authoring build`` writes what changed, ``... check`` rebuilds in memory and
names every notebook that is not what its source says. Needs the ``dev`` extra; needs neither torch nor the rest of the
library.
"""

"""A starting point for a class that runs nbgrader: copy it into the course folder as nbgrader_config.py.

The sources are the notebooks in solutions/, which keep nbgrader's own solution markers. Cells tagged "solution"
(explanations that students must not get) are taken out at release by nbconvert's TagRemovePreprocessor.
"""

from nbconvert.preprocessors import TagRemovePreprocessor
from nbgrader.converters import GenerateAssignment

c = get_config()  # noqa: F821 - nbgrader provides it

c.CourseDirectory.course_id = "attention"
c.GenerateAssignment.preprocessors = [
    TagRemovePreprocessor,
    *GenerateAssignment.class_traits()["preprocessors"].default_args[0],
]
c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"solution"}

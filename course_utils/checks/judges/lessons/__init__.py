"""One folder a lesson, one file an exercise: ``EXERCISE``; ``quizzes.py`` holds the ``QUIZZES``."""

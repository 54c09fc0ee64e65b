"""Lesson 01, dot-product similarity: one file an exercise."""

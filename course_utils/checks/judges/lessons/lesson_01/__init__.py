"""Lesson 01, dot-product similarity."""

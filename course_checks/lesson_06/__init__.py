"""Lesson 06, multi-head attention: one file an exercise."""

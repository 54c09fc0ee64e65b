"""Lesson 07, multi-query and grouped-query attention: one file an exercise."""

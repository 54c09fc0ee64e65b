"""Lesson 09, Transformer layers: one file an exercise."""

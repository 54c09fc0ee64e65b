"""Lesson 10, the Transformer."""

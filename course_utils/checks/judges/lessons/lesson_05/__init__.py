"""Lesson 05, masking."""

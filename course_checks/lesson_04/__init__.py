"""Lesson 04, scaled dot-product attention: one file an exercise."""

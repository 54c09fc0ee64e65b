"""Lesson 04, scaled dot-product attention."""

"""The scripts behind the shipped weights and the tables that lessons read; run from a clone of the course."""

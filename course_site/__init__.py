"""The course on the web: `python -m course_site` lays out the pages, builds them and looks at every link."""

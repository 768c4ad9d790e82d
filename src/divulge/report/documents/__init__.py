"""The documents of a report: HTML, Markdown, terminal text, JUnit XML and SVG figures."""

"""The report: one typed assessment, rendered as JSON, Markdown, HTML, terminal text and JUnit XML."""

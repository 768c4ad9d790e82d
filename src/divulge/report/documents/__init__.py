"""One document each: HTML, Markdown, terminal, JUnit, picture."""

"""One dict is the truth; JSON, Markdown, HTML and the terminal are renderings of it."""

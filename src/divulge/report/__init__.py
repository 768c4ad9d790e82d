"""One typed assessment is the truth; JSON, Markdown, HTML, the terminal and JUnit are renderings of it."""

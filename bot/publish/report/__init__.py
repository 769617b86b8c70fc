"""The report: what a repository's generations did, as one page, Markdown, or rows of figures."""

"""The documentation site: pages of Markdown, generated from the specification.

    python -m docs.generator            builds the site in build/site

`facts` reads the specification and the ledger once. Each other module writes the pages of one
subject from them: `home`, `clauses`, `sections`, `bugs`, `options`, `conventions`, `judged`,
`guides` and `words`. `writing` has the parts of a page, `terms` links the words of the glossary,
and `tree` puts all pages together. MkDocs makes HTML of them, with the settings in `mkdocs.yml`.
"""

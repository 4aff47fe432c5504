"""The documentation site: pages of Markdown, generated from the specification.

    python -m docs.generator            builds the site in build/site

`facts` reads the specification and the ledger once. These modules write the pages of one subject
each: `home`, `clauses`, `sections`, `bugs`, `options`, `conventions`, `judged`, `found`, `guides`
and `words`. `naming` says where each page is, `writing` has the parts of a page, `terms` links the
words of the glossary, and `tree` puts all pages together. `html` makes a site of them with MkDocs
and its theme Material, as `mkdocs.yml` says.

The pages are plain Markdown, without plugins or macros, so another generator can read them.
"""

"""The package that is installed: `attention_spec`, with the folder `spec` inside.

So nothing that is installed is called `spec`. All else is in pyproject.toml, which cannot give
packages another name.
"""

from setuptools import find_packages, setup

PACKAGE = "attention_spec"
INSIDE = find_packages(include=["spec", "spec.*"])

setup(
    packages=[PACKAGE, *(f"{PACKAGE}.{name}" for name in INSIDE)],
    package_dir={f"{PACKAGE}.spec": "spec"},
)

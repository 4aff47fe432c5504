"""`attention-spec --completion SHELL`: what Tab offers in a shell that has read the script."""

import subprocess
import sys

import pytest

from spec.certification.completion import FILES, FOLDERS
from spec.certification.offered import OPTIONS
from tests.certification import here

ASK = """
source {script}
COMP_WORDS=(attention-spec {words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_attention_spec
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    done = here.run("--completion", "bash")
    assert done.returncode == 0, done.stderr
    file = tmp_path_factory.mktemp("shell") / "attention-spec.bash"
    file.write_text(done.stdout)
    return file


def offered(script, words, cwd):
    """What bash offers for the last word, which is begun, or '' where it is not."""
    text = ASK.format(script=script, words=words)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, cwd=cwd, check=True)
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


@pytest.mark.completion
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("cer", ["certify"]),
        ("certify --prof", ["--profile"]),
        ("certify mine.py:attend --profile q", ["quick"]),
        ("certify --kind mer", ["merging"]),
        ("certify --junit ou", ["out.xml"]),
        ("certify --dtype ''", [*OPTIONS["dtypes"].values]),
        ("certify --convention causal=", ["causal=top-left", "causal=bottom-right"]),
        ("certify mi", ["mine.py"]),
        ("certify --clause perm", ["permutations"]),
        ("list prof", ["profiles"]),
        ("certify --spec", []),
    ],
)
def test_bash_offers_what_there_is(words, found, script, tmp_path):
    for name in ("mine.py", "out.xml"):
        (tmp_path / name).touch()
    assert offered(script, words, tmp_path) == found


@pytest.mark.completion
@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_a_script(shell):
    done = here.run("--completion", shell)
    assert done.returncode == 0
    assert "attention-spec" in done.stdout
    assert "quick" in done.stdout


@pytest.mark.completion
def test_a_shell_that_there_is_not_is_one_line():
    done = here.run("--completion", "bsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: unknown shell 'bsh': choose from bash, zsh, ")
    assert done.stderr.endswith("; did you mean 'bash'?\n")


def test_without_shtab_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    done = here.run("--completion", "bash")
    assert (done.returncode, done.stdout) == (2, "")
    want = "error: completion needs shtab: pip install shtab\n"
    assert done.stderr == want


def test_every_file_that_is_completed_is_an_option_or_an_argument():
    shown = "".join(
        here.run(command, "--help").stdout
        for command in ("certify", "campaign", "compare", "ledger")
    )
    arguments = {"target", "targets", "paths", "files"}
    for name in {*FILES, *FOLDERS} - arguments:
        assert f"--{name} " in shown, name

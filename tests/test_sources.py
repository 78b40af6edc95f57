"""How the house is built: which crate may use which, and what no source may hold. Needs a checkout."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Whom each crate may use. `math` depends on nothing; only the Python binding sees all.
ARROWS = {
    "cupric-math": set(),
    "cupric-core": set(),
    "cupric-ir": {"cupric-core", "cupric-math"},
    "cupric-codegen": {"cupric-core", "cupric-ir", "cupric-math"},
    "cupric-runtime": {"cupric-core", "cupric-ir"},
    "cupric-cpu": {"cupric-core", "cupric-ir", "cupric-math", "cupric-runtime"},
    "cupric-gpu": {"cupric-core", "cupric-ir", "cupric-codegen", "cupric-runtime"},
    "cupric": {"cupric-core", "cupric-ir", "cupric-math", "cupric-runtime", "cupric-cpu", "cupric-gpu"},
}
SAFE = ["cupric-core", "cupric-math", "cupric-ir", "cupric-codegen", "cupric"]
LONGEST = 800
# What these longest files hold is one table or one noun; a new one needs a reason here.
MAY_BE_LONGER = {}

pytestmark = pytest.mark.skipif(not (ROOT / "crates").is_dir(), reason="there is no checkout here")


@pytest.fixture(scope="module")
def packages():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)["packages"]


def sources(*suffixes):
    folders = ["crates", "python", "tests", "examples", "benches", "docs", ".ci"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    files += [path for path in ROOT.iterdir() if path.suffix in suffixes or path.name == "Makefile"]
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def test_arrows_between_crates(packages):
    for package in packages:
        name = package["name"]
        uses = {
            needed["name"]
            for needed in package["dependencies"]
            if needed["kind"] is None and needed["name"].startswith("cupric")
        }
        if name != "cupric-py":
            assert name in ARROWS, f"{name} is new: say whom it may use"
            assert uses <= ARROWS[name], f"{name} uses {sorted(uses - ARROWS[name])}"


def test_math_depends_on_nothing(packages):
    (math,) = [package for package in packages if package["name"] == "cupric-math"]
    assert [needed["name"] for needed in math["dependencies"] if needed["kind"] is None] == []


@pytest.mark.parametrize("crate", SAFE)
def test_safe_crates_forbid_unsafe_code(crate):
    assert "#![forbid(unsafe_code)]" in (ROOT / "crates" / crate / "src" / "lib.rs").read_text()


def test_algorithms_name_no_backend():
    for path in (ROOT / "crates" / "cupric" / "src").rglob("*.rs"):
        if path.name != "devices.rs":
            assert not re.search(r"cupric_(cpu|gpu)\b", path.read_text()), f"{path.name} names a backend"


def test_files_are_short():
    long = {}
    for path in sources(".rs", ".cuh", ".py"):
        lines = path.read_text().count("\n")
        if lines > LONGEST and str(path.relative_to(ROOT)) not in MAY_BE_LONGER:
            long[str(path.relative_to(ROOT))] = lines
    assert long == {}


FORBIDDEN = {
    "a path of one machine": r"(?<![\w./])/(home|root|work|Users|mnt)/(?!\.\.\.|me\b)\w",
    "a stub": r"\b(todo|unimplemented)!\(|\bFIXME\b|\bXXX\b",
    "a lint switched off without a reason": r"#\[allow\(",
    "a call that panics without saying why": r"\.unwrap\(\)(?!.*//)",
}
# Tests and examples may unwrap; these files hold the patterns themselves.
EXEMPT = {"a call that panics without saying why": ("/tests/", "/examples/", "/benches/", "tests.rs")}


def production(path):
    """A file's text without its test module and comments."""
    text = path.read_text()
    if path.suffix == ".rs":
        text = text.split("#[cfg(test)]\nmod tests {")[0]
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    return text


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_source_holds(what):
    found = []
    for path in sources(".rs", ".cuh", ".py", ".md", ".toml", ".sh"):
        if path == Path(__file__).resolve() or any(part in path.as_posix() for part in EXEMPT.get(what, ())):
            continue
        if what.startswith("a call") and path.suffix != ".rs":
            continue
        for match in re.finditer(FORBIDDEN[what], production(path) if what.startswith("a call") else path.read_text()):
            found.append(f"{path.relative_to(ROOT)}: {match.group()}")
    assert found == []


def test_the_dependency_on_numpy_is_declared():
    text = (ROOT / "pyproject.toml").read_text()
    assert "numpy" in text and "abi3" in (ROOT / "Cargo.toml").read_text() + text

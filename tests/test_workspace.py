"""The house as DESIGN §9 draws it: one version, one shape for every plugin, commands that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import trimtab
from trimtab import Hook
from trimtab.cli import app
from typer.main import get_command
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.parent for path in ROOT.glob("*/*/pyproject.toml"))
MEMBERS = [ROOT / "core", *PLUGINS]

plugins = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)


def pyproject(folder: Path) -> Any:
    """The parsed pyproject.toml of a folder."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def package(plugin: Path) -> str:
    """The import name that a plugin's folder stands for."""
    return "trimtab_" + plugin.name.replace("-", "_")


def imports(path: Path) -> Iterator[str]:
    """The absolute module names that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield node.module or ""


def test_there_is_one_version() -> None:
    """Every pyproject, every pin between them and `trimtab.__version__` say the same."""
    version = trimtab.__version__
    assert {str(folder): pyproject(folder)["project"]["version"] for folder in (ROOT, *MEMBERS)} == {
        str(folder): version for folder in (ROOT, *MEMBERS)
    }
    pins = pyproject(ROOT / "core")["project"]["optional-dependencies"]["all"]
    assert sorted(pin for pin in pins if "==" in pin) == sorted(f"trimtab-{path.name}=={version}" for path in PLUGINS)
    for plugin in PLUGINS:
        assert f"trimtab=={version}" in pyproject(plugin)["project"]["dependencies"], plugin.name


def test_changelog_tells_the_version() -> None:
    """The version that is being made has a heading of its own in the changelog."""
    assert re.search(rf"^## \[?{re.escape(trimtab.__version__)}\]?", (ROOT / "CHANGELOG.md").read_text(), re.M)


@pytest.mark.parametrize("folder", MEMBERS, ids=lambda path: path.name)
def test_distributions_agree(folder: Path) -> None:
    """Every distribution has the same Python, licence and build backend, and ships its types."""
    told = pyproject(folder)
    core = pyproject(ROOT / "core")
    assert told["project"]["requires-python"] == core["project"]["requires-python"] == ">=3.11"
    assert told["project"]["license"] == core["project"]["license"]
    assert told["build-system"] == core["build-system"]
    (root,) = (path for path in (folder / "src").iterdir() if path.is_dir())
    assert (root / "py.typed").is_file()
    assert told["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [f"src/{root.name}"]


@plugins
def test_plugin_has_the_shape(plugin: Path) -> None:
    """A plugin is a pyproject, a README, one flat package under src and its tests, named after its folder."""
    shown = {path.name for path in plugin.iterdir() if not path.name.startswith(".")}
    assert shown == {"pyproject.toml", "README.md", "src", "tests"}
    assert [path.name for path in (plugin / "src").iterdir()] == [package(plugin)]
    assert list((plugin / "tests").glob("test_*.py"))
    assert not list((plugin / "tests").rglob("__init__.py"))
    assert pyproject(plugin)["project"]["name"] == f"trimtab-{plugin.name}"


@plugins
def test_plugin_is_found_by_its_entry_point(plugin: Path) -> None:
    """The entry point is named like the folder, and gives a stage or a hook of that name."""
    assert pyproject(plugin)["project"]["entry-points"]["trimtab"] == {plugin.name: package(plugin)}
    (point,) = entry_points(group="trimtab", name=plugin.name)
    module = point.load()
    hooks = [cls for cls in vars(module).values() if isinstance(cls, type) and issubclass(cls, Hook)]
    assert [cls.name for cls in hooks or [module.stage()]] == [plugin.name]


@plugins
def test_no_plugin_imports_another(plugin: Path) -> None:
    """A plugin knows trimtab, its dependencies and itself."""
    for path in plugin.rglob("*.py"):
        for name in imports(path):
            top = name.partition(".")[0]
            assert not top.startswith("trimtab_") or top == package(plugin), f"{path} imports {name}"


@plugins
def test_workspace_knows_the_plugin(plugin: Path) -> None:
    """The root's sources and type check name every plugin."""
    told = pyproject(ROOT)["tool"]
    assert f"trimtab-{plugin.name}" in told["uv"]["sources"]
    assert f"{plugin.parent.name}/{plugin.name}/src" in told["mypy"]["files"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("configs/*.yaml")), ids=lambda path: path.stem)
def test_profile_says_whom_it_is_for(path: Path) -> None:
    """Every shipped profile opens with a comment that begins with its name."""
    assert path.read_text(encoding="utf-8").startswith(f"# {path.stem}: ")


def test_test_folders_have_no_packages() -> None:
    """Import mode `importlib` needs no `__init__.py` among the tests; file names are unique instead."""
    folders = ("core/tests", "hooks", "plugins", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("test_*.py")]
    names = [path.name for path in files]
    assert sorted(names) == sorted(set(names))
    assert not [path for path in files if (path.parent / "__init__.py").exists()]


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command in fenced blocks and inline code, without prompts, comments and `uv run`."""
    blocks = re.findall(r"^```(?:sh|console|bash|shell)?\n(.*?)^```", text, re.M | re.S)
    inline = re.findall(r"`((?:make|trimtab|uv run) [^`]+)`", text)
    for line in [*"".join(blocks).splitlines(), *inline]:
        words = line.removeprefix("$ ").partition("  #")[0].split()
        yield words[2:] if words[:2] == ["uv", "run"] else words


def test_commands_of_the_readme_exist() -> None:
    """Every `make` target and `trimtab` command that the README shows is there, with its options."""
    shown = list(commands((ROOT / "README.md").read_text(encoding="utf-8")))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert {"demo", "test"} <= {words[1] for words in shown if words[:1] == ["make"]} <= targets
    calls: dict[tuple[str, ...], set[str]] = {}
    for words in shown:
        if words[:1] == ["trimtab"] and len(words) > 1:
            options = {word.partition("=")[0] for word in words if word.startswith("-")}
            calls.setdefault(_command(words[1:]), set()).update(options)
    assert {("replay",), ("sessions", "delete")} <= calls.keys()
    for command, options in calls.items():
        told = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
        assert told.exit_code == 0, (command, told.output)
        assert not {option for option in options if not re.search(rf"(?<![\w-]){option}\b", told.output)}, command


def _command(words: list[str]) -> tuple[str, ...]:
    """The words that name a command, also one of a group."""
    found: Any = get_command(app)
    names = []
    for word in words:
        if not hasattr(found, "commands"):
            break
        found = found.commands[word]
        names.append(word)
    return tuple(names)

"""Finding plugins: distributions that are separately installed, broken ones, clashes, and misspelt hooks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from trimtab import plugins
from trimtab.errors import PluginError
from trimtab.hookspecs import hookimpl
from trimtab.plugins import Found, catalog, manager
from trimtab.profile import load
from trimtab.stage import Hook, Stage, StageOptions

Install = Callable[..., None]
STAGE = """
from trimtab.hookspecs import hookimpl
from trimtab.stage import Stage, StageOptions

class Shout(Stage):
    name = "shout"
    class Options(StageOptions):
        loud: int = 1
    def propose(self, view):
        yield from ()

@hookimpl
def stage():
    return Shout
"""
HOOK = """
from trimtab.hookspecs import hookimpl
from trimtab.stage import Hook

class Ear(Hook):
    name = "ear"
    @hookimpl
    def pre_compact(self, view, trigger):
        return [trigger]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a third-party distribution: a module, and metadata with an entry point, on a path of their own."""
    installed = 0

    def install(name: str, code: str, *, version: str = "1.0", target: str | None = None) -> None:
        nonlocal installed
        installed += 1
        site = tmp_path / f"site{installed}"
        module = f"{tmp_path.name.replace('-', '_')}_{name.replace('-', '_')}"
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(textwrap.dedent(code))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[trimtab]\n{name} = {module}{target or ''}\n")
        monkeypatch.syspath_prepend(site)
        plugins._installed.cache_clear()

    yield install
    plugins._installed.cache_clear()


def test_third_party(install: Install) -> None:
    """A stage and a hook of separately installed distributions are found, and ordered by YAML."""
    install("acme-shout", STAGE, version="2.1")
    install("acme-ear", HOOK)
    found = catalog()
    shout, ear = found.stages["shout"], found.hooks["ear"]
    assert (shout.kind, shout.distribution, shout.version, shout.cls.__name__) == (
        "stage",
        "acme-shout",
        "2.1",
        "Shout",
    )
    assert (ear.kind, ear.distribution, ear.version) == ("hook", "acme-ear", "1.0")
    assert found.broken == []
    env = {"TRIMTAB_STAGES": "[shout: {loud: 9}, tool-result-budget, shout]", "TRIMTAB_HOOKS": "[ear]"}
    profile = load("minimal", env=env)
    assert [item.name for item in profile.stages] == ["shout", "tool-result-budget", "shout"]
    assert [profile.stages[index].options.loud for index in (0, 2)] == [9, 1]
    assert manager(profile.hooks).hook.pre_compact(view=None, trigger="auto") == [["auto"]]


def test_entry_point_names_a_class(install: Install) -> None:
    """An entry point may name the class itself."""
    install("acme-ear", HOOK, target=":Ear")
    assert catalog().hooks["ear"].distribution == "acme-ear"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "{module} has neither a stage() marked @hookimpl nor a Hook class"),
        ("def stage(): ...", "{module}.stage is not marked @hookimpl"),
        (
            STAGE.replace("def stage", "def stages"),
            "{module}.stages is marked @hookimpl, but is no hook here; did you mean 'stage'? (hooks: stage)",
        ),
        (STAGE.replace("return Shout", "return 5"), "5 is not a Stage or Hook class with a name"),
        (STAGE.replace('name = "shout"', ""), "<class '{module}.Shout'> is not a Stage or Hook class with a name"),
        (STAGE.replace("propose", "proposes"), "Shout has no propose()"),
        (STAGE.replace("Options(StageOptions)", "Options"), "Shout.Options is not a subclass of StageOptions"),
        (
            HOOK.replace("def pre_compact", "def pre_compat"),
            "Ear.pre_compat is marked @hookimpl, but is no hook here; did you mean 'pre_compact'? "
            "(hooks: post_compact, pre_compact, session_start)",
        ),
        (HOOK.replace("    @hookimpl\n", ""), "Ear.pre_compact is not marked @hookimpl"),
        (
            HOOK.replace("trigger)", "triger)"),
            "PluginValidationError: Plugin 'Ear' for hook 'pre_compact' hookimpl definition: "
            "pre_compact(self, view, triger) Argument(s) {{'triger'}} are declared in the hookimpl "
            "but can not be found in the hookspec",
        ),
    ],
)
def test_broken(install: Install, tmp_path: Path, code: str, error: str) -> None:
    """A broken plugin is recorded with distribution, version and reason; the rest load; using it is an error."""
    install("acme-broken", code, version="3.0")
    install("acme-ear", HOOK)
    found = catalog()
    reason = error.format(module=f"{tmp_path.name.replace('-', '_')}_acme_broken")
    assert found.broken == [Found("acme-broken", "broken", "acme-broken", "3.0", error=reason)]
    assert {"tool-result-budget"} <= found.stages.keys()
    assert "ear" in found.hooks
    with pytest.raises(PluginError) as caught:
        load("minimal", env={"TRIMTAB_STAGES": "[acme-broken]"})
    place = "TRIMTAB_STAGES: stages[0]"
    assert str(caught.value) == f"{place}: stage 'acme-broken' of acme-broken 3.0 cannot be used: {reason}"


def test_clash(install: Install) -> None:
    """Two plugins with one stage name: the name is unusable, and the error names both distributions."""
    install("acme-shout", STAGE)
    install("other-shout", STAGE, version="2.0")
    found = catalog()
    reason = "acme-shout 1.0 and other-shout 2.0 give a stage of this name; uninstall one"
    assert "shout" not in found.stages
    assert {(plugin.name, plugin.distribution, plugin.error) for plugin in found.broken} == {
        ("shout", "acme-shout", reason),
        ("shout", "other-shout", reason),
    }
    with pytest.raises(PluginError) as caught:
        load("minimal", env={"TRIMTAB_STAGES": "[shout]"})
    place = "TRIMTAB_STAGES: stages[0]"
    assert str(caught.value) == f"{place}: stage 'shout' of acme-shout 1.0 cannot be used: {reason}"


def test_sorted(install: Install) -> None:
    """The order of entry points on the path does not matter."""
    for name in ("zeta", "alpha", "beta"):
        install(name, STAGE.replace("shout", name))
    names = [name for name in catalog().stages if name in ("alpha", "beta", "zeta")]
    assert names == ["alpha", "beta", "zeta"]


class Mine(Stage):
    """A stage that a caller brings."""

    name = "mine"

    def propose(self, view: Any) -> Any:
        """Propose nothing."""
        yield from ()


def _hook(title: str) -> type[Hook]:
    class Told(Hook):
        name = title

        @hookimpl
        def session_start(self, source: str) -> str:
            """Tell who was called."""
            return f"{title} {source}"

    return Told


def test_given() -> None:
    """Classes and modules that a caller brings count beside the installed ones, the same one twice too."""
    module = ModuleType("brought")
    exec(STAGE, module.__dict__)
    found = catalog([Mine, module, Mine, _hook("told")])
    assert {"mine", "shout", "tool-result-budget"} <= found.stages.keys()
    assert (found.stages["mine"].distribution, found.stages["mine"].version) == ("plugins=", "(argument)")
    assert found.hooks["told"].distribution == "plugins="
    with pytest.raises(PluginError) as caught:
        catalog([StageOptions])
    assert str(caught.value) == f"{StageOptions!r} is not a Stage or Hook class with a name"


def test_manager_order() -> None:
    """Hooks are called in the listed order, and one may be listed twice; each profile has its own manager."""
    hooks = [_hook("b"), _hook("a"), _hook("c")]
    profile = load("minimal", env={"TRIMTAB_HOOKS": "[b, a, b, c]"}, plugins=hooks)
    first, second = manager(profile.hooks), manager(profile.hooks[:1])
    start = {"session": None, "source": "resume", "view": None}
    assert first.hook.session_start(**start) == ["b resume", "a resume", "b resume", "c resume"]
    assert second.hook.session_start(**start) == ["b resume"]
    assert [name for name, _ in first.list_name_plugin()] == ["c#3", "b#2", "a#1", "b#0"]


def test_options_have_their_defaults() -> None:
    """A stage or hook made without options has those of its class."""
    assert Mine().options == StageOptions()

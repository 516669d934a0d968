"""Profiles: sources, their order, and what extends what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from trimtab.profile import Profile, load
from trimtab.sources import CONFIGS
from trimtab.stage import Condition, When

Loader = Callable[..., Profile]
Writer = Callable[[str | Path, str], Path]
HEAD = """\
provider: {kind: anthropic, model: m}
storage: {ledger: "memory:", blobs: "memory:"}
"""


def test_packaged(get: Loader, home: Path) -> None:
    """The packaged profiles load anywhere; what nobody says is the default profile."""
    minimal, default = get("minimal"), get()
    assert (minimal.name, minimal.stages, minimal.hooks) == ("minimal", (), ())
    assert minimal.thresholds.model_dump() == {
        "reserve": 20_000,
        "auto": 13_000,
        "warn": 20_000,
        "block": 3_000,
    }
    assert minimal.storage.ledger == f"sqlite:///{home}/.local/share/trimtab/ledger.db"
    assert minimal.storage.blobs == f"file://{home}/.local/share/trimtab/blobs"
    stages = ["tool-result-budget", "snip", "context-collapse", "micro-compact"]
    stages += ["session-memory", "auto-compact", "reactive-compact"]
    assert (default.name, [item.name for item in default.stages]) == ("default", stages)
    assert default.stages[0].where == "trimtab/configs/default.yaml:6"
    assert default.stages[0].options.limits.shell == 4_000
    assert default.tools == minimal.tools


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.name)
def test_packaged_say_for_whom(path: Path) -> None:
    """Every packaged profile opens with a comment that begins with its name."""
    assert path.read_text("utf-8").startswith(f"# {path.stem}: ")


def test_data_folder(get: Loader) -> None:
    """XDG_DATA_HOME moves the default storage."""
    assert get(XDG_DATA_HOME="/elsewhere").storage.blobs == "file:///elsewhere/trimtab/blobs"


def test_order_of_sources(get: Loader, home: Path, work: Path, write: Writer) -> None:
    """Argument over variable over project file over user file over base; mappings merge, origins are kept."""
    write(home / ".config/trimtab/trimtab.yaml", "thresholds: {warn: 2k, auto: 2k, block: 2k, reserve: 2k}")
    project = write(work.parents[1] / "trimtab.yaml", "thresholds:\n  warn: 3k\n  auto: 3k\n  block: 3k\n")
    variables = {"TRIMTAB_THRESHOLDS__WARN": "4k", "TRIMTAB_THRESHOLDS__AUTO": "4_000"}
    profile = get(overrides={"thresholds": {"warn": 5_000}}, **variables)
    assert profile.thresholds.model_dump() == {"warn": 5_000, "auto": 4_000, "block": 3_000, "reserve": 2_000}
    assert [profile.origin(("thresholds", key)) for key in ("warn", "auto", "block", "reserve")] == [
        "argument",
        "TRIMTAB_THRESHOLDS__AUTO",
        f"{project}:4",
        f"{home}/.config/trimtab/trimtab.yaml:1",
    ]
    assert profile.origin(("provider", "model")) == "trimtab/configs/minimal.yaml:3"
    assert profile.origin(("strict",)) == "default"


def test_config_folder(get: Loader, tmp_path: Path, write: Writer) -> None:
    """XDG_CONFIG_HOME moves the user file."""
    write(tmp_path / "xdg/trimtab/trimtab.yaml", "strict: true")
    assert get(XDG_CONFIG_HOME=str(tmp_path / "xdg")).strict


def test_nearest_project_file(get: Loader, work: Path, write: Writer) -> None:
    """Of several project files upward the nearest is read, once, even where it is the user file too."""
    write(work.parents[1] / "trimtab.yaml", "strict: true")
    write(work.parent / "trimtab.yaml", "history: unsent")
    profile = get()
    assert (profile.strict, profile.history) == (False, "unsent")
    assert get(XDG_CONFIG_HOME=str(work)).history == "unsent"


def test_lists_replace(get: Loader, write: Writer) -> None:
    """A list comes from one source as a whole, and so do the origins of all in it."""
    write("base.yaml", HEAD + "stages:\n  - trim: {keep: 1, mode: part}\n  - trim\n")
    write("trimtab.yaml", "extends: base.yaml\nstages:\n  - trim: {keep: 2}\n")
    profile = get()
    assert [item.options.keep for item in profile.stages] == [2]
    assert profile.stages[0].where == "trimtab.yaml:3"
    assert profile.origin(("stages", 0, "trim", "keep")) == "trimtab.yaml:3"
    assert profile.origin(("stages", 0, "trim", "mode")) == "default"


def test_extends(get: Loader, work: Path, write: Writer) -> None:
    """A chain of files, each seen from the one that extends it, the nearest winning."""
    write("a.yaml", "extends: more/b.yaml\nthresholds: {warn: 1k}\n")
    write("more/b.yaml", "extends: ../c.yaml\nthresholds: {warn: 2k, auto: 2k}\n")
    write("c.yaml", "extends: minimal\nthresholds: {warn: 3k, auto: 3k, block: 1k}\n")
    profile = get("a.yaml")
    assert profile.thresholds.model_dump() == {
        "reserve": 20_000,
        "warn": 1_000,
        "auto": 2_000,
        "block": 1_000,
    }
    assert profile.origin(("thresholds", "auto")) == "more/b.yaml:2"
    assert (profile.name, get(str(work / "a.yaml")).name) == ("a.yaml", str(work / "a.yaml"))


def test_base(get: Loader, home: Path, write: Writer) -> None:
    """The base: named by the caller, by the variable, by the project file, by the user file, else default."""
    assert get().name == "default"
    write(home / ".config/trimtab/trimtab.yaml", "extends: ./mine.yaml")
    write(home / ".config/trimtab/mine.yaml", HEAD)
    assert get().name == "./mine.yaml"
    write("trimtab.yaml", "extends: minimal")
    assert get().name == "minimal"
    assert get(TRIMTAB_PROFILE="default").name == "default"
    assert get("minimal", TRIMTAB_PROFILE="default").name == "minimal"


def test_named_base_decides_stages(get: Loader, write: Writer) -> None:
    """A base that somebody names runs its own stages and hooks; project and user file still say the rest."""
    write("trimtab.yaml", "extends: default\nstages: [trim]\nhooks: [keep]\nstrict: true\n")
    assert [item.name for item in (*get().stages, *get().hooks)] == ["trim", "keep"]
    for named in (get("minimal"), get(TRIMTAB_PROFILE="minimal")):
        assert (named.stages, named.hooks, named.strict, named.extends) == ((), (), True, None)
        assert named.origin(("stages",)) == "trimtab/configs/minimal.yaml:5"
    assert [item.name for item in get("minimal", TRIMTAB_STAGES="[trim]").stages] == ["trim"]


def test_variables(get: Loader) -> None:
    """A variable's value is YAML; deeper names win; switches and empty variables are no settings."""
    profile = get(
        TRIMTAB_STAGES="[trim: {keep: 3, when: [cold, over: 20k]}]",
        TRIMTAB_PROVIDER="{cache: {ttl: 1h, minimum: 2k}}",
        TRIMTAB_PROVIDER__CACHE__TTL="5m",
        TRIMTAB_STRICT="true",
        TRIMTAB_OFF="1",
        TRIMTAB_COUNTER="",
    )
    assert profile.stages[0].options.when == When.of("cold", {"over": 20_000})
    assert profile.stages[0].where == "TRIMTAB_STAGES"
    assert (profile.provider.cache.ttl, profile.provider.cache.minimum) == (300.0, 2_000)
    assert (profile.strict, profile.counter) == (True, "auto")


def test_stages_in_order(get: Loader) -> None:
    """A stage may be listed twice, with and without options, in the order given."""
    stages = ["trim", {"trim": None}, {"trim": {"keep": 0, "limits": {"read": "off"}}}]
    items = get("minimal", {"stages": stages}).stages
    assert [(item.name, item.options.keep, item.options.limits.read) for item in items] == [
        ("trim", 5, 0),
        ("trim", 5, 0),
        ("trim", 0, "off"),
    ]
    assert {item.cls.name for item in items} == {"trim"}
    assert {item.where for item in items} == {"argument"}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("cold", [Condition("cold")]),
        ("{idle: 60m}", [Condition("idle", 3600.0)]),
        ("[cold, idle: 1d]", [Condition("cold"), Condition("idle", 86_400.0)]),
        ("{over: 0.9, idle: 5s}", [Condition("over", 0.9), Condition("idle", 5.0)]),
        (
            "[over: warn, over: 20k, always]",
            [Condition("over", "warn"), Condition("over", 20_000), Condition("always")],
        ),
        ("[]", []),
    ],
)
def test_when(get: Loader, said: str, words: list[Condition]) -> None:
    """`when` takes a word, a mapping or a list of these, and writes itself back."""
    when = get("minimal", TRIMTAB_STAGES=f"[trim: {{when: {said}}}]").stages[0].options.when
    assert when == When(tuple(words))
    assert When.of(when.plain()) == When.of(when) == when


def test_real_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write: Writer) -> None:
    """Without arguments, the process's own environment and working directory count."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("TRIMTAB_THRESHOLDS__WARN", "7k")
    write(tmp_path / "trimtab.yaml", "strict: true")
    profile = load()
    assert (profile.thresholds.warn, profile.strict) == (7_000, True)

"""Profiles: the text of every error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab.errors import PluginError, ProfileError
from trimtab.plugins import catalog
from trimtab.profile import Profile, load

Loader = Callable[..., Profile]
Writer = Callable[[str | Path, str], Path]
HEAD = """\
provider: {kind: anthropic, model: m}
storage: {ledger: "memory:", blobs: "memory:"}
"""


def fails(get: Callable[[], Any]) -> str:
    """Call; give the text of the error."""
    with pytest.raises((ProfileError, PluginError)) as caught:
        get()
    return str(caught.value)


LEVEL = "(or a level: auto, block, warn)"
WORDS = "(available: always, cold, idle, over, pays)"
NUMBER = "write a whole number such as 24_000, 20k or 1.5m"
AMOUNT = "is neither tokens, as 20k, nor a share, as 0.9"
INSTALLED = f"(installed: {', '.join(sorted([*catalog().stages, 'trim']))})"
HOOKS = f"(installed: {', '.join(sorted([*catalog().hooks, 'keep']))})"
KEYS = "(keys: at_least, keep, limits, mode, target, unless, warm, when)"
PACKAGED = (
    "(packaged: deepseek, default, four-layer, four-stage, kimi, local-vllm, memory-stack, minimal, openai, "
    "seven-stage, three-tier)"
)
SECTIONS = "(keys: ask, counter, extends, history, hooks, provider, stages, storage, strict, thresholds, tools)"
CLASSES = "(available: edit, other, read, search, shell, web)"
MISSING = "is missing; say it, or begin the file with `extends: default` (or minimal)"
PRICE = "(keys: cache_read, cache_write, cache_write_1h, cliffs, input, output)"
NAME = "a name is needed, or one name with its options indented below it"

# What a file says below HEAD, then the error with its line and key.
CASES = f"""
stages: [trim, trin]
3: stages[1]: no stage named 'trin'; did you mean 'trim'? {INSTALLED}

stages:
- trim
- keep
5: stages[1]: 'keep' is a hook; it goes under hooks:

hooks: [kep]
3: hooks[0]: no hook named 'kep'; did you mean 'keep'? {HOOKS}

hooks:
- keep: {{last: 5}}
4: hooks[0].keep.last: no such key (keys: first)

stages:
- trim:
    kep: 5
5: stages[0].trim.kep: no such key; did you mean 'keep'? {KEYS}

stages:
- trim:
    keep: x
5: stages[0].trim.keep: 'x' should be a valid integer, unable to parse string as an integer

stages:
- trim:
    limits:
      raed: 5k
6: stages[0].trim.limits.raed: no such key; did you mean 'read'? (keys: read, search)

stages:
- trim:
    limits:
      search: 5x
6: stages[0].trim.limits.search: '5x' is not a size; {NUMBER}

stages: [trim: {{mode: hole}}]
3: stages[0].trim.mode: 'hole' is none of the words for this; did you mean 'whole'? (available: part, whole)

stages: [trim: {{target: 20x}}]
3: stages[0].trim.target: '20x' {AMOUNT}

stages: [trim: 5]
3: stages[0].trim: a mapping is needed (key: value), not 5 {KEYS}

stages:
- trim:
  keep: 5
4: stages[0]: {NAME}, not {{'trim': None, 'keep': 5}}

stages: [5]
3: stages[0]: {NAME}, not 5

thresholds: {{warn: }}
3: thresholds.warn: is empty, not a size; {NUMBER}

thresholds:
3: thresholds: is empty; a mapping is needed (key: value) (keys: auto, block, reserve, warn)

stages:
3: stages: is empty; a list is needed (- name, or - name: {{option: value}})

strict:
3: strict: is empty; it should be a valid boolean

history:
3: history: is empty, none of the words for this (available: sent, unsent)

stages: [trim: {{limits: {{search: }}}}]
3: stages[0].trim.limits.search: is empty, not a size; {NUMBER}

stages: [trim: {{limits: {{search: 8,000}}}}]
3: stages[0].trim.limits.search: 8,000 ends at its comma; write 8_000 or 8k

stages: [trim, trim: {{unless: trin}}]
3: stages[1].trim.unless: no stage named 'trin' is listed; did you mean 'trim'? (listed: trim)

stages: [trim: {{unless: trim}}]
3: stages[0].trim.unless: stages that wait for each other would never run: trim → trim

stages: {{trim: }}
3: stages: a list is needed (- name, or - name: {{option: value}}), not {{'trim': None}}

stage: []
3: stage: no such key; did you mean 'stages'? {SECTIONS}

cache_edits: true
3: cache_edits: no such key {SECTIONS}

thresholds: {{wran: 5}}
3: thresholds.wran: no such key; did you mean 'warn'? (keys: auto, block, reserve, warn)

thresholds: {{warn: 5q}}
3: thresholds.warn: '5q' is not a size; {NUMBER}

thresholds: 5
3: thresholds: a mapping is needed (key: value), not 5 (keys: auto, block, reserve, warn)

tools:
  Read: reed
4: tools.Read: 'reed' is none of the words for this; did you mean 'read'? {CLASSES}

strict: maybe
3: strict: 'maybe' should be a valid boolean, unable to interpret input

history: all
3: history: 'all' is none of the words for this (available: sent, unsent)

extends: ./nowhere.yaml
3: extends: no file ./nowhere.yaml (there: team.yaml)

extends: minimall
3: extends: no profile named 'minimall'; did you mean 'minimal'? {PACKAGED}

extends: team.yaml
3: extends: a circle: team.yaml → team.yaml

stages: [trim: {{when: [clod]}}]
3: stages[0].trim.when: no condition named 'clod'; did you mean 'cold'? {WORDS}

stages: [trim: {{when: [cold, 5]}}]
3: stages[0].trim.when: no condition named 5 {WORDS}

stages: [trim: {{when: idle}}]
3: stages[0].trim.when: idle needs a value, as {{idle: 60m}}

stages: [trim: {{when: {{over: }}}}]
3: stages[0].trim.when: over needs a value, as {{over: auto}}

stages: [trim: {{when: {{cold: 5m}}}}]
3: stages[0].trim.when: cold takes no value

stages: [trim: {{when: {{idle: soon}}}}]
3: stages[0].trim.when: 'soon' is not a duration; write 5s, 60m, 2h or 1d

stages: [trim: {{when: {{over: wran}}}}]
3: stages[0].trim.when: 'wran' {AMOUNT}; did you mean 'warn'? {LEVEL}

stages: [trim: {{when: {{over: 1.5}}}}]
3: stages[0].trim.when: 1.5 {AMOUNT} {LEVEL}
"""


@pytest.mark.parametrize("case", CASES.strip().split("\n\n"))
def test_errors(get: Loader, write: Writer, case: str) -> None:
    """Each error says file and line, key, what is wrong, the nearest right word and what there is."""
    lines, _, error = case.rpartition("\n")
    write("team.yaml", HEAD + lines)
    assert fails(lambda: get("team.yaml")) == f"team.yaml:{error}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("strict: true", f"team.yaml:1: provider: {MISSING}\nteam.yaml:1: storage: {MISSING}"),
        (
            "strict: true\nprovider: {kind: anthropic}\n",
            f"team.yaml:1: storage: {MISSING}\nteam.yaml:2: provider.model: {MISSING}",
        ),
        (
            "proveder: {}",
            f"team.yaml:1: proveder: no such key; did you mean 'provider'? {SECTIONS}\n"
            f"team.yaml:1: provider: {MISSING}\nteam.yaml:1: storage: {MISSING}",
        ),
        ("- a\n- b", "team.yaml:1: a profile is a mapping (key: value)"),
        ("# nothing\n", f"team.yaml: provider: {MISSING}\nteam.yaml: storage: {MISSING}"),
        (
            "strict: 010",
            "team.yaml:1: strict: 010 is octal to some YAML readers; drop the leading zero, or quote it",
        ),
    ],
)
def test_bare_files(get: Loader, write: Writer, text: str, error: str) -> None:
    """A file that stands alone must say what has no default; unknown keys are told before missing ones."""
    write("team.yaml", text)
    assert fails(lambda: get("team.yaml")) == error


def test_installed_parts(get: Loader, write: Writer) -> None:
    """Dialect, stores and counter must be installed, and the error lists those that are."""
    write("team.yaml", "extends: minimal\nprovider: {kind: antropic}\n")
    text = fails(lambda: get("team.yaml"))
    assert text.startswith("team.yaml:2: provider.kind: no dialect named 'antropic'; did you mean 'anthropic'? (ins")
    write("team.yaml", "extends: minimal\nstorage:\n  ledger: sqlight:///x.db\n")
    text = fails(lambda: get("team.yaml"))
    named = "no ledger named 'sqlight'; did you mean 'sqlite'? (installed: memory, sqlite)"
    assert text == f"team.yaml:3: storage.ledger: {named}"
    text = fails(lambda: get("minimal", TRIMTAB_COUNTER="tiktokn"))
    assert text.startswith("TRIMTAB_COUNTER: counter: no counter named 'tiktokn'; did you mean 'tiktoken'? (inst")
    assert text.endswith("(installed: auto, estimate, tiktoken)")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("provider: {price: 3}", f"provider.price: a mapping is needed (key: value), not 3 {PRICE}"),
        ("provider: {window: 999}", "provider.window: 999 is not a window; write at least 1,000 tokens, as 200k"),
        ("provider: {model: }", "provider.model: is empty; it should be a valid string"),
        ("storage: {ledger: /d/a.db}", "storage.ledger: '/d/a.db' is no URL; write sqlite:////d/a.db"),
        ("storage: {ledger: a.db}", "storage.ledger: 'a.db' is no URL; write sqlite:////absolute/path"),
        ("storage: {blobs: /d/b}", "storage.blobs: '/d/b' is no URL; write file:///d/b"),
        ('storage: {blobs: "{data}/b"}', "storage.blobs: '{data}/b' is no URL; write file://{data}/b"),
    ],
)
def test_values_of_other_kinds(get: Loader, write: Writer, text: str, error: str) -> None:
    """What is of the wrong kind is answered with the right one."""
    write("team.yaml", f"extends: minimal\n{text}\n")
    assert fails(lambda: get("team.yaml")) == f"team.yaml:2: {error}"


def test_all_at_once(get: Loader, write: Writer) -> None:
    """Several faults are told together, one a line, in the order of the file; the base of a file needs no hint."""
    write(
        "team.yaml",
        """\
        extends: minimal
        stages:
          - trim: {keep: x, kep: 5, mode: hole}
          - trin
          - trim: {unless: keep}
        strict: maybe
        hooks: [kep]
        provider:
          price:
            input: 1
            output: x
        """,
    )
    lines = [line.removeprefix("team.yaml:") for line in fails(lambda: get("team.yaml")).splitlines()]
    assert [line.partition(": ")[0] + " " + line.split(": ")[1] for line in lines] == [
        "3 stages[0].trim.kep",
        "3 stages[0].trim.keep",
        "3 stages[0].trim.mode",
        "4 stages[1]",
        "5 stages[2].trim.unless",
        "6 strict",
        "7 hooks[0]",
        "9 provider.price.cache_read",
        "9 provider.price.cache_write",
        "9 provider.price.cache_write_1h",
        "11 provider.price.output",
    ]
    assert lines[-2] == "9: provider.price.cache_write_1h: is missing"


@pytest.mark.parametrize("place", ["", "..", "{home}/.config/trimtab"])
def test_files_that_would_not_be_read(get: Loader, home: Path, work: Path, place: str) -> None:
    """What looks like a project or user file, but is none, is an error: it was meant to be one."""
    folder = (work / place.format(home=home)).resolve()
    (folder / "trimtab.yml").parent.mkdir(parents=True, exist_ok=True)
    (folder / "trimtab.yml").touch()
    text = f"{folder}/trimtab.yml: is not read under this name; call it trimtab.yaml"
    assert fails(get) == text
    (folder / "trimtab.yaml").mkdir()
    assert fails(get) == f"{folder}/trimtab.yaml: is a folder; a profile is a file"
    (folder / "trimtab.yaml").rmdir()
    (folder / "trimtab.yaml").write_text("strict: true")
    assert get().strict


def test_circle(get: Loader, write: Writer) -> None:
    """Files that extend each other are an error that shows the way round."""
    write("a.yaml", "extends: b.yaml")
    write("b.yaml", "strict: true\nextends: c.yaml")
    write("c.yaml", "\n\nextends: b.yaml")
    assert fails(lambda: get("a.yaml")) == "c.yaml:3: extends: a circle: b.yaml → c.yaml → b.yaml"


def test_unreadable(get: Loader, work: Path) -> None:
    """A file that is no text is an error, not a traceback."""
    (work / "team.yaml").write_bytes(b"\xff\xfe\x00")
    assert fails(lambda: get("team.yaml")).startswith("team.yaml: cannot be read: 'utf-8' codec can't decode")


def test_names(get: Loader) -> None:
    """A name that nothing has is an error, from the caller and from the variable."""
    missing = f"no profile named 'defalt'; did you mean 'default'? {PACKAGED}"
    assert fails(lambda: get("defalt")) == missing
    assert fails(lambda: get(TRIMTAB_PROFILE="defalt")) == f"TRIMTAB_PROFILE: {missing}"


def test_variable_errors(get: Loader) -> None:
    """Variables that set nothing are errors with the nearest; nested faults name the variable."""
    text = fails(lambda: get(TRIMTAB_THRESHOLD__AUTO="5k"))
    assert text.startswith("TRIMTAB_THRESHOLD__AUTO: no such variable; did you mean 'TRIMTAB_THRESHOLDS'? (avail")
    assert "TRIMTAB_OFF" in text
    text = fails(lambda: get(TRIMTAB_EXTENDS="minimal"))
    assert text == "TRIMTAB_EXTENDS: no such variable; TRIMTAB_PROFILE names the profile"
    text = fails(lambda: get(TRIMTAB_THRESHOLDS__AUT="5k"))
    there = "no such key; did you mean 'auto'? (keys: auto, block, reserve, warn)"
    assert text == f"TRIMTAB_THRESHOLDS__AUT: thresholds.aut: {there}"
    text = fails(lambda: get(TRIMTAB_THRESHOLDS__AUTO="1e3"))
    assert text == "TRIMTAB_THRESHOLDS__AUTO: 1e3 is a text to some YAML readers; write 1000 or 1k, or quote it"


def test_argument_errors(get: Loader) -> None:
    """A fault in an argument says so."""
    text = fails(lambda: get("minimal", {"thresholds": {"auto": -1}}))
    assert text == f"argument: thresholds.auto: -1 is not a size; {NUMBER}"


COSTS = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, "cache_write_1h": 6}
ASCEND = "cliffs must ascend, each at more tokens than the one before; write [[200k, 2], [400k, 3]]"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        *((key, -1, "-1 should be greater than or equal to 0") for key in COSTS),
        *((key, float("nan"), "nan should be a finite number") for key in COSTS),
        ("cache_write", float("inf"), "inf should be a finite number"),
        ("cliffs", [[10, 0]], "0 should be greater than 0"),
        ("cliffs", [[10, float("nan")]], "nan should be a finite number"),
        ("cliffs", [[1_000, 2], [10, 3]], ASCEND),
        ("cliffs", [[10, 2], [10, 3]], ASCEND),
        ("factor", float("inf"), "inf should be a finite number"),
    ],
)
def test_prices_and_factors(key: str, value: Any, says: str) -> None:
    """They are finite and not negative; cliffs ascend."""
    section = {"factor": value} if key == "factor" else {"price": {**COSTS, key: value}}
    said = fails(lambda: load("minimal", overrides={"provider": section}, env={}, cwd="/"))
    assert said.endswith(f": {says}")
    assert key in said

"""YAML as people write it: an origin for every key, and YAML 1.1's traps as errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml

from trimtab.errors import ProfileError

__all__ = ["KeyPath", "Layer", "layer_of", "parse", "said", "shown", "where"]
KeyPath = tuple[str | int, ...]
MOST = 10_000  # values of one file: aliases of aliases grow without bound
DEEPEST = 20  # levels of nesting; ends an alias that contains itself
TRAPS = {
    r"[-+]?\d[\d_]*(:\d+)+(\.\d*)?": "is a base-60 number in YAML; write a duration as 60m, or quote it",
    r"(?i:on|yes|y)": "is true to some YAML readers; write true, or quote it",
    r"(?i:no|n)": "is false to some YAML readers; write false (a limit: off), or quote it",
    r"[-+]?\d[\d_]*\.?\d*[eE][-+]?\d+": "is a text to some YAML readers; write 1000 or 1k, or quote it",
    r"[-+]?0[o\d][\d_]*": "is octal to some YAML readers; drop the leading zero, or quote it",
    r"[-+]?\.(?i:inf|nan)": "is not a finite number",
}
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?=\s*[,}])")
SCALARS: dict[str, Callable[[str], Any]] = {
    "bool": lambda text: "off" if text.lower() == "off" else text.lower() == "true",  # limits can be off
    "float": lambda text: float(text.replace("_", "")),
    "int": lambda text: int(text.replace("_", ""), 0),
    "null": lambda text: None,
    "str": str,
    "timestamp": str,  # models are named by dates
}


@dataclass(frozen=True, slots=True)
class Layer:
    """Data from one place: a file (with a line for each key and list item), a variable, the arguments."""

    data: Any
    name: str
    places: dict[KeyPath, str] = field(default_factory=dict)
    folder: Path | None = None
    """That of the file; of a packaged one the project's."""
    project: bool = False
    """Whether others than the user may have written it: what it wants to run needs his trust."""

    def origin(self, path: KeyPath) -> str | None:
        """Where the value at ``path`` stands; None if this layer does not say it."""
        value = self.data
        try:
            for key in path:
                value = value[key]
        except (LookupError, TypeError):
            return None
        return self.places.get(path, self.name)


def parse(text: str, name: str, *, lines: bool = True) -> Layer:
    """Read one YAML document; raises `ProfileError` with ``name``, line and key for faults and for traps."""
    reader = _Reader(name, lines)
    try:
        nodes = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        what = str(getattr(error, "problem", None) or error).splitlines()[0]
        what = "a tab; indent with spaces" if r"'\t'" in what else what
        if "stream end" in what and re.search(r"[\[{][^\]}'\"\n]*\s#", text):
            what += "; behind a # without quotes everything is a comment"
        raise ProfileError(f"not YAML: {what}", where=reader.place(getattr(error, "problem_mark", None))) from None
    if len(nodes) > 1:
        reader.fail(nodes[1], (), "a second document; a file holds one")
    return Layer(reader.value(nodes[0], ()) if nodes else None, name, reader.places)


class _Reader:
    def __init__(self, name: str, lines: bool) -> None:
        self.name, self.lines, self.places = name, lines, dict[KeyPath, str]()

    def place(self, mark: Any) -> str:
        return f"{self.name}:{mark.line + 1}" if self.lines and mark else self.name

    def fail(self, node: yaml.Node, path: KeyPath, what: str) -> NoReturn:
        where = self.place(node.start_mark)
        raise ProfileError(what, where=f"{where}: {shown(path)}" if path else where)

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        if len(self.places) > MOST:
            self.fail(node, path[:2], f"more than {MOST} values; does an alias repeat itself?")
        self.places.setdefault(path, self.place(node.start_mark))
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.style else self.plain(node, path)
        if len(path) > DEEPEST:
            self.fail(node, path[:2], "nested too deep")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, path)
            if not isinstance(key, str):
                self.fail(key_node, path, f"a key must be a text, not {key}; quote it")
            if key in found:
                self.fail(key_node, (*path, key), f"stands twice, first at {self.places[(*path, key)]}")
            self.places[(*path, key)] = self.place(key_node.start_mark)
            if getattr(node, "flow_style", False):
                self.comma(value_node, (*path, key))
            found[key] = self.value(value_node, (*path, key))
        return found

    def comma(self, node: yaml.Node, path: KeyPath) -> None:
        """``{shell: 8,000}`` would be 8, and a key 000."""
        if found := GROUPED.match(node.start_mark.buffer or "", node.start_mark.pointer):
            number = found[0].replace(",", "_")
            short = f" or {number.removesuffix('_000')}k" if number.endswith("_000") else ""
            self.fail(node, path, f"{found[0]} ends at its comma; write {number}{short}")

    def plain(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        for pattern, hint in TRAPS.items():
            if re.fullmatch(pattern, node.value):
                self.fail(node, path, f"{node.value} {hint}")
        convert = SCALARS.get(node.tag.rpartition(":")[2])
        return convert(node.value) if convert else self.fail(node, path, f"{node.value} is not read ({node.tag})")


def shown(path: KeyPath) -> str:
    """Write a path as ``stages[2].snip.when``, or ``hooks[0][./my_hooks.py].words``."""
    bracketed = (isinstance(key, int) or "/" in key or "." in key for key in path)
    return "".join(f"[{key}]" if odd else f".{key}" for key, odd in zip(path, bracketed, strict=True)).lstrip(".")


def layer_of(path: KeyPath, layers: Sequence[Layer]) -> Layer | None:
    """Find the strongest layer that says this path; a list comes from one layer as a whole."""
    listed = next((path[:n] for n, key in enumerate(path) if isinstance(key, int)), None)
    return next((layer for layer in layers if layer.origin(path) or (listed and layer.origin(listed))), None)


def said(path: KeyPath, layers: Sequence[Layer]) -> str | None:
    """Find the origin of exactly this path."""
    layer = layer_of(path, layers)
    return layer.origin(path) if layer else None


def where(path: KeyPath, layers: Sequence[Layer]) -> str:
    """Write ``file:line: key.path`` for an error, by the nearest key that was said."""
    near = path
    while near and not said(near, layers):
        near = near[:-1]
    place = said(near, layers if near else layers[-1:])
    return f"{place}: {shown(path)}" if place else shown(path)

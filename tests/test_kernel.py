"""The kernel stays small and knows nobody around it (DESIGN §9).

The kernel is every ``*.py`` directly in ``trimtab/`` except ``models.py`` (a table of data, looked up by name like
any other part) and ``__main__.py``. Its size is the number of physical lines of those files, blank ones too.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "core" / "src" / "trimtab"
KERNEL = sorted(path for path in PACKAGE.glob("*.py") if path.name not in {"models.py", "__main__.py"})
PARTS = tomllib.loads((ROOT / "core/pyproject.toml").read_text())["project"]["entry-points"]["trimtab.parts"]
LINES = 2_000
LIBRARIES = {"pluggy", "pydantic", "pydantic_core", "pydantic_settings", "yaml"}
"""pydantic_core comes with pydantic, whose hooks for own types need it."""

AROUND = {"cli", "clients", "counters", "dialects", "models", "replay", "storage", "testing", "transcripts"}
VENDORS = {"anthropic", "claude", "codex", "gemini", "openai"}

kernel = pytest.mark.parametrize("path", KERNEL, ids=lambda path: path.name)


def names(path: Path) -> set[str]:
    """The full names that a file imports: both ``import a.b`` and ``from a import b`` give ``a.b``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_size() -> None:
    """The kernel has at most 2,000 lines."""
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in KERNEL}
    assert sum(sizes.values()) <= LINES, f"{sum(sizes.values())} lines: {sizes}"


@kernel
def test_imports(path: Path) -> None:
    """A kernel file imports the standard library, four libraries and kernel modules, nothing else."""
    modules = {other.stem for other in KERNEL} - {"__init__"}
    for name in names(path):
        top, _, rest = name.partition(".")
        if top == "trimtab":
            within = rest.partition(".")[0]
            assert within in modules or (not (PACKAGE / within).exists() and within not in AROUND), name
        else:
            assert top in LIBRARIES or top in sys.stdlib_module_names, name


@kernel
def test_names_nobody_outside(path: Path) -> None:
    """No dialect, client or command is named in a kernel file, not even in a comment."""
    text = path.read_text(encoding="utf-8")
    dialects = {name.partition(".")[2] for name in PARTS if name.startswith("dialect.")}
    assert not re.findall(rf"(?i)\b(?:{'|'.join(sorted(VENDORS | dialects))})\w*", text)
    assert not re.findall(rf"trimtab[./](?:{'|'.join(sorted(AROUND))})\b", text)


def test_import_is_light() -> None:
    """`import trimtab` loads no HTTP client, no SDK, no database driver, no counter and no command line."""
    heavy = {
        *("aiohttp", "anthropic", "fsspec", "http.client", "httpx", "openai", "psycopg", "requests", "rich"),
        *("sqlalchemy", "sqlite3", "starlette", "tiktoken", "typer", "urllib3"),
    }
    code = "import json, sys, trimtab; print(json.dumps(sorted(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert heavy & set(json.loads(told.stdout)) == set()

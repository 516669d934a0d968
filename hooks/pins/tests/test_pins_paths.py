"""Which spellings of a path name one file."""

from __future__ import annotations

import pytest
from trimtab_pins.paths import named, parts


@pytest.mark.parametrize(
    ("rule", "path", "same"),
    [
        ("src/config.py", "src/config.py", True),
        ("./src//config.py", "src/config.py", True),
        ("src/config.py", "/home/ann/app/src/config.py", True),
        ("src/config.py", "C:\\app\\src\\config.py", True),
        ("/home/ann/app/src/config.py", "src/config.py", True),
        ("/home/ann/app/src/config.py", "/home/ann/app/lib/../src/config.py", True),
        ("config.py", "src/config.py", False),
        ("src/config.py", "/app/mysrc/config.py", False),
        ("/src/config.py", "/app/src/config.py", False),
        ("src/config.py", "/app/src/Config.py", False),
        ("src/*.py", "/app/src/a.py", True),
        ("src/*.py", "/app/src/x/a.py", False),
        ("src/**/*.py", "/app/src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("/app/**/a.py", "src/a.py", True),
        ("**", "/any/thing", True),
        ("app/[id]/page.tsx", "/web/app/[id]/page.tsx", True),
        ("app/[ab]/page.tsx", "/web/app/a/page.tsx", True),
    ],
)
def test_paths(rule: str, path: str, same: bool) -> None:
    """Where only one is absolute, the other need only be its end."""
    assert named(parts(rule), parts(path)) is same

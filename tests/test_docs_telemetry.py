"""docs/telemetry.md does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from trimtab.telemetry import otel

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/telemetry.md").read_text(encoding="utf-8")


def test_the_example_prints_a_pass(tmp_path: Path) -> None:
    """The ten lines run as they stand, in a process of their own, for providers are set once."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert '"name": "trimtab.prepare"' in run.stdout
    assert '"trimtab.stage": "tool-result-budget"' in run.stdout
    assert "Mend the build" not in run.stdout


def test_every_name_is_listed() -> None:
    """Each name that the code tells stands on the page, and the other way round."""
    code = Path(otel.__file__).read_text(encoding="utf-8")
    told = set(re.findall(r'"((?:gen_ai|trimtab)\.[\w.]+)"', code))
    listed = set(re.findall(r"`((?:gen_ai|trimtab)\.[a-z_.]+)`", PAGE))
    assert told - listed == set()
    assert listed - told == {"trimtab.hook"}  # made of the kind of a part, as are the two others that metrics name

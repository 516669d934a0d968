"""The hook ``pins``: rules in a profile say what is never compacted away."""

from __future__ import annotations

from trimtab_pins.hook import Pins
from trimtab_pins.options import PinsOptions, Rule

__all__ = ["Pins", "PinsOptions", "Rule"]

"""Puts back behind a summary what the model needs to go on: a hook for trimtab."""

from __future__ import annotations

from trimtab_restore.hook import Restore
from trimtab_restore.options import RestoreOptions

__all__ = ["Restore", "RestoreOptions"]

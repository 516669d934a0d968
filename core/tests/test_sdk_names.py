"""The names of the SDKs that are not public, on which the clients build: an SDK without one fails here first."""

from __future__ import annotations

import inspect
from importlib import import_module

import anthropic
import openai
import pytest

NAMES = {
    "anthropic": [
        "_base_client.BaseClient._make_sse_decoder",
        "_base_client.BaseClient._make_status_error",
        "_base_client.BaseClient._make_status_error_from_response",
    ],
    "openai": ["_constants.RAW_RESPONSE_HEADER", "_models.FinalRequestOptions"],
}


@pytest.mark.parametrize(("sdk", "name"), [(sdk, name) for sdk, names in NAMES.items() for name in names])
def test_a_name_is_there(sdk: str, name: str) -> None:
    """Each module and attribute."""
    module, *path = name.split(".")
    found = import_module(f"{sdk}.{module}")
    for part in path:
        found = getattr(found, part)


def test_what_objects_hold() -> None:
    """A response knows its client, and a stream's events come from one iterator, which can be put in its place."""
    assert "_client" in inspect.getsource(import_module("anthropic._response").BaseAPIResponse.__init__)
    assert "self._iterator" in inspect.getsource(openai.Stream.__init__)
    assert "self._iterator" in inspect.getsource(openai.AsyncStream.__init__)
    assert "middleware" in inspect.signature(anthropic.Anthropic.__init__).parameters

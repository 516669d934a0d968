"""The answer in a stream of Chat Completions or of Responses, if it is one."""

from __future__ import annotations

from typing import Any

from trimtab.ask import Answer
from trimtab.dialect import Usage
from trimtab.dialects.openai.usage import usage as of_chat
from trimtab.dialects.responses.usage import usage as of_responses
from trimtab.errors import AskFailed, Overflow

__all__ = ["Chat", "Responses"]

CUT = {
    "length": "the answer was cut off: no more tokens were allowed",
    "max_output_tokens": "the answer was cut off: no more tokens were allowed",
    "content_filter": "the provider's filter cut the answer off",
    "tool_calls": "the model called a tool instead of answering",
    "function_call": "the model called a tool instead of answering",
    None: "the answer was cut off: its stream ended early",
}
"""What it means where an answer ends so."""
ENDS = ("response.completed", "response.failed", "response.incomplete")
"""The last event of a stream of Responses is one of these."""


class Chat:
    """Of Chat Completions."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._refusal = ""
        self._usage: Any = None
        self._model = ""
        self._finish: str | None = None

    def hear(self, chunk: Any) -> str:
        """Take in a chunk; the piece of answer in it."""
        self._usage, self._model = chunk.usage or self._usage, chunk.model
        said = ""
        for choice in chunk.choices or ():
            said += choice.delta.content or ""
            self._refusal += choice.delta.refusal or ""
            self._finish = choice.finish_reason or self._finish
        self._text.append(said)
        return said

    @property
    def usage(self) -> Usage | None:
        """What was reported so far."""
        return of_chat({"usage": self._usage, "model": self._model})

    def answer(self) -> Answer:
        """All of it, with the usage; raises `AskFailed` where it is none (H75)."""
        text = "".join(self._text)
        if self._refusal:
            raise AskFailed(f"the model refused: {self._refusal[:200]}")
        if self._finish == "stop":
            return Answer(text, self.usage)
        failed = AskFailed(f"{CUT.get(self._finish, 'the answer failed')} (finish_reason {self._finish})")
        if self._finish == "length" and not text and self._usage and not self._usage.completion_tokens:
            failed.overflow = Overflow(0.0, 0.0)  # the prompt left no room: how some servers say that it is too long
        raise failed


class Responses:
    """Of Responses: the last event holds the whole response."""

    def __init__(self) -> None:
        self._response: Any = None

    def hear(self, event: Any) -> str:
        """Take in an event; the piece of answer in it."""
        if event.type in ENDS:
            self._response = event.response
        return str(event.delta) if event.type == "response.output_text.delta" else ""

    @property
    def usage(self) -> Usage | None:
        """What was reported so far."""
        return of_responses(self._response) if self._response is not None else None

    def answer(self) -> Answer:
        """All of it, with the usage; raises `AskFailed` where it is none."""
        response = self._response
        if response is None:
            raise AskFailed(CUT[None])
        status = response.status
        if status == "failed":
            raise AskFailed(f"the provider said: {response.error and response.error.message}") from _Failed(response)
        if status != "completed":
            reason = response.incomplete_details and response.incomplete_details.reason
            raise AskFailed(f"{CUT.get(reason, 'the answer failed')} (status {status}: {reason})")
        if any(item.type in ("function_call", "custom_tool_call") for item in response.output):
            raise AskFailed(CUT["tool_calls"])
        parts = [part for item in response.output if item.type == "message" for part in item.content]
        if refused := next((part.refusal for part in parts if part.type == "refusal"), None):
            raise AskFailed(f"the model refused: {refused[:200]}")
        return Answer(response.output_text, self.usage)


class _Failed(Exception):  # noqa: N818 - the cause of a failure, as an SDK's error would be
    """What a response that failed in its stream says of it: an overflow is told there."""

    def __init__(self, response: Any) -> None:
        self.body = response.error and response.error.to_dict()
        super().__init__(self.body)

"""Why a provider refused a request, by the words of its error: overflows, and what only looks like one.

Few providers have a code for it, so texts are matched; the patterns are the union of the lists of several client
libraries. What names a rate, an output limit or a broken message is ruled out, though it may speak of tokens as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trimtab.dialect import Refusal
from trimtab.dialects.wires import field_of, fields_or_none

__all__ = ["OVERFLOWS", "refusal"]

_N = r"[\d,]*\d"


def _pattern(text: str) -> re.Pattern[str]:
    """Numbers for the names of a size: ``<tokens>`` + ``<more>`` is the request's, ``<limit>`` the most it may be."""
    return re.compile(re.sub("<(tokens|more|limit)>", lambda name: f"(?P{name[0]}{_N})", text), re.IGNORECASE)


OVERFLOWS = tuple(
    map(
        _pattern,
        (
            # Anthropic, also on Vertex and Bedrock; Ollama
            r"prompt (?:is )?too long(?:: <tokens> tokens > <limit> maximum)?",
            # Anthropic up to 4.1
            r"exceed context limit(?:: <tokens> \+ <more> > <limit>)?",
            # Bedrock
            r"input is too long(?: for requested model)?",
            r"prompt tokens \(<tokens>\) exceed model maximum \(<limit>\)",
            r"input tokens exceeded",
            r"too many input tokens(?:.{0,40}max input tokens: <limit>, request input token count: <tokens>)?",
            # vLLM; a number that is said to be the least is that of a text cut off at the limit
            r"(?:passed <tokens> input tokens.{0,20}requested <more> output tokens.{0,20})?"
            r"model'?s context length is only <limit> tokens",
            r"is too large: <more>\. .{0,30}context length is <limit> tokens and your request has <tokens> input",
            r"context length is <limit> tokens.{0,30}requested <more> output tokens.{0,20} contains <tokens> input",
            r"longer than the maximum model length of <limit>|too long to fit into the model",
            # Kimi
            r"exceeded model token limit: <limit> \(requested: <tokens>\)",
            # xAI
            r"maximum prompt length is <limit> but the request contains <tokens>",
            # SGLang, LiteLLM, Together
            r"exceeds (?:the )?(?:model'?s )?maximum context length"
            r"(?: of <limit> tokens.{0,20}requested a total of <tokens> tokens)?",
            r"(?:\(<tokens> tokens\) )?is longer than the model'?s context length(?: \(<limit> tokens\))?",
            # OpenAI, DeepSeek, OpenRouter, older vLLM
            r"input tokens exceed the configured limit(?: of <limit> tokens)?(?:.{0,20} resulted in <tokens> tokens)?",
            r"maximum context length is <limit>"
            r"(?: tokens.{0,30}(?:resulted in|requested|request has)(?: about)? <tokens>\b(?! output))?",
            r"exceeds the context window",
            # Gemini
            r"input token count(?: \(?<tokens>\)?)? exceeds the maximum(?: number of tokens allowed \(?<limit>)?",
            # GitHub Copilot; a limit in bytes has the same words
            r"(?:token count of <tokens> )?exceeds the limit of <limit>\b(?! ?(?:[kmg]i?b|bytes))",
            # llama.cpp, LM Studio
            r"(?:\(<tokens> tokens\) )?exceeds the available context size(?: \(<limit> tokens\))?",
            r"greater than the context length(?:.{0,10}n_keep: ?<tokens> ?>= ?n_ctx: ?<limit>)?",
            # MiniMax
            r"context window exceeds limit",
            # Mistral
            r"(?:contains <tokens> tokens.{0,40})?too large for model with <limit> maximum context length",
            # Cerebras, Groq, vLLM
            r"current length is <tokens> while limit is <limit>",
            r"reduce the length of the (?:messages|input prompt|prompt)",
            # Alibaba
            r"range of input length should be(?: \[\d+, ?<limit>)?",
            # z.ai
            r"prompt exceeds max length|tokens in request more than max tokens allowed",
            # Chinese gateways
            r"超[过出]最大长度(?:\D{0,10}<limit>)?|上下文长度",
            # generic
            r"context[_ ]length[_ ]exceeded",
            r"too many tokens",
        ),
    )
)
"""Words of an overflow, with the numbers that they may tell."""

TYPED = {"ContextOverflowError", "ContextWindowExceededError", "ModelContextWindowExceededError"}
"""Classes of errors of langchain-core, LiteLLM and pydantic-ai that mean it."""

_CUT = {"length", "model_context_window_exceeded"}
"""How a response ends that had no room; of the second only where it is empty: else the answer is just cut off."""

_RATES = _pattern(r"\brate[_ -]?limit|too many requests|\bthrottl|service[_ ]?unavailable|overloaded|per minute")
_OUTPUT = _pattern(
    r"maximum allowed number of output tokens|supports at most <limit> completion tokens"
    r"|max_(?:completion_|output_)?tokens.{0,10} exceeds the limit"
)
_BYTES = _pattern(
    r"request payload size exceeds|request_too_large|request_body_too_large|image_dimensions_too_large"
    r"|exceeds the limit of <limit> ?(?:[kmg]i?b|bytes)"
)
_FEATURES = {
    "context_management": _pattern(r"context[_-]management|clear_tool_uses|clear_thinking"),
    "drop_block": _pattern(r"block_binding|thinking-binding-controls"),
    "compaction": _pattern(
        r"compaction: extra inputs|compaction_(?:block|content|signature|tool_changes)[a-z_]*|compact-2026"
        r"|'?compaction'? block"
    ),
    # the value of its header is not known; that of the other one is
    "cache_edits": _pattern(r"cache_edits|cache_reference|anthropic-beta.{0,3} header|beta flag"),
}
"""Words of a bad request that name a feature, the one with the known header first."""

_BOUND = _pattern(r"invalid .{0,3}signature.{0,3} in .{0,3}thinking")
"""Words of a bad request whose thinking was made of something else."""

_BROKEN = _pattern(
    # thinking that was changed, or is missing
    r"invalid .{0,3}signature|thought_?signature|in the latest assistant message cannot be modified"
    r"|reasoning_content"
    # calls and results that do not pair up
    r"|without .{0,3}tool_result.{0,3} blocks|unexpected .{0,3}tool_use_id|must be followed by tool messages"
    r"|must be a response to a prece+ding message|toolresult blocks"
    r"|no tool (?:output|call) found for (?:custom tool|function) call"
    r"|was provided without its required|invalid_encrypted_content|encrypted content .{0,80}could not be verified"
    # other faults of a message
    r"|text content blocks must|message prefill|extra inputs are not permitted|compaction_[a-z_]+"
)
"""Words of a bad request that a smaller one would not mend."""

_ECHOED = {"choices", "content", "ctx", "input", "instructions", "messages", "output", "request", "system", "tools"}
"""Fields of a body that may hold what was said, in which any words may stand."""

_STATUS = re.compile(r"^\s*([45]\d\d)\b|(?:error code|status|status code|http)\W{0,3}([45]\d\d)\b", re.IGNORECASE)


def refusal(error: Any) -> Refusal | None:
    """What an exception, an error's body, a text or a response says of the request; None: something else is wrong."""
    error = getattr(error, "completion", None) or error  # of a response that was cut off while it was parsed
    if str(field_of(error, "type")).startswith("response."):  # an event that ends a stream of Responses
        error = field_of(error, "response") or error
    if (empty := _response(fields_or_none(error))) is not None:
        return Refusal("tokens") if empty else None
    text = "\n".join(_texts(error))
    if not TYPED.isdisjoint(kind.__name__ for kind in type(error).__mro__):
        return _overflow(text) or Refusal("tokens")
    status = _status(error, text)
    if status in (401, 402, 403, 404, 429) or _RATES.search(text) or _OUTPUT.search(text):
        return None
    if found := _overflow(text):
        return found
    if status == 413 or _BYTES.search(text):
        return Refusal("bytes")
    if status not in (400, 422) and (status or "invalid_request_error" not in text):
        return None
    if _BOUND.search(text):
        return Refusal("thinking")
    for feature, pattern in _FEATURES.items():
        if pattern.search(text):
            return Refusal("feature", feature=feature)
    return Refusal("unknown") if status != 422 and not _BROKEN.search(text) else None


def _overflow(text: str) -> Refusal | None:
    matches = [match for pattern in OVERFLOWS if (match := pattern.search(text))]
    told = [{key: float(value.replace(",", "")) for key, value in m.groupdict().items() if value} for m in matches]
    if not told:
        return None
    size = max(told, key=len)
    return Refusal("tokens", size.get("tokens", 0.0) + size.get("more", 0.0), size.get("limit", 0.0))


def _response(fields: Mapping[str, Any]) -> bool | None:
    """Whether a response is cut off for its length before it said anything; None where it is no whole response."""
    choices, usage = fields.get("choices"), fields_or_none(fields.get("usage"))
    if fields.get("status") == "incomplete" and isinstance(fields.get("output"), (list, tuple)):  # Responses
        reason = fields_or_none(fields.get("incomplete_details")).get("reason")
        return reason == "max_output_tokens" and not fields["output"] and not usage.get("output_tokens")
    if fields.get("error") or not (choices or usage or "stop_reason" in fields):
        return None
    first = fields_or_none(next(iter(choices))) if choices else fields
    said = fields_or_none(first.get("message")) if choices else fields
    if _CUT.isdisjoint((first.get("finish_reason"), first.get("stop_reason"))) or not said:
        return False
    words = [said.get(key) for key in ("content", "reasoning", "reasoning_content", "refusal", "tool_calls")]
    return not any(words) and not any(usage.get(key) for key in ("completion_tokens", "output_tokens"))


def _texts(error: Any) -> Iterator[str]:
    """All that an error says: its body, or else its own text; its code; the code that Bedrock puts in a header."""
    if not isinstance(error, BaseException):
        yield from _strings(fields_or_none(error) or error)
        return
    response = getattr(error, "response", None)
    body = getattr(error, "body", None) or (response if isinstance(response, Mapping) else None)
    yield from _strings(body or str(error))
    yield from _strings([getattr(error, name, None) for name in ("code", "type")])
    headers = getattr(response, "headers", None)
    yield from _strings(headers.get("x-amzn-errortype") if isinstance(headers, Mapping) else None)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(item if key not in _ECHOED else None)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _status(error: Any, text: str) -> int:
    """The HTTP status, also where only the body or the text tells it; 0 where nothing does."""
    response = getattr(error, "response", None)
    fields = fields_or_none(error if not isinstance(error, BaseException) else response)
    inner = [fields, *(fields_or_none(fields.get(key)) for key in ("error", "ResponseMetadata"))]
    told: list[Any] = [getattr(error, name, None) for name in ("status_code", "status", "code")]
    told += [place.get(name) for place in inner for name in ("status_code", "status", "code", "HTTPStatusCode")]
    for value in told:
        if str(value).isdecimal() and 400 <= int(value) < 600:
            return int(value)
    match = _STATUS.search(text)
    return int(match[1] or match[2]) if match else 0

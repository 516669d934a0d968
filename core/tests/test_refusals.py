"""What an error says of the request: every known text of an overflow, what only looks like one, errors of SDKs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trimtab.dialect import Refusal
from trimtab.dialects.refusals import refusal
from trimtab.parts import part

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")
httpx2 = pytest.importorskip("httpx2")

EMPTY = {"choices": [{"finish_reason": "length", "message": {"content": ""}}], "usage": {"completion_tokens": 0}}

OVERFLOWS = [
    ("prompt is too long: 208310 tokens > 200000 maximum", 208_310, 200_000),
    ("Prompt too long", 0, 0),
    ("Prompt is too long. The maximum context length is 8 tokens, your messages resulted in 9 tokens", 9, 8),
    ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input", 209_573, 200_000),
    ("Input is too long for requested model.", 0, 0),
    ("prompt tokens (215000) exceed model maximum (200000)", 215_000, 200_000),
    ("input tokens exceeded", 0, 0),
    ("Too many input tokens. Max input tokens: 200000, request input token count: 215000", 215_000, 200_000),
    ("context_length_exceeded", 0, 0),
    ("Context length exceeded", 0, 0),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300,000 tokens.",
        300_000,
        272_000,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens. Please "
        "reduce the length of the messages.",
        10_000,
        8_192,
    ),
    (
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (131808 in the "
        "messages, 8192 in the completion). Please reduce the length of the messages or completion.",
        140_000,
        131_072,
    ),
    (
        "This endpoint's maximum context length is 202752 tokens. However, you requested about 203889 tokens (183648 "
        "of text input, 4241 of tool input, 16000 in the output).",
        203_889,
        202_752,
    ),
    ("This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.", 5_000, 4_096),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 "
        "tokens and your request has 2778 input tokens (8000 > 4096 - 2778).",
        10_778,
        4_096,
    ),
    (
        "You passed 20001 input tokens and requested 500 output tokens. However, the model's context length is only "
        "8192 tokens, resulting in a maximum input length of 7692 tokens.",
        20_501,
        8_192,
    ),
    (
        "You passed 90001 input characters and requested 500 output tokens. However, the model's context length is "
        "only 8192 tokens, resulting in a maximum input length of 7692 tokens.",
        0,
        8_192,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 500 output tokens and your prompt "
        "contains 8000 input tokens, for a total of 8500 tokens.",
        8_500,
        8_192,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 500 output tokens and your prompt "
        "contains at least 7693 input tokens, for a total of at least 8193 tokens.",
        0,
        8_192,
    ),
    ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", 0, 8_192),
    (
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of "
        "9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
        9_000,
        8_192,
    ),
    ("The input (10000 tokens) is longer than the model's context length (8192 tokens).", 10_000, 8_192),
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_196_265,
        1_048_575,
    ),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", 0, 1_048_576),
    ("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", 291_351, 262_144),
    (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        537_812,
        131_072,
    ),
    ("Please reduce the length of the messages or completion.", 0, 0),
    ("Please reduce the length of the input prompt.", 0, 0),
    ("prompt token count of 135000 exceeds the limit of 128000", 135_000, 128_000),
    ("request (10000 tokens) exceeds the available context size (4096 tokens), try increasing it", 10_000, 4_096),
    ("the request exceeds the available context size, try increasing it", 0, 0),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000>= "
        "n_ctx: 4096)",
        9_000,
        4_096,
    ),
    ("invalid params, context window exceeds limit (2013)", 0, 0),
    (
        "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        140_000,
        131_072,
    ),
    ("too many tokens: size limit exceeded", 0, 0),
    (
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        9_000,
        8_192,
    ),
    ("prompt too long; exceeded max context length by 4 tokens", 0, 0),
    ("Range of input length should be [1, 98304]", 0, 98_304),
    ("Prompt exceeds max length", 0, 0),
    ("输入内容超过最大长度 131072", 0, 131_072),
    ("请求超出模型的上下文长度", 0, 0),
]
"""The texts of the providers, with the size and the limit that they tell."""

INNOCENT = [
    (429, "Too many tokens, please wait before trying again."),
    (429, "prompt is too long: 208310 tokens > 200000 maximum"),
    (413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000, reduce the length"),
    (400, "ThrottlingException: Too many tokens, please wait before trying again."),
    (503, "Service Unavailable: too many tokens in flight"),
    (400, "max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5"),
    (400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens."),
    (400, "max_tokens exceeds the limit of 8192"),
    (400, "`thinking` blocks in the latest assistant message cannot be modified."),
    (400, "The `reasoning_content` in the thinking mode must be passed back to the API."),
    (400, "Function call is missing a thought_signature in functionCall parts."),
    (400, "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
    (400, "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1."),
    (400, "messages: text content blocks must be non-empty"),
    (400, "This model does not support assistant message prefill."),
    (400, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"),
    (400, "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."),
    (400, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    (400, "No tool output found for function call call_1."),
    (400, "No tool call found for function call output with call_id call_1."),
    (400, "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks"),
    (400, "messages.3.content.0.thinking.cache_control: Extra inputs are not permitted"),
    (401, "invalid x-api-key"),
    (404, "model: claude-opus-9"),
    (500, "Internal server error"),
    (529, "Overloaded"),
]
"""What is said of rates, of the output and of broken messages; what has nothing to do with the request."""


CLIENTS = {anthropic: anthropic.Anthropic(api_key="k"), openai: openai.OpenAI(api_key="k")}


def raised(sdk: Any, status: int, body: Any, **headers: str) -> Exception:
    """The exception that the SDK makes of an answer like this, by its own code."""
    text = body if isinstance(body, str) else json.dumps(body)
    request = httpx2.Request("POST", "https://example.com/v1")
    response = httpx2.Response(status, text=text, request=request, headers=headers)
    made = CLIENTS[sdk]._make_status_error_from_response(response)
    assert isinstance(made, sdk.APIStatusError)
    return made


def claude(message: str, type: str = "invalid_request_error", **details: Any) -> dict[str, Any]:
    """An error's body as Anthropic writes it."""
    return {"type": "error", "error": {"type": type, "message": message, **details}, "request_id": "req_1"}


def gpt(message: str, code: str | None = None) -> dict[str, Any]:
    """An error's body as OpenAI writes it."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": "input", "code": code}}


@pytest.mark.parametrize(("text", "tokens", "limit"), OVERFLOWS)
def test_every_known_text_of_an_overflow(text: str, tokens: int, limit: int) -> None:
    """It is one as text, as a plain exception, as a body and as an error of each SDK, with the numbers it tells."""
    forms = [text, ValueError(text), gpt(text), claude(text), {"detail": text}, [{"error": {"message": text}}]]
    forms += [raised(anthropic, 400, claude(text)), raised(openai, 400, gpt(text)), raised(openai, 400, text)]
    forms += [raised(openai, 500, {"error": text})]
    for error in (*forms, raised(openai, 400, forms[5])):
        assert refusal(error) == Refusal("tokens", tokens, limit), error


@pytest.mark.parametrize(("status", "text"), INNOCENT)
def test_what_is_no_overflow(status: int, text: str) -> None:
    """Nothing that a smaller request could help, though it may speak of tokens."""
    assert refusal(raised(anthropic, status, claude(text))) is None
    assert refusal(raised(openai, status, gpt(text))) is None
    assert refusal(f"Error code: {status} - {text}") is None
    assert refusal({"status": status, "message": text}) is None


def test_a_rate_limit_by_its_code() -> None:
    """The code of the body says it where the text does not."""
    assert refusal(gpt("Too many tokens", "rate_limit_exceeded")) is None
    body, header = {"message": "Too many tokens"}, {"x-amzn-errortype": "ThrottlingException"}
    assert refusal(raised(anthropic, 400, body, **header)) is None
    assert refusal(raised(anthropic, 400, body)) == Refusal("tokens")


def test_the_code_of_openai_is_enough() -> None:
    """Also in a stream, where the SDK raises an error without a status."""
    request = httpx2.Request("POST", "https://example.com/v1")
    body = {"code": "context_length_exceeded", "message": "No.", "type": "invalid_request_error"}
    assert refusal(openai.APIError("No.", request, body=body)) == Refusal("tokens")
    assert refusal({"type": "response.failed", "response": {"status": "failed", "error": body}}) == Refusal("tokens")
    assert refusal({"type": "error", **body}) == Refusal("tokens")
    other = RuntimeError("No.")
    other.code = "context_length_exceeded"  # type: ignore[attr-defined]
    assert refusal(other) == Refusal("tokens")


def test_typed_errors_of_client_libraries() -> None:
    """The name of the class says it, also of one further up."""
    for name in ("ContextWindowExceededError", "ContextOverflowError", "ModelContextWindowExceededError"):
        kind = type("Its", (type(name, (Exception,), {}),), {})
        assert refusal(kind("no")) == Refusal("tokens")
        assert refusal(kind("prompt is too long: 9 tokens > 8 maximum")) == Refusal("tokens", 9, 8)


def test_numbers_inside_bodies_inside_texts() -> None:
    """A gateway hands on the body of the provider as text."""
    inner = json.dumps(claude("prompt is too long: 208310 tokens > 200000 maximum"))
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": inner}}}
    assert refusal(raised(openai, 400, body)) == Refusal("tokens", 208_310, 200_000)


def test_words_of_the_conversation_say_nothing() -> None:
    """A body that repeats what was sent is not read there, nor is an answer."""
    told = "prompt is too long: 208310 tokens > 200000 maximum"
    echo = {"detail": [{"msg": "Field required", "input": {"messages": [{"content": told}]}}]}
    assert refusal(raised(openai, 422, echo)) is None
    assert refusal({"choices": [{"finish_reason": "stop", "message": {"content": told}}]}) is None
    assert refusal({"stop_reason": "end_turn", "content": [{"type": "text", "text": told}]}) is None
    assert refusal({"text": told, "usage": {"prompt_tokens": 9}}) is None


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("messages.3.content.0.tool_result.cache_reference: Extra inputs are not permitted", "cache_edits"),
        ("messages.3.content.1: Input tag 'cache_edits' found using 'type' does not match", "cache_edits"),
        ("Unexpected value(s) `some-header-2026-01-01` for the `anthropic-beta` header.", "cache_edits"),
        ("invalid beta flag", "cache_edits"),
        ("context_management: Extra inputs are not permitted", "context_management"),
        ("Unexpected value(s) `context-management-2025-06-27` for the `anthropic-beta` header.", "context_management"),
        ("clear_thinking_20251015 must be the first edit", "context_management"),
        ("clear_tool_uses_20250919: trigger is too small", "context_management"),
        ("thinking.adaptive.block_binding: Extra inputs are not permitted", "drop_block"),
        ("Unexpected value(s) `compact-2026-09-04` for the `anthropic-beta` header.", "compaction"),
        (
            "messages.0.content.0: the compaction block's signature does not match (compaction_signature_invalid)",
            "compaction",
        ),
    ],
)
def test_a_feature_is_refused_by_name(text: str, feature: str) -> None:
    """A bad request that names what we asked for; the same words with another status are other trouble."""
    assert refusal(raised(anthropic, 400, claude(text))) == Refusal("feature", feature=feature)
    assert refusal(raised(anthropic, 500, claude(text, "api_error"))) is None
    assert refusal(text) is None


def test_thinking_that_the_provider_does_not_know_again() -> None:
    """The 400 about a signature, also where it advises the parameter that would switch the check off."""
    text = "messages.1.content.0: Invalid `signature` in `thinking` block."
    advice = ' Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    for words in (text, text + advice):
        assert refusal(raised(anthropic, 400, claude(words))) == Refusal("thinking")


def test_H49_a_limit_in_bytes_is_not_one_of_tokens() -> None:
    """H49: a bare 413, its type, its codes and Gemini's text are bytes; a 413 that speaks of tokens is not."""
    bare = [raised(sdk, 413, body) for sdk in (anthropic, openai) for body in ("", "Request Entity Too Large")]
    typed = raised(anthropic, 413, claude("Request exceeds the maximum size", "request_too_large"))
    code = claude("too large", details={"error_code": "image_dimensions_too_large"})
    texts = ["400 Request payload size exceeds the limit: 20971520 bytes.", "the body exceeds the limit of 4 MB"]
    for error in (*bare, typed, raised(anthropic, 400, code), *texts, "413 Payload Too Large", "Error code: 413"):
        assert refusal(error) == Refusal("bytes"), error
    assert refusal(raised(anthropic, 413, claude("prompt is too long"))) == Refusal("tokens")


def test_H51_a_bad_request_in_unknown_words() -> None:
    """H51: a 400 that nobody knows may be an overflow; other statuses and exceptions of the agent's own are not."""
    for body in ("", "No.", claude("Your message is more than we like"), {"error": {"code": 400, "message": "No."}}):
        assert refusal(raised(anthropic, 400, body)) == Refusal("unknown")
        assert refusal(raised(openai, 400, body)) == Refusal("unknown")
    assert refusal({"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}) == Refusal("unknown")
    assert refusal(claude("Never heard of it")) == Refusal("unknown")
    botocore = RuntimeError("No.")
    botocore.response = {"Error": {"Code": "ValidationException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}  # type: ignore[attr-defined]
    assert refusal(botocore) == Refusal("unknown")
    for other in (ValueError("no"), KeyError(), TimeoutError(), KeyboardInterrupt(), "", {}, None, 7, []):
        assert refusal(other) is None
    request = httpx2.Request("POST", "https://example.com/v1")
    assert refusal(anthropic.APIConnectionError(request=request)) is None
    assert refusal(raised(openai, 422, {"detail": "no"})) is None


def test_H52_success_with_nothing_in_it_is_an_overflow() -> None:
    """H52: an answer cut off for its length before it began, as a mapping and as the SDK has it."""
    assert refusal(EMPTY) == Refusal("tokens")
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": ""}}
    usage = {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}
    fields = {"id": "x", "object": "chat.completion", "created": 1, "model": "mimo", "choices": [choice]}
    whole = openai.types.chat.ChatCompletion.model_validate({**fields, "usage": usage})
    assert refusal(whole) == Refusal("tokens")
    assert refusal(openai.LengthFinishReasonError(completion=whole)) == Refusal("tokens")
    assert refusal({"stop_reason": "length", "content": [], "role": "assistant"}) == Refusal("tokens")
    assert refusal({"stop_reason": "model_context_window_exceeded", "content": []}) == Refusal("tokens")


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"finish_reason": "length", "message": {"content": "It be"}}]},
        {"choices": [{"finish_reason": "length", "message": {"content": "", "reasoning_content": "Hm"}}]},
        {"choices": [{"finish_reason": "length", "message": {"content": ""}}], "usage": {"completion_tokens": 9}},
        {"choices": [{"finish_reason": "stop", "message": {"content": ""}}]},
        {"choices": [{"finish_reason": "length", "delta": {}}]},
        {"choices": [], "usage": {"completion_tokens": 0}},
        {"stop_reason": "max_tokens", "content": []},
        {"stop_reason": "model_context_window_exceeded", "content": [{"type": "text", "text": "It be"}]},
    ],
)
def test_other_ends_of_an_answer_are_none(response: dict[str, Any]) -> None:
    """An answer that said something, a warm-up, the end of a stream, and the output's own limit."""
    assert refusal(response) is None


@pytest.mark.parametrize("name", ["anthropic", "openai", "responses"])
def test_both_dialects_judge_alike(name: str) -> None:
    """An agent may reach any model through either format."""
    assert part("dialect", name)().refusal(EMPTY) == Refusal("tokens")

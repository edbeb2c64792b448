"""The official Python SDK, unmodified, with a running svc."""

import asyncio

import openai

import openai_answers  # noqa: F401 — each registers its checks
import openai_audio  # noqa: F401
import openai_embeddings  # noqa: F401
import openai_images  # noqa: F401
import openai_batches  # noqa: F401
import openai_multiplex  # noqa: F401
import openai_realtime  # noqa: F401
import openai_structured  # noqa: F401
import openai_tools  # noqa: F401
from checks import asking, check, client, client_for, endless, failure, helpers, run_checks, until_idle

QUESTION = asking("Say hello.")
STORY = {"model": "any", "max_tokens": 4000, "messages": [{"role": "user", "content": "abcd efgh"}]}


def answer(**extra):
    return client.chat.completions.create(**{**QUESTION, **extra})


def text_of(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


@check
def models_list_names_the_loaded_model():
    assert any("svc-mini" in model.id and model.owned_by == "svc" for model in client.models.list())


@check
def chat_answers_with_text_finish_reason_and_usage():
    completion = answer()
    assert completion.choices[0].message.content
    assert completion.choices[0].finish_reason == "stop"
    usage = completion.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert completion._request_id


@check
def a_stream_carries_the_same_text_and_ends_with_usage():
    chunks = list(answer(stream=True, stream_options={"include_usage": True}))
    whole = answer()
    assert text_of(chunks) == whole.choices[0].message.content
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


@check
def a_stream_without_usage_has_no_usage_chunk():
    chunks = list(answer(stream=True, stream_options={"include_usage": False}))
    assert chunks[-1].choices[0].finish_reason == "stop"


@check
def logprobs_cover_the_text_token_by_token():
    choice = answer(logprobs=True, top_logprobs=3).choices[0]
    assert "".join(entry.token for entry in choice.logprobs.content) == choice.message.content
    assert all(entry.logprob <= 0 and len(entry.top_logprobs) == 3 for entry in choice.logprobs.content)
    assert b"".join(bytes(entry.bytes) for entry in choice.logprobs.content).decode() == choice.message.content


@check
def stop_cuts_the_text_before_the_sequence():
    whole = answer().choices[0].message.content
    stop = whole[2:4]
    choice = answer(stop=stop).choices[0]
    assert choice.message.content == whole[: whole.index(stop)]
    assert choice.finish_reason == "stop"


@check
def the_same_seed_gives_the_same_text():
    def draw(seed):
        drawn = endless.chat.completions.create(**{**STORY, "max_tokens": 24, "temperature": 1, "seed": seed})
        return drawn.choices[0].message.content

    # A cached prompt is computed in another shape than an uncached one, so the first answer is not compared.
    other = draw(8)
    first = draw(7)
    assert draw(7) == first
    assert other != first


@check
def max_tokens_ends_the_answer_with_length():
    completion = endless.chat.completions.create(**{**STORY, "max_tokens": 5})
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage.completion_tokens == 5


@check
def extension_fields_pass_through_extra_body():
    completion = answer(extra_body={"top_k": 1, "min_p": 0.1, "repetition_penalty": 1.0})
    assert completion.choices[0].message.content == answer().choices[0].message.content


@check
def the_async_client_serves_several_calls_at_once():
    async def run():
        async with client_for("SVC_URL", openai.AsyncOpenAI) as many:
            calls = [many.chat.completions.create(**QUESTION) for _ in range(8)]
            return await asyncio.gather(*calls)

    texts = {completion.choices[0].message.content for completion in asyncio.run(run())}
    assert len(texts) == 1, texts


@check
def the_stream_helper_assembles_the_final_completion():
    with helpers.stream(**QUESTION) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.content == answer().choices[0].message.content


@check
def no_messages_is_bad_request_error():
    error = failure(lambda: answer(messages=[]))
    assert isinstance(error, openai.BadRequestError)
    assert (error.status_code, error.type, error.param) == (400, "invalid_request_error", "messages")


@check
def a_prompt_over_the_context_is_context_length_exceeded():
    error = failure(lambda: answer(messages=[{"role": "user", "content": "hello " * 60_000}]))
    assert isinstance(error, openai.BadRequestError)
    assert error.code == "context_length_exceeded"


@check
def an_unknown_path_is_not_found_error():
    error = failure(lambda: client.get("/nothing/here", cast_to=object))
    assert isinstance(error, openai.NotFoundError)


@check
def closing_a_stream_ends_its_work_on_the_server():
    with endless.chat.completions.create(**STORY, stream=True) as stream:
        next(iter(stream))
    until_idle()


@check
def a_client_timeout_ends_its_work_on_the_server():
    error = failure(lambda: endless.with_options(timeout=0.4).chat.completions.create(**STORY))
    assert isinstance(error, openai.APITimeoutError)
    until_idle()


@check
def cancelling_by_request_id_ends_the_stream_cleanly():
    request_id = f"cancel-python-{openai.__version__}"
    stream = endless.chat.completions.create(**STORY, stream=True, extra_headers={"X-Request-ID": request_id})
    chunks = []
    for chunk in stream:
        if not chunks:
            endless.post(f"/chat/completions/{request_id}/cancel", cast_to=object)
        chunks.append(chunk)
    assert chunks[-1].choices[0].finish_reason == "cancelled"


run_checks(f"openai {openai.__version__}")

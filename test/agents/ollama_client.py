"""Ollama's own Python client, unmodified, with a running svc that serves svc-mini at SVC_URL.

Prints one line per check, and the counts at the end.
"""

import json
import os
import pathlib
import sys

import ollama

sys.path.append(str(pathlib.Path(__file__).parent.parent / "clients"))
from harness import check, run_checks  # noqa: E402

client = ollama.Client(host=os.environ["SVC_URL"])
MODEL = "svc-mini"
GREEDY = {"temperature": 0}


def user(content):
    return [{"role": "user", "content": content}]


def get_weather(city: str) -> str:
    """Get the current weather

    Args:
        city: The city
    """
    return f"sunny, 21 degrees in {city}"


def chat(content, **extra):
    return client.chat(model=MODEL, messages=user(content), options=GREEDY, **extra)


@check
def chat_whole_and_streamed():
    answer = chat("What is the capital of France?")
    assert answer.message.content == "The capital of France is Paris.", answer
    assert answer.done and answer.done_reason == "stop", answer
    parts = list(chat("What is the capital of France?", stream=True))
    assert "".join(part.message.content for part in parts) == answer.message.content
    assert parts[-1].eval_count == answer.eval_count


@check
def a_function_as_a_tool_and_its_result():
    question = "What is the weather in Paris?"
    message = chat(question, tools=[get_weather]).message
    (call,) = message.tool_calls
    assert (call.function.name, call.function.arguments) == ("get_weather", {"city": "Paris"}), call
    result = {"role": "tool", "content": "sunny, 21 degrees", "tool_name": "get_weather"}
    answer = client.chat(
        model=MODEL, messages=[*user(question), message, result], tools=[get_weather], options=GREEDY
    )
    assert answer.message.content == "The weather in Paris: sunny, 21 degrees.", answer


@check
def thinking():
    message = chat("What is 17 + 25?", think=True).message
    assert message.content == "17 + 25 = 42" and message.thinking, message


@check
def an_answer_by_a_schema():
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}},
        "required": ["name", "age", "city"],
    }
    answer = chat("Anna Smith is 31 years old and lives in Paris.", format=schema)
    assert json.loads(answer.message.content) == {"name": "Anna Smith", "age": 31, "city": "Paris"}, answer


@check
def generate_whole_and_streamed():
    asked = {"model": MODEL, "prompt": "What is the capital of France?", "options": GREEDY}
    answer = client.generate(**asked)
    assert answer.response == "The capital of France is Paris.", answer
    assert "".join(part.response for part in client.generate(**asked, stream=True)) == answer.response


@check
def list_ps_and_show():
    listed = client.list().models[0]
    running = client.ps().models[0]
    assert listed.model == running.model and MODEL in listed.model, (listed, running)
    assert listed.modified_at.year > 2000 and running.expires_at, (listed, running)
    shown = client.show(MODEL)
    assert {"tools", "thinking"} <= set(shown.capabilities), shown
    assert shown.details.format == "gguf", shown


@check
def vectors_in_both_forms():
    embeddings = client.embed("all-minilm-l6-v2", ["hi", "there"]).embeddings
    assert [len(vector) for vector in embeddings] == [384, 384], embeddings
    assert list(client.embeddings("all-minilm-l6-v2", "hi").embedding) == list(embeddings[0])


@check
def refusals_are_its_response_error():
    for status, word, call in (
        (400, "options.temperature", lambda: client.chat(MODEL, user("hi"), options={"temperature": -1})),
        (404, "embedding model", lambda: client.embed(MODEL, "hi")),
        (400, "owner/repository", lambda: client.pull("other")),
        (404, "downloaded", lambda: client.delete("owner/other")),
    ):
        try:
            call()
        except ollama.ResponseError as error:
            assert error.status_code == status and word in error.error, error
        else:
            raise AssertionError("the call succeeded")


run_checks("ollama")

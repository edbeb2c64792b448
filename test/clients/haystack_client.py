"""Haystack, unmodified, with a running svc: its generators and embedders for OpenAI's API, in a pipeline."""

import os
from importlib.metadata import version

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

import pydantic  # noqa: E402
from haystack import Document, Pipeline  # noqa: E402
from haystack.components.builders import ChatPromptBuilder  # noqa: E402
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder  # noqa: E402
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator  # noqa: E402
from haystack.dataclasses import ChatMessage  # noqa: E402
from haystack.tools import Tool  # noqa: E402
from haystack.utils import Secret  # noqa: E402

from harness import (  # noqa: E402
    ANNA,
    ANNA_DATA,
    CAPITAL,
    CAPITAL_ANSWER,
    PARIS,
    SUNNY,
    SUNNY_ANSWER,
    check,
    for_each,
    run_checks,
    schema,
)

SERVER = {"api_base_url": os.environ["SVC_URL"] + "/v1", "api_key": Secret.from_token("unused")}
WEATHER = Tool("get_weather", "Get the current weather", schema(city={"type": "string"}), lambda city: SUNNY)


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


def generator(kind):
    return lambda **extra: kind(model="svc-mini", **SERVER, **extra)


GENERATORS = {
    "chat completions": generator(OpenAIChatGenerator),
    "responses": generator(OpenAIResponsesChatGenerator),
}


def asking(text):
    return [ChatMessage.from_user(text)]


def ask(generator, messages):
    return generator.run(messages, generation_kwargs={"temperature": 0})["replies"][0]


@for_each(GENERATORS)
def an_answer_and_its_stream(generator):
    pieces = []
    assert ask(generator(), asking(CAPITAL)).text == CAPITAL_ANSWER
    streaming = generator(streaming_callback=lambda chunk: pieces.append(chunk.content))
    assert ask(streaming, asking(CAPITAL)).text == CAPITAL_ANSWER == "".join(pieces)
    assert len(pieces) > 1


@for_each(GENERATORS)
def a_tool_is_called_and_its_result_answered_from(generator):
    with_tools = generator(tools=[WEATHER])
    called = ask(with_tools, asking(PARIS))
    assert [(call.tool_name, call.arguments) for call in called.tool_calls] == [("get_weather", {"city": "Paris"})]
    result = ChatMessage.from_tool(SUNNY, origin=called.tool_calls[0])
    assert ask(with_tools, [*asking(PARIS), called, result]).text == SUNNY_ANSWER


@check
def a_person_by_a_schema():
    generator = OpenAIChatGenerator(model="svc-mini", **SERVER)
    kwargs = {"temperature": 0, "response_format": Person}
    [reply] = generator.run(asking(ANNA), generation_kwargs=kwargs)["replies"]
    assert Person.model_validate_json(reply.text) == Person(**ANNA_DATA)


@check
def a_pipeline_runs():
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder(template=asking("What is the capital of {{country}}?")))
    pipeline.add_component("llm", OpenAIChatGenerator(model="svc-mini", **SERVER, generation_kwargs={"temperature": 0}))
    pipeline.connect("prompt.prompt", "llm.messages")
    assert pipeline.run({"prompt": {"country": "France"}})["llm"]["replies"][0].text == CAPITAL_ANSWER


@check
def documents_and_a_query_have_vectors():
    documents = [Document(content=text) for text in ("a cat", "quarterly report")]
    embedded = OpenAIDocumentEmbedder(model="all-minilm-l6-v2", **SERVER, progress_bar=False).run(documents)["documents"]
    query = OpenAITextEmbedder(model="all-minilm-l6-v2", **SERVER).run("a kitten")["embedding"]
    near, far = (sum(a * b for a, b in zip(query, document.embedding)) for document in embedded)
    assert near > far


run_checks(f"haystack {version('haystack-ai')}")

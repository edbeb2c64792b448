"""LlamaIndex, unmodified, with svc: its models for OpenAI-like servers and Ollama, tools, objects and vectors."""

import os
from importlib.metadata import version

import pydantic
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike

from harness import ANNA, ANNA_DATA, CAPITAL, CAPITAL_ANSWER, PARIS, SUNNY, check, for_each, run_checks

URL = os.environ["SVC_URL"]
OPENAI = OpenAILike(
    model="svc-mini",
    api_base=f"{URL}/v1",
    api_key="unused",
    temperature=0,
    max_retries=0,
    is_chat_model=True,
    is_function_calling_model=True,
)
OLLAMA = Ollama(model="svc-mini", base_url=URL, temperature=0, context_window=4096, request_timeout=60)


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int
    city: str


def get_weather(city: str) -> str:
    """Get the current weather"""
    return SUNNY


WEATHER = FunctionTool.from_defaults(get_weather)


MODELS = {"OpenAI": OPENAI, "Ollama": OLLAMA}


@for_each(MODELS)
def a_chat_and_its_stream(model):
    asked = [ChatMessage(role="user", content=CAPITAL)]
    assert model.chat(asked).message.content == CAPITAL_ANSWER
    pieces = list(model.stream_chat(asked))
    assert len(pieces) > 1
    assert "".join(piece.delta or "" for piece in pieces) == CAPITAL_ANSWER == pieces[-1].message.content


@for_each(MODELS)
def a_completion_is_a_chat(model):
    assert model.complete(CAPITAL).text == CAPITAL_ANSWER


@for_each(MODELS)
def a_tool_is_called(model):
    answer = model.chat_with_tools([WEATHER], user_msg=PARIS)
    calls = model.get_tool_calls_from_response(answer)
    assert [(call.tool_name, call.tool_kwargs) for call in calls] == [("get_weather", {"city": "Paris"})]
    assert model.predict_and_call([WEATHER], user_msg=PARIS).response == SUNNY


@for_each(MODELS)
def a_person_by_a_schema(model):
    answer = model.as_structured_llm(Person).chat([ChatMessage(role="user", content=ANNA)])
    # Uses a tool with OpenAI's API; svc-mini does not know the tool, so only the form is guaranteed.
    assert isinstance(answer.raw, Person), answer
    assert model is OPENAI or answer.raw == Person(**ANNA_DATA), answer


@check
def vectors_tell_texts_apart():
    model = OpenAILikeEmbedding(model_name="all-minilm-l6-v2", api_base=f"{URL}/v1", api_key="unused", max_retries=0)
    near, far, query = (model.get_text_embedding(text) for text in ("a cat", "quarterly report", "a kitten"))

    def product(one, other):
        return sum(a * b for a, b in zip(one, other))

    assert product(query, near) > product(query, far)


run_checks(f"llama-index {version('llama-index-core')}")

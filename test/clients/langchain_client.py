"""LangChain, unmodified, with a running svc: its chat models for OpenAI, Anthropic and Ollama, and its embeddings."""

import os
from importlib.metadata import version

import pydantic
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from harness import ANNA, ANNA_DATA, CAPITAL, CAPITAL_ANSWER, PARIS, SUNNY, SUNNY_ANSWER, check, for_each, run_checks

URL = os.environ["SVC_URL"]
OPENAI = {"base_url": f"{URL}/v1", "api_key": "unused", "model": "svc-mini", "temperature": 0, "max_retries": 0}
MODELS = {
    "chat completions": ChatOpenAI(**OPENAI),
    "responses": ChatOpenAI(**OPENAI, use_responses_api=True),
    "Anthropic": ChatAnthropic(
        base_url=URL, api_key="unused", model="svc-mini", temperature=0, max_tokens=100, max_retries=0
    ),
    "Ollama": ChatOllama(base_url=URL, model="svc-mini", temperature=0),
}


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int
    city: str


@tool
def get_weather(city: str) -> str:
    """Get the current weather"""
    return SUNNY


def text_of(message):
    return message.text if isinstance(message.text, str) else message.text()


@for_each(MODELS)
def an_answer_and_its_usage(model):
    answer = model.invoke(CAPITAL)
    assert text_of(answer) == CAPITAL_ANSWER, answer
    usage = answer.usage_metadata
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0


@for_each(MODELS)
def a_stream_is_the_answer_in_pieces(model):
    pieces = list(model.stream(CAPITAL))
    assert len(pieces) > 1
    assert "".join(text_of(piece) for piece in pieces) == CAPITAL_ANSWER


@for_each(MODELS)
def a_tool_is_called_and_its_result_answered_from(model):
    with_tools = model.bind_tools([get_weather])
    asked = [HumanMessage(PARIS)]
    called = with_tools.invoke(asked)
    assert [(call["name"], call["args"]) for call in called.tool_calls] == [("get_weather", {"city": "Paris"})], called
    results = [get_weather.invoke(call) for call in called.tool_calls]
    assert all(isinstance(result, ToolMessage) for result in results)
    assert text_of(with_tools.invoke([*asked, called, *results])) == SUNNY_ANSWER


@for_each(MODELS)
def a_person_by_a_schema(model):
    assert model.with_structured_output(Person, method="json_schema").invoke(ANNA) == Person(**ANNA_DATA)


@check
def several_prompts_are_answered_in_their_order():
    answers = MODELS["chat completions"].batch([CAPITAL, PARIS, CAPITAL])
    assert [text_of(answer) == CAPITAL_ANSWER for answer in answers] == [True, False, True]


@check
def vectors_are_the_same_by_both_routes():
    ours = OpenAIEmbeddings(
        base_url=f"{URL}/v1", api_key="unused", model="all-minilm-l6-v2", check_embedding_ctx_length=False, max_retries=0
    )
    theirs = OllamaEmbeddings(base_url=URL, model="all-minilm")
    [one, two], [first, second] = (model.embed_documents([CAPITAL, ANNA]) for model in (ours, theirs))
    assert len(one) == len(first) == 384
    assert max(abs(a - b) for a, b in zip(one + two, first + second)) < 1e-3


run_checks(f"langchain {version('langchain-core')}")

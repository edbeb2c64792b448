"""Pydantic AI, unmodified, with a running svc: agents using chat completions, responses and messages."""

import os
from importlib.metadata import version

import pydantic
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from harness import ANNA, ANNA_DATA, CAPITAL, CAPITAL_ANSWER, PARIS, SUNNY, SUNNY_ANSWER, check, for_each, run_checks

URL = os.environ["SVC_URL"]
OPENAI = OpenAIProvider(base_url=f"{URL}/v1", api_key="unused")
MODELS = {
    "chat completions": OpenAIChatModel("svc-mini", provider=OPENAI),
    "responses": OpenAIResponsesModel("svc-mini", provider=OPENAI),
    "messages": AnthropicModel("svc-mini", provider=AnthropicProvider(base_url=URL, api_key="unused")),
}


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


def agent(model, **extra):
    return Agent(model, model_settings={"temperature": 0, "max_tokens": 200}, **extra)


@for_each(MODELS)
def an_agent_answers_and_goes_on(model):
    asked = agent(model)
    first = asked.run_sync("My name is Bob.")
    assert "Bob" in asked.run_sync("What is my name?", message_history=first.all_messages()).output
    assert first.usage.output_tokens > 0


@for_each(MODELS)
def an_answer_is_streamed(model):
    result = agent(model).run_stream_sync(CAPITAL)
    pieces = list(result.stream_text(delta=True, debounce_by=None))
    assert len(pieces) > 1
    assert "".join(pieces) == CAPITAL_ANSWER


@for_each(MODELS)
def a_tool_is_called_and_its_result_answered_from(model):
    cities = []

    def get_weather(city: str) -> str:
        """Get the current weather"""
        cities.append(city)
        return SUNNY

    assert agent(model, tools=[get_weather]).run_sync(PARIS).output == SUNNY_ANSWER
    assert cities == ["Paris"]


@for_each(MODELS)
def a_person_by_a_tool(model):
    # svc-mini does not know this tool, so only the form is guaranteed.
    assert isinstance(agent(model, output_type=ToolOutput(Person)).run_sync(ANNA).output, Person)


@check
def a_person_by_a_schema():
    for name in ("chat completions", "responses"):
        found = agent(MODELS[name], output_type=NativeOutput(Person)).run_sync(ANNA).output
        assert found == Person(**ANNA_DATA), name


run_checks(f"pydantic-ai {version('pydantic-ai-slim')}")

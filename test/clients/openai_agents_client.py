"""OpenAI's Agents SDK, unmodified, with a running svc: runs with responses and chat completions, and sessions."""

import asyncio
import os
from importlib.metadata import version

import pydantic
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from harness import ANNA, ANNA_DATA, CAPITAL, CAPITAL_ANSWER, PARIS, SUNNY, SUNNY_ANSWER, check, for_each, run_checks

set_tracing_disabled(True)
LOOP = asyncio.new_event_loop()
CLIENT = AsyncOpenAI(base_url=os.environ["SVC_URL"] + "/v1", api_key="unused", max_retries=0)
MODELS = {
    "responses": OpenAIResponsesModel("svc-mini", CLIENT),
    "chat completions": OpenAIChatCompletionsModel("svc-mini", CLIENT),
}


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


@function_tool
def get_weather(city: str) -> str:
    """Get the current weather"""
    return SUNNY


def agent(model, **extra):
    return Agent("helper", model=model, model_settings=ModelSettings(temperature=0), **extra)


def run(*arguments, **extra):
    return LOOP.run_until_complete(Runner.run(*arguments, **extra))


@for_each(MODELS)
def a_run_answers(model):
    result = run(agent(model), CAPITAL)
    assert result.final_output == CAPITAL_ANSWER
    assert result.context_wrapper.usage.output_tokens > 0


@for_each(MODELS)
def a_run_is_streamed(model):
    async def deltas():
        result = Runner.run_streamed(agent(model), CAPITAL)
        return [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
        ]

    pieces = LOOP.run_until_complete(deltas())
    assert len(pieces) > 1
    assert "".join(pieces) == CAPITAL_ANSWER


@for_each(MODELS)
def a_tool_is_called_and_its_result_answered_from(model):
    assert run(agent(model, tools=[get_weather]), PARIS).final_output == SUNNY_ANSWER


@for_each(MODELS)
def a_person_by_a_schema(model):
    assert run(agent(model, output_type=Person), ANNA).final_output == Person(**ANNA_DATA)


@check
def a_run_goes_on_from_the_last_response():
    helper = agent(MODELS["responses"])
    first = run(helper, "My name is Bob.")
    assert "Bob" in run(helper, "What is my name?", previous_response_id=first.last_response_id).final_output


@check
def a_session_is_a_conversation_of_the_server():
    session = OpenAIConversationsSession(openai_client=CLIENT)
    helper = agent(MODELS["responses"])
    run(helper, "My name is Bob.", session=session)
    assert "Bob" in run(helper, "What is my name?", session=session).final_output
    items = LOOP.run_until_complete(session.get_items())
    assert [item["role"] for item in items] == ["user", "assistant", "user", "assistant"]
    assert LOOP.run_until_complete(session.pop_item())["role"] == "assistant"
    LOOP.run_until_complete(session.clear_session())


run_checks(f"openai-agents {version('openai-agents')}")

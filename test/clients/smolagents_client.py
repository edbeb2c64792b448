"""smolagents, unmodified, with svc: its model for OpenAI-compatible servers, with streams, tools and stops."""

import os
from importlib.metadata import version

from smolagents import ChatMessage, MessageRole, OpenAIServerModel, ToolCallingAgent, tool

from harness import CAPITAL, CAPITAL_ANSWER, PARIS, SUNNY, check, run_checks

MODEL = OpenAIServerModel(
    "svc-mini", api_base=os.environ["SVC_URL"] + "/v1", api_key="unused", temperature=0, max_tokens=200
)


@tool
def get_weather(city: str) -> str:
    """Get the current weather

    Args:
        city: the city
    """
    return SUNNY


def asking(text):
    return [ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": text}])]


@check
def a_model_answers_and_counts_tokens():
    answer = MODEL.generate(asking(CAPITAL))
    assert answer.content == CAPITAL_ANSWER
    assert answer.token_usage.output_tokens > 0


@check
def a_stop_sequence_ends_the_answer():
    assert MODEL.generate(asking(CAPITAL), stop_sequences=[" is"]).content == "The capital of France"


@check
def an_answer_is_streamed():
    pieces = [piece.content or "" for piece in MODEL.generate_stream(asking(CAPITAL))]
    assert len(pieces) > 1
    assert "".join(pieces) == CAPITAL_ANSWER


@check
def a_tool_is_called():
    answer = MODEL.generate(asking(PARIS), tools_to_call_from=[get_weather])
    assert [(call.function.name, call.function.arguments) for call in answer.tool_calls] == [
        ("get_weather", '{"city": "Paris"}')
    ]


@check
def an_agent_calls_tools_step_by_step():
    agent = ToolCallingAgent([get_weather], MODEL, max_steps=2, verbosity_level=0)
    agent.run(PARIS)
    calls = [call for step in agent.memory.steps for call in getattr(step, "tool_calls", None) or []]
    assert {call.name for call in calls} <= {"get_weather", "final_answer"} and calls


run_checks(f"smolagents {version('smolagents')}")

"""Anthropic's messages API through its official Python SDK, unmodified, with a running svc."""

import json
import os
import urllib.request

import anthropic
from anthropic.types import Message

from harness import (
    ADDITION,
    ADDITION_ANSWER,
    ANNA,
    ANNA_DATA,
    CAPITAL,
    CAPITAL_ANSWER,
    IMAGE,
    OTHER_IMAGE,
    PARIS,
    PARIS_AND_ROME,
    SUNNY,
    SUNNY_ANSWER,
    check,
    functions_of,
    run_checks,
    schema,
    until_idle,
)

TOOLS = functions_of(
    lambda name, description, parameters: {"name": name, "description": description, "input_schema": parameters}
)
STORY = {"model": "any", "max_tokens": 20_000, "messages": [{"role": "user", "content": "abcd efgh"}]}


def client_for(variable):
    return anthropic.Anthropic(base_url=os.environ[variable], api_key="unused", max_retries=0)


client = client_for("SVC_URL")
endless = client_for("ENDLESS_URL")
narrow = client_for("NARROW_URL")


def asking(content, **extra):
    """Returns the arguments of a greedy request; the newest SDK has no argument for temperature, only a body."""
    body = {"temperature": 0, **extra.pop("extra_body", {})}
    messages = [{"role": "user", "content": content}]
    return {"model": "svc-mini", "max_tokens": 200, "messages": messages, "extra_body": body, **extra}


def ask(content, **extra):
    return client.messages.create(**asking(content, **extra))


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def called(message):
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


def weather_in(city):
    return ("get_weather", {"city": city})


def failure(call):
    """Runs a call that must fail and returns the SDK's exception."""
    try:
        call()
    except anthropic.AnthropicError as error:
        return error
    raise AssertionError("the call succeeded")


@check
def a_message_is_valid_by_the_types_of_the_sdk():
    message = ask(CAPITAL)
    assert (text_of(message), message.stop_reason) == (CAPITAL_ANSWER, "end_turn")
    assert message.usage.output_tokens > 0
    assert message._request_id
    # The SDK does not validate answers, so this does.
    Message.model_validate(message.to_dict())


@check
def the_stream_helper_gives_what_create_gives():
    whole = ask(CAPITAL)
    with client.messages.stream(**asking(CAPITAL)) as stream:
        told = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert told == text_of(final) == text_of(whole) == CAPITAL_ANSWER
    assert final.stop_reason == whole.stop_reason
    assert final.usage.output_tokens == whole.usage.output_tokens


@check
def count_tokens_counts_what_create_computes():
    counted = client.messages.count_tokens(model="any", messages=asking(CAPITAL)["messages"])
    usage = ask(CAPITAL).usage
    assert counted.input_tokens == usage.input_tokens + usage.cache_read_input_tokens


@check
def thinking_is_a_block_before_the_answer():
    asked = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    whole = ask(ADDITION, **asked)
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert text_of(whole) == ADDITION_ANSWER
    with client.messages.stream(**asking(ADDITION, **asked)) as stream:
        final = stream.get_final_message()
    assert final.content[0].thinking == whole.content[0].thinking
    assert text_of(final) == ADDITION_ANSWER
    assert [block.type for block in ask(ADDITION).content] == ["text"]


@check
def a_tool_is_called_and_its_result_answered_from():
    first = ask(PARIS, tools=TOOLS)
    assert called(first) == [weather_in("Paris")]
    assert first.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": first.content[-1].id, "content": SUNNY}
    turns = [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    messages = [*asking(PARIS)["messages"], *turns]
    assert text_of(ask(PARIS, tools=TOOLS, messages=messages)) == SUNNY_ANSWER


@check
def the_stream_helper_assembles_calls():
    with client.messages.stream(**asking(PARIS_AND_ROME, tools=TOOLS)) as stream:
        final = stream.get_final_message()
    assert called(final) == [weather_in("Paris"), weather_in("Rome")]


@check
def the_tool_runner_calls_the_function_and_comes_back_with_an_answer():
    cities = []

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Get the current weather"""
        cities.append(city)
        return SUNNY

    for stream in (False, True):
        cities.clear()
        runner = client.beta.messages.tool_runner(**asking(PARIS, tools=[get_weather], stream=stream))
        assert "21 degrees" in text_of(runner.until_done())
        assert cities == ["Paris"]


@check
def a_schema_is_followed_in_both_places():
    person = schema(name={"type": "string"}, age={"type": "integer"}, city={"type": "string"})
    answer_format = {"type": "json_schema", "schema": person}
    for place in ({"output_config": {"format": answer_format}}, {"output_format": answer_format}):
        assert json.loads(text_of(ask(ANNA, extra_body=place))) == ANNA_DATA


@check
def an_image_is_seen():
    vision = client_for("VISION_URL")

    def see(data):
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        content = [image, {"type": "text", "text": "What is this?"}]
        return text_of(vision.messages.create(**asking(content, max_tokens=16)))

    assert see(IMAGE) == see(IMAGE) != see(OTHER_IMAGE)


@check
def refusals_have_their_exception_classes():
    error = failure(lambda: ask(CAPITAL, extra_body={"temperature": "warm"}))
    assert isinstance(error, anthropic.BadRequestError)
    assert error.request_id
    assert error.body["error"]["param"] == "temperature"
    error = failure(lambda: client.get("/v1/nothing/here", cast_to=object))
    assert isinstance(error, anthropic.NotFoundError)
    error = failure(lambda: ask("x" * (101 * 1024 * 1024)))
    assert isinstance(error, anthropic.APIStatusError)
    assert error.status_code == 413


@check
def a_full_server_is_an_error_with_status_503():
    with narrow.messages.create(**STORY, stream=True) as stream:
        next(iter(stream))
        error = failure(lambda: narrow.messages.create(**STORY))
    # The SDK has its own class for this, which newer versions derive from InternalServerError.
    assert isinstance(error, anthropic.APIStatusError)
    assert error.status_code == 503
    until_idle("NARROW_URL")


@check
def an_engine_that_dies_while_it_streams_is_told():
    def read():
        for index, _ in enumerate(narrow.messages.create(**STORY, stream=True)):
            if index == 20:
                crash = urllib.request.Request(os.environ["CRASH_URL"], method="POST")
                assert urllib.request.urlopen(crash).status == 200

    error = failure(read)
    assert isinstance(error, anthropic.APIStatusError)
    assert error.body["error"]["code"] == "engine_crashed"
    client_for("NARROW_URL").with_options(max_retries=8).messages.create(**{**STORY, "max_tokens": 1})


@check
def closing_a_stream_ends_its_work_on_the_server():
    with endless.messages.create(**STORY, stream=True) as stream:
        next(iter(stream))
    until_idle()


run_checks(f"anthropic {anthropic.__version__}")

"""The responses API and completions of raw text through the official Python SDK, unmodified, with a running svc."""

import json
import time

import openai
import pydantic
from openai.types.responses import Response

from checks import (
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
    client,
    client_for,
    endless,
    failure,
    functions_of,
    run_checks,
    skip,
    until_idle,
)

STORY = {"model": "any", "input": "abcd efgh", "max_output_tokens": 4000}
TOOLS = functions_of(
    lambda name, description, parameters: {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": parameters,
        "strict": True,
    }
)


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


def asking(content, **extra):
    return {"model": "svc-mini", "temperature": 0, "input": content, **extra}


def ask(content, **extra):
    return client.responses.create(**asking(content, **extra))


def called(response):
    calls = [item for item in response.output if item.type == "function_call"]
    return [(call.name, json.loads(call.arguments)) for call in calls]


def weather_in(city):
    return ("get_weather", {"city": city})


@check
def a_response_is_valid_by_the_types_of_the_sdk():
    response = ask(CAPITAL)
    assert (response.output_text, response.status) == (CAPITAL_ANSWER, "completed")
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response._request_id
    # The SDK does not validate answers, so this does.
    Response.model_validate(response.to_dict())


@check
def the_stream_helper_gives_what_create_gives():
    whole = ask(CAPITAL)
    with client.responses.stream(**asking(CAPITAL)) as stream:
        told = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(told) == final.output_text == whole.output_text == CAPITAL_ANSWER
    assert final.usage.total_tokens == whole.usage.total_tokens


@check
def reasoning_is_an_item_before_the_answer():
    response = ask(ADDITION, reasoning={"effort": "low"})
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.output_text == ADDITION_ANSWER
    assert response.usage.output_tokens_details.reasoning_tokens > 0
    assert [item.type for item in ask(ADDITION).output] == ["message"]


@check
def a_tool_is_called_and_its_result_answered_from():
    first = ask(PARIS, tools=TOOLS)
    assert called(first) == [weather_in("Paris")]
    result = {"type": "function_call_output", "call_id": first.output[0].call_id, "output": SUNNY}
    assert ask([result], previous_response_id=first.id, tools=TOOLS).output_text == SUNNY_ANSWER


@check
def the_stream_helper_assembles_calls():
    with client.responses.stream(**asking(PARIS_AND_ROME, tools=TOOLS)) as stream:
        done = [event.arguments for event in stream if event.type == "response.function_call_arguments.done"]
        final = stream.get_final_response()
    assert called(final) == [weather_in("Paris"), weather_in("Rome")]
    assert [json.loads(arguments) for arguments in done] == [{"city": "Paris"}, {"city": "Rome"}]


@check
def parse_reads_the_answer_with_pydantic_whole_and_streamed():
    assert client.responses.parse(**asking(ANNA), text_format=Person).output_parsed == Person(**ANNA_DATA)
    with client.responses.stream(**asking(ANNA), text_format=Person) as stream:
        assert stream.get_final_response().output_parsed == Person(**ANNA_DATA)


@check
def a_chain_remembers_and_a_deleted_response_is_not_there():
    first = ask("My name is Bob.")
    assert "Bob" in ask("What is my name?", previous_response_id=first.id).output_text
    assert client.responses.retrieve(first.id).output_text == first.output_text
    client.responses.delete(first.id)
    assert isinstance(failure(lambda: client.responses.retrieve(first.id)), openai.NotFoundError)
    error = failure(lambda: ask("What is my name?", previous_response_id=first.id))
    assert isinstance(error, openai.NotFoundError)
    assert error.param == "previous_response_id"


if hasattr(client, "conversations"):

    @check
    def a_conversation_is_gone_on_from_and_its_items_are_listed():
        conversation = client.conversations.create(items=[{"role": "user", "content": "My name is Bob."}]).id
        assert "Bob" in ask("What is my name?", conversation=conversation).output_text
        items = list(client.conversations.items.list(conversation, limit=2, order="asc"))
        assert [item.role for item in items] == ["user", "user", "assistant"]
        client.conversations.items.delete(items[0].id, conversation_id=conversation)
        assert len(client.conversations.items.list(conversation).data) == 2
        assert client.conversations.delete(conversation).deleted
        assert isinstance(failure(lambda: client.conversations.retrieve(conversation)), openai.NotFoundError)

else:
    skip("a conversation is gone on from and its items are listed", "this version has no such methods")


@check
def input_items_page_through_all_by_themselves():
    content = [{"role": "user", "content": f"Word {index}."} for index in range(7)]
    response = ask(content, max_output_tokens=1)
    items = list(client.responses.input_items.list(response.id, limit=3, order="asc"))
    assert [item.content[0].text for item in items] == [message["content"] for message in content]


if hasattr(client.responses, "input_tokens"):

    @check
    def input_tokens_count_what_create_computes():
        counted = client.responses.input_tokens.count(model="svc-mini", input=CAPITAL)
        assert counted.input_tokens == ask(CAPITAL).usage.input_tokens

else:
    skip("input tokens count what create computes", "this version has no such method")


@check
def background_is_fetched_when_done_and_cancelled_by_its_id():
    response = ask(CAPITAL, background=True)
    assert response.status == "in_progress"
    deadline = time.time() + 30
    while response.status == "in_progress" and time.time() < deadline:
        time.sleep(0.02)
        response = client.responses.retrieve(response.id)
    assert (response.status, response.output_text) == ("completed", CAPITAL_ANSWER)
    running = endless.responses.create(**STORY, background=True)
    assert endless.responses.cancel(running.id).status == "cancelled"
    until_idle()


@check
def a_background_stream_is_taken_up_again_without_a_gap():
    events = []
    with client.responses.create(**asking(CAPITAL), background=True, stream=True) as stream:
        for event in stream:
            events.append(event)
            if len(events) == 5:
                break
    after = events[-1].sequence_number
    events += client.responses.retrieve(events[0].response.id, stream=True, starting_after=after)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.output_text == CAPITAL_ANSWER


@check
def an_image_is_seen():
    vision = client_for("VISION_URL")

    def see(data):
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{data}", "detail": "auto"}
        content = [image, {"type": "input_text", "text": "What is this?"}]
        return vision.responses.create(**asking([{"role": "user", "content": content}], max_output_tokens=16))

    assert see(IMAGE).output_text == see(IMAGE).output_text != see(OTHER_IMAGE).output_text


@check
def refusals_have_their_exception_classes():
    error = failure(lambda: ask(CAPITAL, temperature="warm"))
    assert isinstance(error, openai.BadRequestError)
    assert (error.param, error.code) == ("temperature", "invalid_type")
    error = failure(lambda: ask("x" * (101 * 1024 * 1024)))
    assert isinstance(error, openai.APIStatusError)
    assert (error.status_code, error.code) == (413, "payload_too_large")


@check
def a_full_server_is_internal_server_error_with_status_503():
    narrow = client_for("NARROW_URL")
    with narrow.responses.create(**STORY, stream=True) as stream:
        next(iter(stream))
        error = failure(lambda: narrow.responses.create(**STORY))
    assert isinstance(error, openai.InternalServerError)
    assert (error.status_code, error.code) == (503, "server_busy")
    until_idle("NARROW_URL")


@check
def closing_a_stream_ends_its_work_on_the_server():
    with endless.responses.create(**STORY, stream=True) as stream:
        next(iter(stream))
    until_idle()


@check
def completions_whole_and_streamed():
    asked = {"model": "any", "prompt": "Once upon a time", "temperature": 0, "max_tokens": 24}
    whole = client.completions.create(**asked)
    chunks = list(client.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == whole.choices[0].text
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens == 24
    assert len(client.completions.create(**{**asked, "prompt": ["A", "B"], "n": 2}).choices) == 4
    error = failure(lambda: client.completions.create(**{**asked, "prompt": []}))
    assert isinstance(error, openai.BadRequestError)


run_checks(f"openai {openai.__version__}, responses and completions")

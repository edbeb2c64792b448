"""The Python SDK: tool calls, tool_choice, results and streams."""

import json

import openai
import pydantic

from checks import (
    CAPITAL,
    CAPITAL_ANSWER,
    PARIS,
    PARIS_AND_ROME,
    SUNNY,
    SUNNY_ANSWER,
    TOOLS,
    ask,
    asking,
    check,
    client,
    failure,
    helpers,
)


def called(message):
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]


def weather_in(city):
    return ("get_weather", {"city": city})


def choice(content, **extra):
    return ask(content, tools=TOOLS, **extra).choices[0]


def named(name):
    return {"type": "function", "function": {"name": name}}


@check
def tools_the_fitting_one_is_called():
    choice_ = choice(PARIS)
    assert called(choice_.message) == [weather_in("Paris")]
    assert choice_.finish_reason == "tool_calls"
    assert choice_.message.content is None
    assert choice_.message.tool_calls[0].id


@check
def tools_none_is_called_when_none_is_needed():
    choice_ = choice(CAPITAL)
    assert (choice_.message.content, choice_.message.tool_calls) == (CAPITAL_ANSWER, None)
    assert choice_.finish_reason == "stop"


@check
def tools_several_calls_with_ids_of_their_own():
    message = choice(PARIS_AND_ROME).message
    assert called(message) == [weather_in("Paris"), weather_in("Rome")]
    assert len({call.id for call in message.tool_calls}) == 2


@check
def parallel_tool_calls_false_is_one_call():
    assert called(choice(PARIS_AND_ROME, parallel_tool_calls=False).message) == [weather_in("Paris")]


@check
def tool_choice_required_calls_whatever_is_said():
    choice_ = choice("Hello!", tool_choice="required")
    assert len(choice_.message.tool_calls) == 1
    assert choice_.finish_reason == "tool_calls"


@check
def tool_choice_with_a_name_calls_that_one():
    assert called(choice(PARIS, tool_choice=named("get_time")).message) == [("get_time", {"place": "Paris"})]


@check
def tool_choice_none_answers_in_text():
    choice_ = choice(PARIS, tool_choice="none")
    assert choice_.message.content and choice_.message.tool_calls is None
    assert choice_.finish_reason == "stop"


@check
def the_older_functions_field_is_a_list_of_tools():
    answer = ask(PARIS, functions=[tool["function"] for tool in TOOLS], function_call={"name": "get_time"})
    assert called(answer.choices[0].message) == [("get_time", {"place": "Paris"})]


@check
def logprobs_beside_tools_cover_the_text():
    tokens = choice(CAPITAL, logprobs=True, top_logprobs=2).logprobs.content
    assert "".join(entry.token for entry in tokens) == CAPITAL_ANSWER
    assert all(entry.logprob <= 0 and len(entry.top_logprobs) == 2 for entry in tokens)
    call = choice(PARIS, logprobs=True)
    assert called(call.message) == [weather_in("Paris")]
    assert isinstance(call.logprobs.content, list)


@check
def a_choice_that_names_no_tool_is_bad_request_error():
    calls = (
        lambda: choice(PARIS, tool_choice=named("nothing")),
        lambda: choice(PARIS, tool_choice="maybe"),
        lambda: ask(PARIS, tool_choice="required"),
    )
    for call in calls:
        error = failure(call)
        assert isinstance(error, openai.BadRequestError)
        assert error.param == "tool_choice"


@check
def parameters_that_are_no_schema_are_bad_request_error():
    broken = {"type": "function", "function": {"name": "broken", "parameters": {"type": "nonsense"}}}
    error = failure(lambda: ask(PARIS, tools=[broken]))
    assert isinstance(error, openai.BadRequestError)
    assert error.param.startswith("tools.0.function.parameters")


def results_for(message, result):
    """Returns the message unchanged, and a result for every call in it."""
    calls = message.tool_calls
    results = [{"role": "tool", "tool_call_id": call.id, "content": result(call.function.arguments)} for call in calls]
    return message, results


@check
def tool_results_become_an_answer():
    messages = asking(PARIS)["messages"]
    message, results = results_for(choice(PARIS).message, lambda _: SUNNY)
    answer = ask("", tools=TOOLS, messages=[*messages, message, *results])
    assert answer.choices[0].message.content == SUNNY_ANSWER
    assert answer.choices[0].finish_reason == "stop"


@check
def results_of_two_calls_sent_in_another_order():
    messages = asking(PARIS_AND_ROME)["messages"]
    result = lambda arguments: "21" if "Paris" in arguments else "17"
    message, results = results_for(choice(PARIS_AND_ROME).message, result)
    # A dump contains every field that was absent in the answer, as null.
    answer = ask("", tools=TOOLS, messages=[*messages, message.model_dump(), *reversed(results)])
    assert answer.choices[0].message.content == "Paris: 21, Rome: 17"


@check
def the_deltas_of_a_stream_add_up_to_the_calls():
    calls, finish = {}, None
    for chunk in ask(PARIS_AND_ROME, tools=TOOLS, stream=True):
        for choice_ in chunk.choices:
            finish = choice_.finish_reason or finish
            for part in choice_.delta.tool_calls or []:
                call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                call["id"] += part.id or ""
                call["name"] += part.function.name or ""
                call["arguments"] += part.function.arguments or ""
    assert [(call["name"], json.loads(call["arguments"])) for call in calls.values()] == [
        weather_in("Paris"),
        weather_in("Rome"),
    ]
    assert all(call["id"] for call in calls.values())
    assert finish == "tool_calls"


@check
def the_stream_helper_assembles_calls_and_reports_their_arguments():
    done = []
    with helpers.stream(**asking(PARIS_AND_ROME, tools=TOOLS)) as stream:
        for event in stream:
            if event.type == "tool_calls.function.arguments.done":
                done.append((event.name, json.loads(event.arguments)))
        final = stream.get_final_completion()
    expected = [weather_in("Paris"), weather_in("Rome")]
    assert done == expected
    assert called(final.choices[0].message) == expected
    assert final.choices[0].finish_reason == "tool_calls"


class GetWeather(pydantic.BaseModel):
    """Get the current weather"""

    city: str


@check
def parse_reads_the_arguments_of_a_tool_made_with_pydantic():
    tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
    completion = client.chat.completions.parse(**asking(PARIS, tools=tools))
    assert completion.choices[0].message.tool_calls[0].function.parsed_arguments == GetWeather(city="Paris")
    with helpers.stream(**asking(PARIS, tools=tools)) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.tool_calls[0].function.parsed_arguments == GetWeather(city="Paris")


@check
def a_stream_that_answers_in_text_has_no_call_deltas():
    deltas = [chunk.choices[0].delta for chunk in ask(CAPITAL, tools=TOOLS, stream=True) if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == CAPITAL_ANSWER
    assert not any(delta.tool_calls for delta in deltas)

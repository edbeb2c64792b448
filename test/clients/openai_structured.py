"""The Python SDK: answers in a given form: JSON, schemas, and the helpers that make them from pydantic models."""

import enum
import json
from typing import Annotated, List, Optional, Union

import openai
import pydantic

from checks import ANNA, ANNA_DATA, CAPITAL, PARIS, TOOLS, ask, asking, check, client, failure, helpers, schema

ANNA_SCHEMA = schema(name={"type": "string"}, age={"type": "integer"}, city={"type": "string"})


def schema_format(content):
    return {"type": "json_schema", "json_schema": {"name": "data", "strict": True, "schema": content}}


def parse(content, model, **extra):
    return client.chat.completions.parse(**asking(content, response_format=model, **extra)).choices


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


class State(enum.Enum):
    OPEN = "open"
    CLOSED = "closed"


class Customer(pydantic.BaseModel):
    name: str = pydantic.Field(description="Who ordered", max_length=20)


class Order(pydantic.BaseModel):
    customer: Customer
    state: State
    tags: Annotated[List[Annotated[str, pydantic.Field(max_length=12)]], pydantic.Field(max_length=3)]
    note: Optional[Annotated[str, pydantic.Field(max_length=20)]]
    total: Union[Annotated[int, pydantic.Field(ge=0, le=999)], bool]


class Node(pydantic.BaseModel):
    name: str
    next: Optional["Node"]


@check
def a_strict_schema_is_followed():
    choice = ask(ANNA, response_format=schema_format(ANNA_SCHEMA)).choices[0]
    assert json.loads(choice.message.content) == ANNA_DATA
    assert choice.finish_reason == "stop"


@check
def a_schema_is_followed_where_the_model_would_say_something_else():
    wanted = schema(verdict={"enum": ["zebra", "quokka"]}, count={"const": 7})
    data = json.loads(ask("Hello!", response_format=schema_format(wanted)).choices[0].message.content)
    assert data["verdict"] in ("zebra", "quokka") and data["count"] == 7


@check
def json_object_gives_an_object():
    question = "Extract the name and city as JSON: Anna lives in Paris."
    choice = ask(question, response_format={"type": "json_object"}).choices[0]
    assert json.loads(choice.message.content) == {"name": "Anna", "city": "Paris"}


@check
def a_schema_beside_tools_the_model_may_call():
    choice = ask(PARIS, tools=TOOLS, response_format=schema_format(ANNA_SCHEMA)).choices[0]
    assert json.loads(choice.message.tool_calls[0].function.arguments) == {"city": "Paris"}


@check
def a_schema_that_is_none_is_bad_request_error():
    for broken in ({"type": "nonsense"}, {"type": "object", "properties": 3}, {"$ref": "#/nowhere"}):
        error = failure(lambda: ask(ANNA, response_format=schema_format(broken)))
        assert isinstance(error, openai.BadRequestError)
        assert error.param.startswith("response_format.json_schema.schema")


@check
def parse_reads_the_answer_with_pydantic():
    assert parse(ANNA, Person)[0].message.parsed == Person(**ANNA_DATA)


@check
def parse_with_nested_models_lists_enums_none_and_unions():
    assert isinstance(parse("Order: Anna bought a red lamp.", Order)[0].message.parsed, Order)


@check
def parse_with_a_model_that_refers_to_itself():
    assert parse(CAPITAL, Node, max_tokens=200)[0].message.parsed.next is not None


@check
def parse_gives_every_one_of_n_answers():
    assert [choice.message.parsed for choice in parse(ANNA, Person, n=2)] == [Person(**ANNA_DATA)] * 2


@check
def the_stream_helper_parses_while_the_answer_comes():
    with helpers.stream(**asking(ANNA, response_format=Person)) as stream:
        partial = [event.parsed for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert final.choices[0].message.parsed == Person(**ANNA_DATA)
    # A model as fast as this one sends several tokens in an event.
    assert len(partial) > 1 and partial[-1] == ANNA_DATA


@check
def a_cut_answer_raises_length_finish_reason_error():
    assert isinstance(failure(lambda: parse(ANNA, Person, max_tokens=5)), openai.LengthFinishReasonError)
    with helpers.stream(**asking(ANNA, response_format=Person, max_tokens=5)) as stream:
        assert isinstance(failure(stream.get_final_completion), openai.LengthFinishReasonError)


@check
def parse_with_reasoning_keeps_the_two_apart():
    message = parse(ANNA, Person, reasoning_effort="low")[0].message
    assert message.parsed == Person(**ANNA_DATA)
    assert message.reasoning_content

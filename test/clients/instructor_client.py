"""instructor, unmodified, with a running svc: objects extracted from text, in each of its modes."""

import os
from importlib.metadata import version

import instructor
import openai
import pydantic

from harness import ANNA, ANNA_DATA, check, run_checks

SERVER = {"base_url": os.environ["SVC_URL"] + "/v1", "api_key": "unused", "max_retries": 0}


class Person(pydantic.BaseModel):
    name: str
    age: int
    city: str


def client(mode):
    return instructor.from_openai(openai.OpenAI(**SERVER), mode=mode)


def asking(**extra):
    messages = [{"role": "user", "content": ANNA}]
    return {"model": "svc-mini", "temperature": 0, "messages": messages, "max_retries": 0, **extra}


@check
def every_mode_gives_a_person():
    for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA):
        # Only the form is guaranteed; svc-mini may fill unfamiliar tools and prompts with anything.
        found = client(mode).chat.completions.create(**asking(response_model=Person))
        assert isinstance(found, Person), (mode, found)


@check
def a_person_grows_while_it_is_streamed():
    partial = list(client(instructor.Mode.JSON_SCHEMA).chat.completions.create_partial(**asking(response_model=Person)))
    assert len(partial) > 1
    assert partial[-1].model_dump() == ANNA_DATA


@check
def several_are_streamed_one_by_one():
    people = list(client(instructor.Mode.TOOLS).chat.completions.create_iterable(**asking(response_model=Person)))
    assert people and all(isinstance(person, Person) for person in people), people


@check
def the_completion_comes_with_the_object():
    found, completion = client(instructor.Mode.TOOLS).chat.completions.create_with_completion(
        **asking(response_model=Person)
    )
    assert isinstance(found, Person)
    assert completion.usage.completion_tokens > 0


run_checks(f"instructor {version('instructor')}")

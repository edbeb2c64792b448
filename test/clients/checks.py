"""Shared by the checks of the openai SDK: the clients, and helpers for chat questions.

SVC_URL serves svc-mini; ENDLESS_URL serves a model that never ends its answer.
"""

import os

import openai

# The files of checks import all of these from here.
from harness import (  # noqa: F401
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
    skip,
    until_idle,
)


def tool(name, description, parameters):
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = functions_of(tool)


def client_for(variable, kind=openai.OpenAI):
    return kind(base_url=os.environ[variable] + "/v1", api_key="unused", max_retries=0)


client = client_for("SVC_URL")
endless = client_for("ENDLESS_URL")
#: The object with `stream`; older versions have it under `beta`.
helpers = client.chat.completions if hasattr(client.chat.completions, "stream") else client.beta.chat.completions


def asking(content, **extra):
    """Returns the arguments of a greedy request with one user message."""
    return {"model": "svc-mini", "temperature": 0, "messages": [{"role": "user", "content": content}], **extra}


def ask(content, **extra):
    return client.chat.completions.create(**asking(content, **extra))


def failure(call):
    """Runs a call that must fail and returns the SDK's exception."""
    try:
        call()
    except openai.OpenAIError as error:
        return error
    raise AssertionError("the call succeeded")

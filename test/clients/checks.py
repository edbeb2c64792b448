"""What the files of checks share: the clients, the registry of checks and the questions that svc-mini answers reliably.

SVC_URL serves svc-mini; ENDLESS_URL a model that never ends its answer.
"""

import os
import traceback

import openai

CHECKS = []

#: One call of get_weather with {"city": "Paris"}.
PARIS = "What is the weather in Paris?"
#: Two calls of it.
PARIS_AND_ROME = "What is the weather in Paris and Rome?"
#: No call, whatever tools there are.
CAPITAL = "What is the capital of France?"
CAPITAL_ANSWER = "The capital of France is Paris."
#: With reasoning, the sum is thought over in steps.
ADDITION = "What is 17 + 25?"
ADDITION_ANSWER = "17 + 25 = 42"
SUNNY = "sunny, 21 degrees"
#: The answer to PARIS when the tool says SUNNY.
SUNNY_ANSWER = "The weather in Paris: sunny, 21 degrees."
#: A text, and what a schema for people finds in it.
ANNA = "Anna Smith is 31 years old and lives in Paris."
ANNA_DATA = {"name": "Anna Smith", "age": 31, "city": "Paris"}


def schema(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tool(name, description, **properties):
    function = {"name": name, "description": description, "parameters": schema(**properties)}
    return {"type": "function", "function": function}


TOOLS = [
    tool("get_weather", "Get the current weather", city={"type": "string"}),
    tool("add_numbers", "Add two numbers", a={"type": "integer"}, b={"type": "integer"}),
    tool("get_time", "Get the current time in a place", place={"type": "string"}),
]


def client_for(variable, kind=openai.OpenAI):
    return kind(base_url=os.environ[variable] + "/v1", api_key="unused", max_retries=0)


client = client_for("SVC_URL")
endless = client_for("ENDLESS_URL")
#: Where `stream` is; older versions have it under `beta`.
helpers = client.chat.completions if hasattr(client.chat.completions, "stream") else client.beta.chat.completions


def asking(content, **extra):
    """Arguments of a greedy request with one user message."""
    return {"model": "svc-mini", "temperature": 0, "messages": [{"role": "user", "content": content}], **extra}


def ask(content, **extra):
    return client.chat.completions.create(**asking(content, **extra))


def check(body):
    CHECKS.append(body)
    return body


def failure(call):
    """Runs a call that must fail and returns the SDK's exception."""
    try:
        call()
    except openai.OpenAIError as error:
        return error
    raise AssertionError("the call succeeded")


def run_checks():
    """Prints a line a check and, last, the counts, which run.ts reads."""
    failed = 0
    print(f"openai {openai.__version__} (Python)", flush=True)
    for body in CHECKS:
        name = body.__name__.replace("_", " ")
        try:
            body()
            print(f"ok    {name}", flush=True)
        except Exception:  # every check reports, whatever it throws
            failed += 1
            print(f"FAIL  {name}\n      {traceback.format_exc(limit=-2).strip()}", flush=True)
    print(f"{len(CHECKS) - failed} passed, {failed} failed")

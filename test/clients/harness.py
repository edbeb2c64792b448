"""Shared by the checks of every SDK: their registry, and questions that svc-mini answers reliably."""

import os
import time
import traceback
import urllib.request

CHECKS = []

#: One call of get_weather with {"city": "Paris"}.
PARIS = "What is the weather in Paris?"
#: Two calls of get_weather.
PARIS_AND_ROME = "What is the weather in Paris and Rome?"
#: No call, whatever tools are offered.
CAPITAL = "What is the capital of France?"
CAPITAL_ANSWER = "The capital of France is Paris."
#: With reasoning, the sum is computed in steps.
ADDITION = "What is 17 + 25?"
ADDITION_ANSWER = "17 + 25 = 42"
SUNNY = "sunny, 21 degrees"
#: The answer to PARIS when the tool says SUNNY.
SUNNY_ANSWER = "The weather in Paris: sunny, 21 degrees."
#: A text, and what a schema for people extracts from it.
ANNA = "Anna Smith is 31 years old and lives in Paris."
ANNA_DATA = {"name": "Anna Smith", "age": 31, "city": "Paris"}


def schema(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


#: Two PNG files of 16 by 16 pixels, a red and a blue one, in base64.
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
OTHER_IMAGE = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFUlEQVR42mNgYPhPIhrVMKph2GoAAJLb/wHQPqPSAAAAAElFTkSuQmCC"


def functions_of(layout):
    """Returns the tools of the questions above; `layout` makes one from name, description and schema."""
    return [
        layout("get_weather", "Get the current weather", schema(city={"type": "string"})),
        layout("add_numbers", "Add two numbers", schema(a={"type": "integer"}, b={"type": "integer"})),
        layout("get_time", "Get the current time in a place", schema(place={"type": "string"})),
    ]


def check(body):
    CHECKS.append(body)
    return body


def for_each(models):
    """Registers a check for each of the named models; it gets the model."""

    def register(body):
        for name, model in models.items():

            def one(model=model):
                body(model)

            one.__name__ = f"{body.__name__}: {name}"
            check(one)
        return body

    return register


def skip(name, reason):
    """Reports why a check is skipped with this version."""
    print(f"skip  {name}: {reason}", flush=True)


def until_idle(variable="ENDLESS_URL"):
    """Waits until the server in this variable is idle; fails after five seconds."""
    deadline = time.time() + 5
    while True:
        with urllib.request.urlopen(os.environ[variable] + "/metrics") as response:
            lines = response.read().decode().splitlines()
        running = [line for line in lines if line.startswith("svc_num_requests_running")]
        if running and all(line.endswith(" 0") for line in running):
            return
        assert time.time() < deadline, "still running after 5 s"
        time.sleep(0.02)


def run_checks(title):
    """Prints one line per check and, at the end, the counts, which run.ts reads."""
    failed = 0
    print(f"{title} (Python)", flush=True)
    for body in CHECKS:
        name = body.__name__.replace("_", " ")
        try:
            body()
            print(f"ok    {name}", flush=True)
        except Exception:  # every check reports, whatever it throws
            failed += 1
            print(f"FAIL  {name}\n      {traceback.format_exc(limit=-2).strip()}", flush=True)
    print(f"{len(CHECKS) - failed} passed, {failed} failed")

"""DSPy, unmodified, with a running svc: signatures with each of its adapters, and a stream."""

import os
from importlib.metadata import version

# Without this setting, prices are downloaded on import.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import dspy  # noqa: E402

from harness import ANNA, CAPITAL, CAPITAL_ANSWER, check, run_checks  # noqa: E402

# LiteLLM assumes only for this provider that any model supports schemas; it sends none to others.
LM = dspy.LM(
    "lm_studio/svc-mini",
    api_base=os.environ["SVC_URL"] + "/v1",
    api_key="unused",
    temperature=0,
    max_tokens=300,
    num_retries=0,
    cache=False,
)


class Extract(dspy.Signature):
    """Find the person."""

    text: str = dspy.InputField()
    name: str = dspy.OutputField()
    age: int = dspy.OutputField()
    city: str = dspy.OutputField()


@check
def a_model_answers():
    assert LM(CAPITAL) == [CAPITAL_ANSWER]


@check
def a_signature_is_a_schema_to_the_json_adapter():
    with dspy.context(lm=LM, adapter=dspy.JSONAdapter()):
        found = dspy.Predict(Extract)(text=ANNA)
    assert isinstance(found.age, int) and found.name and found.city, found


@check
def responses_answer_as_chat_completions_do():
    lm = dspy.LM(**{**LM.kwargs, "model": "openai/svc-mini", "model_type": "responses", "cache": False})
    [answer] = lm(CAPITAL)
    assert (answer["text"] if isinstance(answer, dict) else answer) == CAPITAL_ANSWER


run_checks(f"dspy {version('dspy')}")

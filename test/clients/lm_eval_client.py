"""lm-eval, unmodified: svc and llama-server must give the same log-likelihoods of the same texts, and the same scores.

It uses svc through its own `local-completions`, given only the URL: the tokens are svc's. llama-server has no log
probabilities of prompts, so each is read from the distribution of the next token; everything else is lm-eval's.
"""

import math
import os
import sys

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_EVALUATE_OFFLINE="1", TQDM_DISABLE="1")

import logging  # noqa: E402
from importlib.metadata import version  # noqa: E402

import requests  # noqa: E402
from datasets import Dataset  # noqa: E402

import lm_eval  # noqa: E402
from harness import CAPITAL, CAPITAL_ANSWER, check, run_checks  # noqa: E402
from lm_eval.models.openai_completions import LocalCompletionsAPI  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

logging.disable(logging.WARNING)
#: Without the thousands of default tasks.
TASKS = TaskManager(include_defaults=False)

SVC = os.environ["SVC_URL"]
LLAMA = os.environ["LLAMA_URL"]
#: Other batch sizes sum in another order. Tolerances of a log-likelihood and, relative, of a score.
CLOSE = 0.05
CLOSE_SCORE = 0.01

PLACES = [
    ("The capital of France is", ["Paris", "Rome", "a small dog"], 0),
    ("The capital of Italy is", ["Paris", "Rome", "the sea"], 1),
    ("Two and two are", ["four", "green", "Berlin"], 0),
    ("In winter it is often", ["cold", "seven", "a table"], 0),
    ("Grüße aus", ["Zürich", "ten", "☃☃☃"], 0),
    ("She opened the door and", ["went in", "blue", "11"], 0),
]
TEXTS = [
    "The weather in Paris: sunny, 21 degrees.",
    "Anna Smith is 31 years old and lives in Paris. She has two cats, and a house near the river.",
    "def add(a, b):\n    return a + b\n",
]


def task(name, output_type, documents, metrics, **config):
    return {
        "task": name,
        "output_type": output_type,
        "custom_dataset": lambda **_: {"test": Dataset.from_list(documents)},
        "test_split": "test",
        "metric_list": [{"metric": metric} for metric in metrics],
        **config,
    }


CHOICE = task(
    "choice",
    "multiple_choice",
    [{"text": text, "choices": choices, "answer": answer} for text, choices, answer in PLACES],
    ["acc", "acc_norm"],
    doc_to_text="{{text}}",
    doc_to_choice="{{choices}}",
    doc_to_target="{{answer}}",
)
CONTINUATION = task(
    "continuation",
    "loglikelihood",
    [{"text": text, "next": choices[answer]} for text, choices, answer in PLACES],
    ["perplexity", "acc"],
    doc_to_text="{{text}}",
    doc_to_target="{{' ' + next}}",
)
ROLLING = task(
    "rolling",
    "loglikelihood_rolling",
    [{"text": text} for text in TEXTS],
    ["byte_perplexity"],
    doc_to_text="",
    doc_to_target="{{text}}",
)
ANSWER = task(
    "answer",
    "generate_until",
    [{"question": CAPITAL, "answer": CAPITAL_ANSWER}],
    ["exact_match"],
    doc_to_text="{{question}}",
    doc_to_target="{{answer}}",
    generation_kwargs={"until": ["\n"], "max_gen_toks": 30, "temperature": 0},
)


class LlamaTokenizer:
    """The part of a tokenizer that lm-eval needs, using llama-server's routes."""

    def __init__(self):
        props = requests.get(f"{LLAMA}/props", timeout=60).json()
        self.bos_token, self.eos_token = props["bos_token"] or None, props["eos_token"]
        self.eos_token_id = self.encode(self.eos_token)[0]
        self.bos_token_id = self.bos_token and self.encode(self.bos_token)[0]

    def encode(self, text):
        body = {"content": text, "add_special": False, "parse_special": True}
        return requests.post(f"{LLAMA}/tokenize", json=body, timeout=60).json()["tokens"]


class NextTokens(LocalCompletionsAPI):
    """lm-eval's client, except that it reads each log probability of a prompt as that of a next token."""

    #: For each prompt of the current request: tokens whose log probabilities are not needed.
    contexts = ()

    def __init__(self):
        super().__init__(base_url=LLAMA, model="svc-mini", tokenizer_backend="None")
        self.tokenizer = LlamaTokenizer()
        self.tokenizer_backend, self.tokenized_requests = "remote", True
        self.letter = self.tokenizer.encode("a")[0]
        self.vocabulary = requests.get(f"{LLAMA}/v1/models", timeout=60).json()["data"][0]["meta"]["n_vocab"]

    def batch_loglikelihood_requests(self, chunks):
        inputs, self.contexts, keys = super().batch_loglikelihood_requests(chunks)
        return inputs, self.contexts, keys

    def model_call(self, messages, *, generate=True, **_):
        assert not generate
        asked = enumerate(zip(messages, self.contexts))
        return {"choices": [self.choice(index, tokens, context) for index, (tokens, context) in asked]}

    def choice(self, index, tokens, context):
        found = [self.next(tokens[:at]) for at in range(context, len(tokens))]
        own = [distribution[token] for distribution, token in zip(found, tokens[context:])]
        best = [{"best": max(distribution.values())} for distribution in found]
        # After the last token svc has a generated one, which lm-eval leaves out.
        unread = [None] * context
        return {"index": index, "logprobs": {"token_logprobs": [*unread, *own, 0], "top_logprobs": [*unread, *best, {}]}}

    def next(self, tokens):
        # The forced letter does not affect the reported probabilities; after half a character none are reported.
        body = {"prompt": tokens, "n_predict": 1, "n_probs": self.vocabulary, "logit_bias": [[self.letter, 1000]]}
        answer = requests.post(f"{LLAMA}/completion", json=body, timeout=60).json()
        return {entry["id"]: entry["logprob"] for entry in answer["completion_probabilities"][0]["top_logprobs"]}


def evaluate(config, model, **arguments):
    """Returns the scores of a task by metric, and the model's results for each of its questions."""
    config = {**config, "metric_list": [dict(entry) for entry in config["metric_list"]]}
    found = lm_eval.simple_evaluate(model, tasks=[config], task_manager=TASKS, bootstrap_iters=0, **arguments)
    name = config["task"]
    scores = {metric: value for metric, value in found["results"][name].items() if isinstance(value, float)}
    samples = sorted(found["samples"][name], key=lambda sample: sample["doc_id"])
    return scores, [sample["filtered_resps"] for sample in samples]


def on_svc(config, **settings):
    settings = {"base_url": f"{SVC}/v1/completions", "model": "svc-mini", **settings}
    return evaluate(config, "local-completions", model_args=settings)


def numbers(value):
    """Returns all numbers in nested answers, and whether a continuation is the most likely one, as 1 or 0."""
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in numbers(part)]
    return [float(value)]


def assert_equal_scores(config, **settings):
    scores, answers = on_svc(config, **settings)
    other_scores, other_answers = evaluate(config, NextTokens())
    ours, theirs = numbers(answers), numbers(other_answers)
    assert len(ours) == len(theirs) > 0
    assert max(abs(a - b) for a, b in zip(ours, theirs)) < CLOSE, f"{ours} {theirs}"
    assert scores.keys() == other_scores.keys() and scores, scores
    for metric, score in scores.items():
        assert math.isclose(score, other_scores[metric], rel_tol=CLOSE_SCORE), f"{metric}: {scores} {other_scores}"


@check
def choices_have_the_scores_that_llama_server_gives_them():
    assert_equal_scores(CHOICE)


@check
def so_have_continuations_several_at_a_time_in_one_request_or_many():
    assert_equal_scores(CONTINUATION, batch_size=4)
    assert_equal_scores(CONTINUATION, num_concurrent=4)


@check
def so_have_whole_texts():
    assert_equal_scores(ROLLING)


@check
def a_chat_is_answered_with_the_model_s_own_template():
    settings = {"base_url": f"{SVC}/v1/chat/completions", "model": "svc-mini", "num_concurrent": 1}
    scores, _ = evaluate(ANSWER, "local-chat-completions", model_args=settings, apply_chat_template=True)
    assert scores["exact_match,none"] == 1.0, scores


sys.stdout.reconfigure(line_buffering=True)
run_checks(f"lm-eval {version('lm-eval')}")

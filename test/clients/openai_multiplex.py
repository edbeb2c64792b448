"""Many conversations in one request: the SDK has no method for it, but its transport and stream decoder handle it."""

import json

import openai

from checks import CAPITAL, CAPITAL_ANSWER, asking, check, client, endless, failure, until_idle

REQUESTS = [
    {"custom_id": "long", "body": {**asking("hello " * 60_000), "stream": True}},
    {"custom_id": "other", "body": asking(CAPITAL)},
]


def batch(requests, server=client):
    body = {"requests": requests}
    return server.post("/batch/completions", body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object])


@check
def a_batch_of_conversations_in_one_stream_by_custom_id():
    body = asking("What is the capital of France?")
    requests = [{"custom_id": "whole", "body": body}, {"custom_id": "streamed", "body": {**body, "stream": True}}]
    texts = {}
    for event in batch(requests):
        parts = (choice.get("message") or choice["delta"] for choice in event["choices"])
        text = "".join(part.get("content") or "" for part in parts)
        texts[event["custom_id"]] = texts.get(event["custom_id"], "") + text
    assert set(texts) == {"whole", "streamed"}
    assert all("Paris" in text for text in texts.values()), texts


@check
def an_item_that_fails_is_an_api_error_that_names_it_and_what_is_left_of_the_batch_is_ended():
    error = failure(lambda: list(batch(REQUESTS, endless)))
    assert isinstance(error, openai.APIError)
    assert (error.code, error.param, error.body["custom_id"]) == ("context_length_exceeded", "messages", "long")
    until_idle()


@check
def the_lines_of_a_batch_have_every_item_also_behind_one_that_fails():
    lines = [line for line in batch(REQUESTS).response.iter_lines() if line.startswith("data: {")]
    events = {event["custom_id"]: event for event in (json.loads(line[6:]) for line in lines)}
    assert events["long"]["object"] == "batch.error"
    assert CAPITAL_ANSWER in events["other"]["choices"][0]["message"]["content"], events["other"]

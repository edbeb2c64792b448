"""Many conversations in one request: the SDK has no call for it, but its own transport and decoder of streams take it."""

import openai

from checks import asking, check, client


@check
def a_batch_of_conversations_in_one_stream_by_custom_id():
    body = asking("What is the capital of France?")
    requests = [{"custom_id": "whole", "body": body}, {"custom_id": "streamed", "body": {**body, "stream": True}}]
    stream = client.post(
        "/batch/completions", body={"requests": requests}, cast_to=object, stream=True, stream_cls=openai.Stream[object]
    )
    texts = {}
    for event in stream:
        parts = (choice.get("message") or choice["delta"] for choice in event["choices"])
        text = "".join(part.get("content") or "" for part in parts)
        texts[event["custom_id"]] = texts.get(event["custom_id"], "") + text
    assert set(texts) == {"whole", "streamed"}
    assert all("Paris" in text for text in texts.values()), texts

"""The Python SDK: files and batches from beginning to end."""

import json
import time

import openai
from checks import CAPITAL, CAPITAL_ANSWER, asking, check, client, failure

ENDED = ("completed", "failed", "expired", "cancelled")


def line(index, body):
    return {"custom_id": f"line-{index}", "method": "POST", "url": "/v1/chat/completions", "body": body}


def upload(lines, name="checks.jsonl"):
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    return client.files.create(file=(name, content), purpose="batch")


def create(lines, **extra):
    return client.batches.create(
        input_file_id=upload(lines).id, endpoint="/v1/chat/completions", completion_window="24h", **extra
    )


def ended(batch_id):
    deadline = time.time() + 60
    while True:
        batch = client.batches.retrieve(batch_id)
        if batch.status in ENDED:
            return batch
        assert time.time() < deadline, f"still {batch.status}"
        time.sleep(0.05)


@check
def files_are_made_fetched_listed_and_deleted():
    lines = [line(1, asking(CAPITAL))]
    files = [upload(lines, f"page-{count}.jsonl") for count in range(5)]
    assert client.files.retrieve(files[0].id).filename == "page-0.jsonl"
    assert json.loads(client.files.content(files[0].id).text) == lines[0]
    own = {file.id for file in files}
    listed = [file.id for file in client.files.list(limit=2, order="asc", purpose="batch") if file.id in own]
    assert listed == [file.id for file in files]
    assert all(client.files.delete(file.id).deleted for file in files)
    assert isinstance(failure(lambda: client.files.retrieve(files[0].id)), openai.NotFoundError)


@check
def a_batch_goes_from_create_to_its_output():
    made = create([line(1, asking(CAPITAL)), line(2, {"messages": []}), line(3, asking(CAPITAL))], metadata={"a": "b"})
    assert made.metadata == {"a": "b"}
    batch = ended(made.id)
    assert batch.status == "completed"
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (3, 2, 1)
    output = [json.loads(one) for one in client.files.content(batch.output_file_id).text.splitlines()]
    by_id = {one["custom_id"]: one["response"] for one in output}
    assert len(output) == len(by_id) == 3
    for custom_id in ("line-1", "line-3"):
        assert by_id[custom_id]["body"]["choices"][0]["message"]["content"] == CAPITAL_ANSWER
    assert by_id["line-2"]["status_code"] == 400


@check
def batches_are_listed_page_by_page():
    made = [create([line(1, asking(CAPITAL))]).id for _ in range(5)]
    assert [batch.id for batch in client.batches.list(limit=2)][:5] == made[::-1]


@check
def a_batch_is_cancelled_once():
    story = asking("Tell me a story.", max_tokens=400, ignore_eos=True)
    made = create([line(index, story) for index in range(200)])
    assert client.batches.cancel(made.id).status in ("cancelling", "cancelled")
    assert ended(made.id).status == "cancelled"
    assert isinstance(failure(lambda: client.batches.cancel(made.id)), openai.BadRequestError)
    assert isinstance(failure(lambda: client.batches.retrieve("batch_none")), openai.NotFoundError)


@check
def lines_that_are_none_make_a_batch_fail():
    batch = ended(create([line(1, asking(CAPITAL)), line(1, asking(CAPITAL)), {}]).id)
    assert batch.status == "failed"
    assert [error.line for error in batch.errors.data] == [2, 3]

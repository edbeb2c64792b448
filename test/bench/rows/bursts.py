"""A plain client in another language: bursts of concurrent, unrelated short prompts, streamed, in several rounds.

python3 bursts.py PORT ROUNDS REQUESTS PROMPT_TOKENS OUTPUT_TOKENS
Prints one JSON object per round: end-to-end tokens per second, the slowest first token and the 99th percentile of the
pauses between pieces of text, in seconds, and the numbers of pieces and tokens.
"""
import http.client
import json
import random
import sys
import threading
import time

port, rounds, requests, prompt_tokens, output_tokens = (int(text) for text in sys.argv[1:6])
WORDS = 8000


def ask(body, result):
    started = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    pieces, usage = [], None
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        now = time.monotonic()
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        if event.get("choices") and event["choices"][0].get("text"):
            pieces.append(now)
    connection.close()
    result.update(first=pieces[0] - started, gaps=[b - a for a, b in zip(pieces, pieces[1:])],
                  tokens=usage["completion_tokens"], pieces=len(pieces))


for number in range(rounds):
    chance = random.Random(number)
    results = [{} for _ in range(requests)]
    threads = []
    for result in results:
        prompt = [chance.randrange(100, WORDS) for _ in range(prompt_tokens)]
        body = json.dumps({"model": "any", "prompt": prompt, "max_tokens": output_tokens, "temperature": 0,
                           "ignore_eos": True, "stream": True, "stream_options": {"include_usage": True}})
        threads.append(threading.Thread(target=ask, args=(body, result)))
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    tokens = sum(result["tokens"] for result in results)
    gaps = sorted(gap for result in results for gap in result["gaps"])
    print(json.dumps({"rate": tokens / took, "first": max(result["first"] for result in results),
                      "p99": gaps[int(len(gaps) * 0.99)] if gaps else 0.0,
                      "pieces": sum(result["pieces"] for result in results), "tokens": tokens}), flush=True)

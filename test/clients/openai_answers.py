"""The Python SDK: several answers, reasoning, and the fields that affect sampling."""

import openai

from checks import (
    ADDITION,
    ADDITION_ANSWER,
    CAPITAL,
    CAPITAL_ANSWER,
    PARIS,
    TOOLS,
    ask,
    asking,
    check,
    client,
    endless,
    failure,
    helpers,
)

STORY = asking("Tell me a story.", seed=11, max_tokens=30, n=2)
STORY["temperature"] = 1


def story(**extra):
    return client.chat.completions.create(**{**STORY, **extra})


def texts(completion):
    return [choice.message.content for choice in completion.choices]


def reasoning_of(part):
    """The SDK does not know this field, and passes it on."""
    return getattr(part, "reasoning_content", None) or ""


@check
def n_of_two_gives_two_answers_and_counts_both():
    completion, single = story(), story(n=1)
    assert [choice.index for choice in completion.choices] == [0, 1]
    assert len(set(texts(completion))) == 2
    assert completion.usage.prompt_tokens == single.usage.prompt_tokens
    assert completion.usage.completion_tokens > single.usage.completion_tokens


@check
def n_of_two_as_a_stream_is_the_same_two_answers():
    collected, finishes = ["", ""], []
    for chunk in story(stream=True):
        for choice in chunk.choices:
            collected[choice.index] += choice.delta.content or ""
            finishes += [choice.index] if choice.finish_reason else []
    assert collected == texts(story())
    assert sorted(finishes) == [0, 1]
    with helpers.stream(**STORY) as stream:
        stream.until_done()  # the final completion would be refused for its length
        assert texts(stream.current_completion_snapshot) == collected


@check
def n_of_two_with_tools_is_calls_in_both():
    choices = ask(PARIS, tools=TOOLS, n=2).choices
    assert len({choice.message.tool_calls[0].id for choice in choices}) == 2


@check
def n_out_of_range_is_bad_request_error():
    for n in (0, 100_000):
        error = failure(lambda: story(n=n))
        assert isinstance(error, openai.BadRequestError) and error.param == "n"


@check
def reasoning_effort_gives_thoughts_beside_the_answer():
    completion = ask(ADDITION, reasoning_effort="high")
    message = completion.choices[0].message
    assert message.content == ADDITION_ANSWER
    assert "42" in reasoning_of(message)
    assert completion.usage.completion_tokens_details.reasoning_tokens > 0


@check
def reasoning_in_a_stream_comes_before_the_answer():
    chunks = ask(ADDITION, reasoning_effort="high", stream=True)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    whole = ask(ADDITION, reasoning_effort="high").choices[0].message
    assert "".join(delta.content or "" for delta in deltas) == ADDITION_ANSWER
    assert "".join(reasoning_of(delta) for delta in deltas) == reasoning_of(whole)
    order = ["thought" if reasoning_of(delta) else "text" for delta in deltas if reasoning_of(delta) or delta.content]
    assert order == sorted(order, reverse=True)


@check
def no_reasoning_unless_asked_for():
    for extra in ({}, {"reasoning_effort": "none"}, {"reasoning_effort": None}):
        message = ask(ADDITION, **extra).choices[0].message
        assert (message.content, reasoning_of(message)) == (ADDITION_ANSWER, "")


@check
def reasoning_before_a_tool_call():
    message = ask(PARIS, tools=TOOLS, reasoning_effort="low").choices[0].message
    assert len(message.tool_calls) == 1 and reasoning_of(message)


@check
def logit_bias_bans_a_token_and_forces_one():
    token = client.post("/tokenize", cast_to=object, body={"text": CAPITAL_ANSWER})["tokens"][0]
    banned = ask(CAPITAL, logit_bias={str(token): -100}).choices[0].message.content
    assert banned and not banned.startswith("The")
    forced = ask("Hello!", logit_bias={str(token): 100}, max_tokens=3)
    assert forced.choices[0].message.content == "TheTheThe"


@check
def logit_bias_of_something_that_is_no_token_is_bad_request_error():
    error = failure(lambda: ask(CAPITAL, logit_bias={"hello": 1}))
    assert isinstance(error, openai.BadRequestError) and error.param == "logit_bias"


@check
def a_seed_decides_all_n_answers():
    def draw(seed):
        return texts(endless.chat.completions.create(**{**STORY, "seed": seed, "max_tokens": 12}))

    # As in openai_client.py, the first answer is not compared.
    other = draw(8)
    first = draw(7)
    assert draw(7) == first
    assert other != first

"""The Python SDK: vectors, which it requests in base64 by default."""

import openai

from checks import check, client, failure

MODEL = "all-minilm-l6-v2"
SKY = "The sky is blue."


def embed(text, **extra):
    return client.embeddings.create(**{"model": MODEL, "input": text, **extra})


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b))


@check
def embeddings_are_unit_vectors_near_for_near_meanings():
    answer = embed([SKY, "The heavens are azure.", "Two carpenters sell wooden chairs."])
    sky, heavens, chairs = [item.embedding for item in answer.data]
    assert len(sky) == 384
    assert abs(cosine(sky, sky) - 1) < 1e-4
    assert cosine(sky, heavens) > cosine(sky, chairs)
    assert answer.usage.prompt_tokens > 10


@check
def embeddings_as_base64_and_as_floats_are_the_same():
    usual = embed(SKY).data[0].embedding
    floats = embed(SKY, encoding_format="float").data[0].embedding
    assert max(abs(a - b) for a, b in zip(usual, floats)) < 1e-6


@check
def embeddings_have_as_many_dimensions_as_asked_for():
    assert len(embed(SKY, dimensions=64).data[0].embedding) == 64


@check
def an_unknown_embedding_model_is_a_not_found_error():
    assert isinstance(failure(lambda: embed("a", model="nobody")), openai.NotFoundError)

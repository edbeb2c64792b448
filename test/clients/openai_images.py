"""The Python SDK: images drawn from descriptions, and edited with them."""

import base64
import urllib.request

import openai

from checks import check, client, failure, until_idle

ASKED = {"model": "gpt-image-1", "prompt": "a red circle on a white background", "size": "128x128"}


def generate(extra=None, **arguments):
    return client.images.generate(**{**ASKED, **arguments}, extra_body=extra or {})


def edit(extra=None, **arguments):
    return client.images.edit(**{**ASKED, **arguments}, extra_body=extra or {})


def is_png(data):
    return base64.b64decode(data).startswith(b"\x89PNG")


def drawn():
    return ("image.png", base64.b64decode(generate().data[0].b64_json), "image/png")


@check
def images_generate_gives_images():
    answer = generate(n=2, extra={"seed": 7})
    assert len(answer.data) == 2
    assert all(is_png(image.b64_json) for image in answer.data)
    assert [image.seed for image in answer.data] == [7, 8]


@check
def images_generate_gives_addresses_of_images():
    with urllib.request.urlopen(generate(response_format="url").data[0].url) as answer:
        assert answer.headers["content-type"] == "image/png"


@check
def images_generate_streams_what_is_there_so_far_then_the_image():
    *partial, last = generate(extra={"stream": True, "partial_images": 2, "steps": 4}, stream=True)
    assert last.type == "image_generation.completed"
    assert partial and all(event.type == "image_generation.partial_image" for event in partial)
    assert is_png(last.b64_json)


@check
def images_edit_changes_an_image_whole_and_as_a_stream():
    image = drawn()
    assert is_png(edit(image=image, prompt="a blue circle", extra={"strength": 0.5}).data[0].b64_json)
    *_, last = edit(image=[image], prompt="a blue circle", stream=True)
    assert last.type == "image_edit.completed"


@check
def what_is_not_served_is_bad_request_error_about_its_field():
    error = failure(lambda: generate(style="vivid"))
    assert isinstance(error, openai.BadRequestError)
    assert error.param == "style"


@check
def leaving_a_stream_ends_its_work_on_the_server():
    with generate(extra={"progress": True, "steps": 150}, stream=True) as stream:
        next(iter(stream))
    until_idle("SVC_URL")

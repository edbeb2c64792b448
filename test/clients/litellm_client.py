"""LiteLLM, unmodified, with a running svc: transcription and speech."""

import os
import re
import tempfile
from importlib.metadata import version
from pathlib import Path

# Without this setting, its prices are downloaded on import.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402
import openai  # noqa: E402

from harness import check, run_checks  # noqa: E402

JFK = Path(__file__).parent.parent / "fixtures/sounds/jfk.wav"
SERVER = {"api_base": os.environ["SVC_URL"] + "/v1", "api_key": "unused", "max_retries": 0}


def transcribe(path, **extra):
    with path.open("rb") as file:
        return litellm.transcription(**{"model": "openai/whisper-1", "file": file, **SERVER, **extra})


def speak(**extra):
    return litellm.speech(
        **{"model": "openai/tts-1", "voice": "alloy", "input": "Good morning, the sky is blue.", **SERVER, **extra}
    )


def said_in(text, words):
    return words in re.sub("[^a-z]+", " ", text.lower())


@check
def a_recording_is_text():
    text = transcribe(JFK).text
    assert said_in(text, "ask what you can do for your country"), text


@check
def verbose_json_has_times_of_words():
    answer = transcribe(JFK, response_format="verbose_json", timestamp_granularities=["word"])
    assert " ".join(word["word"] for word in answer.words) == answer.text


@check
def speech_is_heard_as_it_was_said():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mp3", "opus", "aac", "flac", "wav"):
            file = Path(folder) / f"speech.{name}"
            speak(response_format=name, speed=1.2).write_to_file(file)
            text = transcribe(file).text
            assert said_in(text, "the sky is blue"), f"{name}: {text}"


@check
def an_unknown_voice_is_not_found_error():
    # LiteLLM's own exception derives from this one, and LiteLLM does not wrap errors of speech.
    try:
        speak(voice="nobody")
    except openai.NotFoundError as error:
        assert error.status_code == 404
        return
    raise AssertionError("the call succeeded")


run_checks(f"litellm {version('litellm')}")

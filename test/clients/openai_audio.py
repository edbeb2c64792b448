"""The Python SDK: transcription and speech."""

import asyncio
import base64
import io
import json
import re
import tempfile
import wave
from pathlib import Path

import openai

from checks import check, client, client_for, failure, until_idle

JFK = Path(__file__).parent.parent / "fixtures/sounds/jfk.wav"
WORDS = "ask what you can do for your country"
SENTENCE = "Good morning, the sky is blue."
#: The first bytes of files in each format.
FORMATS = {
    "mp3": rb"ID3|\xff[\xf2\xf3\xfa\xfb]",
    "opus": rb"OggS",
    "aac": rb"\xff[\xf0\xf1\xf8\xf9]",
    "flac": rb"fLaC",
    "wav": rb"RIFF",
}


def transcribe(file, **extra):
    return client.audio.transcriptions.create(model="whisper-1", file=file, **extra)


def speak(**extra):
    return client.audio.speech.create(**{"model": "tts-1", "voice": "alloy", "input": SENTENCE, **extra})


def speaking(**extra):
    arguments = {"model": "tts-1", "voice": "alloy", "input": SENTENCE, **extra}
    return client.audio.speech.with_streaming_response.create(**arguments)


def said_in(text, words=WORDS):
    return words in re.sub("[^a-z]+", " ", text.lower())


def wav(seconds, samples=b"\0\0"):
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, 16_000, 0, "NONE", None))
        writer.writeframes((samples * (seconds * 32_000 // len(samples) + 1))[: seconds * 32_000])
    return file.getvalue()


def long_recording():
    """Returns more audio than can be transcribed during a check."""
    return ("long.wav", wav(1200, JFK.read_bytes()[44:]))


@check
def a_recording_from_a_file_a_path_and_bytes_is_text():
    with JFK.open("rb") as file:
        text = transcribe(file).text
    assert said_in(text), text
    assert transcribe(JFK).text == text
    assert transcribe(("a", JFK.read_bytes(), "audio/wav")).text == text
    assert transcribe(io.BytesIO(JFK.read_bytes())).text == text


@check
def verbose_json_has_times_of_words_and_segments():
    answer = transcribe(JFK, response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert " ".join(word.word for word in answer.words) == answer.text
    assert " ".join(segment.text.strip() for segment in answer.segments) == answer.text
    starts = [word.start for word in answer.words]
    assert starts == sorted(starts)
    assert answer.language == "english"
    assert round(float(answer.duration)) == 11


@check
def text_srt_and_vtt_are_strings():
    text, srt, vtt = [transcribe(JFK, response_format=name, language="en") for name in ("text", "srt", "vtt")]
    assert said_in(text), text
    assert re.match(r"1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\nAnd so", srt), srt
    assert re.match(r"WEBVTT\n\n00:00:00\.\d{3} --> ", vtt), vtt


@check
def prompt_temperature_and_chunking_strategy_are_taken():
    answer = transcribe(JFK, prompt="Kennedy", temperature=0.0, chunking_strategy={"type": "server_vad"})
    assert said_in(answer.text), answer.text


@check
def a_streamed_transcription_has_deltas_then_the_whole_text_with_usage():
    *deltas, last = transcribe(JFK, stream=True)
    assert all(event.type == "transcript.text.delta" for event in deltas)
    assert last.type == "transcript.text.done"
    assert "".join(event.delta for event in deltas) == last.text
    assert said_in(last.text), last.text
    assert last.usage.output_tokens > 0


@check
def the_async_client_transcribes_several_recordings_at_once():
    async def run():
        async with client_for("SVC_URL", openai.AsyncOpenAI) as many:
            calls = [many.audio.transcriptions.create(model="whisper-1", file=JFK) for _ in range(3)]
            return await asyncio.gather(*calls)

    texts = {answer.text for answer in asyncio.run(run())}
    assert len(texts) == 1 and said_in(texts.pop())


@check
def translations_are_english_text():
    answer = client.audio.translations.create(model="whisper-1", file=JFK)
    assert said_in(answer.text), answer.text


@check
def silence_is_unprocessable_entity_error_no_speech():
    error = failure(lambda: transcribe(("silence.wav", wav(2))))
    assert isinstance(error, openai.UnprocessableEntityError)
    assert error.code == "no_speech"


@check
def what_is_not_sound_is_bad_request_error_about_file():
    error = failure(lambda: transcribe(("a.mp3", b"Good morning.")))
    assert isinstance(error, openai.BadRequestError)
    assert error.param == "file"


@check
def leaving_a_streamed_transcription_ends_its_work_on_the_server():
    with transcribe(long_recording(), stream=True) as stream:
        assert next(iter(stream)).type == "transcript.text.delta"
    until_idle("SVC_URL")


@check
def a_client_timeout_ends_a_transcription_on_the_server():
    impatient = client.with_options(timeout=2)
    error = failure(lambda: impatient.audio.transcriptions.create(model="whisper-1", file=long_recording()))
    assert isinstance(error, openai.APITimeoutError)
    until_idle("SVC_URL")


@check
def speech_to_a_file_is_heard_as_it_was_said():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speech.mp3"
        with speaking() as answer:
            answer.stream_to_file(file)
        assert re.match(FORMATS["mp3"], file.read_bytes())
        text = transcribe(file).text
        assert said_in(text, "the sky is blue"), text
        speak().write_to_file(file)
        assert re.match(FORMATS["mp3"], file.read_bytes())


@check
def speech_comes_piece_by_piece():
    with speaking(input=SENTENCE * 3, response_format="pcm") as answer:
        pieces = list(answer.iter_bytes())
    assert len(pieces) > 1
    assert len(b"".join(pieces)) > 24_000 * 2


@check
def speech_in_every_format():
    for name, beginning in FORMATS.items():
        assert re.match(beginning, speak(response_format=name).content), name
    samples = speak(response_format="pcm").content
    assert len(samples) % 2 == 0 and len(samples) > 24_000 * 2


@check
def speed_makes_speech_shorter_and_longer():
    lengths = [len(speak(response_format="pcm", speed=speed).content) for speed in (4, 1, 0.5)]
    assert lengths[0] < lengths[1] < lengths[2], lengths


@check
def speech_as_events():
    with speaking(response_format="pcm", stream_format="sse") as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    *deltas, last = [json.loads(line[6:]) for line in lines]
    assert last["type"] == "speech.audio.done"
    sound = b"".join(base64.b64decode(event["audio"]) for event in deltas)
    assert sound == speak(response_format="pcm").content


@check
def an_unknown_voice_is_not_found_error_too_long_a_text_bad_request_error():
    unknown = failure(lambda: speak(voice="nobody"))
    assert isinstance(unknown, openai.NotFoundError)
    assert unknown.param == "voice"
    long = failure(lambda: speak(input="a" * 32_769))
    assert isinstance(long, openai.BadRequestError)
    assert long.param == "input"


@check
def leaving_speech_ends_its_work_on_the_server():
    with speaking(input=(SENTENCE + " ") * 1000) as answer:
        next(answer.iter_bytes())
    until_idle("SVC_URL")

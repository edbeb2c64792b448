"""The Python SDK's realtime connections: text while someone is speaking."""

import array
import asyncio
import base64
import os
from itertools import chain

import openai

from checks import check, skip
from openai_audio import JFK, said_in

TRANSCRIPTION = "conversation.item.input_audio_transcription"
RATE = 24_000
CHUNK = RATE // 5 * 2
TURNS = {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 500}
ENGLISH = {"model": "whisper-1", "language": "en"}
NESTED = {
    "type": "transcription",
    "audio": {
        "input": {"format": {"type": "audio/pcm", "rate": RATE}, "transcription": ENGLISH, "turn_detection": TURNS}
    },
}
FLAT = {"input_audio_format": "pcm16", "input_audio_transcription": ENGLISH, "turn_detection": TURNS}


def live(kind=openai.OpenAI, key="unused"):
    url = os.environ["SVC_URL"] + "/v1"
    return kind(base_url=url, websocket_base_url=url.replace("http", "ws"), api_key=key, max_retries=0)


def connect(client):
    return client.realtime.connect(model="whisper-1", extra_query={"intent": "transcription"})


def pcm():
    """Returns the recording's samples at 24 kHz, and a second of silence."""
    samples = array.array("h", JFK.read_bytes()[44:])
    pairs = zip(samples[0::2], samples[1::2])
    # Makes three samples of two.
    more = array.array("h", chain.from_iterable((left, (left + right) // 2, right) for left, right in pairs))
    return more.tobytes() + bytes(2 * RATE)


def pieces():
    sound = pcm()
    return [base64.b64encode(sound[at : at + CHUNK]).decode() for at in range(0, len(sound), CHUNK)]


def is_over(events):
    """Returns whether all items are transcribed, including the end of the recording."""
    names = [event.type for event in events]
    whole = [event for event in events if event.type == f"{TRANSCRIPTION}.completed"]
    begun = names.count("input_audio_buffer.speech_started")
    return begun == len(whole) and any(said_in(event.transcript, "for your country") for event in whole)


def check_dictation(events, created):
    assert events[0].type == created, events[0]
    whole = [event for event in events if event.type == f"{TRANSCRIPTION}.completed"]
    text = " ".join(event.transcript for event in whole)
    assert said_in(text), text
    for event in whole:
        deltas = [one.delta for one in events if one.type == f"{TRANSCRIPTION}.delta" and one.item_id == event.item_id]
        assert "".join(deltas) == event.transcript


@check
def a_connection_transcribes_what_is_sent_piece_by_piece():
    events = []
    with connect(live()) as connection:
        connection.session.update(session=NESTED)
        for audio in pieces():
            connection.input_audio_buffer.append(audio=audio)
        for event in connection:
            events.append(event)
            assert event.type != "error", event
            if is_over(events):
                break
    check_dictation(events, "session.created")
    session = next(event.session for event in events if event.type == "session.updated")
    assert session.type == "transcription"
    assert session.audio.input.turn_detection.silence_duration_ms == 500


@check
def the_async_client_hears_while_it_speaks():
    async def run():
        events = []
        async with live(openai.AsyncOpenAI) as client, connect(client) as connection:
            await connection.session.update(session=NESTED)

            async def speak():
                for audio in pieces():
                    await connection.input_audio_buffer.append(audio=audio)
                    await asyncio.sleep(0.01)

            speaking = asyncio.create_task(speak())
            async for event in connection:
                events.append(event)
                if is_over(events):
                    break
            await speaking
        return events

    check_dictation(asyncio.run(run()), "session.created")


@check
def without_turn_detection_the_client_commits():
    with connect(live()) as connection:
        connection.session.update(session={**NESTED, "audio": {"input": {"turn_detection": None}}})
        for audio in pieces():
            connection.input_audio_buffer.append(audio=audio)
        connection.input_audio_buffer.commit()
        names = []
        for event in connection:
            names.append(event.type)
            if event.type == f"{TRANSCRIPTION}.completed":
                break
    assert said_in(event.transcript), event
    assert event.usage.type == "duration" and round(event.usage.seconds) == 12, event
    assert "input_audio_buffer.speech_started" not in names


@check
def a_client_secret_opens_a_session_which_has_its_settings():
    expires = {"anchor": "created_at", "seconds": 60}
    secret = live().realtime.client_secrets.create(session=NESTED, expires_after=expires)
    assert secret.session.type == "transcription", secret
    with connect(live(key=secret.value)) as connection:
        created = connection.recv()
    assert created.session.audio.input.transcription.language == "en", created


@check
def what_belongs_to_conversations_is_an_error_event_and_the_connection_stays():
    with connect(live()) as connection:
        connection.response.create(event_id="mine")
        connection.input_audio_buffer.clear()
        for event in connection:
            if event.type == "error":
                assert (event.error.code, event.error.event_id) == ("unsupported_parameter", "mine"), event
            if event.type == "input_audio_buffer.cleared":
                break


def older():
    @check
    def the_first_form_of_the_convention_transcribes_too():
        events = []
        client = live()
        with client.beta.realtime.connect(model="x", extra_query={"intent": "transcription"}) as connection:
            connection.transcription_session.update(session=FLAT)
            for audio in pieces():
                connection.input_audio_buffer.append(audio=audio)
            for event in connection:
                events.append(event)
                assert event.type != "error", event
                if is_over(events):
                    break
        check_dictation(events, "transcription_session.created")
        updated = next(event for event in events if event.type == "transcription_session.updated")
        assert updated.session.input_audio_format == "pcm16"


    @check
    def the_first_form_of_a_client_secret_too():
        secret = live().beta.realtime.transcription_sessions.create(**FLAT).client_secret
        with live(key=secret.value).beta.realtime.connect(model="x", extra_query={"intent": "transcription"}) as connection:
            created = connection.recv()
        assert created.session["input_audio_transcription"]["language"] == "en", created


if hasattr(live().beta, "realtime") and hasattr(live().beta.realtime, "connect"):
    older()
else:
    skip("the first form of the convention transcribes too", "this version has it no more")

//! Speech, transcription and images.

use crate::{Api, Checks, same, with};
use async_openai::types::{
    InputSource,
    audio::{
        AudioInput, AudioResponseFormat, CreateSpeechResponseStreamEvent, CreateTranscriptionRequest,
        CreateTranscriptionResponseStreamEvent, TimestampGranularity,
    },
    images::ImageGenStreamEvent,
};
use futures::StreamExt;
use serde_json::{from_value, json};

const MORNING: &str = "Good morning.";

pub async fn checks(checks: &mut Checks, client: &Api) {
    let mut sound = Vec::new();
    let say = json!({ "model": "tts-1", "voice": "nova", "input": MORNING, "response_format": "wav" });

    checks
        .check("speech, whole and as a stream of events", async {
            sound = client.audio().speech().create(from_value(say.clone())?).await?.bytes.to_vec();
            let body = with(say, json!({ "stream_format": "sse" }));
            let mut stream = client.audio().speech().create_stream(from_value(body)?).await?;
            let mut last = None;
            while let Some(event) = stream.next().await {
                last = Some(event?);
            }
            same(matches!(last, Some(CreateSpeechResponseStreamEvent::SpeechAudioDone(_))), true)
        })
        .await;

    let request = || CreateTranscriptionRequest {
        file: AudioInput { source: InputSource::VecU8 { filename: "morning.wav".into(), vec: sound.clone() } },
        model: "whisper-1".into(),
        ..Default::default()
    };

    checks
        .check("transcription, whole, verbose and as a stream", async {
            let heard = client.audio().transcription().create(request()).await?;
            same(heard.text.trim(), MORNING)?;
            let verbose = CreateTranscriptionRequest {
                response_format: Some(AudioResponseFormat::VerboseJson),
                timestamp_granularities: Some(vec![TimestampGranularity::Word, TimestampGranularity::Segment]),
                ..request()
            };
            let heard = client.audio().transcription().create_verbose_json(verbose).await?;
            same((heard.words.map(|words| words.len()), heard.segments.map(|all| all.len())), (Some(2), Some(1)))?;
            let mut stream = client.audio().transcription().create_stream(request()).await?;
            let mut last = None;
            while let Some(event) = stream.next().await {
                last = Some(event?);
            }
            match last {
                Some(CreateTranscriptionResponseStreamEvent::TranscriptTextDone(end)) => same(end.text.trim(), MORNING),
                other => Err(format!("{other:?} at the end").into()),
            }
        })
        .await;

    checks
        .check("an image, whole and as a stream with a preview", async {
            let draw = json!({ "model": "svc-draw", "prompt": "a red circle" });
            same(client.images().generate(from_value(draw.clone())?).await?.data.len(), 1)?;
            let body = with(draw, json!({ "partial_images": 1 }));
            let mut stream = client.images().generate_stream(from_value(body)?).await?;
            let mut previews = 0;
            let mut images = 0;
            while let Some(event) = stream.next().await {
                match event? {
                    ImageGenStreamEvent::PartialImage(_) => previews += 1,
                    ImageGenStreamEvent::Completed(_) => images += 1,
                }
            }
            same((previews, images), (1, 1))
        })
        .await;
}

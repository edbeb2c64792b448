//! Chat, completions, embeddings, models, files and batches.

use crate::{Api, CAPITAL, CAPITAL_ANSWER, Checks, PARIS, PARIS_AND_ROME, city_only, same, with};
use async_openai::{
    error::OpenAIError,
    types::{
        InputSource,
        batches::{BatchRequest, BatchStatus},
        files::{CreateFileRequest, FileInput, FilePurpose},
    },
};
use futures::StreamExt;
use serde_json::{Value, from_value, json};
use std::time::{Duration, Instant};

fn question(content: &str, more: Value) -> Value {
    let messages = json!([{ "role": "user", "content": content }]);
    with(json!({ "model": "svc-mini", "temperature": 0, "messages": messages }), more)
}

fn tools() -> Value {
    json!([{ "type": "function", "function": { "name": "get_weather", "parameters": city_only() } }])
}

pub async fn checks(checks: &mut Checks, client: &Api) {
    checks
        .check("chat: an answer with log probabilities, whole and as a stream", async {
            let more = json!({ "logprobs": true, "top_logprobs": 2 });
            let whole = client.chat().create(from_value(question(CAPITAL, more.clone()))?).await?;
            same(whole.choices[0].message.content.as_deref(), Some(CAPITAL_ANSWER))?;
            let mut stream = client.chat().create_stream(from_value(question(CAPITAL, more))?).await?;
            let mut text = String::new();
            while let Some(chunk) = stream.next().await {
                chunk?.choices.into_iter().for_each(|choice| text += &choice.delta.content.unwrap_or_default());
            }
            same(text.as_str(), CAPITAL_ANSWER)
        })
        .await;

    checks
        .check("chat: tools are called, in a whole answer and in a stream", async {
            let more = json!({ "tools": tools() });
            let whole = client.chat().create(from_value(question(PARIS, more.clone()))?).await?;
            same(whole.choices[0].message.tool_calls.as_ref().map(Vec::len), Some(1))?;
            let mut stream = client.chat().create_stream(from_value(question(PARIS_AND_ROME, more))?).await?;
            let mut names = Vec::new();
            while let Some(chunk) = stream.next().await {
                let calls = chunk?.choices.into_iter().flat_map(|choice| choice.delta.tool_calls.unwrap_or_default());
                names.extend(calls.filter_map(|call| call.function?.name));
            }
            same(names, vec!["get_weather".to_string(); 2])
        })
        .await;

    checks
        .check("chat: an error has its code and field", async {
            match client.chat().create(from_value(question(CAPITAL, json!({ "top_logprobs": 200 })))?).await {
                Err(OpenAIError::ApiError(error)) => {
                    let error = error.api_error;
                    same((error.code.as_deref(), error.param.as_deref()), (Some("invalid_value"), Some("top_logprobs")))
                }
                other => Err(format!("{other:?}").into()),
            }
        })
        .await;

    checks
        .check("completions, with the prompt's log probabilities", async {
            let body = json!({ "model": "svc-mini", "prompt": "Once", "max_tokens": 5, "logprobs": 2, "echo": true });
            same(client.completions().create(from_value(body)?).await?.choices.len(), 1)
        })
        .await;

    checks
        .check("models are listed, and found", async {
            let models = client.models().list().await?.data;
            for model in &models {
                same(&client.models().retrieve(&model.id).await?.id, &model.id)?;
            }
            same(models.is_empty(), false)
        })
        .await;

    checks
        .check("embeddings as numbers and as base64", async {
            let body = json!({ "model": "all-minilm-l6-v2", "input": ["a cat", "a dog"] });
            let numbers = client.embeddings().create(from_value(body.clone())?).await?.data;
            let body = with(body, json!({ "encoding_format": "base64" }));
            let encoded = client.embeddings().create_base64(from_value(body)?).await?.data;
            same(numbers.iter().map(|one| one.embedding.len()).collect::<Vec<_>>(), vec![384, 384])?;
            same(encoded.len(), 2)
        })
        .await;

    checks
        .check("a file, and a batch of it", async {
            let request = question(CAPITAL, json!({}));
            let url = "/v1/chat/completions";
            let line = json!({ "custom_id": "a", "method": "POST", "url": url, "body": request }).to_string() + "\n";
            let source = InputSource::VecU8 { filename: "lines.jsonl".into(), vec: line.into_bytes() };
            let upload =
                CreateFileRequest { file: FileInput { source }, purpose: FilePurpose::Batch, expires_after: None };
            let file = client.files().create(upload).await?;
            same(client.files().list().await?.data.iter().any(|one| one.id == file.id), true)?;
            let body = json!({ "input_file_id": file.id, "endpoint": url, "completion_window": "24h" });
            let mut batch = client.batches().create(from_value::<BatchRequest>(body)?).await?;
            let deadline = Instant::now() + Duration::from_secs(60);
            let ended = [BatchStatus::Completed, BatchStatus::Failed, BatchStatus::Expired, BatchStatus::Cancelled];
            while !ended.contains(&batch.status) && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(50)).await;
                batch = client.batches().retrieve(&batch.id).await?;
            }
            same(&batch.status, &BatchStatus::Completed)?;
            same(client.batches().list().await?.data.iter().any(|one| one.id == batch.id), true)?;
            let output = client.files().content(&batch.output_file_id.unwrap_or_default()).await?;
            same(String::from_utf8_lossy(&output).contains(CAPITAL_ANSWER), true)
        })
        .await;
}

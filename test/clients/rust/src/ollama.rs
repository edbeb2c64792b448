//! Ollama's API.

use crate::{CAPITAL, CAPITAL_ANSWER, Checks, same};
use futures::StreamExt;
use ollama_rs::{
    Ollama,
    generation::{
        chat::{ChatMessage, request::ChatMessageRequest},
        completion::request::GenerationRequest,
        embeddings::request::GenerateEmbeddingsRequest,
    },
};

pub async fn checks(checks: &mut Checks, url: &str) {
    let client = Ollama::try_new(url).expect("SVC_URL is a URL");
    let model = || "svc-mini".to_string();
    let question = || ChatMessageRequest::new(model(), vec![ChatMessage::user(CAPITAL.into())]);

    checks
        .check("ollama: a chat, whole and as a stream", async {
            same(client.send_chat_messages(question()).await?.message.content.as_str(), CAPITAL_ANSWER)?;
            let mut stream = client.send_chat_messages_stream(question()).await?;
            let mut text = String::new();
            while let Some(part) = stream.next().await {
                text += &part.map_err(|()| "a part of the stream has another form")?.message.content;
            }
            same(text.as_str(), CAPITAL_ANSWER)
        })
        .await;

    checks
        .check("ollama: generates, whole and as a stream", async {
            let whole = client.generate(GenerationRequest::new(model(), CAPITAL)).await?;
            same(whole.response.as_str(), CAPITAL_ANSWER)?;
            let mut stream = client.generate_stream(GenerationRequest::new(model(), CAPITAL)).await?;
            let mut text = String::new();
            while let Some(parts) = stream.next().await {
                parts?.into_iter().for_each(|part| text += &part.response);
            }
            same(text.as_str(), CAPITAL_ANSWER)
        })
        .await;

    checks
        .check("ollama: embeds, lists and shows", async {
            let inputs = vec!["a cat", "a dog"];
            let request = GenerateEmbeddingsRequest::new("all-minilm-l6-v2".into(), inputs.into());
            same(client.generate_embeddings(request).await?.embeddings.len(), 2)?;
            let models = client.list_local_models().await?;
            for model in &models {
                client.show_model_info(model.name.clone()).await?;
            }
            same(models.is_empty(), false)
        })
        .await;
}

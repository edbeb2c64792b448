//! Responses and conversations.

use crate::{ADDITION, Api, CAPITAL, CAPITAL_ANSWER, Checks, Outcome, PARIS, city_only, same, with};
use async_openai::types::responses::{OutputItem, Response, ResponseStreamEvent};
use futures::StreamExt;
use serde_json::{Value, from_value, json};

fn ask(input: &str, more: Value) -> Value {
    with(json!({ "model": "svc-mini", "temperature": 0, "input": input }), more)
}

fn calls_of(response: &Response) -> usize {
    response.output.iter().filter(|item| matches!(item, OutputItem::FunctionCall(_))).count()
}

/// Requests an answer with this many calls, whole and as a stream: every event must have a type of the crate.
async fn both(client: &Api, body: Value, calls: usize) -> Outcome {
    same(calls_of(&client.responses().create(from_value(body.clone())?).await?), calls)?;
    let mut stream = client.responses().create_stream(from_value(body)?).await?;
    let mut last = None;
    while let Some(event) = stream.next().await {
        last = Some(event?);
    }
    match last {
        Some(ResponseStreamEvent::ResponseCompleted(end)) => same(calls_of(&end.response), calls),
        other => Err(format!("{other:?} at the end").into()),
    }
}

pub async fn checks(checks: &mut Checks, client: &Api) {
    checks
        .check("responses: an answer, stored, found and deleted", async {
            let answer = client.responses().create(from_value(ask(CAPITAL, json!({})))?).await?;
            same(answer.output_text().as_deref(), Some(CAPITAL_ANSWER))?;
            same(client.responses().retrieve(&answer.id).await?.output_text(), answer.output_text())?;
            same(client.responses().list_input_items(&answer.id).await?.data.len(), 1)?;
            same(client.responses().delete(&answer.id).await?.deleted, true)
        })
        .await;

    let function = json!({ "type": "function", "name": "get_weather", "strict": true, "parameters": city_only() });
    let format = json!({ "type": "json_schema", "name": "city", "strict": true, "schema": city_only() });
    let requests = [
        ("text with log probabilities", ask(CAPITAL, json!({ "include": ["message.output_text.logprobs"] })), 0),
        ("reasoning", ask(ADDITION, json!({ "reasoning": { "effort": "high", "summary": "auto" } })), 0),
        ("a call", ask(PARIS, json!({ "tools": [function] })), 1),
        ("an answer by a schema", ask(CAPITAL, json!({ "text": { "format": format } })), 0),
    ];
    for (name, body, calls) in requests {
        checks.check(&format!("responses: {name}, whole and as a stream"), both(client, body, calls)).await;
    }

    checks
        .check("responses: tokens are counted, and a conversation is compacted", async {
            let body = json!({ "model": "svc-mini", "input": CAPITAL });
            let counted = client.responses().get_input_token_counts(from_value(body.clone())?).await?;
            same(counted.input_tokens > 0, true)?;
            client.responses().compact(from_value(body)?).await?;
            Ok(())
        })
        .await;

    checks
        .check("conversations keep what is said", async {
            let begun = client.conversations().create(from_value(json!({}))?).await?;
            same(&client.conversations().retrieve(&begun.id).await?.id, &begun.id)?;
            client.responses().create(from_value(ask(CAPITAL, json!({ "conversation": begun.id })))?).await?;
            same(client.conversations().items(&begun.id).list().await?.data.len(), 2)?;
            same(client.conversations().delete(&begun.id).await?.deleted, true)
        })
        .await;
}

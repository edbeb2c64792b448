//! The crates async-openai and ollama-rs, unmodified, with a running svc. They fail at any answer that lacks a field of
//! their types. SVC_URL serves svc-mini.

mod audio_and_images;
mod chat;
mod ollama;
mod responses;

use async_openai::{Client, config::OpenAIConfig};
use serde_json::{Value, json};
use std::{error::Error, fmt::Debug, future::Future};

// Questions that svc-mini answers reliably, as in harness.py.
const CAPITAL: &str = "What is the capital of France?";
const CAPITAL_ANSWER: &str = "The capital of France is Paris.";
const PARIS: &str = "What is the weather in Paris?";
const PARIS_AND_ROME: &str = "What is the weather in Paris and Rome?";
const ADDITION: &str = "What is 17 + 25?";

type Api = Client<OpenAIConfig>;
type Outcome = Result<(), Box<dyn Error>>;

#[derive(Default)]
struct Checks {
    passed: u32,
    failed: u32,
}

impl Checks {
    /// Runs one check and prints its result; a failure does not stop the others.
    async fn check(&mut self, name: &str, body: impl Future<Output = Outcome>) {
        match body.await {
            Ok(()) => {
                self.passed += 1;
                println!("ok    {name}");
            }
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {name}\n      {error:?}");
            }
        }
    }
}

fn same<T: PartialEq + Debug>(actual: T, expected: T) -> Outcome {
    match actual == expected {
        true => Ok(()),
        false => Err(format!("{actual:?} instead of {expected:?}").into()),
    }
}

/// Adds fields to an object.
fn with(mut object: Value, more: Value) -> Value {
    let (Value::Object(fields), Value::Object(more)) = (&mut object, more) else {
        panic!("objects are expected");
    };
    fields.extend(more);
    object
}

fn city_only() -> Value {
    json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
        "additionalProperties": false,
    })
}

#[tokio::main]
async fn main() -> Outcome {
    println!("async-openai and ollama-rs (Rust)");
    let url = std::env::var("SVC_URL")?;
    let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key("unused");
    let client = Client::with_config(config);
    let mut checks = Checks::default();
    chat::checks(&mut checks, &client).await;
    responses::checks(&mut checks, &client).await;
    audio_and_images::checks(&mut checks, &client).await;
    ollama::checks(&mut checks, &url).await;
    println!("{} passed, {} failed", checks.passed, checks.failed);
    Ok(())
}

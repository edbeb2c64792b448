package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"

	"github.com/ollama/ollama/api"
)

func ollamaFor(variable string) *api.Client {
	return api.NewClient(must(url.Parse(os.Getenv(variable))), http.DefaultClient)
}

func ollamaChecks() {
	client, endless := ollamaFor("SVC_URL"), ollamaFor("ENDLESS_URL")
	greedy := map[string]any{"temperature": 0}
	properties := api.NewToolPropertiesMap()
	properties.Set("city", api.ToolProperty{Type: api.PropertyType{"string"}})
	tools := api.Tools{{Type: "function", Function: api.ToolFunction{
		Name: "get_weather", Description: "Get the current weather",
		Parameters: api.ToolFunctionParameters{Type: "object", Required: []string{"city"}, Properties: properties},
	}}}
	converse := func(stream bool, tools api.Tools, messages ...api.Message) (text string, calls []api.ToolCall, last api.ChatResponse) {
		request := api.ChatRequest{Model: "svc-mini", Messages: messages, Stream: &stream, Tools: tools, Options: greedy}
		err := client.Chat(ctx, &request, func(part api.ChatResponse) error {
			text += part.Message.Content
			calls = append(calls, part.Message.ToolCalls...)
			last = part
			return nil
		})
		same(err, nil)
		return text, calls, last
	}

	check("ollama: a chat, whole and as a stream", func() {
		for _, stream := range []bool{false, true} {
			text, _, last := converse(stream, nil, api.Message{Role: "user", Content: capital})
			same(text, capitalAnswer)
			ok(last.Done && last.DoneReason == "stop" && last.EvalCount > 0 && last.TotalDuration > 0, "%+v", last)
			ok(!last.CreatedAt.IsZero(), "no time")
		}
	})

	check("ollama: a tool is called, and its result answered from", func() {
		question := api.Message{Role: "user", Content: paris}
		for _, stream := range []bool{false, true} {
			_, calls, _ := converse(stream, tools, question)
			same(len(calls), 1)
			city, _ := calls[0].Function.Arguments.Get("city")
			same([]any{calls[0].Function.Name, city}, []any{"get_weather", "Paris"})
			answer, _, _ := converse(stream, tools, question,
				api.Message{Role: "assistant", ToolCalls: calls},
				api.Message{Role: "tool", Content: sunny, ToolName: "get_weather", ToolCallID: calls[0].ID})
			same(answer, sunnyAnswer)
		}
	})

	check("ollama: generates, and embeds", func() {
		text := ""
		err := client.Generate(ctx, &api.GenerateRequest{Model: "svc-mini", Prompt: capital, Options: greedy}, func(part api.GenerateResponse) error {
			text += part.Response
			return nil
		})
		same(err, nil)
		same(text, capitalAnswer)
		vectors := must(client.Embed(ctx, &api.EmbedRequest{Model: "all-minilm-l6-v2", Input: []string{"a cat", "a dog"}}))
		same([]int{len(vectors.Embeddings), len(vectors.Embeddings[0])}, []int{2, 384})
		old := must(client.Embeddings(ctx, &api.EmbeddingRequest{Model: "all-minilm-l6-v2", Prompt: "a cat"}))
		same(len(old.Embedding), 384)
	})

	check("ollama: models are listed, shown and seen in memory", func() {
		same(client.Heartbeat(ctx), nil)
		ok(must(client.Version(ctx)) != "", "no version")
		list := must(client.List(ctx)).Models
		ok(len(list) > 0, "no models")
		for _, model := range list {
			ok(!model.ModifiedAt.IsZero() && model.Digest != "", "%+v", model)
			shown := must(client.Show(ctx, &api.ShowRequest{Model: model.Name}))
			ok(len(shown.Capabilities) > 0, "%+v", shown)
		}
		running := must(client.ListRunning(ctx)).Models
		ok(len(running) > 0 && running[0].ContextLength > 0, "%+v", running)
	})

	check("ollama: an error has its status", func() {
		_, err := client.Embed(ctx, &api.EmbedRequest{Model: "nobody/nothing", Input: "a cat"})
		var failure api.StatusError
		ok(errors.As(err, &failure), "%T %v", err, err)
		same(failure.StatusCode, 404)
	})

	check("ollama: a context that is cancelled frees the engine", func() {
		within, cancel := context.WithCancel(ctx)
		request := api.ChatRequest{Model: "any", Messages: []api.Message{{Role: "user", Content: "abcd efgh"}}}
		isDone := false
		// The client returns no error when its context is cancelled midway.
		_ = endless.Chat(within, &request, func(part api.ChatResponse) error {
			cancel()
			isDone = isDone || part.Done
			return nil
		})
		ok(!isDone, "it ended")
		untilIdle()
	})
}

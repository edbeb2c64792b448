package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func anthropicFor(variable string) anthropic.Client {
	return anthropic.NewClient(
		option.WithBaseURL(os.Getenv(variable)), option.WithAPIKey("unused"), option.WithMaxRetries(0),
	)
}

func message(content string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "svc-mini", MaxTokens: 200, Temperature: anthropic.Float(0),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(content))},
	}
}

func blocksOf(message *anthropic.Message) (text string, cities []any, thoughts string) {
	for _, block := range message.Content {
		switch one := block.AsAny().(type) {
		case anthropic.TextBlock:
			text += one.Text
		case anthropic.ThinkingBlock:
			thoughts += one.Thinking
		case anthropic.ToolUseBlock:
			ok(one.ID != "" && one.Name == "get_weather", "%s", block.RawJSON())
			var input map[string]any
			ok(json.Unmarshal(one.Input, &input) == nil, "no input: %s", block.RawJSON())
			cities = append(cities, input["city"])
		}
	}
	return text, cities, thoughts
}

func anthropicChecks() {
	client, endless := anthropicFor("SVC_URL"), anthropicFor("ENDLESS_URL")
	tools := []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "get_weather", Description: anthropic.String("Get the current weather"),
		InputSchema: anthropic.ToolInputSchemaParam{Properties: cityOnly["properties"], Required: []string{"city"}},
	}}}
	streamed := func(request anthropic.MessageNewParams) *anthropic.Message {
		stream := client.Messages.NewStreaming(ctx, request)
		whole := anthropic.Message{}
		for stream.Next() {
			if err := whole.Accumulate(stream.Current()); err != nil {
				panic(err)
			}
		}
		same(stream.Err(), nil)
		return &whole
	}

	check("anthropic: an answer, whole and accumulated from its stream", func() {
		whole, parts := must(client.Messages.New(ctx, message(capital))), streamed(message(capital))
		for _, one := range []*anthropic.Message{whole, parts} {
			text, _, _ := blocksOf(one)
			same([]any{text, string(one.StopReason)}, []any{capitalAnswer, "end_turn"})
		}
		same(parts.Usage.OutputTokens, whole.Usage.OutputTokens)
	})

	check("anthropic: thinking", func() {
		request := message(addition)
		request.MaxTokens = 2000
		request.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
		whole, parts := must(client.Messages.New(ctx, request)), streamed(request)
		_, _, thoughts := blocksOf(whole)
		_, _, same2 := blocksOf(parts)
		ok(thoughts != "", "no thinking")
		same(same2, thoughts)
	})

	check("anthropic: tools are called, and a result answered from", func() {
		request := message(paris)
		request.Tools = tools
		first := must(client.Messages.New(ctx, request))
		_, cities, _ := blocksOf(first)
		same([]any{cities, string(first.StopReason)}, []any{[]any{"Paris"}, "tool_use"})
		result := anthropic.NewToolResultBlock(first.Content[len(first.Content)-1].ID, sunny, false)
		request.Messages = append(request.Messages, first.ToParam(), anthropic.NewUserMessage(result))
		text, _, _ := blocksOf(must(client.Messages.New(ctx, request)))
		same(text, sunnyAnswer)
		request = message(parisAndRome)
		request.Tools = tools
		_, cities, _ = blocksOf(streamed(request))
		same(cities, []any{"Paris", "Rome"})
	})

	check("anthropic: tokens are counted, models listed", func() {
		counted := must(client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
			Model: "svc-mini", Messages: message(capital).Messages,
		}))
		ok(counted.InputTokens > 0, "nothing counted")
		pages := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(1)})
		count := 0
		for pages.Next() {
			count++
			ok(!pages.Current().CreatedAt.IsZero() && pages.Current().DisplayName != "", "%s", pages.Current().RawJSON())
		}
		same(pages.Err(), nil)
		ok(count > 0, "no models")
	})

	check("anthropic: an error has its status and type", func() {
		request := message(capital)
		request.MaxTokens = -1
		_, err := client.Messages.New(ctx, request)
		var failure *anthropic.Error
		ok(errors.As(err, &failure), "%v", err)
		same([]any{failure.StatusCode, string(failure.Type())}, []any{400, "invalid_request_error"})
	})

	check("anthropic: a context that is cancelled frees the engine", func() {
		within, cancel := context.WithCancel(ctx)
		request := message("abcd efgh")
		request.MaxTokens = 8000
		stream := endless.Messages.NewStreaming(within, request)
		stream.Next()
		cancel()
		for stream.Next() {
		}
		untilIdle()
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

var ctx = context.Background()

func openaiFor(variable string) openai.Client {
	return openai.NewClient(
		option.WithBaseURL(os.Getenv(variable)+"/v1"), option.WithAPIKey("unused"), option.WithMaxRetries(0),
	)
}

func chat(content string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:       "svc-mini",
		Temperature: openai.Float(0),
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage(content)},
	}
}

var chatTools = []openai.ChatCompletionToolUnionParam{
	openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather", Description: openai.String("Get the current weather"), Parameters: cityOnly,
	}),
}

func citiesOf(calls []openai.ChatCompletionMessageToolCallUnion) (cities []any) {
	for _, call := range calls {
		same(call.Function.Name, "get_weather")
		ok(call.ID != "", "no id")
		cities = append(cities, parsed(call.Function.Arguments)["city"])
	}
	return cities
}

func openaiChecks() {
	client, endless := openaiFor("SVC_URL"), openaiFor("ENDLESS_URL")

	check("openai: an answer, its usage and its request id", func() {
		answer := must(client.Chat.Completions.New(ctx, chat(capital)))
		same(answer.Choices[0].Message.Content, capitalAnswer)
		same(answer.Choices[0].FinishReason, "stop")
		ok(answer.JSON.Usage.Valid() && answer.Usage.TotalTokens == answer.Usage.PromptTokens+answer.Usage.CompletionTokens, "%s", answer.RawJSON())
	})

	check("openai: the stream's accumulator gives what a whole answer has", func() {
		stream := client.Chat.Completions.NewStreaming(ctx, chat(capital))
		accumulator := openai.ChatCompletionAccumulator{}
		finished := ""
		for stream.Next() {
			ok(accumulator.AddChunk(stream.Current()), "a chunk does not fit: %s", stream.Current().RawJSON())
			if content, isDone := accumulator.JustFinishedContent(); isDone {
				finished = content
			}
		}
		same(stream.Err(), nil)
		same([]string{finished, accumulator.Choices[0].Message.Content}, []string{capitalAnswer, capitalAnswer})
		ok(accumulator.Usage.TotalTokens > 0, "no usage")
	})

	check("openai: a tool is called, and its result answered from", func() {
		request := chat(paris)
		request.Tools = chatTools
		message := must(client.Chat.Completions.New(ctx, request)).Choices[0].Message
		same(citiesOf(message.ToolCalls), []any{"Paris"})
		request.Messages = append(request.Messages, message.ToParam(), openai.ToolMessage(sunny, message.ToolCalls[0].ID))
		same(must(client.Chat.Completions.New(ctx, request)).Choices[0].Message.Content, sunnyAnswer)
	})

	check("openai: two calls in a stream", func() {
		request := chat(parisAndRome)
		request.Tools = chatTools
		stream := client.Chat.Completions.NewStreaming(ctx, request)
		accumulator := openai.ChatCompletionAccumulator{}
		var finished []any
		for stream.Next() {
			ok(accumulator.AddChunk(stream.Current()), "a chunk does not fit: %s", stream.Current().RawJSON())
			if call, isDone := accumulator.JustFinishedToolCall(); isDone {
				finished = append(finished, parsed(call.Arguments)["city"])
			}
		}
		same(stream.Err(), nil)
		same(finished, []any{"Paris", "Rome"})
		same(citiesOf(accumulator.Choices[0].Message.ToolCalls), finished)
		same(accumulator.Choices[0].FinishReason, "tool_calls")
	})

	check("openai: an answer by a schema", func() {
		request := chat(anna)
		request.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "person", Schema: person, Strict: openai.Bool(true)},
			},
		}
		same(parsed(must(client.Chat.Completions.New(ctx, request)).Choices[0].Message.Content), annaData)
	})

	check("openai: log probabilities", func() {
		request := chat(capital)
		request.Logprobs, request.TopLogprobs = openai.Bool(true), openai.Int(2)
		tokens := must(client.Chat.Completions.New(ctx, request)).Choices[0].Logprobs.Content
		text := ""
		for _, token := range tokens {
			text += token.Token
			same(len(token.TopLogprobs), 2)
		}
		same(text, capitalAnswer)
	})

	check("openai: an error has its status, code and field", func() {
		request := chat(capital)
		request.Temperature = openai.Float(9)
		_, err := client.Chat.Completions.New(ctx, request)
		var failure *openai.Error
		ok(errors.As(err, &failure), "%v", err)
		same([]any{failure.StatusCode, failure.Code, failure.Param}, []any{400, "invalid_value", "temperature"})
	})

	check("openai: a stream that is closed frees the engine", func() {
		stream := endless.Chat.Completions.NewStreaming(ctx, chat("abcd efgh"))
		for count := 0; count < 3 && stream.Next(); count++ {
		}
		stream.Close()
		untilIdle()
	})

	check("openai: a context that is cancelled frees the engine", func() {
		within, cancel := context.WithCancel(ctx)
		stream := endless.Chat.Completions.NewStreaming(within, chat("abcd efgh"))
		stream.Next()
		cancel()
		for stream.Next() {
		}
		ok(errors.Is(stream.Err(), context.Canceled), "%v", stream.Err())
		untilIdle()
	})

	check("openai: completions, whole and as a stream", func() {
		request := openai.CompletionNewParams{
			Model: "svc-mini", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Once")},
			MaxTokens: openai.Int(8), Temperature: openai.Float(0),
		}
		whole := must(client.Completions.New(ctx, request)).Choices[0].Text
		stream := client.Completions.NewStreaming(ctx, request)
		text := ""
		for stream.Next() {
			for _, choice := range stream.Current().Choices {
				text += choice.Text
			}
		}
		same(stream.Err(), nil)
		same(text, whole)
	})

	check("openai: models are listed page by page, and found", func() {
		pages := client.Models.ListAutoPaging(ctx)
		ids := []string{}
		for pages.Next() {
			ids = append(ids, pages.Current().ID)
		}
		same(pages.Err(), nil)
		ok(len(ids) > 0, "no models")
		for _, id := range ids {
			same(must(client.Models.Get(ctx, id)).ID, id)
		}
	})

	check("openai: embeddings", func() {
		request := openai.EmbeddingNewParams{
			Model: "all-minilm-l6-v2", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a cat", "a dog"}},
		}
		list := must(client.Embeddings.New(ctx, request))
		same([]any{len(list.Data), len(list.Data[1].Embedding), list.Data[1].Index}, []any{2, 384, int64(1)})
	})

	check("openai: speech is heard again as what was said", func() {
		response := must(client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{
			Model: "tts-1", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("nova")},
			Input: "Good morning.", ResponseFormat: "wav",
		}))
		defer response.Body.Close()
		sound := must(io.ReadAll(response.Body))
		heard := must(client.Audio.Transcriptions.New(ctx, openai.AudioTranscriptionNewParams{
			Model: "whisper-1", File: openai.File(bytes.NewReader(sound), "morning.wav", "audio/wav"),
		}))
		same(strings.TrimSpace(heard.Text), "Good morning.")
	})

	check("openai: an image is made", func() {
		images := must(client.Images.Generate(ctx, openai.ImageGenerateParams{Prompt: "a red circle", Model: "svc-draw"}))
		png := must(base64.StdEncoding.DecodeString(images.Data[0].B64JSON))
		same(string(png[1:4]), "PNG")
	})

	check("openai: a file, and a batch of it", func() {
		line := `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"svc-mini","temperature":0,"messages":[{"role":"user","content":"` + capital + `"}]}}`
		file := must(client.Files.New(ctx, openai.FileNewParams{
			File: openai.File(strings.NewReader(line+"\n"), "lines.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
		}))
		batch := must(client.Batches.New(ctx, openai.BatchNewParams{
			InputFileID: file.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: "24h",
		}))
		ended := []openai.BatchStatus{
			openai.BatchStatusCompleted, openai.BatchStatusFailed, openai.BatchStatusExpired, openai.BatchStatusCancelled,
		}
		for deadline := time.Now().Add(time.Minute); !slices.Contains(ended, batch.Status); time.Sleep(50 * time.Millisecond) {
			ok(time.Now().Before(deadline), "still %s", batch.Status)
			batch = must(client.Batches.Get(ctx, batch.ID))
		}
		ok(batch.Status == openai.BatchStatusCompleted, "%s", batch.RawJSON())
		content := must(client.Files.Content(ctx, batch.OutputFileID))
		defer content.Body.Close()
		ok(strings.Contains(string(must(io.ReadAll(content.Body))), capitalAnswer), "no answer in the output")
		must(client.Files.Delete(ctx, file.ID))
	})
}

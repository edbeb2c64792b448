package main

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

func input(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "svc-mini", Temperature: openai.Float(0),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

func responsesChecks() {
	client := openaiFor("SVC_URL")
	tools := []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", cityOnly, true)}

	check("responses: an answer, stored and continued", func() {
		first := must(client.Responses.New(ctx, input(capital)))
		same([]any{first.OutputText(), string(first.Status)}, []any{capitalAnswer, "completed"})
		again := must(client.Responses.Get(ctx, first.ID, responses.ResponseGetParams{}))
		same(again.OutputText(), capitalAnswer)
		next := input(capital)
		next.PreviousResponseID = openai.String(first.ID)
		same(must(client.Responses.New(ctx, next)).PreviousResponseID, first.ID)
		if err := client.Responses.Delete(ctx, first.ID); err != nil {
			panic(err)
		}
	})

	check("responses: the events of a stream, each of a type of its own", func() {
		stream := client.Responses.NewStreaming(ctx, input(capital))
		text, final := "", ""
		number := int64(-1)
		for stream.Next() {
			event := stream.Current()
			same(event.SequenceNumber, number+1)
			number = event.SequenceNumber
			switch one := event.AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				text += one.Delta
			case responses.ResponseCompletedEvent:
				final = one.Response.OutputText()
			case nil:
				panic("an event of an unknown type: " + event.Type)
			}
		}
		same(stream.Err(), nil)
		same([]string{text, final}, []string{capitalAnswer, capitalAnswer})
	})

	check("responses: a function is called, and its result answered from", func() {
		request := input(paris)
		request.Tools = tools
		first := must(client.Responses.New(ctx, request))
		var call responses.ResponseFunctionToolCall
		for _, item := range first.Output {
			if one, isCall := item.AsAny().(responses.ResponseFunctionToolCall); isCall {
				call = one
			}
		}
		same([]any{call.Name, parsed(call.Arguments)["city"]}, []any{"get_weather", "Paris"})
		next := input("")
		next.Tools, next.PreviousResponseID = tools, openai.String(first.ID)
		result := responses.ResponseInputItemParamOfFunctionCallOutput(sunny)
		result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
		next.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{result}}
		same(must(client.Responses.New(ctx, next)).OutputText(), sunnyAnswer)
	})

	check("responses: an answer by a schema", func() {
		request := input(anna)
		request.Text = responses.ResponseTextConfigParam{
			Format: responses.ResponseFormatTextConfigParamOfJSONSchema("person", person),
		}
		same(parsed(must(client.Responses.New(ctx, request)).OutputText()), annaData)
	})
}

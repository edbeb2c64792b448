// The clients of OpenAI, Anthropic and Ollama for Go, unmodified, with a running svc. `openai`, `anthropic` and `ollama`
// each have a file. SVC_URL serves svc-mini; ENDLESS_URL serves a model that never ends its answer.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

// Questions that svc-mini answers reliably, as in harness.py.
const (
	paris         = "What is the weather in Paris?"
	parisAndRome  = "What is the weather in Paris and Rome?"
	capital       = "What is the capital of France?"
	capitalAnswer = "The capital of France is Paris."
	addition      = "What is 17 + 25?"
	anna          = "Anna Smith is 31 years old and lives in Paris."
	sunny         = "sunny, 21 degrees"
	sunnyAnswer   = "The weather in Paris: sunny, 21 degrees."
)

var annaData = map[string]any{"name": "Anna Smith", "age": 31.0, "city": "Paris"}

var cityOnly = object(map[string]any{"city": map[string]any{"type": "string"}}, "city")
var person = object(map[string]any{
	"name": map[string]any{"type": "string"}, "age": map[string]any{"type": "integer"}, "city": map[string]any{"type": "string"},
}, "name", "age", "city")

func object(properties map[string]any, required ...string) map[string]any {
	return map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
}

var passed, failed int

// Runs one check and prints its result; a failure, which panics, does not stop the others.
func check(name string, body func()) {
	defer func() {
		if failure := recover(); failure != nil {
			failed++
			fmt.Printf("FAIL  %s\n      %v\n", name, failure)
			return
		}
		passed++
		fmt.Printf("ok    %s\n", name)
	}()
	body()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func ok(condition bool, message string, arguments ...any) {
	if !condition {
		panic(fmt.Sprintf(message, arguments...))
	}
}

func same(actual, expected any) {
	ok(reflect.DeepEqual(actual, expected), "%#v instead of %#v", actual, expected)
}

func parsed(text string) (value map[string]any) {
	ok(json.Unmarshal([]byte(text), &value) == nil, "no JSON object: %q", text)
	return value
}

// Waits until the server with endless answers is idle; panics after five seconds.
func untilIdle() {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		response := must(http.Get(os.Getenv("ENDLESS_URL") + "/metrics"))
		text := string(must(io.ReadAll(response.Body)))
		response.Body.Close()
		running := 0
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "svc_num_requests_running") && !strings.HasSuffix(line, " 0") {
				running++
			}
		}
		if running == 0 {
			return
		}
		ok(time.Now().Before(deadline), "still running after 5 s")
	}
}

func main() {
	fmt.Println("the clients of OpenAI, Anthropic and Ollama (Go)")
	openaiChecks()
	responsesChecks()
	anthropicChecks()
	ollamaChecks()
	fmt.Printf("%d passed, %d failed\n", passed, failed)
}

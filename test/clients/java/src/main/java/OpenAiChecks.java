import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.models.audio.AudioResponseFormat;
import com.openai.models.audio.speech.SpeechCreateParams;
import com.openai.models.audio.transcriptions.TranscriptionCreateParams;
import com.openai.models.batches.Batch;
import com.openai.models.batches.BatchCreateParams;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.conversations.ConversationCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.files.FileCreateParams;
import com.openai.models.files.FilePurpose;
import com.openai.models.images.ImageGenerateParams;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseOutputItem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

final class OpenAiChecks {
    private final OpenAIClient client;

    OpenAiChecks(String url) {
        client = OpenAIOkHttpClient.builder()
                .baseUrl(url + "/v1")
                .apiKey("unused")
                .maxRetries(0)
                .responseValidation(true)
                .build();
    }

    private static ChatCompletionCreateParams.Builder chat(String content) {
        return ChatCompletionCreateParams.builder().model("svc-mini").temperature(0).addUserMessage(content);
    }

    private static ResponseCreateParams.Builder response(String input) {
        return ResponseCreateParams.builder().model("svc-mini").temperature(0).input(input);
    }

    /** Requests an answer with as many calls, whole and as a stream. */
    private void both(ChatCompletionCreateParams.Builder request, long calls) {
        var answer = client.chat().completions().create(request.build()).validate();
        Main.same(answer.choices().get(0).message().toolCalls().stream().flatMap(List::stream).count(), calls);
        try (var stream = client.chat().completions().createStreaming(request.build())) {
            var parts = Main.all(stream.stream(), chunk -> chunk.validate()).stream()
                    .flatMap(chunk -> chunk.choices().stream())
                    .flatMap(choice -> choice.delta().toolCalls().stream().flatMap(List::stream));
            Main.same(parts.filter(part -> part.id().isPresent()).count(), calls);
        }
    }

    private void both(ResponseCreateParams.Builder request, long calls) {
        var response = client.responses().create(request.build()).validate();
        Main.same(response.output().stream().filter(ResponseOutputItem::isFunctionCall).count(), calls);
        try (var stream = client.responses().createStreaming(request.build())) {
            var added = Main.all(stream.stream(), event -> event.validate()).stream()
                    .flatMap(event -> event.outputItemAdded().stream());
            Main.same(added.filter(event -> event.item().isFunctionCall()).count(), calls);
        }
    }

    void run() {
        var function = Map.of("name", "get_weather", "parameters", Main.CITY_ONLY);
        var chatTools = JsonValue.from(List.of(Map.of("type", "function", "function", function)));
        var tools = JsonValue.from(List.of(Map.of(
                "type", "function", "name", "get_weather", "strict", true, "parameters", Main.CITY_ONLY)));
        var reasoning = JsonValue.from(Map.of("effort", "high", "summary", "auto"));

        Main.check("openai: an answer", () -> {
            var answer = client.chat().completions().create(chat(Main.CAPITAL).build());
            Main.same(answer.choices().get(0).message().content().orElse(""), Main.CAPITAL_ANSWER);
        });
        Main.check("openai: log probabilities, whole and as a stream",
                () -> both(chat(Main.CAPITAL).logprobs(true).topLogprobs(2), 0));
        Main.check("openai: a tool is called, whole and as a stream",
                () -> both(chat(Main.PARIS).putAdditionalBodyProperty("tools", chatTools), 1));
        Main.check("openai: completions", () -> client.completions()
                .create(CompletionCreateParams.builder().model("svc-mini").prompt("Once").maxTokens(5).logprobs(2).build())
                .validate());
        Main.check("openai: models", () -> client.models().list().items().forEach(model -> model.validate()));
        Main.check("openai: embeddings", () -> client.embeddings()
                .create(EmbeddingCreateParams.builder().model("all-minilm-l6-v2").input("a cat").build())
                .validate());
        Main.check("openai: an image, whole and as a stream with a preview", () -> {
            var draw = ImageGenerateParams.builder().model("svc-draw").prompt("a red circle");
            client.images().generate(draw.build()).validate();
            try (var stream = client.images().generateStreaming(draw.partialImages(1).build())) {
                Main.all(stream.stream(), event -> event.validate());
            }
        });
        Main.check("openai: speech is heard again, whole, verbose and as a stream", this::speech);
        Main.check("openai: a file, and a batch of it", this::batch);

        Main.check("responses: text, whole and as a stream", () -> both(response(Main.CAPITAL), 0));
        Main.check("responses: reasoning, whole and as a stream",
                () -> both(response(Main.ADDITION).putAdditionalBodyProperty("reasoning", reasoning), 0));
        Main.check("responses: a call, whole and as a stream",
                () -> both(response(Main.PARIS).putAdditionalBodyProperty("tools", tools), 1));
        Main.check("responses: stored, and in a conversation", () -> {
            var conversation = client.conversations().create(ConversationCreateParams.builder().build());
            conversation.validate();
            var id = JsonValue.from(conversation.id());
            var answer = client.responses()
                    .create(response(Main.CAPITAL).putAdditionalBodyProperty("conversation", id).build());
            client.responses().retrieve(answer.id()).validate();
            client.responses().inputItems().list(answer.id()).items().forEach(item -> item.validate());
            client.conversations().items().list(conversation.id()).items().forEach(item -> item.validate());
        });
    }

    private void speech() throws Exception {
        var say = SpeechCreateParams.builder().model("tts-1").voice("nova").input("Good morning.");
        Path file = Files.createTempFile("morning", ".wav");
        file.toFile().deleteOnExit();
        try (var spoken = client.audio().speech()
                .create(say.responseFormat(SpeechCreateParams.ResponseFormat.WAV).build())) {
            Files.write(file, spoken.body().readAllBytes());
        }
        client.audio().transcriptions().create(recording(file).build()).validate();
        try (var stream = client.audio().transcriptions().createStreaming(recording(file).build())) {
            Main.all(stream.stream(), event -> event.validate());
        }
        var words = List.of(TranscriptionCreateParams.TimestampGranularity.WORD,
                TranscriptionCreateParams.TimestampGranularity.SEGMENT);
        var verbose = recording(file).responseFormat(AudioResponseFormat.VERBOSE_JSON).timestampGranularities(words);
        client.audio().transcriptions().create(verbose.build()).validate();
    }

    /** Made for each request: it opens the file, once. */
    private static TranscriptionCreateParams.Builder recording(Path file) {
        return TranscriptionCreateParams.builder().model("whisper-1").file(file);
    }

    private void batch() throws Exception {
        Path lines = Files.createTempFile("lines", ".jsonl");
        lines.toFile().deleteOnExit();
        Files.writeString(lines, """
                {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "svc-mini", \
                "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}}
                """);
        var file = client.files().create(FileCreateParams.builder().file(lines).purpose(FilePurpose.BATCH).build());
        file.validate();
        client.files().list().items().forEach(item -> item.validate());
        var batch = client.batches().create(BatchCreateParams.builder()
                .inputFileId(file.id())
                .endpoint(BatchCreateParams.Endpoint.V1_CHAT_COMPLETIONS)
                .completionWindow(BatchCreateParams.CompletionWindow._24H)
                .build());
        batch.validate();
        client.batches().list().items().forEach(item -> item.validate());
        var ended = List.of(Batch.Status.COMPLETED, Batch.Status.FAILED, Batch.Status.EXPIRED, Batch.Status.CANCELLED);
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (!ended.contains(batch.status()) && System.nanoTime() < deadline) {
            Thread.sleep(50);
            batch = client.batches().retrieve(batch.id());
        }
        Main.same(batch.validate().status(), Batch.Status.COMPLETED);
    }
}

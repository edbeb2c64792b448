import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.MessageCountTokensParams;
import java.util.List;
import java.util.Map;

final class AnthropicChecks {
    private final AnthropicClient client;

    AnthropicChecks(String url) {
        client = AnthropicOkHttpClient.builder()
                .baseUrl(url)
                .apiKey("unused")
                .maxRetries(0)
                .responseValidation(true)
                .build();
    }

    private static MessageCreateParams.Builder message(String content) {
        return MessageCreateParams.builder().model("svc-mini").maxTokens(2000).addUserMessage(content);
    }

    /** Requests a message with as many calls, whole and as a stream. */
    private void both(MessageCreateParams.Builder request, long calls) {
        var message = client.messages().create(request.build()).validate();
        Main.same(message.content().stream().filter(ContentBlock::isToolUse).count(), calls);
        try (var stream = client.messages().createStreaming(request.build())) {
            var starts = Main.all(stream.stream(), event -> event.validate()).stream()
                    .flatMap(event -> event.contentBlockStart().stream());
            Main.same(starts.filter(start -> start.contentBlock().isToolUse()).count(), calls);
        }
    }

    void run() {
        var tools = JsonValue.from(List.of(Map.of("name", "get_weather", "input_schema", Main.CITY_ONLY)));
        Main.check("anthropic: text, whole and as a stream", () -> both(message(Main.CAPITAL), 0));
        Main.check("anthropic: thinking, whole and as a stream",
                () -> both(message(Main.ADDITION).enabledThinking(1024), 0));
        Main.check("anthropic: a call, whole and as a stream",
                () -> both(message(Main.PARIS).putAdditionalBodyProperty("tools", tools), 1));
        Main.check("anthropic: tokens are counted, models listed", () -> {
            var request = MessageCountTokensParams.builder().model("svc-mini").addUserMessage(Main.CAPITAL).build();
            client.messages().countTokens(request).validate();
            client.models().list().items().forEach(model -> model.validate());
        });
    }
}

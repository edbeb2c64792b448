import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
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

    private void both(MessageCreateParams.Builder request) {
        client.messages().create(request.build()).validate();
        try (var stream = client.messages().createStreaming(request.build())) {
            stream.stream().forEach(event -> event.validate());
        }
    }

    void run() {
        var tools = JsonValue.from(List.of(Map.of("name", "get_weather", "input_schema", Main.CITY_ONLY)));
        Main.check("anthropic: text, whole and as a stream", () -> both(message(Main.CAPITAL)));
        Main.check("anthropic: thinking, whole and as a stream", () -> both(message(Main.ADDITION).enabledThinking(1024)));
        Main.check("anthropic: a call, whole and as a stream",
                () -> both(message(Main.PARIS).putAdditionalBodyProperty("tools", tools)));
        Main.check("anthropic: tokens are counted, models listed", () -> {
            var request = MessageCountTokensParams.builder().model("svc-mini").addUserMessage(Main.CAPITAL).build();
            client.messages().countTokens(request).validate();
            client.models().list().items().forEach(model -> model.validate());
        });
    }
}

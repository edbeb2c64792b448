import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The SDKs of OpenAI and Anthropic for Java, unmodified, with a running svc. They validate every answer: a field that is
 * missing or of another type is an error. SVC_URL serves svc-mini.
 */
public final class Main {
    // Questions that svc-mini answers reliably, as in harness.py.
    static final String CAPITAL = "What is the capital of France?";
    static final String CAPITAL_ANSWER = "The capital of France is Paris.";
    static final String PARIS = "What is the weather in Paris?";
    static final String ADDITION = "What is 17 + 25?";
    static final Map<String, Object> CITY_ONLY = Map.of(
            "type", "object",
            "properties", Map.of("city", Map.of("type", "string")),
            "required", List.of("city"),
            "additionalProperties", false);

    private static int passed;
    private static int failed;

    interface Body {
        void run() throws Exception;
    }

    /** Runs one check and prints its result; a failure does not stop the others. */
    static void check(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("ok    " + name);
        } catch (Exception | AssertionError error) {
            failed++;
            System.out.println("FAIL  " + name + "\n      " + error);
        }
    }

    static void same(Object actual, Object expected) {
        if (!expected.equals(actual)) throw new AssertionError(actual + " instead of " + expected);
    }

    /** Validates each event of a stream, which must have some, and returns them. */
    static <T> List<T> all(Stream<T> events, Consumer<T> validate) {
        var all = events.peek(validate).toList();
        if (all.isEmpty()) throw new AssertionError("no events");
        return all;
    }

    public static void main(String[] arguments) {
        System.out.println("the SDKs of OpenAI and Anthropic (Java)");
        String url = System.getenv("SVC_URL");
        new OpenAiChecks(url).run();
        new AnthropicChecks(url).run();
        System.out.println(passed + " passed, " + failed + " failed");
        // The clients' idle threads would keep the program for a minute.
        System.exit(0);
    }
}

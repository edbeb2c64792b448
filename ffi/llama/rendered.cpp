#include "rendered.hpp"

#include "chat-template.hpp"
#include "silent-stderr.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace svc {
namespace {

// ---- conversations: the chat API's JSON, rendered with the model's template ----

// Returns nine letters and digits, always the same ones for a given id.
std::string short_id(const std::string & id) {
    if (id.size() == 9) return id;
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const unsigned char c : id) hash = (hash ^ c) * 1099511628211u;
    std::string out(9, ' ');
    for (char & c : out) {
        c = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
        hash /= 36;
    }
    return out;
}

// Returns `parse(json)`. Replaces llama.cpp's error messages, because they quote the input and prompts are private.
template <typename Parse> auto in_shape(const char * things, Parse parse, const common_json & json) {
    try {
        return parse(json);
    } catch (const std::exception &) {
        throw std::runtime_error(std::string("the ") + things + " are not in the shape of the chat API");
    }
}

std::vector<common_chat_msg> parse_messages(const common_json & json) {
    auto messages = in_shape("messages", common_chat_msgs_parse_oaicompat, json);
    if (!chat_template.short_ids) return messages;
    for (auto & message : messages) {
        for (auto & call : message.tool_calls) call.id = short_id(call.id);
        if (message.role == "tool") message.tool_call_id = short_id(message.tool_call_id);
    }
    return messages;
}

common_chat_templates_inputs read_inputs(const common_json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages = parse_messages(request.at("messages"));
    inputs.tools = in_shape("tools", common_chat_tools_parse_oaicompat, request.at("tools"));
    const auto choice = request.at("toolChoice").get<std::string>();
    inputs.tool_choice = common_chat_tool_choice_parse_oaicompat(choice);
    inputs.parallel_tool_calls = request.at("parallelToolCalls").get<bool>();
    inputs.enable_thinking =
        request.contains("enableThinking") ? request.at("enableThinking").get<bool>() : chat_template.thinks_by_itself;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    if (request.at("constrain").get<bool>() && request.contains("schema")) inputs.json_schema = request.at("schema").dump();
    for (const auto & item : request.at("kwargs").items()) inputs.chat_template_kwargs[item.key()] = item.value().dump();
    if (request.at("continueLast").get<bool>()) {
        inputs.continue_final_message = COMMON_CHAT_CONTINUATION_AUTO;
        inputs.add_generation_prompt = false;
    }
    if (!request.at("generationPrompt").get<bool>()) inputs.add_generation_prompt = false;
    return inputs;
}

// Returns the inputs for the grammar and the parser: tools with the schemas that can be enforced.
common_chat_templates_inputs enforced_inputs(common_chat_templates_inputs inputs, const common_json & request) {
    for (size_t i = 0; i < inputs.tools.size(); i++) inputs.tools[i].parameters = request.at("enforced").at(i).dump();
    return inputs;
}

// Returns the schema in the form that older templates expect: a single type for everything.
common_json with_single_types(const common_json & schema) {
    if (schema.is_array()) {
        common_json out = common_json::array();
        for (const auto & item : schema) out.push_back(with_single_types(item));
        return out;
    }
    if (!schema.is_object()) return schema;
    common_json out = common_json::object();
    for (const auto & entry : schema.items()) out[entry.key()] = with_single_types(entry.value());
    if (schema.contains("properties") && schema.at("properties").is_object()) {
        for (const auto & property : schema.at("properties").items()) {
            common_json & one = out["properties"][property.key()];
            if (!one.is_object()) continue;
            if (!one.contains("type")) one["type"] = "object";
            if (!one.at("type").is_array()) continue;
            const common_json types = one.at("type");
            one["type"] = "object";
            for (const auto & type : types) {
                if (type == "null") continue;
                one["type"] = type;
                break;
            }
        }
    }
    return out;
}

// Renders the prompt with the client's own tools. When the template cannot render them, or no grammar can be built for
// them, tries the tools with enforceable schemas, then simplified schemas, and finally names alone.
std::pair<std::string, std::string> render_prompt(const common_chat_templates_inputs & inputs,
                                                  const common_chat_templates_inputs & enforced) {
    const auto rendered = [](common_chat_templates_inputs inputs) {
        inputs.json_schema.clear();
        inputs.force_pure_content = chat_template.verbatim && inputs.continue_final_message == COMMON_CHAT_CONTINUATION_NONE;
        // A schema for the answer does not change the prompt.
        bool loosened = false;
        const common_chat_params params = apply_template(inputs, loosened);
        return std::pair{params.prompt, params.generation_prompt};
    };
    try {
        return rendered(inputs);
    } catch (const std::exception &) {
        if (inputs.tools.empty()) throw;
    }
    common_chat_templates_inputs plainer = inputs;
    for (auto & tool : plainer.tools) tool.parameters = with_single_types(common_json::parse(tool.parameters)).dump();
    for (const common_chat_templates_inputs & inputs : {std::cref(enforced), std::cref(plainer)}) {
        try {
            return rendered(inputs);
        } catch (const std::exception &) {
        }
    }
    loosen(plainer);
    return rendered(plainer);
}

// Returns the inputs without the last tools, which the messages describe.
common_chat_templates_inputs without_described(common_chat_templates_inputs inputs, const common_json & request) {
    const size_t described = request.contains("described") ? request.at("described").get<size_t>() : 0;
    inputs.tools.resize(inputs.tools.size() - std::min(described, inputs.tools.size()));
    return inputs;
}

// Renders {messages, tools, toolChoice, parallelToolCalls, schema, grammar, constrain, kwargs, enableThinking,
// continueLast} (see shim.h). Returns the prompt and the format of its answer. Throws std::runtime_error when the template
// refuses the messages.
std::pair<std::string, FormatPtr> render_chat(const common_json & request) {
    const SilentStderr silence;
    const common_chat_templates_inputs inputs = read_inputs(request);
    common_chat_templates_inputs enforced = enforced_inputs(inputs, request);
    // A forced call is not an answer, so a schema does not apply to it.
    const bool forced = !inputs.tools.empty() && inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    if (forced) enforced.json_schema.clear();
    const auto [prompt, generation_prompt] =
        render_prompt(without_described(inputs, request), without_described(enforced, request));
    return {prompt, chat_format(request, enforced, generation_prompt)};
}

// Adds the part of svc_prompt_take's JSON that describes the answer format.
void describe(common_json & details, const AnswerFormat & format) {
    details["stops"] = format.stops;
    details["parsed"] = !format.plain;
    details["constrained"] = !format.grammar.empty();
    details["unconstrained"] = format.unconstrained;
    common_json preserved = common_json::array();
    for (const llama_token token : format.preserved) preserved.push_back(token);
    details["preserved"] = preserved;
    details["thinkingEnds"] = format.thinking_ends;
}

Rendered render_messages(const common_json & request) {
    const auto [prompt, format] = render_chat(request);
    Rendered rendered;
    if (request.at("media").get<bool>()) rendered.details["text"] = prompt;
    // Rendering has removed a begin-of-text token, which tokenizing adds again.
    else rendered.tokens = common_tokenize(state.vocab, prompt, true, true);
    rendered.format = format;
    return rendered;
}

// ---- texts ----

// Separates files where the vocabulary has no token for that.
constexpr char FILE_BREAK[] = "\n\n--- snippet ---\n\n";

std::vector<llama_token> fill_gap(const common_json & request) {
    const llama_token prefix = llama_vocab_fim_pre(state.vocab), suffix = llama_vocab_fim_suf(state.vocab),
                      middle = llama_vocab_fim_mid(state.vocab);
    if (std::min({prefix, suffix, middle}) < 0) throw Failure(SVC_ERROR_NO_INFILL, "the model has no tokens for filling gaps");
    std::vector<llama_token> tokens;
    const auto append = [&](const std::string & text) {
        const auto more = common_tokenize(state.vocab, text, false, false);
        tokens.insert(tokens.end(), more.begin(), more.end());
    };
    // The format in which models learn whole repositories, with the names that llama.cpp uses.
    if (request.contains("files") && !request.at("files").empty()) {
        const llama_token repository = llama_vocab_fim_rep(state.vocab), separator = llama_vocab_fim_sep(state.vocab);
        if (repository >= 0) {
            tokens.push_back(repository);
            append("myproject\n");
        }
        const auto begin_file = [&](const std::string & name) {
            tokens.push_back(separator);
            append(name + "\n");
        };
        for (const auto & file : request.at("files")) {
            if (separator >= 0) begin_file(file.at("filename").get<std::string>());
            else append(FILE_BREAK);
            append(file.at("text").get<std::string>());
        }
        if (separator >= 0) begin_file("filename");
    }
    tokens.push_back(prefix);
    append(request.at("text").get<std::string>());
    tokens.push_back(suffix);
    append(request.at("suffix").get<std::string>());
    tokens.push_back(middle);
    if (request.contains("begun")) append(request.at("begun").get<std::string>());
    return tokens;
}

std::vector<llama_token> tokens_of(const common_json & text, const common_json & request) {
    return common_tokenize(state.vocab, text.get<std::string>(), request.at("addSpecial").get<bool>(),
                           request.at("parseSpecial").get<bool>());
}

std::vector<llama_token> read_tokens(const common_json & request) {
    if (request.contains("suffix")) return fill_gap(request);
    if (request.contains("text")) return tokens_of(request.at("text"), request);
    std::vector<llama_token> tokens;
    for (const auto & id : request.at("tokens")) {
        tokens.push_back(id.get<int>());
        if (tokens.back() < 0 || tokens.back() >= state.n_vocab) {
            throw Failure(SVC_ERROR_UNKNOWN_TOKEN, "a token is not in the vocabulary");
        }
    }
    return tokens;
}

Rendered tokenize_texts(const common_json & request) {
    Rendered rendered;
    common_json lengths = common_json::array();
    for (const auto & text : request.at("texts")) {
        const auto more = tokens_of(text, request);
        rendered.tokens.insert(rendered.tokens.end(), more.begin(), more.end());
        lengths.push_back(static_cast<int32_t>(more.size()));
    }
    rendered.details["lengths"] = lengths;
    return rendered;
}

Rendered tokenize_text(const common_json & request) {
    if (request.contains("texts")) return tokenize_texts(request);
    Rendered rendered;
    rendered.tokens = read_tokens(request);
    rendered.format = text_format(request);
    rendered.scores = request.contains("score");
    return rendered;
}

} // namespace

RenderedPtr render(const std::string & text) {
    const common_json request = common_json::parse(text);
    auto rendered = std::make_shared<Rendered>(request.contains("messages") ? render_messages(request) : tokenize_text(request));
    if (rendered->format) describe(rendered->details, *rendered->format);
    return rendered;
}

} // namespace svc

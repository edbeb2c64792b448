// Chat templates and answer formats through llama.cpp's common library.

#include "chat.hpp"

#include "chat-auto-parser.h"
#include "json-schema-to-grammar.h"
#include "silent-stderr.hpp"

#include <functional>
#include <list>
#include <stdexcept>

namespace svc {
namespace {

// Formats kept; a server sees few sets of tools and schemas at a time.
constexpr size_t FORMATS_KEPT = 64;

const char * const ANY_OBJECT = R"({"type": "object"})";

using FormatPtr = std::shared_ptr<const AnswerFormat>;

struct ChatTemplate {
    common_chat_templates_ptr templates;
    // The same without tokens that begin and end a text: llama.cpp learns the format of answers from what is rendered, and
    // would take the end of the text for a part of a call.
    common_chat_templates_ptr bare;
    // llama.cpp renders it as it is written, so it need not be analysed again for each prompt (5 ms; rendering is 0.5).
    bool verbatim = false;
    bool thinks = false;
    // It refuses ids of calls that are not nine characters, as Mistral's do.
    bool short_ids = false;
    std::map<std::string, bool> abilities;
    std::vector<std::string> stops;
    // The newest first.
    std::list<std::pair<std::string, FormatPtr>> formats;
};
ChatTemplate & chat_template = *new ChatTemplate;

// True when llama.cpp has code of its own for this template, which may change messages before they are rendered.
bool is_specialized(const std::string & source) {
    try {
        const common_chat_template parsed(source, "", "");
        autoparser::generation_params probe;
        probe.messages = common_json::parse(R"([{"role": "user", "content": "Hi"}])");
        probe.add_generation_prompt = true;
        return common_chat_try_specialized_template(parsed, source, probe).has_value();
    } catch (const std::exception &) {
        return true;
    }
}

common_chat_templates_inputs probe_inputs() {
    common_chat_templates_inputs inputs;
    inputs.messages.resize(1);
    inputs.messages[0].role = "user";
    inputs.messages[0].content = "Hi";
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    return inputs;
}

// Nine letters and digits, always the same ones for an id.
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

std::vector<common_chat_msg> parse_messages(const common_json & json) {
    std::vector<common_chat_msg> messages;
    try {
        messages = common_chat_msgs_parse_oaicompat(json);
    } catch (const std::exception &) {
        // The original sentence quotes the message, and prompts are private.
        throw std::runtime_error("the messages are not in the shape of the chat API");
    }
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
    inputs.tools = common_chat_tools_parse_oaicompat(request.at("tools"));
    const auto choice = request.at("toolChoice").get<std::string>();
    inputs.tool_choice = common_chat_tool_choice_parse_oaicompat(choice);
    inputs.parallel_tool_calls = request.at("parallelToolCalls").get<bool>();
    inputs.enable_thinking = request.at("enableThinking").get<bool>();
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    if (request.at("constrain").get<bool>() && request.contains("schema")) inputs.json_schema = request.at("schema").dump();
    for (const auto & item : request.at("kwargs").items()) inputs.chat_template_kwargs[item.key()] = item.value().dump();
    if (request.at("continueLast").get<bool>()) {
        inputs.continue_final_message = COMMON_CHAT_CONTINUATION_AUTO;
        inputs.add_generation_prompt = false;
    }
    return inputs;
}

// The same for the grammar and the parser: tools with the schemas that can be enforced.
common_chat_templates_inputs enforced_inputs(common_chat_templates_inputs inputs, const common_json & request) {
    for (size_t i = 0; i < inputs.tools.size(); i++) inputs.tools[i].parameters = request.at("enforced").at(i).dump();
    return inputs;
}

std::string key_of(const common_json & request, const std::string & generation_prompt) {
    common_json key = common_json::object();
    for (const char * field : {"tools", "enforced", "toolChoice", "parallelToolCalls", "schema", "grammar", "constrain", "kwargs",
                               "enableThinking", "continueLast"}) {
        if (request.contains(field)) key[field] = request.at(field);
    }
    return key.dump_safe() + generation_prompt;
}

FormatPtr find_format(const std::string & key) {
    auto & formats = chat_template.formats;
    for (auto entry = formats.begin(); entry != formats.end(); ++entry) {
        if (entry->first != key) continue;
        formats.splice(formats.begin(), formats, entry);
        return entry->second;
    }
    return nullptr;
}

FormatPtr keep_format(const std::string & key, FormatPtr format) {
    auto & formats = chat_template.formats;
    formats.emplace_front(key, format);
    if (formats.size() > FORMATS_KEPT) formats.pop_back();
    return format;
}

std::set<llama_token> single_tokens(const std::vector<std::string> & words) {
    std::set<llama_token> tokens;
    for (const auto & word : words) {
        const auto ids = common_tokenize(state.vocab, word, false, true);
        if (ids.size() == 1) tokens.insert(ids[0]);
    }
    return tokens;
}

// A trigger word that is one token is matched as that token.
common_grammar_trigger as_token(common_grammar_trigger trigger, std::set<llama_token> & preserved) {
    if (trigger.type != COMMON_GRAMMAR_TRIGGER_TYPE_WORD) return trigger;
    const auto ids = common_tokenize(state.vocab, trigger.value, false, true);
    if (ids.size() != 1) return trigger;
    preserved.insert(ids[0]);
    trigger.type = COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN;
    trigger.token = ids[0];
    return trigger;
}

// Whether a sampler can be made of a grammar. Also of llama.cpp's own: those of large schemas exceed its limits.
bool compiles(const std::string & grammar) {
    llama_sampler * sampler = llama_sampler_init_grammar(state.vocab, grammar.c_str(), "root");
    if (sampler) llama_sampler_free(sampler);
    return sampler != nullptr;
}

// Renames every rule of a grammar, so that two grammars fit into one text.
std::string with_prefix(const std::string & grammar, const std::string & prefix) {
    const auto starts_name = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; };
    std::string out;
    for (size_t i = 0; i < grammar.size();) {
        const char c = grammar[i];
        if (c == '"' || c == '[' || c == '<') {
            const char close = c == '"' ? '"' : c == '[' ? ']' : '>';
            size_t end = i + 1;
            while (end < grammar.size() && grammar[end] != close) end += grammar[end] == '\\' ? 2 : 1;
            out.append(grammar, i, end + 1 - i);
            i = end + 1;
        } else if (starts_name(c)) {
            size_t end = i;
            while (end < grammar.size() && in_name(grammar[end])) end++;
            out += prefix + grammar.substr(i, end - i);
            i = end;
        } else {
            out += c;
            i++;
        }
    }
    return out;
}

void take_constraint(AnswerFormat & format, const common_chat_params & params, common_grammar_type type) {
    format.preserved = single_tokens(params.preserved_tokens);
    if (params.grammar.empty()) return;
    if (!compiles(params.grammar)) {
        format.unconstrained = true;
        return;
    }
    format.grammar = common_grammar(type, params.grammar);
    format.lazy = params.grammar_lazy;
    for (const auto & trigger : params.grammar_triggers) format.triggers.push_back(as_token(trigger, format.preserved));
}

// A forced call begins the answer: takes the free text that may stand before it out of the root rule. What is in
// parentheses is reasoning and stays.
std::string without_preamble(const std::string & grammar) {
    const size_t start = grammar.rfind("root ::=", 0) == 0 ? 0 : grammar.find("\nroot ::=");
    if (start == std::string::npos) return grammar;
    std::string out = grammar.substr(0, start);
    const size_t end = std::min(grammar.find('\n', start + 1), grammar.size());
    int depth = 0;
    for (size_t i = start; i < end;) {
        const char c = grammar[i];
        size_t next = i + 1;
        if (c == '"' || c == '[') {
            const char close = c == '"' ? '"' : ']';
            while (next < end && grammar[next] != close) next += grammar[next] == '\\' ? 2 : 1;
            next++;
        } else if (depth == 0 && grammar.compare(i, 7, " until-") == 0) {
            next = std::min(grammar.find(' ', i + 1), end);
            i = next;
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        out.append(grammar, i, next - i);
        i = next;
    }
    const std::string strict = out + grammar.substr(end);
    return compiles(strict) ? strict : grammar;
}

// Makes the tools' arguments any object, of which a grammar can always be made. False when they are already.
bool loosen(common_chat_templates_inputs & inputs) {
    bool changed = false;
    for (auto & tool : inputs.tools) {
        changed = changed || tool.parameters != ANY_OBJECT;
        tool.parameters = ANY_OBJECT;
    }
    return changed;
}

common_chat_params learn(const common_chat_templates_inputs & inputs) {
    const bool plain = inputs.force_pure_content || inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE;
    if (!chat_template.verbatim || plain) return common_chat_templates_apply(chat_template.templates.get(), inputs);
    common_chat_params params = common_chat_templates_apply(chat_template.bare.get(), inputs);
    common_chat_templates_inputs pure = inputs;
    pure.force_pure_content = true;
    params.prompt = common_chat_templates_apply(chat_template.templates.get(), pure).prompt;
    return params;
}

// Sets `loosened` when the tools' schemas are not what the grammar enforces.
common_chat_params apply(const common_chat_templates_inputs & inputs, bool & loosened) {
    try {
        common_chat_params params = learn(inputs);
        const bool forced = !inputs.tools.empty() && inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
        if (forced && !params.grammar.empty()) params.grammar = without_preamble(params.grammar);
        return params;
    } catch (const std::invalid_argument &) {
        if (inputs.force_pure_content) throw;
        // No grammar can be made of some tool's schema: names and frame are still known.
        common_chat_templates_inputs less = inputs;
        if (loosen(less)) {
            loosened = true;
            return apply(less, loosened);
        }
        // The template can be rendered but not analysed: what the model writes is then content, all of it.
        if (!chat_template.verbatim) throw;
        less.force_pure_content = true;
        return common_chat_templates_apply(chat_template.templates.get(), less);
    }
}

// The same request with tools whose arguments are any object: the grammar for names and frame is always small.
common_chat_params apply_with_loose_tools(common_chat_templates_inputs inputs) {
    bool loosened = loosen(inputs);
    return apply(inputs, loosened);
}

// Tools and a schema together: the model may call or answer, and whatever it does is constrained. The parser is the one
// for tools; an answer in the schema is content to it.
common_chat_params apply_tools_or_schema(common_chat_templates_inputs inputs, bool & loosened) {
    common_chat_templates_inputs answering = inputs;
    answering.tools.clear();
    const common_chat_params schema = apply(answering, loosened);
    inputs.json_schema.clear();
    common_chat_params either = apply(inputs, loosened);
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    const common_chat_params calling = apply(inputs, loosened);
    if (schema.grammar.empty() || calling.grammar.empty()) {
        either.grammar.clear();
        return either;
    }
    either.grammar = "root ::= call-root | answer-root\n" + with_prefix(calling.grammar, "call-") + "\n" +
                     with_prefix(schema.grammar, "answer-");
    either.grammar_lazy = false;
    either.grammar_triggers.clear();
    return either;
}

// What the template has written of the answer belongs to the grammars that llama.cpp makes, not to a client's own.
std::shared_ptr<llama_sampler> compile(const AnswerFormat & format) {
    if (format.grammar.empty() || format.lazy) return nullptr;
    std::shared_ptr<llama_sampler> sampler(
        llama_sampler_init_grammar(state.vocab, common_grammar_value(format.grammar).c_str(), "root"), llama_sampler_free);
    if (!sampler || !common_grammar_needs_prefill(format.grammar)) return sampler;
    const std::string & written = format.generation_prompt;
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    const auto tokens = common_tokenize(state.vocab, written, false, true);
    for (size_t i = 0; i < tokens.size(); i++) {
        const std::string piece = common_token_to_piece(state.vocab, tokens[i], true);
        // Some tokenizers put a space before the first token.
        if (i == 0 && !piece.empty() && is_space(piece[0]) && !is_space(written[0])) continue;
        llama_sampler_accept(sampler.get(), tokens[i]);
    }
    return sampler;
}

FormatPtr build_format(const common_json & request, const common_chat_templates_inputs & inputs,
                       const common_chat_params & params, bool loosened) {
    auto format = std::make_shared<AnswerFormat>();
    const bool constrain = request.at("constrain").get<bool>();
    const bool calls = !inputs.tools.empty();
    format->parser = common_chat_parser_params(params);
    format->parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    format->parser.is_continuation = inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE;
    if (!params.parser.empty()) format->parser.parser.load(params.parser);
    format->plain = !calls && inputs.json_schema.empty() && params.thinking_end_tags.empty() && !params.supports_thinking &&
                    chat_template.verbatim;
    format->generation_prompt = params.generation_prompt;
    format->thinking_start = params.thinking_start_tag;
    format->thinking_ends = params.thinking_end_tags;
    format->stops = params.additional_stops;
    if (constrain && request.contains("grammar")) {
        const auto grammar = request.at("grammar").get<std::string>();
        if (!compiles(grammar)) throw InvalidGrammar();
        format->grammar = common_grammar(COMMON_GRAMMAR_TYPE_USER, grammar);
    } else if (constrain) {
        take_constraint(*format, params, calls ? COMMON_GRAMMAR_TYPE_TOOL_CALLS : COMMON_GRAMMAR_TYPE_OUTPUT_FORMAT);
        const bool wanted = !inputs.json_schema.empty() || (calls && inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED);
        if (wanted && format->grammar.empty()) format->unconstrained = true;
    } else {
        format->preserved = single_tokens(params.preserved_tokens);
    }
    if (format->unconstrained && calls) {
        const common_chat_params loose = apply_with_loose_tools(inputs);
        take_constraint(*format, loose, COMMON_GRAMMAR_TYPE_TOOL_CALLS);
    }
    if (constrain && loosened) format->unconstrained = true;
    format->compiled = compile(*format);
    return format;
}

// A schema as older templates expect it: one type for everything.
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

// The prompt as the client's own tools make it. A template that cannot render them, or refuses to build a grammar for them,
// gets the ones that can be enforced, then plainer ones, and at last names alone.
std::pair<std::string, std::string> render_prompt(const common_chat_templates_inputs & inputs,
                                                  const common_chat_templates_inputs & enforced) {
    const auto rendered = [](common_chat_templates_inputs asked) {
        asked.json_schema.clear();
        asked.force_pure_content = chat_template.verbatim && asked.continue_final_message == COMMON_CHAT_CONTINUATION_NONE;
        // No schema changes the prompt.
        bool loosened = false;
        const common_chat_params params = apply(asked, loosened);
        return std::pair{params.prompt, params.generation_prompt};
    };
    try {
        return rendered(inputs);
    } catch (const std::exception &) {
        if (inputs.tools.empty()) throw;
    }
    common_chat_templates_inputs plainer = inputs;
    for (auto & tool : plainer.tools) tool.parameters = with_single_types(common_json::parse(tool.parameters)).dump();
    for (const common_chat_templates_inputs & asked : {std::cref(enforced), std::cref(plainer)}) {
        try {
            return rendered(asked);
        } catch (const std::exception &) {
        }
    }
    loosen(plainer);
    return rendered(plainer);
}

// The same without the last tools, which the messages describe.
common_chat_templates_inputs without_described(common_chat_templates_inputs inputs, const common_json & request) {
    const size_t described = request.contains("described") ? request.at("described").get<size_t>() : 0;
    inputs.tools.resize(inputs.tools.size() - std::min(described, inputs.tools.size()));
    return inputs;
}

} // namespace

RenderedChat render_chat(const common_json & request) {
    const SilentStderr silence;
    const common_chat_templates_inputs inputs = read_inputs(request);
    common_chat_templates_inputs enforced = enforced_inputs(inputs, request);
    const bool both = !inputs.tools.empty() && !inputs.json_schema.empty();
    // A forced call is no answer, so the schema has no say in it.
    const bool either = both && inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    if (both && !either) enforced.json_schema.clear();
    const auto [prompt, generation_prompt] =
        render_prompt(without_described(inputs, request), without_described(enforced, request));
    const std::string key = key_of(request, generation_prompt);
    if (auto known = find_format(key)) return {prompt, known};
    bool loosened = false;
    const common_chat_params params = either ? apply_tools_or_schema(enforced, loosened) : apply(enforced, loosened);
    return {prompt, keep_format(key, build_format(request, enforced, params, loosened))};
}

FormatPtr text_format(const common_json & request) {
    if (!request.contains("schema") && !request.contains("grammar")) return nullptr;
    const SilentStderr silence;
    const std::string key = "text " + key_of(request, "");
    if (auto known = find_format(key)) return known;
    auto format = std::make_shared<AnswerFormat>();
    const std::string grammar = request.contains("grammar") ? request.at("grammar").get<std::string>()
                                                            : json_schema_to_grammar(request.at("schema"));
    if (compiles(grammar)) {
        format->grammar = common_grammar(COMMON_GRAMMAR_TYPE_USER, grammar);
        format->compiled = compile(*format);
    } else if (request.contains("grammar")) {
        throw InvalidGrammar();
    } else {
        format->unconstrained = true;
    }
    return keep_format(key, format);
}

common_json template_abilities() {
    common_json abilities = common_json::object();
    const auto can = [&](const char * name) {
        const auto found = chat_template.abilities.find(name);
        return found != chat_template.abilities.end() && found->second;
    };
    abilities["tools"] = can("supports_tools") || can("supports_tool_calls");
    abilities["parallelTools"] = can("supports_parallel_tool_calls");
    abilities["thinking"] = chat_template.thinks;
    abilities["system"] = can("supports_system_role");
    return abilities;
}

bool load_chat_template(const std::string & override_source) {
    chat_template.templates = common_chat_templates_init(state.model, override_source);
    const common_chat_templates * templates = chat_template.templates.get();
    chat_template.bare = common_chat_templates_init(nullptr, common_chat_templates_source(templates));
    const std::string source = common_chat_templates_source(templates);
    chat_template.verbatim = !is_specialized(source);
    chat_template.short_ids = source.find("length != 9") != std::string::npos;
    chat_template.abilities = common_chat_templates_get_caps(templates);
    try {
        const common_chat_params params = learn(probe_inputs());
        chat_template.stops = params.additional_stops;
        chat_template.thinks = params.supports_thinking || !params.thinking_end_tags.empty();
    } catch (const std::exception &) {
        // Analysing failed, which says nothing about rendering.
        chat_template.stops.clear();
        chat_template.thinks = false;
    }
    return common_chat_templates_was_explicit(templates);
}

void forget_chat_template() {
    chat_template.formats.clear();
    chat_template.templates.reset();
    chat_template.bare.reset();
}

} // namespace svc

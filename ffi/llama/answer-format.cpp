// Builds answer formats from templates and schemas, and caches those of recent requests.

#include "answer-format.hpp"

#include "bounded-parser.hpp"
#include "branches.hpp"
#include "chat-template.hpp"
#include "grammar-text.hpp"
#include "grammar-watch.hpp"
#include "json-schema-to-grammar.h"
#include "silent-stderr.hpp"

#include <algorithm>
#include <list>
#include <mutex>

namespace svc {
namespace {

// Number of cached formats; a server sees few sets of tools and schemas at a time.
constexpr size_t FORMATS_KEPT = 64;

// The cache, most recently used first.
std::mutex & formats_mutex = *new std::mutex;
std::list<std::pair<std::string, FormatPtr>> & formats = *new std::list<std::pair<std::string, FormatPtr>>;

std::string key_of(const common_json & request, const std::string & generation_prompt) {
    common_json key = common_json::object();
    for (const char * field : {"tools", "enforced", "toolChoice", "parallelToolCalls", "schema", "grammar", "constrain", "kwargs",
                               "enableThinking", "continueLast", "generationPrompt"}) {
        if (request.contains(field)) key[field] = request.at(field);
    }
    return key.dump_safe() + generation_prompt;
}

FormatPtr find_format(const std::string & key) {
    std::lock_guard<std::mutex> lock(formats_mutex);
    for (auto entry = formats.begin(); entry != formats.end(); ++entry) {
        if (entry->first != key) continue;
        formats.splice(formats.begin(), formats, entry);
        return entry->second;
    }
    return nullptr;
}

FormatPtr keep_format(const std::string & key, FormatPtr format) {
    std::lock_guard<std::mutex> lock(formats_mutex);
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

void take_constraint(AnswerFormat & format, const common_chat_params & params, common_grammar_type type) {
    format.preserved = single_tokens(params.preserved_tokens);
    if (params.grammar.empty()) return;
    const std::string grammar = with_branches(params.grammar);
    if (!compiles(grammar)) {
        format.unconstrained = true;
        return;
    }
    format.grammar = common_grammar(type, grammar);
    format.lazy = params.grammar_lazy;
    for (const auto & trigger : params.grammar_triggers) format.triggers.push_back(as_token(trigger, format.preserved));
}

Failure invalid_grammar() { return {SVC_ERROR_BAD_GRAMMAR, "the grammar is not valid GBNF"}; }

// Applies the template with tools that take any object: the grammar for their names and framing is always small.
common_chat_params apply_with_loose_tools(common_chat_templates_inputs inputs) {
    bool loosened = loosen(inputs);
    return apply_template(inputs, loosened);
}

// Combines tools and a schema: the model may call a tool or answer, and both are constrained. The parser is the one for
// tools, which treats an answer in the schema as content.
common_chat_params apply_tools_or_schema(common_chat_templates_inputs inputs, bool & loosened) {
    common_chat_templates_inputs answering = inputs;
    answering.tools.clear();
    const common_chat_params schema = apply_template(answering, loosened);
    inputs.json_schema.clear();
    common_chat_params either = apply_template(inputs, loosened);
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    const common_chat_params calling = apply_template(inputs, loosened);
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

// Compiles a grammar that applies from the first token. The part of the answer that the template has written belongs to
// the grammars that llama.cpp makes, not to a client's own grammar.
std::shared_ptr<llama_sampler> compile(const AnswerFormat & format) {
    if (format.grammar.empty() || format.lazy) return nullptr;
    constexpr double MOST_SECONDS = 1;
    const GrammarWatch watch(Handling::prompt);
    std::shared_ptr<llama_sampler> sampler(
        llama_sampler_init_grammar(state.vocab, common_grammar_value(format.grammar).c_str(), "root"), llama_sampler_free);
    if (!sampler || !common_grammar_needs_prefill(format.grammar)) return sampler;
    const std::string & written = format.generation_prompt;
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    const auto tokens = common_tokenize(state.vocab, written, false, true);
    const double before = watch.seconds();
    for (size_t i = 0; i < tokens.size(); i++) {
        const std::string piece = common_token_to_piece(state.vocab, tokens[i], true);
        // Some tokenizers put a space before the first token.
        if (i == 0 && !piece.empty() && is_space(piece[0]) && !is_space(written[0])) continue;
        if (watch.seconds() - before > MOST_SECONDS) {
            throw Failure(SVC_ERROR_PREFILL_AMBIGUOUS, "the prefill can be read in too many ways");
        }
        llama_sampler_accept(sampler.get(), tokens[i]);
    }
    return sampler;
}

// Returns whether the generation prompt opens more brackets than may nest, and the parser refuses it.
bool nests_too_deep(const AnswerFormat & format) {
    const std::string & written = format.generation_prompt;
    const auto opens = std::count_if(written.begin(), written.end(), [](char c) { return c == '[' || c == '{'; });
    return opens > DEEPEST && !follows(format.parser, "");
}

FormatPtr build_format(const common_json & request, const common_chat_templates_inputs & inputs,
                       const common_chat_params & params, bool loosened) {
    auto format = std::make_shared<AnswerFormat>();
    const bool constrain = request.at("constrain").get<bool>();
    const bool calls = !inputs.tools.empty();
    format->parser = common_chat_parser_params(params);
    format->parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    format->parser.is_continuation = inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE;
    if (!params.parser.empty()) format->parser.parser = bounded_parser(params.parser);
    format->plain = !calls && inputs.json_schema.empty() && params.thinking_end_tags.empty() && !params.supports_thinking &&
                    chat_template.verbatim;
    format->generation_prompt = params.generation_prompt;
    format->thinking_start = params.thinking_start_tag;
    format->thinking_ends = params.thinking_end_tags;
    format->stops = params.additional_stops;
    if (constrain && request.contains("grammar")) {
        const std::string grammar = with_branches(request.at("grammar").get<std::string>());
        if (!compiles(grammar)) throw invalid_grammar();
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
    // The grammar would read the prefill bracket by bracket, each time processing all open brackets.
    if (!format->grammar.empty() && !format->lazy && nests_too_deep(*format)) {
        throw Failure(SVC_ERROR_PREFILL_TOO_DEEP, "the prefill nests too deep");
    }
    format->compiled = compile(*format);
    return format;
}

} // namespace

bool follows(const common_chat_parser_params & parser, const std::string & text) {
    if (parser.parser.empty()) return true;
    common_peg_parse_context context(parser.generation_prompt + text, COMMON_PEG_PARSE_FLAG_LENIENT);
    const common_peg_parse_result result = parser.parser.parse(context);
    // Some parsers stop before the end of the text, and the rest would be lost.
    const bool all = context.input.find_first_not_of(" \n\r\t", result.end) == std::string::npos;
    return result.need_more_input() || (result.success() && all);
}

FormatPtr chat_format(const common_json & request, const common_chat_templates_inputs & enforced,
                      const std::string & generation_prompt) {
    const std::string key = key_of(request, generation_prompt);
    if (auto known = find_format(key)) return known;
    const bool either = !enforced.tools.empty() && !enforced.json_schema.empty();
    bool loosened = false;
    const common_chat_params params =
        either ? apply_tools_or_schema(enforced, loosened) : apply_template(enforced, loosened);
    return keep_format(key, build_format(request, enforced, params, loosened));
}

FormatPtr text_format(const common_json & request) {
    if (!request.contains("schema") && !request.contains("grammar")) return nullptr;
    const SilentStderr silence;
    const std::string key = "text " + key_of(request, "");
    if (auto known = find_format(key)) return known;
    auto format = std::make_shared<AnswerFormat>();
    const std::string grammar = with_branches(request.contains("grammar") ? request.at("grammar").get<std::string>()
                                                                          : json_schema_to_grammar(request.at("schema")));
    if (compiles(grammar)) {
        format->grammar = common_grammar(COMMON_GRAMMAR_TYPE_USER, grammar);
        format->compiled = compile(*format);
    } else if (request.contains("grammar")) {
        throw invalid_grammar();
    } else {
        format->unconstrained = true;
    }
    return keep_format(key, format);
}

void forget_formats() {
    std::lock_guard<std::mutex> lock(formats_mutex);
    formats.clear();
}

} // namespace svc

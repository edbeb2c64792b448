#include "rendered.hpp"

#include "chat.hpp"

#include <algorithm>

namespace svc {
namespace {

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
    RenderedChat chat = render_chat(request);
    Rendered rendered;
    if (request.at("media").get<bool>()) rendered.details["text"] = chat.prompt;
    // Rendering has removed a begin-of-text token, which tokenizing adds again.
    else rendered.tokens = common_tokenize(state.vocab, chat.prompt, true, true);
    rendered.format = std::move(chat.format);
    return rendered;
}

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

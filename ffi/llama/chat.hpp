// From messages to a prompt, and how the answer to it will be written.
#pragma once

#include "state.hpp"

#include "chat.h"

#include <memory>
#include <set>
#include <stdexcept>

namespace svc {

// How the model writes its answer: what takes it apart and what constrains it. Shared by all requests that differ only in
// their messages, and read-only once made.
struct AnswerFormat {
    common_chat_parser_params parser;
    // Text alone: what the model writes is the content, and nobody needs to parse it.
    bool plain = true;
    common_grammar grammar;
    // Of a grammar that holds from the first token on: compiled, and fed with what the template has written. To be cloned.
    std::shared_ptr<llama_sampler> compiled;
    // The grammar waits for one of the triggers.
    bool lazy = false;
    std::vector<common_grammar_trigger> triggers;
    // Special tokens that are part of the format and therefore of the text.
    std::set<llama_token> preserved;
    // What the template has already written of the answer.
    std::string generation_prompt;
    std::string thinking_start;
    std::vector<std::string> thinking_ends;
    std::vector<std::string> stops;
    // A constraint was asked for that could not be built; the answer is free instead.
    bool unconstrained = false;
};

struct RenderedChat {
    std::string prompt;
    std::shared_ptr<const AnswerFormat> format;
};

// The request's own grammar is not GBNF, or too large.
struct InvalidGrammar : std::runtime_error {
    InvalidGrammar() : std::runtime_error("the grammar is not valid GBNF") {}
};

// Renders {messages, tools, toolChoice, parallelToolCalls, schema, grammar, constrain, kwargs, enableThinking,
// continueLast} (see shim.h). Throws std::runtime_error when the template refuses the messages. Prompt thread only.
RenderedChat render_chat(const common_json & request);

// The format of an answer to a text prompt: the text is the answer, `schema` or `grammar` of the request constrain it. Null
// without these. Prompt thread only.
std::shared_ptr<const AnswerFormat> text_format(const common_json & request);

// What the loaded template can do: {tools, parallelTools, thinking, system}.
common_json template_abilities();

// The template's and the answer formats' share of svc_load_start and svc_unload.
bool load_chat_template(const std::string & override_source);
void forget_chat_template();

} // namespace svc

// The format of the answer to a prompt: what constrains it during sampling, and what parses it.
#pragma once

#include "state.hpp"

#include "chat.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace svc {

// The parser and the constraint of an answer. Shared by all requests that differ only in their messages; never changed.
struct AnswerFormat {
    common_chat_parser_params parser;
    // The answer is plain text: the model's output is the content, and nothing is parsed.
    bool plain = true;
    common_grammar grammar;
    // For a grammar that applies from the first token: the compiled grammar, which has already read what the template
    // wrote. Clone it before use.
    std::shared_ptr<llama_sampler> compiled;
    // The grammar applies only after one of the triggers.
    bool lazy = false;
    std::vector<common_grammar_trigger> triggers;
    // Special tokens that belong to the format and are therefore kept as text.
    std::set<llama_token> preserved;
    // The part of the answer that the template has already written.
    std::string generation_prompt;
    std::string thinking_start;
    std::vector<std::string> thinking_ends;
    std::vector<std::string> stops;
    // All or part of a requested constraint could not be built; that part of the answer is unconstrained.
    bool unconstrained = false;
};

using FormatPtr = std::shared_ptr<const AnswerFormat>;

// Returns whether a text can still become an answer in the format. Any thread.
bool follows(const common_chat_parser_params & parser, const std::string & text);

// Returns the format of the answer to a chat request. `enforced` has the tools with the schemas that can be enforced;
// `generation_prompt` is the end of the prompt. Prompt threads only.
FormatPtr chat_format(const common_json & request, const common_chat_templates_inputs & enforced,
                      const std::string & generation_prompt);

// Returns the format of the answer to a text prompt, whose text is constrained by `schema` or `grammar` of the request.
// Null without these. Prompt threads only.
FormatPtr text_format(const common_json & request);

// Frees the cached formats; part of svc_unload.
void forget_formats();

} // namespace svc

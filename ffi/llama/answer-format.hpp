// How the answer to a prompt is written: what constrains it while it is sampled, and what takes it apart.
#pragma once

#include "state.hpp"

#include "chat.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

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
    // A constraint was requested that could not be built; the answer is free instead.
    bool unconstrained = false;
};

using FormatPtr = std::shared_ptr<const AnswerFormat>;

// Whether a text can still become what the format says. Any thread.
bool follows(const common_chat_parser_params & parser, const std::string & text);

// The format of the answer to a chat: of this request, whose tools have the schemas that can be enforced, and whose prompt
// ends with `generation_prompt`. Prompt thread only.
FormatPtr chat_format(const common_json & request, const common_chat_templates_inputs & enforced,
                      const std::string & generation_prompt);

// The format of an answer to a text prompt: the text is the answer, `schema` or `grammar` of the request constrain it. Null
// without these. Prompt thread only.
FormatPtr text_format(const common_json & request);

// Its share of svc_unload.
void forget_formats();

} // namespace svc

// The loaded chat template, and what llama.cpp learns from it about prompts and answers.
#pragma once

#include "state.hpp"

#include "chat.h"

#include <map>
#include <string>
#include <vector>

namespace svc {

struct ChatTemplate {
    common_chat_templates_ptr templates;
    // The same template without the tokens that begin and end a text: llama.cpp learns the answer format from rendered
    // text, and would take the end-of-text token for part of a call.
    common_chat_templates_ptr bare;
    // llama.cpp renders the template unchanged, so it is not analysed again for each prompt (5 ms; rendering: 0.5).
    bool verbatim = false;
    bool thinks = false;
    // What the template does when the request does not say whether to think.
    bool thinks_by_itself = true;
    // The template refuses tool call ids that are not nine characters long, as Mistral's templates do.
    bool short_ids = false;
    std::map<std::string, bool> abilities;
};
extern ChatTemplate & chat_template;

// Returns what the loaded template supports: {tools, thinking, system}.
common_json template_abilities();

// Throws when this template of --chat-template is no Jinja; the empty one stands for the model's.
void check_chat_template(const std::string & override_source);

// Parts of svc_load_start and svc_unload.
void load_chat_template(const std::string & override_source);
void forget_chat_template();

// Returns the prompt for these inputs and the format of its answer. Sets `loosened` when the grammar does not enforce
// the tools' schemas.
common_chat_params apply_template(const common_chat_templates_inputs & inputs, bool & loosened);

// Lets the tools take any object as arguments, for which a grammar always exists. Returns false when they already do.
bool loosen(common_chat_templates_inputs & inputs);

} // namespace svc

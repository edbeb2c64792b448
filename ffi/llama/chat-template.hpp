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
    // The same without tokens that begin and end a text: llama.cpp learns the format of answers from what is rendered, and
    // would take the end of the text for a part of a call.
    common_chat_templates_ptr bare;
    // llama.cpp renders it as it is written, so it need not be analysed again for each prompt (5 ms; rendering is 0.5).
    bool verbatim = false;
    bool thinks = false;
    // What it does where nobody says whether to think.
    bool thinks_by_itself = true;
    // It refuses ids of calls that are not nine characters, as Mistral's do.
    bool short_ids = false;
    std::map<std::string, bool> abilities;
    std::vector<std::string> stops;
};
extern ChatTemplate & chat_template;

// What the loaded template can do: {tools, thinking, system}.
common_json template_abilities();

// Its share of svc_load_start and svc_unload. False: the model's file has no template.
bool load_chat_template(const std::string & override_source);
void forget_chat_template();

// What the prompt is for these inputs, and how the answer to it will be written. Sets `loosened` when the tools' schemas
// are not what the grammar enforces.
common_chat_params apply_template(const common_chat_templates_inputs & inputs, bool & loosened);

// Makes the tools' arguments any object, of which a grammar can always be made. False when they are already.
bool loosen(common_chat_templates_inputs & inputs);

} // namespace svc

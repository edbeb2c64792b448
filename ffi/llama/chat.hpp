// Renders messages to a prompt, and determines the format of its answer.
#pragma once

#include "answer-format.hpp"

namespace svc {

struct RenderedChat {
    std::string prompt;
    FormatPtr format;
};

// Renders {messages, tools, toolChoice, parallelToolCalls, schema, grammar, constrain, kwargs, enableThinking,
// continueLast} (see shim.h). Throws std::runtime_error when the template refuses the messages. Prompt threads only.
RenderedChat render_chat(const common_json & request);

} // namespace svc

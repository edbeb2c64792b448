// Makes the tokens and the answer format of a prompt from its request.
#pragma once

#include "answer-format.hpp"

namespace svc {

// What all answers to a prompt share; never changed.
struct Rendered {
    std::vector<llama_token> tokens;
    // The part of svc_prompt_take's JSON that does not depend on the sampler.
    common_json details = common_json::object();
    FormatPtr format;
    bool scores = false;
};
using RenderedPtr = std::shared_ptr<const Rendered>;

// Renders and tokenizes a request (see svc_prompt_submit in shim.h). Throws when that fails. Prompt threads only.
RenderedPtr render(const std::string & request);

} // namespace svc

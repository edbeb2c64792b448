// A second, smaller model beside the first, which writes ahead what the first then checks.
#pragma once

#include "state.hpp"

namespace svc {

// Loads the draft model that `config` names ({path, pMin}) and returns its context, like the one of the model, which is
// loaded already. Throws when it cannot draft for that.
llama_context * load_draft(const common_json & config, llama_model_params like, llama_context_params context_like);

void free_draft();

} // namespace svc

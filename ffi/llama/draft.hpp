// A second, smaller model that drafts tokens for the main model to verify.
#pragma once

#include "state.hpp"

namespace svc {

// Loads the draft model that `config` names ({path, pMin}) and returns its context, made with parameters like those of
// the main model, which is already loaded. Throws when it cannot draft for the main model.
llama_context * load_draft(const common_json & config, llama_model_params like, llama_context_params context_like);

void free_draft();

} // namespace svc

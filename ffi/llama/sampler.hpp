// One request's way of choosing tokens.
#pragma once

#include "state.hpp"

namespace svc {

struct Sampler {
    common_sampler_ptr chain;
    // Temperature 0 and no penalty: the highest logit wins, no candidates need to be built.
    bool greedy = false;
    // Number of alternatives to keep for each token, or -1 for none at all.
    int32_t top_logprobs = -1;
    std::vector<llama_token_data> logprobs;

    // Chooses and accepts a token for output row `row` of the last decode.
    llama_token sample(int32_t row);

  private:
    void keep_logprobs(const float * logits, llama_token chosen);
};

// The sampler in a slot, or null.
Sampler * sampler_at(int32_t slot);

} // namespace svc

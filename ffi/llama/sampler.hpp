// One request's way of choosing tokens.
#pragma once

#include "state.hpp"

namespace svc {

struct Sampler {
    common_sampler_ptr chain;
    // Temperature 0 and nothing that changes logits: the highest wins, no candidates need to be built.
    bool greedy = false;
    // Number of alternatives to keep for each token, or -1 for none at all.
    int32_t top_logprobs = -1;
    // Of the last token: first itself, then the alternatives.
    std::vector<llama_token_data> logprobs;
    // The step that used it last; a batch must not use one twice.
    int64_t step = 0;

    // True when a token costs enough for a second thread to be worth waking.
    bool is_slow() const { return !greedy || top_logprobs >= 0; }

    // Chooses and accepts a token for row `row` of the last batch, whose logits have been fetched once before.
    llama_token sample(int32_t row);

  private:
    void keep_logprobs(const float * logits, llama_token chosen);
};

// The sampler in a slot, or null.
Sampler * sampler_at(int32_t slot);

} // namespace svc

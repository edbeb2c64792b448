// Renders and tokenizes prompts on separate native threads: a long prompt must not stall running streams, and short
// prompts do not wait for it. The functions are those of shim.h that begin with svc_prompt. Any thread.
#pragma once

#include "rendered.hpp"
#include "sampler.hpp"

#include <functional>
#include <optional>

namespace svc {

struct Prompt {
    RenderedPtr rendered;
    std::unique_ptr<Sampler> sampler;
    std::optional<Failure> failure;
    // Where the sampler is once it was taken.
    int32_t slot = -1;
};

// Starts the threads at the first call.
int32_t submit_prompt(std::string request, std::string sampler, std::string client, bool has_grammar, int32_t owner);

void cancel_prompt(int32_t job);

int32_t wait_for_prompt(int32_t timeout_ms);

// Calls `use` with a finished prompt, and frees the prompt if `use` returns true. Returns false if there is none.
bool use_prompt(int32_t job, const std::function<bool(Prompt &)> & use);

} // namespace svc

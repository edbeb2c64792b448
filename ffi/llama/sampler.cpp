#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace svc {
namespace {

std::vector<std::unique_ptr<Sampler>> slots;

llama_token highest(const float * logits, int32_t count) {
    int32_t best = 0;
    for (int32_t token = 1; token < count; token++) {
        if (logits[token] > logits[best]) best = token;
    }
    return best;
}

std::unique_ptr<Sampler> create(const common_json & config) {
    common_params_sampling params;
    params.temp = config.at("temperature").get<float>();
    params.top_p = config.at("topP").get<float>();
    params.top_k = config.at("topK").get<int>();
    params.min_p = config.at("minP").get<float>();
    params.penalty_repeat = config.at("repetitionPenalty").get<float>();
    params.penalty_last_n = config.at("repetitionWindow").get<int>();
    params.penalty_present = config.at("presencePenalty").get<float>();
    params.seed = static_cast<uint32_t>(config.at("seed").get<int64_t>());
    params.no_perf = true;
    const bool ignore_eos = config.at("ignoreEos").get<bool>();
    if (ignore_eos) {
        for (llama_token token = 0; token < llama_vocab_n_tokens(state.vocab); token++) {
            if (llama_vocab_is_eog(state.vocab, token)) params.logit_bias.push_back({token, -INFINITY});
        }
    }
    auto sampler = std::make_unique<Sampler>();
    sampler->top_logprobs = config.at("topLogprobs").get<int>();
    sampler->greedy = params.temp <= 0 && params.penalty_repeat == 1 && params.penalty_present == 0 && !ignore_eos;
    if (!sampler->greedy) {
        sampler->chain.reset(common_sampler_init(state.model, params));
        if (!sampler->chain) throw std::runtime_error("llama.cpp refused the sampling settings");
    }
    return sampler;
}

} // namespace

Sampler * sampler_at(int32_t slot) {
    return slot >= 0 && static_cast<size_t>(slot) < slots.size() ? slots[static_cast<size_t>(slot)].get() : nullptr;
}

llama_token Sampler::sample(int32_t row) {
    const float * logits = llama_get_logits_ith(state.context, row);
    if (!logits) throw std::runtime_error("a row that wanted logits has none");
    const llama_token token =
        greedy ? highest(logits, llama_vocab_n_tokens(state.vocab)) : common_sampler_sample(chain.get(), state.context, row);
    if (top_logprobs >= 0) keep_logprobs(logits, token);
    if (!greedy) common_sampler_accept(chain.get(), token, true);
    return token;
}

void Sampler::keep_logprobs(const float * logits, llama_token chosen) {
    const int32_t count = llama_vocab_n_tokens(state.vocab);
    const float peak = logits[highest(logits, count)];
    double sum = 0;
    for (int32_t token = 0; token < count; token++) sum += std::exp(static_cast<double>(logits[token] - peak));
    const double log_sum = peak + std::log(sum);
    const auto logprob = [&](llama_token token) { return static_cast<float>(logits[token] - log_sum); };

    logprobs.assign(1, {chosen, 0, logprob(chosen)});
    std::vector<llama_token> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    const auto top = order.begin() + std::min(top_logprobs, count);
    // Equal logits in the order of their ids, so that answers repeat.
    std::partial_sort(order.begin(), top, order.end(), [&](llama_token a, llama_token b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    for (auto token = order.begin(); token != top; token++) logprobs.push_back({*token, 0, logprob(*token)});
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_sampler_create(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        if (!state.model) return fail("no model is loaded");
        auto sampler = create(parse_json(config, config_length));
        const auto free_slot = std::find(slots.begin(), slots.end(), nullptr);
        const auto slot = static_cast<int32_t>(free_slot - slots.begin());
        if (free_slot == slots.end()) slots.push_back(std::move(sampler));
        else *free_slot = std::move(sampler);
        return slot;
    });
}

void svc_sampler_free(int32_t sampler) {
    if (sampler_at(sampler)) slots[static_cast<size_t>(sampler)].reset();
}

int32_t svc_sampler_prime(int32_t sampler, const int32_t * tokens, int32_t count) {
    return guarded<int32_t>(-1, [&] {
        Sampler * found = sampler_at(sampler);
        if (!found) return fail("no such sampler");
        for (int32_t i = 0; found->chain && i < count; i++) common_sampler_accept(found->chain.get(), tokens[i], false);
        return 0;
    });
}

int32_t svc_sampler_logprobs(int32_t sampler, int32_t * ids, float * logprobs, int32_t capacity) {
    const Sampler * found = sampler_at(sampler);
    if (!found) return 0;
    const int32_t count = std::min(capacity, static_cast<int32_t>(found->logprobs.size()));
    for (int32_t i = 0; i < count; i++) {
        ids[i] = found->logprobs[static_cast<size_t>(i)].id;
        logprobs[i] = found->logprobs[static_cast<size_t>(i)].p;
    }
    return count;
}

} // extern "C"

#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace svc {
namespace {

std::vector<std::unique_ptr<Sampler>> & slots = *new std::vector<std::unique_ptr<Sampler>>;

// Token with the highest logit, the first of equal ones.
llama_token highest(const float * logits, int32_t count) {
    constexpr int32_t BLOCK = 256, LANES = 8;
    int32_t best = 0;
    // A block's maximum takes vector instructions only; its place is looked up in the few blocks that beat the best.
    for (int32_t start = 0; start < count; start += BLOCK) {
        const int32_t end = std::min(start + BLOCK, count);
        float lanes[LANES];
        std::fill(lanes, lanes + LANES, -INFINITY);
        int32_t token = start;
        for (; token + LANES <= end; token += LANES) {
            for (int32_t lane = 0; lane < LANES; lane++) {
                lanes[lane] = logits[token + lane] > lanes[lane] ? logits[token + lane] : lanes[lane];
            }
        }
        for (; token < end; token++) lanes[0] = std::max(lanes[0], logits[token]);
        const float peak = *std::max_element(lanes, lanes + LANES);
        if (peak > logits[best]) best = static_cast<int32_t>(std::find(logits + start, logits + end, peak) - logits);
    }
    return best;
}

bool changes_logits(const common_params_sampling & params) {
    int32_t suppressed = 0;
    llama_vocab_get_suppress_tokens(state.vocab, &suppressed);
    const bool penalizes = params.penalty_last_n != 0 && (params.penalty_repeat != 1 || params.penalty_present != 0);
    return penalizes || suppressed > 0 || !params.logit_bias.empty();
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
    if (config.at("ignoreEos").get<bool>()) {
        for (llama_token token = 0; token < state.n_vocab; token++) {
            if (llama_vocab_is_eog(state.vocab, token)) params.logit_bias.push_back({token, -INFINITY});
        }
    }
    auto sampler = std::make_unique<Sampler>();
    sampler->top_logprobs = config.at("topLogprobs").get<int>();
    sampler->greedy = params.temp <= 0 && !changes_logits(params);
    if (params.temp <= 0) params.samplers = {COMMON_SAMPLER_TYPE_PENALTIES, COMMON_SAMPLER_TYPE_TEMPERATURE};
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
        greedy ? highest(logits, state.n_vocab) : common_sampler_sample(chain.get(), state.context, row);
    if (top_logprobs >= 0) keep_logprobs(logits, token);
    if (!greedy) common_sampler_accept(chain.get(), token, true);
    return token;
}

void Sampler::keep_logprobs(const float * logits, llama_token chosen) {
    const float peak = logits[highest(logits, state.n_vocab)];
    const auto wanted = static_cast<size_t>(std::min(top_logprobs, state.n_vocab));
    const auto before = [&](llama_token a, llama_token b) { return logits[a] > logits[b]; };
    std::vector<llama_token> best;
    double sum = 0;
    for (llama_token token = 0; token < state.n_vocab; token++) {
        sum += std::exp(logits[token] - peak);
        if (best.size() == wanted && (wanted == 0 || !before(token, best.back()))) continue;
        if (best.size() == wanted) best.pop_back();
        // After its equals: of those the lowest id comes first.
        best.insert(std::upper_bound(best.begin(), best.end(), token, before), token);
    }
    const double log_sum = peak + std::log(sum);
    logprobs.clear();
    const auto keep = [&](llama_token token) {
        logprobs.push_back({token, logits[token], static_cast<float>(logits[token] - log_sum)});
    };
    keep(chosen);
    for (const llama_token token : best) keep(token);
}

void free_samplers() { slots.clear(); }

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_sampler_create(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        if (!state.ready) return fail("no model is loaded");
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
        for (int32_t i = 0; i < count; i++) {
            if (tokens[i] < 0 || tokens[i] >= state.n_vocab) return fail("a token is not in the vocabulary");
            if (found->chain) common_sampler_accept(found->chain.get(), tokens[i], false);
        }
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

#include "sampler.hpp"

#include "grammar-watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace svc {
namespace {

std::vector<std::unique_ptr<Sampler>> & slots = *new std::vector<std::unique_ptr<Sampler>>;

bool changes_logits(const common_params_sampling & params) {
    int32_t suppressed = 0;
    llama_vocab_get_suppress_tokens(state.vocab, &suppressed);
    const bool penalizes = params.penalty_last_n != 0 &&
                           (params.penalty_repeat != 1 || params.penalty_present != 0 || params.penalty_freq != 0);
    const bool dry = params.dry_multiplier != 0 && params.dry_base >= 1 && params.dry_penalty_last_n != 0;
    return penalizes || dry || suppressed > 0 || !params.logit_bias.empty() || params.reasoning_budget_tokens >= 0 ||
           params.mirostat != 0;
}

common_params_sampling read_params(const common_json & config) {
    common_params_sampling params;
    params.temp = config.at("temperature").get<float>();
    params.top_p = config.at("topP").get<float>();
    params.top_k = config.at("topK").get<int>();
    params.min_p = config.at("minP").get<float>();
    params.typ_p = config.at("typicalP").get<float>();
    params.top_n_sigma = config.at("topNSigma").get<float>();
    params.xtc_probability = config.at("xtcProbability").get<float>();
    params.xtc_threshold = config.at("xtcThreshold").get<float>();
    params.dynatemp_range = config.at("dynatempRange").get<float>();
    params.dynatemp_exponent = config.at("dynatempExponent").get<float>();
    params.penalty_repeat = config.at("repetitionPenalty").get<float>();
    params.penalty_last_n = config.at("repetitionWindow").get<int>();
    params.penalty_present = config.at("presencePenalty").get<float>();
    params.dry_multiplier = config.at("dryMultiplier").get<float>();
    params.dry_base = config.at("dryBase").get<float>();
    params.dry_allowed_length = config.at("dryAllowedLength").get<int>();
    params.dry_penalty_last_n = config.at("dryPenaltyLastN").get<int>();
    params.dry_sequence_breakers.clear();
    for (const auto & breaker : config.at("drySequenceBreakers")) {
        params.dry_sequence_breakers.push_back(breaker.get<std::string>());
    }
    params.mirostat = config.at("mirostat").get<int>();
    params.mirostat_tau = config.at("mirostatTau").get<float>();
    params.mirostat_eta = config.at("mirostatEta").get<float>();
    params.seed = static_cast<uint32_t>(config.at("seed").get<int64_t>());
    // llama.cpp takes this seed to mean "any".
    if (params.seed == LLAMA_DEFAULT_SEED) params.seed--;
    const auto whole = static_cast<int32_t>(llama_n_ctx_seq(state.context));
    if (params.penalty_last_n < 0) params.penalty_last_n = whole;
    if (params.dry_penalty_last_n < 0) params.dry_penalty_last_n = whole;
    // Dividing by a smaller temperature could overflow.
    if (params.temp < 1e-5f) params.temp = 0;
    params.no_perf = true;
    for (const auto & entry : config.at("logitBias")) {
        const auto token = entry.at(0).get<int>();
        if (token >= 0 && token < state.n_vocab) params.logit_bias.push_back({token, entry.at(1).get<float>()});
    }
    return params;
}

void take_format(common_params_sampling & params, const AnswerFormat & format, int32_t reasoning_budget) {
    params.grammar = format.grammar;
    params.grammar_lazy = format.lazy;
    params.grammar_triggers = format.triggers;
    params.preserved_tokens = format.preserved;
    params.generation_prompt = format.generation_prompt;
    if (format.thinking_ends.empty() || format.thinking_start.empty()) return;
    params.reasoning_budget_tokens = reasoning_budget;
    params.reasoning_budget_start = common_tokenize(state.vocab, format.thinking_start, false, true);
    for (const auto & tag : format.thinking_ends) {
        params.reasoning_budget_end.push_back(common_tokenize(state.vocab, tag, false, true));
    }
    params.reasoning_budget_forced = params.reasoning_budget_end.front();
}

} // namespace

llama_token highest(const float * logits, int32_t count) {
    constexpr int32_t BLOCK = 256, LANES = 8;
    int32_t best = 0;
    // The maximum of a block takes vector instructions only; its position is searched only in the few that beat the
    // best.
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

Sampler * sampler_at(int32_t slot) {
    return slot >= 0 && static_cast<size_t>(slot) < slots.size() ? slots[static_cast<size_t>(slot)].get() : nullptr;
}

std::unique_ptr<Sampler> make_sampler(const common_json & config, std::shared_ptr<const AnswerFormat> format,
                                      const std::vector<llama_token> & prompt) {
    common_params_sampling params = read_params(config);
    if (format) take_format(params, *format, config.at("reasoningBudget").get<int>());
    auto sampler = std::make_unique<Sampler>();
    sampler->top_logprobs = config.at("topLogprobs").get<int>();
    // Where a grammar applies, it decides when the answer is complete.
    if (params.grammar.empty() || params.grammar_lazy) {
        sampler->min_tokens = config.at("ignoreEos").get<bool>() ? INT32_MAX : config.at("minTokens").get<int>();
    }
    if (params.grammar_lazy && sampler->min_tokens > 0) sampler->ahead = std::make_unique<AnswerReader>(format);
    sampler->constrained = !params.grammar.empty();
    const bool compiled = format && format->compiled;
    sampler->greedy = params.temp <= 0 && !changes_logits(params) && (params.grammar.empty() || compiled);
    const GrammarWatch watch(Handling::prompt, sampler->constrained);
    if (sampler->greedy && compiled) sampler->grammar.reset(llama_sampler_clone(format->compiled.get()));
    if (params.temp <= 0) {
        params.samplers = {COMMON_SAMPLER_TYPE_PENALTIES, COMMON_SAMPLER_TYPE_DRY, COMMON_SAMPLER_TYPE_TEMPERATURE};
    }
    if (!sampler->greedy) {
        sampler->chain.reset(common_sampler_init(state.model, params));
        if (!sampler->chain) throw std::runtime_error("llama.cpp refused the sampling settings");
        const size_t window = std::max<size_t>(64, static_cast<size_t>(std::max(params.penalty_last_n, params.dry_penalty_last_n)));
        for (size_t i = prompt.size() - std::min(window, prompt.size()); i < prompt.size(); i++) {
            common_sampler_accept(sampler->chain.get(), prompt[i], false);
        }
    }
    if (format && !format->plain) sampler->reader = std::make_unique<AnswerReader>(std::move(format));
    return sampler;
}

int32_t place_sampler(std::unique_ptr<Sampler> sampler) {
    const auto free_slot = std::find(slots.begin(), slots.end(), nullptr);
    const auto slot = static_cast<int32_t>(free_slot - slots.begin());
    if (free_slot == slots.end()) slots.push_back(std::move(sampler));
    else *free_slot = std::move(sampler);
    return slot;
}

llama_token Sampler::sample(int32_t row) {
    float * logits = llama_get_logits_ith(state.context, row);
    if (!logits) throw std::runtime_error("a row that wanted logits has none");
    const GrammarWatch watch(Handling::answer, constrained);
    const llama_token token = choose(logits, row);
    if (top_logprobs >= 0) logprobs = logprobs_of(logits, token);
    generated++;
    // With a real end token the answer is complete, however long the grammar took.
    if (stuck || llama_vocab_is_eog(state.vocab, token)) return token;
    accept(token);
    if (ahead) ahead->push(token);
    note_grammar_seconds(watch.seconds());
    return token;
}

// Ends an answer whose grammar takes too long, because all other requests of the step wait meanwhile. An ambiguous
// grammar doubles the work with each character: every token takes longer than the one before, and a few more would end
// the process. After several such tokens, the time for the next one can be predicted. A grammar with many alternatives
// is slow as well, but only at the two or three tokens that lead to them and at the one that chooses among them; after
// it few are left, and the answer can be completed.
void Sampler::note_grammar_seconds(double seconds) {
    constexpr double SLOW = 1, LEAST = 1.0 / 4096, GROWTH = 1.5, MOST = 10;
    if (seconds > SLOW) slow_seconds += seconds;
    growths = last_seconds > LEAST && seconds > GROWTH * last_seconds ? growths + 1 : 0;
    if (growths == 1) grown_from = last_seconds;
    const bool will_be_slow = growths > 3 && seconds * seconds / last_seconds > SLOW / 4;
    const bool is_slow = growths > 1 && grown_from > SLOW / 16 && seconds > SLOW;
    if (will_be_slow || is_slow || slow_seconds > MOST) stuck = true;
    last_seconds = seconds;
}

void Sampler::accept(llama_token token) {
    try {
        if (grammar) llama_sampler_accept(grammar.get(), token);
        if (chain) common_sampler_accept(chain.get(), token, true);
    } catch (const std::exception &) {
        // The grammar cannot continue with this token. The other requests of the batch are not affected.
        stuck = true;
    }
}

// Returns the most probable token that the grammar allows. Usually that is the most probable of all, and if not, one of
// the next few. Checking the whole vocabulary costs the grammar milliseconds, so that comes last, and once.
llama_token Sampler::choose_allowed(const float * logits) {
    constexpr size_t FEW = 16;
    const auto before = [&](llama_token a, llama_token b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); };
    const auto allowed = [&](const auto & tokens) {
        std::vector<llama_token_data> some;
        some.reserve(tokens.size());
        for (const llama_token token : tokens) some.push_back({token, logits[token], 0});
        llama_token_data_array array = {some.data(), some.size(), -1, false};
        llama_sampler_apply(grammar.get(), &array);
        llama_token found = LLAMA_TOKEN_NULL;
        for (const auto & one : some) {
            if (one.logit > -INFINITY && (found == LLAMA_TOKEN_NULL || before(one.id, found))) found = one.id;
        }
        return found;
    };
    llama_token found = allowed(std::array{highest(logits, state.n_vocab)});
    if (found != LLAMA_TOKEN_NULL) return found;
    std::vector<llama_token> all(static_cast<size_t>(state.n_vocab));
    std::iota(all.begin(), all.end(), 0);
    std::array<llama_token, FEW> few;
    const auto end = std::partial_sort_copy(all.begin(), all.end(), few.begin(), few.end(), before);
    found = allowed(std::vector<llama_token>(few.begin(), end));
    return found != LLAMA_TOKEN_NULL ? found : allowed(all);
}

llama_token Sampler::pick(float * logits, int32_t row, bool goes_on) {
    std::vector<float> kept;
    if (goes_on) {
        for (const llama_token token : state.end_tokens) {
            kept.push_back(logits[token]);
            logits[token] = -INFINITY;
        }
    }
    const llama_token token = grammar  ? choose_allowed(logits)
                              : greedy ? highest(logits, state.n_vocab)
                                       : common_sampler_sample(chain.get(), state.context, row);
    if (goes_on) {
        for (size_t i = 0; i < kept.size(); i++) logits[state.end_tokens[i]] = kept[i];
    }
    return token;
}

llama_token Sampler::choose(float * logits, int32_t row) {
    const bool goes_on = generated < min_tokens;
    const llama_token token = pick(logits, row, goes_on && !constrained);
    if (!constrained) return token;
    if (!possible(token)) {
        // Accepting a token that the grammar forbids would end the process.
        stuck = true;
        return state.end_tokens.empty() ? 0 : state.end_tokens.front();
    }
    // Whether the grammar applies by now matters, and costs time, only when the model wants to end its turn.
    if (!goes_on || !llama_vocab_is_eog(state.vocab, token) || ahead->calls_tool()) return token;
    const llama_token other = pick(logits, row, true);
    return possible(other) ? other : token;
}

bool Sampler::possible(llama_token token) const {
    if (greedy) return token != LLAMA_TOKEN_NULL;
    const llama_token_data_array * candidates = common_sampler_get_candidates(chain.get(), false);
    return candidates->selected >= 0 && candidates->data[candidates->selected].logit > -INFINITY;
}

std::vector<llama_token_data> Sampler::score(int32_t row, int32_t position) const {
    const float * logits = llama_get_logits_ith(state.context, row);
    if (!logits) throw std::runtime_error("a row that wanted logits has none");
    return logprobs_of(logits, prompt[static_cast<size_t>(position) + 1]);
}

std::vector<llama_token_data> Sampler::logprobs_of(const float * logits, llama_token chosen) const {
    const float peak = logits[highest(logits, state.n_vocab)];
    const auto wanted = static_cast<size_t>(std::min(top_logprobs, state.n_vocab));
    const auto before = [&](llama_token a, llama_token b) { return logits[a] > logits[b]; };
    std::vector<llama_token> best;
    double sum = 0;
    for (llama_token token = 0; token < state.n_vocab; token++) {
        sum += std::exp(logits[token] - peak);
        if (best.size() == wanted && (wanted == 0 || !before(token, best.back()))) continue;
        if (best.size() == wanted) best.pop_back();
        // Inserted after its equals, so that the lowest id comes first.
        best.insert(std::upper_bound(best.begin(), best.end(), token, before), token);
    }
    const double log_sum = peak + std::log(sum);
    std::vector<llama_token_data> out;
    best.insert(best.begin(), chosen);
    for (const llama_token token : best) {
        out.push_back({token, logits[token], static_cast<float>(logits[token] - log_sum)});
    }
    return out;
}

void free_samplers() { slots.clear(); }

} // namespace svc

using namespace svc;

extern "C" {

void svc_sampler_free(int32_t sampler) {
    if (sampler_at(sampler)) slots[static_cast<size_t>(sampler)].reset();
}

int32_t svc_sampler_stuck(int32_t sampler) {
    const Sampler * found = sampler_at(sampler);
    return found && found->stuck;
}

int32_t svc_sampler_logprobs(int32_t sampler, int32_t of_prompt, int32_t * ids, float * logprobs, int32_t capacity) {
    Sampler * found = sampler_at(sampler);
    if (!found) return 0;
    std::vector<llama_token_data> & list = of_prompt ? found->scores : found->logprobs;
    const auto count = std::min(static_cast<size_t>(capacity), list.size());
    for (size_t i = 0; i < count; i++) {
        ids[i] = list[i].id;
        logprobs[i] = list[i].p;
    }
    if (of_prompt) list.clear();
    return static_cast<int32_t>(count);
}

} // extern "C"

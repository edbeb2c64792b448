// Drafts tokens: a small model predicts what the large model will generate, for several sequences at once.

#include "compute-threads.hpp"
#include "paged-memory.hpp"
#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace svc {
namespace {

struct Draft {
    llama_model * model = nullptr;
    llama_context * context = nullptr;
    const llama_vocab * vocab = nullptr;
    int32_t n_vocab = 0;
    // A token with a lower probability ends the draft.
    float p_min = 0;
    llama_batch batch = {};
};

Draft & draft = *new Draft;

// The values in common/speculative.cpp, which does not export them.
constexpr int32_t MOST_TOKENS_APART = 128;
constexpr int32_t FIRST_TOKEN_COMPARED = 5;

// The token that a vocabulary adds before or after a text; -1 for none.
llama_token bos_of(const llama_vocab * vocab) { return llama_vocab_get_add_bos(vocab) ? llama_vocab_bos(vocab) : -1; }
llama_token eos_of(const llama_vocab * vocab) { return llama_vocab_get_add_eos(vocab) ? llama_vocab_eos(vocab) : -1; }

// Returns how the draft's vocabulary differs from the model's by more than llama.cpp allows, or "".
std::string difference(const llama_vocab * model, const llama_vocab * other) {
    if (llama_vocab_type(model) != llama_vocab_type(other)) return "its tokenizer is of another type";
    if (bos_of(model) != bos_of(other)) return "it begins texts with another token";
    if (eos_of(model) != eos_of(other)) return "it ends texts with another token";
    const int32_t size = llama_vocab_n_tokens(model), other_size = llama_vocab_n_tokens(other);
    if (std::abs(size - other_size) > MOST_TOKENS_APART) {
        return "it has " + std::to_string(other_size) + " tokens where the model has " + std::to_string(size);
    }
    for (llama_token token = FIRST_TOKEN_COMPARED; token < std::min(size, other_size); token++) {
        if (std::strcmp(llama_vocab_get_text(model, token), llama_vocab_get_text(other, token)) != 0) {
            return "token " + std::to_string(token) + " is another";
        }
    }
    return "";
}

// One sequence in a call of svc_draft.
struct Job {
    int32_t sequence;
    int32_t position;
    int32_t length;
    int32_t wanted;
    const llama_token * tokens;
    llama_token * out;
    int32_t * drafted;
    // Row in the last batch; -1 when nothing more is drafted.
    int32_t row;

    void feed(llama_token token, int32_t at, bool output) {
        common_batch_add(draft.batch, token, position + at, {sequence}, output);
        if (output) row = draft.batch.n_tokens - 1;
    }
    // Takes the most probable token of the last batch. Returns true when another token is needed.
    bool take() {
        const float * logits = llama_get_logits_ith(draft.context, row);
        row = -1;
        if (!logits) throw std::runtime_error("a row that wanted logits has none");
        const llama_token token = highest(logits, draft.n_vocab);
        // Drafting the end of a turn gains nothing: no token follows that could be verified with it.
        if (token >= state.n_vocab || llama_vocab_is_eog(state.vocab, token)) return false;
        if (draft.p_min > 0 && probability(logits, logits[token]) < draft.p_min) return false;
        out[(*drafted)++] = token;
        return *drafted < wanted;
    }

    static float probability(const float * logits, float peak) {
        double sum = 0;
        for (llama_token token = 0; token < draft.n_vocab; token++) sum += std::exp(logits[token] - peak);
        return static_cast<float>(1 / sum);
    }
};

// Reads the jobs. Returns what is wrong with them, or null.
const char * read_jobs(const int32_t * given, int32_t count, const int32_t * tokens, int32_t * out,
                       int32_t * counts, std::vector<Job> & jobs) {
    if (!draft.context) return "no draft model is loaded";
    int32_t rows = 0;
    for (int32_t i = 0; i < count; i++, given += 4) {
        Job job = {given[0], given[1], given[2], given[3], tokens + rows, out, counts + i, -1};
        if (job.sequence < 0 || job.sequence >= state.n_seq_max) return "a sequence id is out of range";
        if (job.position < 0 || job.length < 0 || job.wanted < 0) return "a position or a length is negative";
        if (job.wanted > 0 && job.length == 0) return "there is nothing to draft from";
        rows += job.length;
        if (rows > state.n_batch) return "the batch is too large";
        *job.drafted = 0;
        out += job.wanted;
        jobs.push_back(job);
    }
    return nullptr;
}

bool knows(const Job & job) {
    return std::all_of(job.tokens, job.tokens + job.length,
                       [](llama_token token) { return token >= 0 && token < draft.n_vocab; });
}

} // namespace

llama_context * load_draft(const common_json & config, llama_model_params like, llama_context_params context_like) {
    const auto path = config.at("path").get<std::string>();
    draft.p_min = config.at("pMin").get<float>();
    open_file(path);
    draft.model = llama_model_load_from_file(path.c_str(), like);
    if (!draft.model) throw std::runtime_error(with_complaint("llama.cpp cannot load the draft model " + path));
    if (!llama_model_has_decoder(draft.model) || llama_model_has_encoder(draft.model) || !can_roll_back(draft.model)) {
        throw std::runtime_error("models of the kind of the draft model " + path + " cannot draft: their tokens cannot be taken back");
    }
    draft.vocab = llama_model_get_vocab(draft.model);
    draft.n_vocab = llama_vocab_n_tokens(draft.vocab);
    const std::string reason = difference(state.vocab, draft.vocab);
    if (!reason.empty()) throw std::runtime_error("the draft model " + path + " does not have the model's vocabulary: " + reason);
    context_like.n_outputs_max = context_like.n_seq_max;
    const auto create = state.layout == Layout::paged ? create_paged_context : [](llama_model * model, const llama_context_params & params) {
        return llama_init_from_model(model, params);
    };
    draft.context = create(draft.model, context_like);
    if (!draft.context) throw std::runtime_error(with_complaint("llama.cpp cannot create a context for the draft model " + path));
    draft.batch = llama_batch_init(state.n_batch, 0, 1);
    return draft.context;
}

void free_draft() {
    if (draft.context) {
        llama_batch_free(draft.batch);
        llama_free(draft.context);
    }
    if (draft.model) llama_model_free(draft.model);
    draft = {};
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_draft(const int32_t * given, int32_t count, const int32_t * tokens, int32_t * out_tokens,
                  int32_t * out_counts) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        static std::vector<Job> & jobs = *new std::vector<Job>;
        jobs.clear();
        const char * reason = read_jobs(given, count, tokens, out_tokens, out_counts, jobs);
        if (reason) return fail(reason);
        llama_memory_t memory = llama_get_memory(draft.context);
        common_batch_clear(draft.batch);
        for (Job & job : jobs) {
            llama_memory_seq_rm(memory, job.sequence, job.position, -1);
            if (job.position == 0) release_cells(draft.context, job.sequence, 0);
            if (!knows(job)) {
                *job.drafted = -1;
                continue;
            }
            for (int32_t i = 0; i < job.length; i++) job.feed(job.tokens[i], i, job.wanted > 0 && i == job.length - 1);
        }
        int32_t rounds = 0;
        const AbortScope scope(0, "drafting");
        forget_complaint();
        for (; draft.batch.n_tokens > 0; rounds++) {
            use_compute_threads(draft.context);
            const MeasuredComputation measured;
            append_behind(draft.context);
            const int32_t result = llama_decode(draft.context, draft.batch);
            if (result == SVC_DECODED_NO_CAPACITY) {
                for (const Job & job : jobs) llama_memory_seq_rm(memory, job.sequence, -1, -1);
                return fail("the KV cache of the draft model is full", SVC_ERROR_NO_CAPACITY);
            }
            if (result != 0) return fail(with_complaint("llama_decode of the draft returned " + std::to_string(result)));
            common_batch_clear(draft.batch);
            for (Job & job : jobs) {
                if (job.row < 0 || !job.take()) continue;
                job.feed(job.out[*job.drafted - 1], job.length + *job.drafted - 1, true);
            }
        }
        // Wait for the end of the computation here, so that the caller's time measurement includes all of it.
        llama_synchronize(draft.context);
        return rounds;
    });
}

} // extern "C"

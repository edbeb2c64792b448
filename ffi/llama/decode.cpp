// Computes a step (batch, decode, sample) and manages the KV cache.

#include "compute-threads.hpp"
#include "one-region.hpp"
#include "paged-memory.hpp"
#include "sampler.hpp"
#include "workers.hpp"

#include "llama-memory.h"

#include <algorithm>
#include <optional>

namespace svc {
namespace {

// Columns that every batch needs but no caller provides.
struct BatchColumns {
    // Tokens and positions of further steps in multi-step decoding.
    std::vector<llama_token> tokens;
    std::vector<llama_pos> positions;
    std::vector<int32_t> counts;
    std::vector<llama_seq_id *> sequences;
    std::vector<int8_t> outputs;

    void prepare(const int32_t * ids, const int32_t * samplers, int32_t count) {
        const auto size = static_cast<size_t>(count);
        counts.assign(size, 1);
        sequences.resize(size);
        outputs.resize(size);
        for (size_t i = 0; i < size; i++) {
            sequences[i] = const_cast<llama_seq_id *>(ids + i);
            outputs[i] = samplers[i] != -1;
        }
    }

    llama_batch batch(const int32_t * with_tokens, const int32_t * with_positions, int32_t count) {
        llama_batch made = {};
        made.n_tokens = count;
        made.token = const_cast<llama_token *>(with_tokens);
        made.pos = const_cast<llama_pos *>(with_positions);
        made.n_seq_id = counts.data();
        made.seq_id = sequences.data();
        made.logits = outputs.data();
        return made;
    }
};

// Rows sampled by one sampler, and where their tokens go. Each row but the first holds the draft of the token that the
// row before gives; the series ends at the first wrong draft.
struct Sampling {
    Sampler * sampler;
    int32_t row;
    int32_t count;
    const llama_token * drafts;
    llama_token * out;

    void run() const {
        std::fill_n(out, count, LLAMA_TOKEN_NULL);
        for (int32_t i = 0; i < count; i++) {
            out[i] = sampler->sample(row + i);
            if (sampler->stuck || llama_vocab_is_eog(state.vocab, out[i])) return;
            if (i + 1 < count && out[i] != drafts[i]) return;
        }
    }
};

// A row that gives the log probability of a prompt's next token.
struct Scoring {
    Sampler * sampler;
    int32_t row;
    int32_t position;
};

// Waking a thread costs about as much as sampling a row.
constexpr ptrdiff_t SLOW_ROWS_FOR_THREADS = 4;
constexpr int MOST_SAMPLING_THREADS = 8;

// Returns what is wrong with a batch, or null. Fills in the rows to sample and to score.
const char * refusal(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                     const int32_t * samplers, int32_t count, int32_t * out_tokens, std::vector<Sampling> & sampled,
                     std::vector<Scoring> & scored) {
    static int64_t step = 0;
    step++;
    sampled.clear();
    scored.clear();
    int32_t rows = 0;
    if (!is_loaded()) return "no model is loaded";
    if (count < 1 || count > state.n_batch) return "the batch is empty or too large";
    for (int32_t i = 0; i < count; i++) {
        if (const char * wrong = refusal_of_row(tokens[i], positions[i], sequences[i])) return wrong;
        if (samplers[i] < -1) {
            Sampler * scorer = sampler_at(-2 - samplers[i]);
            if (!scorer || static_cast<size_t>(positions[i]) + 1 >= scorer->prompt.size()) return "a row has no token to score";
            scored.push_back({scorer, i, positions[i]});
        }
        if (samplers[i] < 0) continue;
        Sampler * sampler = sampler_at(samplers[i]);
        if (!sampler) return "a sampler does not exist";
        if (i > 0 && samplers[i] == samplers[i - 1] && sequences[i] == sequences[i - 1]) sampled.back().count++;
        else {
            if (sampler->step == step) return "a sampler is used twice";
            sampler->step = step;
            sampled.push_back({sampler, i, 1, tokens + i + 1, out_tokens + rows});
        }
        rows++;
    }
    return rows + static_cast<int32_t>(scored.size()) > state.n_outputs ? "more rows are sampled than there is room for" : nullptr;
}

// The sequence that svc_kv_save writes: one of the caller's, or the extra sequence that holds a part of one.
int32_t chosen = 0;

// Returns what svc_decode returns: llama_decode uses the same numbers.
int32_t compute(const llama_batch & batch, const int32_t * owners, size_t rows) {
    forget_complaint();
    use_adapters(state.context);
    use_compute_threads(state.context);
    const AbortScope scope(owners, rows, "decoding a step");
    append_behind(state.context);
    int32_t result = SVC_DECODED_ABORTED;
    if (!scope.aborted_already()) {
        const MeasuredComputation measured;
        result = llama_decode(state.context, batch);
    }
    // A GPU may compute on. The caller measures how long the step takes, also when it samples nothing and need not wait.
    if (uses_gpu()) llama_synchronize(state.context);
    state.may_plan = false;
    return result >= 0 ? result : fail(with_complaint("llama_decode returned " + std::to_string(result)));
}

// Runs a task for each row, `slow` of which take long.
void for_rows(size_t count, ptrdiff_t slow, const std::function<void(size_t)> & task) {
    if (count == 0) return;
    {
        // The first access waits for the computation and puts the rows in order; after that, other threads may read.
        const AbortScope scope(0, "decoding a step");
        llama_get_logits(state.context);
    }
    const AbortScope scope(0, "sampling");
    if (state.threads == 1 || slow < SLOW_ROWS_FOR_THREADS) {
        for (size_t i = 0; i < count; i++) task(i);
        return;
    }
    static Workers & workers = *new Workers(std::min(state.threads, MOST_SAMPLING_THREADS));
    workers.run(count, task);
}

void sample(const std::vector<Sampling> & rows) {
    const auto slow = std::count_if(rows.begin(), rows.end(), [](const Sampling & row) { return row.sampler->is_slow(); });
    for_rows(rows.size(), slow, [&](size_t i) { rows[i].run(); });
}

void score(const std::vector<Scoring> & rows) {
    std::vector<std::vector<llama_token_data>> scores(rows.size());
    for_rows(rows.size(), static_cast<ptrdiff_t>(rows.size()), [&](size_t i) {
        scores[i] = rows[i].sampler->score(rows[i].row, rows[i].position);
    });
    for (size_t i = 0; i < rows.size(); i++) {
        std::vector<llama_token_data> & kept = rows[i].sampler->scores;
        kept.insert(kept.end(), scores[i].begin(), scores[i].end());
    }
}

// Returns whether there is an extra sequence for parts of others.
bool can_save_parts() {
    return static_cast<int32_t>(llama_n_seq_max(state.context)) > state.n_seq_max;
}

// Executes pending copies of streams. llama.cpp copies them at the next decode; code that reads or writes cells before
// that would miss or corrupt the data to be copied. The call is virtual, so no symbol must be exported.
void finish_copies() {
    if (state.layout == Layout::unified) return;
    const llama_memory_context_ptr update = llama_get_memory(state.context)->init_update(state.context, false);
    if (update->get_status() == LLAMA_MEMORY_STATUS_SUCCESS) update->apply();
}

// Notes in llama.cpp that a sequence of a paged cache holds what another holds, without its contents.
void note_copy(int32_t from, int32_t to) {
    const WithoutCopies notes_only;
    llama_memory_seq_cp(llama_get_memory(state.context), from, to, -1, -1);
    finish_copies();
}

// Returns what is wrong with two sequences, one of which is to get the contents of the other, or null.
const char * refusal_of_pair(int32_t from, int32_t to) {
    if (!is_loaded()) return "no model is loaded";
    if (std::min(from, to) < 0 || std::max(from, to) >= state.n_seq_max) return "a sequence id is out of range";
    return from == to ? "a sequence cannot replace itself" : nullptr;
}

// Multi-step decoding of a batch: each row's next token is what its sampler gave in the step before.
struct Decoding {
    BatchColumns & columns;
    std::vector<Sampling> & rows;
    const int32_t * owners;

    // Returns whether every row has its own sampler.
    bool can_go_on(int32_t count) const {
        return static_cast<int32_t>(rows.size()) == count &&
               std::all_of(rows.begin(), rows.end(), [](const Sampling & row) { return row.count == 1; });
    }

    bool has_ended() const {
        return std::any_of(rows.begin(), rows.end(), [](const Sampling & row) {
            return row.sampler->stuck || llama_vocab_is_eog(state.vocab, *row.out);
        });
    }

    // Computes the next step. Returns false when it could not be computed; the cache is then as before the step.
    bool step(const int32_t * sequences, llama_token * out) {
        for (size_t i = 0; i < rows.size(); i++) {
            columns.tokens[i] = *rows[i].out;
            columns.positions[i]++;
            rows[i].out = out + i;
        }
        const auto count = static_cast<int32_t>(rows.size());
        const llama_batch batch = columns.batch(columns.tokens.data(), columns.positions.data(), count);
        if (compute(batch, owners, rows.size()) != SVC_DECODED_DONE) {
            llama_memory_t memory = llama_get_memory(state.context);
            for (size_t i = 0; i < rows.size(); i++) llama_memory_seq_rm(memory, sequences[i], columns.positions[i], -1);
            return false;
        }
        sample(rows);
        return true;
    }
};

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_decode(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                   const int32_t * samplers, const int32_t * owners, int32_t count, int32_t steps,
                   int32_t together, int32_t * out_tokens) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        static std::vector<Sampling> & rows = *new std::vector<Sampling>;
        static std::vector<Scoring> & scored = *new std::vector<Scoring>;
        const char * reason = refusal(tokens, positions, sequences, samplers, count, out_tokens, rows, scored);
        if (reason) return fail(reason);
        static BatchColumns & columns = *new BatchColumns;
        columns.prepare(sequences, samplers, count);
        Decoding decoding = {columns, rows, owners};
        if (steps > 1 && !decoding.can_go_on(count)) return fail("only rows with a sampler each can go on");
        const llama_batch batch = columns.batch(tokens, positions, count);
        std::optional<OneRegion> region;
        if (together) region.emplace(state.context, batch);
        const int32_t result = compute(batch, owners, static_cast<size_t>(count));
        region.reset();
        if (result != SVC_DECODED_DONE) return result;
        score(scored);
        sample(rows);
        if (steps <= 1) return 0;
        std::fill_n(out_tokens + count, static_cast<size_t>(count) * static_cast<size_t>(steps - 1), LLAMA_TOKEN_NULL);
        columns.tokens.resize(rows.size());
        columns.positions.assign(positions, positions + count);
        for (int32_t step = 1; step < steps && !decoding.has_ended(); step++) {
            if (!decoding.step(sequences, out_tokens + step * count)) break;
        }
        return 0;
    });
}

int32_t svc_decode_embeddings(uint64_t embeddings, const int32_t * positions, int32_t count, int32_t sequence,
                              int32_t non_causal, int32_t owner) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (!is_loaded()) return fail("no model is loaded");
        if (embeddings == 0 || count < 1 || count > state.n_batch) return fail("the batch is empty or too large");
        if (sequence < 0 || sequence >= state.n_seq_max) return fail("a sequence id is out of range");
        static BatchColumns & columns = *new BatchColumns;
        const auto size = static_cast<size_t>(count);
        const std::vector<int32_t> sequences(size, sequence), samplers(size, -1);
        columns.prepare(sequences.data(), samplers.data(), count);
        llama_batch batch = columns.batch(nullptr, positions, count);
        batch.embd = reinterpret_cast<float *>(static_cast<uintptr_t>(embeddings));
        if (non_causal) llama_set_causal_attn(state.context, false);
        const int32_t result = compute(batch, &owner, 1);
        if (non_causal) llama_set_causal_attn(state.context, true);
        return result;
    });
}

int32_t svc_kv_remove(int32_t sequence, int32_t from, int32_t to) {
    return guarded<int32_t>(0, [&] {
        if (!is_loaded() || sequence < 0 || sequence >= state.n_seq_max) return 0;
        if (!llama_memory_seq_rm(llama_get_memory(state.context), sequence, from, to)) return 0;
        if (from <= 0 && to < 0) release_cells(state.context, sequence, 0);
        return 1;
    });
}

int32_t svc_kv_release(int32_t sequence, int32_t cells) {
    return guarded<int32_t>(-1, [&] {
        if (is_loaded() && sequence >= 0 && sequence < state.n_seq_max && cells >= 0) release_cells(state.context, sequence, cells);
        return 0;
    });
}

int32_t svc_kv_copy(int32_t from, int32_t to, int32_t length, int32_t cells) {
    return guarded<int32_t>(-1, [&] {
        if (const char * reason = refusal_of_pair(from, to)) return fail(reason);
        if (length < 1) return fail("there is nothing to copy");
        llama_memory_t memory = llama_get_memory(state.context);
        svc_kv_remove(to, 0, -1);
        if (state.layout == Layout::unified) {
            llama_memory_seq_cp(memory, from, to, 0, length);
            return 0;
        }
        if (state.layout == Layout::paged) {
            note_copy(from, to);
            share_cells(state.context, from, to, cells);
        } else {
            // llama.cpp copies streams as a whole, at the next decode.
            llama_memory_seq_cp(memory, from, to, -1, -1);
        }
        return llama_memory_seq_rm(memory, to, length, -1) ? 0 : fail("this model's sequences cannot be trimmed");
    });
}

int32_t svc_kv_move(int32_t from, int32_t to) {
    return guarded<int32_t>(-1, [&] {
        if (const char * reason = refusal_of_pair(from, to)) return fail(reason);
        llama_memory_t memory = llama_get_memory(state.context);
        svc_kv_remove(to, 0, -1);
        if (state.layout == Layout::paged) {
            note_copy(from, to);
            move_cells(state.context, from, to);
        } else {
            llama_memory_seq_cp(memory, from, to, -1, -1);
        }
        llama_memory_seq_rm(memory, from, -1, -1);
        return 0;
    });
}

double svc_kv_save_begin(int32_t sequence, int32_t from, int32_t to) {
    return guarded<double>(0, [&]() -> double {
        if (!is_loaded() || sequence < 0 || sequence >= state.n_seq_max) return 0;
        chosen = sequence;
        finish_copies();
        if (from > 0 || to >= 0) {
            if (!can_save_parts()) return 0;
            llama_memory_t memory = llama_get_memory(state.context);
            chosen = state.n_seq_max;
            llama_memory_seq_rm(memory, chosen, -1, -1);
            llama_memory_seq_cp(memory, sequence, chosen, from, to);
        }
        return static_cast<double>(llama_state_seq_get_size(state.context, chosen));
    });
}

double svc_kv_save(uint8_t * out, double capacity) {
    return guarded<double>(-1, [&]() -> double {
        if (!is_loaded()) return fail("no model is loaded");
        const size_t written = llama_state_seq_get_data(state.context, out, static_cast<size_t>(capacity), chosen);
        if (chosen == state.n_seq_max) llama_memory_seq_rm(llama_get_memory(state.context), chosen, -1, -1);
        return written > 0 ? static_cast<double>(written) : fail("a sequence could not be saved");
    });
}

int32_t svc_kv_restore(int32_t sequence, const uint8_t * bytes, double length, int32_t first) {
    return guarded<int32_t>(0, [&] {
        if (!is_loaded() || sequence < 0 || sequence >= state.n_seq_max || (!first && !can_save_parts())) return 0;
        finish_copies();
        if (first) svc_kv_remove(sequence, 0, -1);
        append_behind(state.context);
        const auto size = static_cast<size_t>(length);
        const int32_t target = first ? sequence : state.n_seq_max;
        llama_memory_t memory = llama_get_memory(state.context);
        const bool done = llama_state_seq_set_data(state.context, bytes, size, target) == size;
        if (done && !first) llama_memory_seq_cp(memory, target, sequence, -1, -1);
        if (!first) llama_memory_seq_rm(memory, target, -1, -1);
        if (!done) llama_memory_seq_rm(memory, sequence, -1, -1);
        return done ? 1 : 0;
    });
}

} // extern "C"

// The step: batch, compute, sample; and the KV cache, tokens and aborts around it.

#include "sampler.hpp"

#include <cerrno>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace svc {

// The request that fills the running batch alone, 0 when no single one does or nothing runs.
static std::atomic<int32_t> running_owner{0};
static std::atomic<bool> abort_flag{false};

// Called between graph nodes by the compute threads.
bool abort_requested(void *) { return abort_flag.load(std::memory_order_relaxed); }

namespace {

// Columns that every batch needs and no caller fills.
struct BatchColumns {
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
            outputs[i] = samplers[i] >= 0;
        }
    }
};

const char * refusal(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                     const int32_t * samplers, int32_t count) {
    if (!state.context) return "no model is loaded";
    if (count < 1 || count > state.n_batch) return "the batch is empty or too large";
    const int32_t vocabulary = llama_vocab_n_tokens(state.vocab);
    for (int32_t i = 0; i < count; i++) {
        if (tokens[i] < 0 || tokens[i] >= vocabulary) return "a token is not in the vocabulary";
        if (sequences[i] < 0 || sequences[i] >= state.n_seq_max) return "a sequence id is out of range";
        if (positions[i] < 0) return "a position is negative";
        if (samplers[i] >= 0 && !sampler_at(samplers[i])) return "a sampler does not exist";
    }
    return nullptr;
}

int32_t compute(const llama_batch & batch, int32_t owner) {
    abort_flag = false;
    running_owner = owner;
    expect_abort = false;
    const int32_t result = llama_decode(state.context, batch);
    running_owner = 0;
    expect_abort = false;
    return result;
}

void listen_for_aborts(int fd) {
    int32_t owner = 0;
    size_t have = 0;
    for (;;) {
        const ssize_t got = read(fd, reinterpret_cast<char *>(&owner) + have, sizeof owner - have);
        if (got < 0 && errno == EINTR) continue;
        // The other end is gone, so nobody waits for this process any more, whatever it is computing.
        if (got <= 0) _exit(0);
        have += static_cast<size_t>(got);
        if (have < sizeof owner) continue;
        have = 0;
        if (owner == 0 || owner != running_owner.load()) continue;
        expect_abort = true;
        abort_flag = true;
    }
}

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_decode(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                   const int32_t * samplers, int32_t count, int32_t owner, int32_t * out_tokens) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (const char * reason = refusal(tokens, positions, sequences, samplers, count)) return fail(reason);
        static BatchColumns columns;
        columns.prepare(sequences, samplers, count);
        llama_batch batch = {};
        batch.n_tokens = count;
        batch.token = const_cast<llama_token *>(tokens);
        batch.pos = const_cast<llama_pos *>(positions);
        batch.n_seq_id = columns.counts.data();
        batch.seq_id = columns.sequences.data();
        batch.logits = columns.outputs.data();
        const int32_t result = compute(batch, owner);
        if (result == 1 || result == 2) return result;
        if (result != 0) return fail("llama_decode failed with code " + std::to_string(result));
        // The first access waits for the computation and puts the rows in order.
        llama_get_logits(state.context);
        int32_t sampled = 0;
        for (int32_t row = 0; row < count; row++) {
            if (samplers[row] >= 0) out_tokens[sampled++] = sampler_at(samplers[row])->sample(row);
        }
        return 0;
    });
}

int32_t svc_abort_listen(int32_t fd) {
    return guarded<int32_t>(-1, [&] {
        std::thread(listen_for_aborts, fd).detach();
        return 0;
    });
}

int32_t svc_token_piece(int32_t token, uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(0, [&] {
        if (!state.vocab || token < 0 || token >= llama_vocab_n_tokens(state.vocab)) return 0;
        return llama_token_to_piece(state.vocab, token, reinterpret_cast<char *>(out), capacity, 0, false);
    });
}

int32_t svc_token_is_end(int32_t token) {
    return state.vocab && token >= 0 && token < llama_vocab_n_tokens(state.vocab) && llama_vocab_is_eog(state.vocab, token);
}

int32_t svc_kv_remove(int32_t sequence, int32_t from, int32_t to) {
    return guarded<int32_t>(0, [&] {
        if (!state.context || sequence < 0 || sequence >= state.n_seq_max) return 0;
        return llama_memory_seq_rm(llama_get_memory(state.context), sequence, from, to) ? 1 : 0;
    });
}

int32_t svc_kv_copy(int32_t from, int32_t to, int32_t length) {
    return guarded<int32_t>(-1, [&] {
        if (!state.context || std::min(from, to) < 0 || std::max(from, to) >= state.n_seq_max || from == to) {
            return fail("a sequence id is out of range");
        }
        llama_memory_t memory = llama_get_memory(state.context);
        llama_memory_seq_rm(memory, to, -1, -1);
        if (state.unified) {
            llama_memory_seq_cp(memory, from, to, 0, length);
            return 0;
        }
        // Streams copy whole sequences only.
        llama_memory_seq_cp(memory, from, to, -1, -1);
        llama_memory_seq_rm(memory, to, length, -1);
        return 0;
    });
}

void svc_kv_clear(void) {
    if (state.context) llama_memory_clear(llama_get_memory(state.context), true);
}

} // extern "C"

// Prompt chunks that can be paused. They are computed on their own thread, in a second context on the same KV cache,
// which waits between two nodes of its graph while the first context computes a step. CPU only.

#include "compute-threads.hpp"
#include "internals.hpp"
#include "paged-memory.hpp"
#include "state.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace svc {

namespace {

// With this many rows, a graph node takes some ten milliseconds at most, and kernels reach their full rate.
constexpr uint32_t CHUNK_ROWS = 128;

// Multiplications in matrix products that justify waking the other threads once more: a few milliseconds of work.
constexpr int64_t PIECE_PRODUCTS = 200'000'000;

// Gives `context` the cache of `owner`, and the settings that its graphs depend on. Returns false when the members are
// not where the headers say; `context` must then be freed.
bool share_cache(llama_context * context, llama_context * owner) {
    if (!is_as_said(*context) || !is_as_said(*owner)) return false;
    const llama_cparams own = settings_of(*context);
    llama_cparams & settings = settings_of(*context);
    settings = settings_of(*owner);
    settings.n_batch = own.n_batch;
    settings.n_ubatch = own.n_ubatch;
    settings.cb_eval = own.cb_eval;
    memory_of(*context).reset(memory_of(*owner).get());
    if (llama_get_memory(context) == llama_get_memory(owner)) return true;
    memory_of(*context).release();
    return false;
}

using Clock = std::chrono::steady_clock;

struct Rows {
    std::vector<llama_token> tokens;
    std::vector<llama_pos> positions;
    std::vector<llama_seq_id> sequences;
    std::vector<int32_t> owners;
};

// The computing thread runs only while a caller waits in `resume`, so that the two never use the cache at once.
class Chunk {
  public:
    llama_context * context = nullptr;

    bool is_begun() const { return phase != Phase::idle; }
    const std::vector<int32_t> & owners() const { return rows.owners; }

    void begin(Rows && with) {
        if (!started) start();
        rows = std::move(with);
        phase = Phase::paused;
    }

    // Number of threads that compute the chunk, and the CPU clock of the thread that drives them.
    int threads() const { return llama_n_threads(context); }
    clockid_t clock = CALLER;

    // Computes for about `time`. Returns true when the chunk has ended; `result` then says how, as llama_decode does.
    bool resume(Clock::duration time) {
        std::unique_lock<std::mutex> lock(mutex);
        until = Clock::now() + time;
        moved = false;
        phase = Phase::running;
        changed.notify_all();
        changed.wait(lock, [&] { return phase != Phase::running; });
        if (phase == Phase::paused) return false;
        phase = Phase::idle;
        if (result != 0) remove_cells();
        return true;
    }

    // Ends the chunk and leaves the cache as it was before.
    void abandon() {
        if (!is_begun()) return;
        abandoned = true;
        resume({});
        abandoned = false;
    }

    // llama.cpp's callback around graph nodes. llama.cpp first asks whether a piece of the graph should end with this
    // node, and then computes that piece. The callback checks the time before each piece: a piece that recently took
    // too long would do so again.
    bool on_node(const ggml_tensor * node, bool ask) {
        const bool is_attention = node->op == GGML_OP_FLASH_ATTN_EXT;
        Clock::duration & took = is_attention ? attention_took : products_took;
        if (ask) {
            if (node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID) products += ggml_nelements(node) * node->src[0]->ne[0];
            if (!is_attention && products < PIECE_PRODUCTS) return false;
            if (moved && Clock::now() + took > until && !is_stopped()) pause();
            products = 0;
            piece_began = Clock::now();
            return true;
        }
        took = std::max(Clock::now() - piece_began, took * 9 / 10);
        moved = true;
        return !is_stopped();
    }

    bool is_stopped() const { return abandoned || abort_requested(nullptr); }

    int32_t result = 0;
    // The reason when `result` is negative.
    std::string failure;

  private:
    enum class Phase { idle, paused, running, ended };

    void start() {
        std::unique_lock<std::mutex> lock(mutex);
        start_thread([this] { serve(); });
        changed.wait(lock, [&] { return started; });
    }

    void pause() {
        std::unique_lock<std::mutex> lock(mutex);
        phase = Phase::paused;
        changed.notify_all();
        changed.wait(lock, [&] { return phase == Phase::running; });
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex);
        clock = own_clock();
        started = true;
        changed.notify_all();
        for (;;) {
            changed.wait(lock, [&] { return phase == Phase::running; });
            lock.unlock();
            try {
                if (!is_stopped()) compute();
            } catch (...) {
                result = -1;
                failure = caught().what();
            }
            // A callback that returns false ends the graph, but llama_decode does not report a failure.
            if (is_stopped()) result = SVC_DECODED_ABORTED;
            lock.lock();
            phase = Phase::ended;
            changed.notify_all();
        }
    }

    void compute() {
        const size_t count = rows.tokens.size();
        std::vector<int32_t> counts(count, 1);
        std::vector<llama_seq_id *> sequences;
        for (llama_seq_id & sequence : rows.sequences) sequences.push_back(&sequence);
        std::vector<int8_t> outputs(count, 0);
        llama_batch batch = {};
        batch.n_tokens = static_cast<int32_t>(count);
        batch.token = rows.tokens.data();
        batch.pos = rows.positions.data();
        batch.n_seq_id = counts.data();
        batch.seq_id = sequences.data();
        batch.logits = outputs.data();
        forget_complaint();
        append_behind(state.context);
        // The first call allocates logits for a row of each sequence, which chunks never have.
        const Reserving reserving;
        result = llama_decode(context, batch);
        if (result < 0) failure = with_complaint("llama_decode returned " + std::to_string(result));
    }

    void remove_cells() {
        std::map<llama_seq_id, llama_pos> from;
        for (size_t i = 0; i < rows.tokens.size(); i++) {
            const auto [first, is_new] = from.emplace(rows.sequences[i], rows.positions[i]);
            if (!is_new) first->second = std::min(first->second, rows.positions[i]);
        }
        for (const auto & [sequence, position] : from) {
            llama_memory_seq_rm(llama_get_memory(state.context), sequence, position, -1);
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    // Written under the lock; the thread whose turn it is reads it without the lock.
    std::atomic<Phase> phase{Phase::idle};
    Clock::time_point until;
    Clock::time_point piece_began;
    // Recent durations of graph pieces, by the kind of node that ends them.
    Clock::duration attention_took{};
    Clock::duration products_took{};
    // Multiplications in the next piece, so far.
    int64_t products = 0;
    // Whether something was computed in this time slice.
    bool moved = false;
    bool started = false;
    std::atomic<bool> abandoned{false};
    Rows rows;
};
Chunk & chunk = *new Chunk;

bool on_chunk_node(ggml_tensor * node, bool ask, void *) { return chunk.on_node(node, ask); }
bool on_chunk_abort(void *) { return chunk.is_stopped(); }

} // namespace

void make_chunk_context(llama_context_params params) {
    // In other caches, cells move or are reused while a chunk is paused.
    if (uses_gpu() || !can_remove_partial()) return;
    // The context is created with the smallest cache, which it then gives up for the main context's.
    params.n_ctx = CHUNK_ROWS;
    params.n_seq_max = params.n_outputs_max = 1;
    params.n_batch = params.n_ubatch = std::min(CHUNK_ROWS, params.n_ubatch);
    params.cb_eval = on_chunk_node;
    params.abort_callback = on_chunk_abort;
    llama_context * context = llama_init_from_model(state.model, params);
    if (!context) return;
    if (!share_cache(context, state.context)) {
        llama_free(context);
        return;
    }
    chunk.context = context;
    state.chunk_rows = static_cast<int32_t>(params.n_ubatch);
}

bool is_stopping() { return chunk.is_stopped(); }

void free_chunk_context() {
    chunk.abandon();
    state.chunk_rows = 0;
    if (!chunk.context) return;
    // The cache belongs to the main context.
    memory_of(*chunk.context).release();
    llama_free(chunk.context);
    chunk.context = nullptr;
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_chunk_begin(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                        const int32_t * owners, int32_t count) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (!is_loaded() || state.chunk_rows == 0) return fail("no model is loaded whose chunks can be paused");
        if (chunk.is_begun()) return fail("a chunk is begun already");
        if (count < 1 || count > state.chunk_rows) return fail("the chunk is empty or too large");
        for (int32_t i = 0; i < count; i++) {
            if (const char * wrong = refusal_of_row(tokens[i], positions[i], sequences[i])) return fail(wrong);
        }
        use_adapters(chunk.context);
        use_compute_threads(chunk.context);
        chunk.begin({{tokens, tokens + count},
                     {positions, positions + count},
                     {sequences, sequences + count},
                     {owners, owners + count}});
        return 0;
    });
}

int32_t svc_chunk_resume(double milliseconds) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (!chunk.is_begun()) return fail("no chunk is begun");
        const AbortScope scope(chunk.owners().data(), chunk.owners().size(), "computing a prompt");
        const MeasuredComputation measured(chunk.threads(), chunk.clock);
        const std::chrono::duration<double, std::milli> slice(milliseconds);
        if (!chunk.resume(std::chrono::duration_cast<Clock::duration>(slice))) return SVC_DECODED_PAUSED;
        return chunk.result >= 0 ? chunk.result : fail(chunk.failure);
    });
}

void svc_chunk_abandon(void) { chunk.abandon(); }

} // extern "C"

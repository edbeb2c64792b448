// Computes vectors and relevance scores of whole inputs, several inputs in one computation.

#include "compute-threads.hpp"
#include "state.hpp"

#include "../common/flash-attention.hpp"

#include "llama-model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace svc {
namespace {

// Most rows of a computation that can be made in pieces. llama.cpp computes and keeps the logits of every row, although
// nobody reads them: with a vocabulary of 150,000, 2,048 rows take 2.5 GB.
constexpr uint32_t PIECE_ROWS = 256;

struct Embedding {
    llama_batch batch{};
    // Most rows of one computation.
    int32_t piece = 0;
    bool ranks = false;
    int32_t dimensions = 0;
};
Embedding & embedding = *new Embedding;

// The C API has a function of the same name.
using Pooling = enum llama_pooling_type;

// Returns the pooling type of the file. Files without one date from when the mean was the only type.
Pooling pooling_of_file() {
    const std::string key = meta("general.architecture") + ".pooling_type";
    const std::string value = meta(key.c_str());
    return value.empty() || value == "0" ? LLAMA_POOLING_TYPE_MEAN : LLAMA_POOLING_TYPE_UNSPECIFIED;
}

// Returns whether the tokenizer expects text without accents, which is BERT's default unless the file says otherwise.
bool strips_accents() {
    const std::string value = meta("tokenizer.ggml.normalizer.strip_accents");
    return llama_vocab_type(state.vocab) == LLAMA_VOCAB_TYPE_WPM && value != "false";
}

// Returns whether scores are probabilities: llama.cpp applies a softmax to the scores of these models.
bool ranks_by_probability() {
    return embedding.ranks && (state.model->arch == LLM_ARCH_QWEN3 || state.model->arch == LLM_ARCH_QWEN3VL);
}

// Returns whether a batch may be computed in pieces: later tokens do not change earlier ones, and the last one counts.
bool in_pieces() {
    if (llama_model_has_encoder(state.model) || !state.model->hparams.causal_attn) return false;
    if (!embedding.ranks) return state.model->hparams.pooling_type == LLAMA_POOLING_TYPE_LAST;
    return ranks_by_probability();
}

// Returns the number of inputs per computation. Recurrent models keep a state per input, so they compute one at a time.
uint32_t inputs_at_once(const common_json & config) {
    if (llama_model_is_recurrent(state.model) || llama_model_is_hybrid(state.model)) return 1;
    return static_cast<uint32_t>(std::min<size_t>(config.at("sequences").get<uint32_t>(), llama_max_parallel_sequences()));
}

// Returns `count` rows of the batch.
llama_batch rows(int32_t from, int32_t count) {
    const llama_batch & all = embedding.batch;
    return {count, all.token + from, nullptr, all.pos + from, all.n_seq_id + from, all.seq_id + from, all.logits + from};
}

// Computes the batch. `computed` gets the first row and the end of each piece whose vectors are there.
template <typename Computed> int32_t compute(const Computed & computed) {
    forget_complaint();
    llama_memory_t memory = llama_get_memory(state.context);
    if (memory) llama_memory_clear(memory, false);
    use_compute_threads(state.context);
    const MeasuredComputation measured;
    const bool encoder_alone = llama_model_has_encoder(state.model) && !llama_model_has_decoder(state.model);
    const int32_t total = embedding.batch.n_tokens;
    for (int32_t from = 0; from < total; from += embedding.piece) {
        const llama_batch piece = rows(from, std::min(embedding.piece, total - from));
        const int32_t result = encoder_alone ? llama_encode(state.context, piece) : llama_decode(state.context, piece);
        if (result != 0) return result;
        llama_synchronize(state.context);
        computed(from, from + piece.n_tokens);
    }
    return 0;
}

// Returns false when the model computed a value that is not a finite number.
bool write_vector(const float * from, float * to) {
    const int32_t size = embedding.dimensions;
    if (embedding.ranks) {
        to[0] = from[0];
    } else {
        common_embd_normalize(from, to, size, 2);
    }
    return std::all_of(to, to + size, [](float value) { return std::isfinite(value); });
}

// Writes the vector of an input to its place in `out`. Returns what is wrong with it, or nullptr.
const char * write_result(int32_t sequence, float * out) {
    const float * vector = llama_get_embeddings_seq(state.context, sequence);
    if (!vector) return "llama.cpp gave no vector";
    const bool is_finite = write_vector(vector, out + static_cast<size_t>(sequence) * embedding.dimensions);
    return is_finite ? nullptr : "the model computed something that is not a number";
}

} // namespace

void create_embedding_context(const common_json & config) {
    embedding.ranks = config.at("embedding").get<std::string>() == "rank";
    llama_context_params params = llama_context_default_params();
    params.embeddings = true;
    params.pooling_type = embedding.ranks ? LLAMA_POOLING_TYPE_RANK : pooling_of_file();
    // Most kinds of pooling, and bidirectional attention, cannot be computed in pieces. For the same reason the KV cache,
    // where the model has one, is not divided.
    params.n_ctx = config.at("batch").get<uint32_t>();
    params.n_batch = params.n_ubatch = in_pieces() ? std::min(params.n_ctx, PIECE_ROWS) : params.n_ctx;
    params.kv_unified = true;
    params.swa_full = true;
    params.n_seq_max = inputs_at_once(config);
    params.n_threads = params.n_threads_batch = state.threads;
    params.flash_attn_type = flash_attention(config.at("flashAttention").get<std::string>());
    params.no_perf = true;
    params.abort_callback = abort_requested;
    state.context = llama_init_from_model(state.model, params);
    if (!state.context) throw std::runtime_error(with_complaint("llama.cpp cannot create a context (is there enough memory?)"));
    // A damaged file may have a number that stands for no pooling type: nothing would be computed.
    const Pooling pooling = llama_pooling_type(state.context);
    if (pooling < LLAMA_POOLING_TYPE_MEAN || pooling > LLAMA_POOLING_TYPE_RANK) {
        throw std::runtime_error("the file says an unknown way to pool vectors");
    }
    state.n_batch = static_cast<int32_t>(params.n_ctx);
    embedding.piece = static_cast<int32_t>(params.n_batch);
    state.n_seq_max = static_cast<int32_t>(params.n_seq_max);
    embedding.dimensions = embedding.ranks ? 1 : llama_model_n_embd_out(state.model);
    embedding.batch = llama_batch_init(state.n_batch, 0, 1);
}

void warm_up_embedding() {
    common_batch_clear(embedding.batch);
    common_batch_add(embedding.batch, 0, 0, {0}, true);
    if (compute([](int32_t, int32_t) {}) != 0) throw std::runtime_error(with_complaint("the first computation failed"));
}

void forget_embedding() {
    llama_batch_free(embedding.batch);
    embedding.batch = {};
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_embed_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded() || !embedding.batch.token) return fail("no embedding model is loaded");
        common_json info = describe_model();
        info["dimensions"] = embedding.dimensions;
        info["batch"] = state.n_batch;
        info["sequences"] = state.n_seq_max;
        info["bos"] = llama_vocab_bos(state.vocab);
        info["eos"] = llama_vocab_eos(state.vocab);
        info["sep"] = llama_vocab_sep(state.vocab);
        info["addBos"] = llama_vocab_get_add_bos(state.vocab);
        info["addEos"] = llama_vocab_get_add_eos(state.vocab);
        info["addSep"] = llama_vocab_get_add_sep(state.vocab);
        info["stripsAccents"] = strips_accents();
        info["probabilities"] = ranks_by_probability();
        const char * rerank_template = llama_model_chat_template(state.model, "rerank");
        if (rerank_template) info["rerankTemplate"] = std::string(rerank_template);
        return copy_out(info.dump_safe(), out, capacity);
    });
}

int32_t svc_embed_tokenize(const uint8_t * text, int32_t length, int32_t add_special, int32_t parse_special, int32_t * out,
                           int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no embedding model is loaded");
        const AbortScope scope(0, "tokenizing an input");
        return llama_tokenize(state.vocab, reinterpret_cast<const char *>(text), length, out, capacity, add_special != 0,
                              parse_special != 0);
    });
}

int32_t svc_embed(const int32_t * tokens, const int32_t * lengths, int32_t count, int32_t owner, float * out) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (!is_loaded() || !embedding.batch.token) return fail("no embedding model is loaded");
        if (count < 1 || count > state.n_seq_max) return fail("too many inputs at once");
        common_batch_clear(embedding.batch);
        for (int32_t sequence = 0; sequence < count; sequence++) {
            const int32_t length = lengths[sequence];
            if (length < 1 || length > state.n_batch - embedding.batch.n_tokens) return fail("too many tokens at once");
            for (int32_t position = 0; position < length; position++, tokens++) {
                if (*tokens < 0 || *tokens >= state.n_vocab) return fail("a token id outside the vocabulary");
                common_batch_add(embedding.batch, *tokens, position, {sequence}, true);
            }
        }
        AbortScope scope(owner, "computing vectors");
        if (scope.aborted_already()) return SVC_DECODED_ABORTED;
        const char * wrong = nullptr;
        const int32_t result = compute([&](int32_t from, int32_t end) {
            for (int32_t row = from; row < end && !wrong; row++) {
                const int32_t sequence = embedding.batch.seq_id[row][0];
                const bool ends = row + 1 == embedding.batch.n_tokens || embedding.batch.seq_id[row + 1][0] != sequence;
                if (ends) wrong = write_result(sequence, out);
            }
        });
        if (result == SVC_DECODED_ABORTED || scope.aborted_already()) return SVC_DECODED_ABORTED;
        if (result != 0) return fail(with_complaint("the computation failed with " + std::to_string(result)));
        if (wrong) return fail(wrong);
        return 0;
    });
}

} // extern "C"

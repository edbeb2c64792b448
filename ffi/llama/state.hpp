// State that the translation units of the shim share: the model and its context.
#pragma once

#include "shim.h"

#include "../common/abort.hpp"
#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/log.hpp"
#include "../common/threads.hpp"

#include "common.h"
#include "json.h"
#include "llama.h"
#include "sampling.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace svc {

// Layout of sequences in the KV cache: all share one block of memory; each has an equal share; or each has its own
// region, which takes memory as it fills (see paged-memory.hpp).
enum class Layout { unified, streams, paged };

struct State {
    llama_model * model = nullptr;
    llama_context * context = nullptr;
    // Freed with the model.
    std::vector<llama_adapter_lora *> adapters;
    // The next computation may have to plan a graph because the adapters changed.
    std::atomic<bool> may_plan{false};
    const llama_vocab * vocab = nullptr;
    // The tokens that end a turn.
    std::vector<llama_token> end_tokens;
    int32_t n_batch = 0;
    int32_t n_seq_max = 0;
    // Maximum rows of a batch that can be sampled.
    int32_t n_outputs = 0;
    int32_t n_vocab = 0;
    int32_t threads = 1;
    // Maximum rows of a chunk that can be paused; 0 where chunks cannot be paused.
    int32_t chunk_rows = 0;
    Layout layout = Layout::unified;
    // Total number of cells that all sequences together may fill.
    int32_t n_cells = 0;
    bool offloads = false;
    // Folder of the compute backends.
    std::string libraries;
};

// Filled by svc_load_start; may be used once is_loaded() is true.
extern State & state;

// Returns what is wrong with a row of a batch, or null.
inline const char * refusal_of_row(llama_token token, llama_pos position, llama_seq_id sequence) {
    if (token < 0 || token >= state.n_vocab) return "a token is not in the vocabulary";
    if (sequence < 0 || sequence >= state.n_seq_max) return "a sequence id is out of range";
    return position < 0 ? "a position is negative" : nullptr;
}

// ---- LoRA adapters ----

// Loads adapters for the model, before a context is made. Throws with the path of one that does not fit.
void load_adapters(const std::vector<std::string> & paths);
void forget_adapters();
// Makes the context use the adapters that were selected last.
void use_adapters(llama_context * context);

// ---- chunks that can be paused ----

// Makes the context that computes chunks, with parameters like those of the main context, where that is possible.
void make_chunk_context(llama_context_params params);
void free_chunk_context();

// Returns whether the running computation, of a chunk or not, is being stopped on purpose.
bool is_stopping();

// ---- draft model ----

// Loads the smaller model that `config` names ({path, pMin}), which drafts tokens for the main model to verify, and
// returns its context, made with parameters like those of the main model, which is already loaded. Throws when it cannot
// draft for the main model.
llama_context * load_draft(const common_json & config, llama_model_params like, llama_context_params context_like);
void free_draft();

// ---- prompts and samplers ----

void free_samplers();
void forget_prompts();

// ---- embeddings ----

void create_embedding_context(const common_json & config);
void warm_up_embedding();
void forget_embedding();

// ---- helpers ----

// Returns whether the tokens of the last few steps can be removed.
bool can_roll_back(const llama_model * model);

// Returns whether any length of a sequence's end can be removed and the rest still be used.
bool can_remove_partial();

// Returns whether a GPU or another machine computes at least parts of the model.
bool uses_gpu();

// Returns what describes every kind of model: {description, architecture, parameters, bytes, vocabulary,
// trainedContext, device}.
common_json describe_model();

// Returns a value of the model file as text; empty when there is none.
std::string meta(const char * key);

// Returns a function of the CPU variant that was chosen at run time; null when there is none.
void * cpu_function(const char * name);

inline common_json parse_json(const uint8_t * bytes, int32_t length) { return common_json::parse(text_of(bytes, length)); }

} // namespace svc

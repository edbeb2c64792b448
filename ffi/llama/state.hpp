// What the translation units of the shim share: the one model and its context.
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

// How sequences lie in the KV cache: all in one piece of memory; each in a share of its own, all equal; or each in a region of
// its own, which takes memory as it is filled (see paged-memory.hpp).
enum class Layout { unified, streams, paged };

struct State {
    llama_model * model = nullptr;
    llama_context * context = nullptr;
    // Freed with the model.
    std::vector<llama_adapter_lora *> adapters;
    // What is computed may begin with planning a graph for other adapters than before.
    std::atomic<bool> may_plan{false};
    const llama_vocab * vocab = nullptr;
    int32_t n_batch = 0;
    int32_t n_seq_max = 0;
    // Rows of a batch that can be sampled.
    int32_t n_outputs = 0;
    int32_t n_vocab = 0;
    int32_t threads = 1;
    // Rows of a chunk that can be paused; 0 where none can.
    int32_t chunk_rows = 0;
    Layout layout = Layout::unified;
    // Cells that sequences may fill together.
    int32_t n_cells = 0;
    bool has_chat_template = false;
    bool offloads = false;
    // Folder of the compute backends.
    std::string libraries;
};

// Filled by svc_load_start; whoever sees is_loaded() may use it.
extern State & state;

// What is wrong with a row of a batch, or null.
inline const char * refusal_of_row(llama_token token, llama_pos position, llama_seq_id sequence) {
    if (token < 0 || token >= state.n_vocab) return "a token is not in the vocabulary";
    if (sequence < 0 || sequence >= state.n_seq_max) return "a sequence id is out of range";
    return position < 0 ? "a position is negative" : nullptr;
}

// ---- LoRA adapters ----

// Loads them for the model, before a context is made. Throws with the path of one that does not fit.
void load_adapters(const std::vector<std::string> & paths);
void forget_adapters();
// What the context begins to compute is computed with the adapters that were chosen last.
void use_adapters(llama_context * context);

// ---- chunks that can be paused ----

// Makes the context that computes them, with parameters like those of the one there is, where that is possible.
void make_chunk_context(llama_context_params params);
void free_chunk_context();
// Ends the chunk that is begun, if one is, and removes its cells.
void abandon_chunk();

// Whether what is computed at this moment is being stopped on purpose.
bool is_stopping();

// ---- prompts and samplers ----

void free_samplers();
void forget_prompts();

// ---- embeddings ----

void create_embedding_context(const common_json & config);
void warm_up_embedding();
void forget_embedding();

// ---- helpers ----

// Whether the tokens of the last few steps can be taken back.
bool can_roll_back(const llama_model * model);

// Whether the end of a sequence, however long, can be cut off and the rest still be used.
bool can_remove_partial();

// "CPU (sapphirerapids variant, 2 threads)", or the names of the GPUs that compute; of this machine alone.
std::string describe_device();

// Whether a GPU or another machine computes, at least parts of it.
bool uses_gpu();

// What every kind of model is described by: {description, architecture, parameters, bytes, vocabulary, trainedContext, device}.
common_json describe_model();

// A value of the model file as text; empty when it has none.
std::string meta(const char * key);

// A function of the CPU variant that was chosen at run time; null when there is none.
void * cpu_function(const char * name);

inline common_json parse_json(const uint8_t * bytes, int32_t length) { return common_json::parse(text_of(bytes, length)); }

} // namespace svc

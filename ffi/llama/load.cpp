// Loads a model on its own native thread.

#include "answer-format.hpp"
#include "chat-template.hpp"
#include "compute-threads.hpp"
#include "paged-memory.hpp"
#include "spread.hpp"

#include "../common/flash-attention.hpp"

#include <algorithm>
#include <stdexcept>

namespace svc {

namespace {

ggml_type kv_type(const std::string & name) {
    for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q5_1,
                                 GGML_TYPE_Q5_0, GGML_TYPE_Q4_1, GGML_TYPE_Q4_0, GGML_TYPE_IQ4_NL}) {
        if (name == ggml_type_name(type)) return type;
    }
    throw std::runtime_error("unknown KV cache type " + name);
}

llama_model_params model_params(const common_json & config) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = config.at("gpuLayers").get<int>();
    const bool mmap = config.at("mmap").get<bool>();
    const bool mlock = config.at("mlock").get<bool>();
    params.load_mode = mmap ? (mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_AUTO)
                            : (mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE);
    params.progress_callback = on_load_progress;
    return params;
}

void open_model(const common_json & config) {
    llama_model_params params = model_params(config);
    if (config.contains("spread")) spread(config.at("spread"), params);
    state.offloads = params.n_gpu_layers != 0;
    const auto path = config.at("path").get<std::string>();
    open_file(path);
    state.model = llama_model_load_from_file(path.c_str(), params);
    if (!state.model) throw std::runtime_error(with_complaint("llama.cpp cannot load " + path));
    state.vocab = llama_model_get_vocab(state.model);
    state.n_vocab = llama_vocab_n_tokens(state.vocab);
    state.end_tokens.clear();
    for (llama_token token = 0; token < state.n_vocab; token++) {
        if (llama_vocab_is_eog(state.vocab, token)) state.end_tokens.push_back(token);
    }
}

// Regions of paged sequences are multiples of this many cells, to fill whole pages whatever the cell size.
constexpr uint32_t REGION_CELLS = 1024;

// Rows for draft tokens in a batch.
constexpr uint32_t DRAFT_ROWS = 64;

Layout layout_named(const std::string & name) {
    if (name == "unified") return Layout::unified;
    if (name == "streams") return Layout::streams;
    if (name == "paged") return Layout::paged;
    throw std::runtime_error("unknown layout of the KV cache " + name);
}

// Returns whether a sequence's cells are those of its tokens, in order, each with its own numbers, in host memory.
bool can_be_paged(const common_json & config) {
    return !uses_gpu() && can_remove_partial() && config.at("flashAttention").get<std::string>() != "off";
}

// Sequences are cheap in unified and paged caches, so that finished requests can stay in them. In recurrent and
// sliding-window models each one takes memory.
int sequences(const common_json & config, Layout layout) {
    const int parallel = config.at("parallel").get<int>();
    if (layout == Layout::streams || !can_remove_partial()) return parallel;
    return std::max(parallel, config.at("sequences").get<int>());
}

// A unified cache has one more sequence, for parts of others (see svc_kv_save_begin).
uint32_t parts(Layout layout) { return layout == Layout::unified && can_remove_partial() ? 1u : 0u; }

llama_context_params context_params(const common_json & config, Layout layout) {
    llama_context_params params = llama_context_default_params();
    const auto ids = static_cast<uint32_t>(sequences(config, layout)) + parts(layout);
    const auto region = (config.at("region").get<uint32_t>() + REGION_CELLS - 1) / REGION_CELLS * REGION_CELLS;
    params.n_ctx = layout == Layout::paged ? region * ids : config.at("context").get<uint32_t>();
    params.n_batch = static_cast<uint32_t>(config.at("batch").get<int>());
    params.n_ubatch = static_cast<uint32_t>(config.at("microBatch").get<int>());
    params.n_seq_max = ids;
    // One sampled row per sequence, plus draft tokens: otherwise buffers are reserved for the logits of whole batches.
    const auto outputs = config.at("parallel").get<uint32_t>() + DRAFT_ROWS;
    params.n_outputs_max = std::max(params.n_seq_max, std::min(outputs, params.n_batch));
    params.n_threads = params.n_threads_batch = state.threads;
    params.flash_attn_type = flash_attention(config.at("flashAttention").get<std::string>());
    params.type_k = params.type_v = kv_type(config.at("kvType").get<std::string>());
    params.kv_unified = layout == Layout::unified;
    params.swa_full = false;
    params.no_perf = true;
    return params;
}

// Creates the context. Falls back to a unified cache where a paged one is not available.
llama_context_params create_context(const common_json & config) {
    const auto params_for = [&](Layout layout) {
        state.layout = layout;
        llama_context_params params = context_params(config, layout);
        params.abort_callback = abort_requested;
        return params;
    };
    llama_context_params params = params_for(layout_named(config.at("layout").get<std::string>()));
    if (state.layout == Layout::paged) {
        if (can_be_paged(config)) state.context = create_paged_context(state.model, params);
        if (!state.context) params = params_for(Layout::unified);
    }
    if (!state.context) state.context = llama_init_from_model(state.model, params);
    if (!state.context) {
        throw std::runtime_error(with_complaint("llama.cpp cannot create a context of " + std::to_string(params.n_ctx) +
                                                " tokens (is there enough memory?)"));
    }
    if (!llama_get_memory(state.context)) throw std::runtime_error("this model cannot generate text");
    state.n_batch = static_cast<int32_t>(llama_n_batch(state.context));
    state.n_seq_max = static_cast<int32_t>(llama_n_seq_max(state.context) - parts(state.layout));
    state.n_cells = state.layout == Layout::paged ? config.at("context").get<int>() : static_cast<int32_t>(params.n_ctx);
    state.n_outputs = static_cast<int32_t>(params.n_outputs_max);
    return params;
}

// Touches weights and buffers once, so that the first request does not pay for it.
void warm_up(llama_context * context) {
    use_compute_threads(context);
    llama_token token = 0;
    const int32_t result = llama_decode(context, llama_batch_get_one(&token, 1));
    if (result != 0) throw std::runtime_error(with_complaint("the first computation failed"));
    llama_synchronize(context);
    llama_memory_clear(llama_get_memory(context), true);
}

void load_for_embedding(const common_json & config) {
    open_model(config);
    create_embedding_context(config);
    create_compute_threads(state.threads, uses_gpu());
    if (config.at("warmup").get<bool>()) warm_up_embedding();
}

void load(const common_json & config) {
    state.threads = std::max(1, config.at("threads").get<int>());
    if (config.contains("embedding")) return load_for_embedding(config);
    // Loading the model may take minutes, and llama.cpp loses the text of this error.
    check_chat_template(config.at("chatTemplate").get<std::string>());
    open_model(config);
    if (!llama_model_has_decoder(state.model) || llama_model_has_encoder(state.model)) {
        throw std::runtime_error("this model does not generate text from left to right");
    }
    // Adapters are loaded before the contexts, which plan for them.
    load_adapters(config.at("adapters").get<std::vector<std::string>>());
    // From here on the model's own file is read again.
    open_file(config.at("path").get<std::string>());
    const llama_context_params params = create_context(config);
    create_compute_threads(state.threads, uses_gpu());
    make_chunk_context(params);
    load_chat_template(config.at("chatTemplate").get<std::string>());
    const bool warms_up = config.at("warmup").get<bool>();
    if (warms_up) warm_up(state.context);
    if (!config.contains("draft")) return;
    llama_model_params draft_params = model_params(config);
    stay_here(draft_params);
    llama_context * draft = load_draft(config.at("draft"), draft_params, context_params(config, state.layout));
    if (warms_up) warm_up(draft);
}

} // namespace

void unload() {
    forget_prompts();
    forget_formats();
    forget_chat_template();
    forget_embedding();
    free_samplers();
    free_draft();
    free_chunk_context();
    if (state.context) llama_free(state.context);
    free_compute_threads();
    if (state.model) llama_model_free(state.model);
    state.context = nullptr;
    state.model = nullptr;
    forget_adapters();
    state.vocab = nullptr;
}

} // namespace svc

using namespace svc;

extern "C" int32_t svc_load_start(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        return start_load([config = parse_json(config, config_length)] { load(config); });
    });
}

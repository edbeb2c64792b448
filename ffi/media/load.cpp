// Loads the projector beside its model, describes it and unloads it.

#include "jobs.hpp"

#include "../common/flash-attention.hpp"

#include "mtmd.h"

namespace media {
namespace {

struct Sink {
    ggml_log_callback callback = nullptr;
    void * user_data = nullptr;
};
Sink & sink = *new Sink;

// Forwards mtmd's log lines to ggml's log, except debug lines, which contain prompts.
void on_log(ggml_log_level level, const char * text, void *) {
    if (!text || level == GGML_LOG_LEVEL_DEBUG || level == GGML_LOG_LEVEL_CONT) return;
    note_complaint(level, text);
    if (sink.callback) sink.callback(level, text, sink.user_data);
}

void forward_log() {
    ggml_log_get(&sink.callback, &sink.user_data);
    mtmd_log_set(on_log, nullptr);
}

mtmd_context_params parameters(const common_json & config) {
    mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = config.at("gpu").get<bool>();
    params.n_threads = config.at("threads").get<int>();
    params.flash_attn_type = flash_attention(config.at("flashAttention").get<std::string>());
    params.print_timings = false;
    params.media_marker = state.marker.c_str();
    params.cb_eval = on_node;
    params.progress_callback = on_load_progress;
    return params;
}

void load(const llama_model * model, const common_json & config) {
    forward_log();
    state.marker = config.at("marker").get<std::string>();
    const std::string path = config.at("path").get<std::string>();
    open_file(path);
    // mtmd reads past the end of a truncated file unnoticed: the caller has checked it.
    mtmd_context * context = mtmd_init_from_file(path.c_str(), model, parameters(config));
    if (!context) throw std::runtime_error(with_complaint("cannot load the projector " + path));
    state.context = context;
    state.width = llama_model_n_embd_inp(model);
    state.vision = mtmd_support_vision(context);
    state.audio = mtmd_support_audio(context);
    state.sample_rate = state.audio ? mtmd_get_audio_sample_rate(context) : 0;
    state.audio_seconds = config.at("audioSeconds").get<int>();
    state.mrope = mtmd_decode_use_mrope(context);
    state.cache.set_limit(static_cast<size_t>(config.at("cacheBytes").get<long>()));
}

} // namespace
} // namespace media

using namespace media;

State & media::state = *new State;

void svc::unload() {
    forget_jobs();
    state.cache.clear();
    mtmd_free(state.context);
    state.context = nullptr;
}

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

int32_t svc_media_load_start(uint64_t model, const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        if (model == 0) return fail("no model is loaded");
        return start_load([model = reinterpret_cast<const llama_model *>(model),
                           config = common_json::parse(text_of(config, config_length))] { load(model, config); });
    });
}

int32_t svc_media_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no projector is loaded");
        const common_json info = {
            {"vision", state.vision},
            {"audio", state.audio},
            {"width", state.width},
            {"marker", state.marker},
        };
        return copy_out(info.dump_safe(), out, capacity);
    });
}

} // extern "C"

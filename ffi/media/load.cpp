// The projector: loading it beside the model it belongs to, what it can do, and letting go of it.

#include "jobs.hpp"

#include "gguf.h"

#include <cstdio>
#include <filesystem>
#include <random>

namespace media {
namespace {

struct Loading {
    std::mutex mutex;
    // 0 while loading, 1 when ready, negative when it failed.
    int32_t result = FAILED;
    std::string error = "no projector has been loaded";
    std::atomic<float> progress{0};
};
Loading & loading = *new Loading;

struct Request {
    const llama_model * model;
    common_json config;
};

llama_flash_attn_type flash_attention(const std::string & name) {
    if (name == "on") return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return name == "off" ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
}

// A text that no client can guess: whoever could write it into a message would shift the media behind it.
std::string random_marker() {
    std::random_device random;
    std::string marker = "<__media_";
    for (int word = 0; word < 4; word++) {
        char digits[9];
        std::snprintf(digits, sizeof(digits), "%08x", static_cast<unsigned>(random()));
        marker += digits;
    }
    return marker + "__>";
}

bool on_progress(float share, void *) {
    loading.progress = share;
    return true;
}

// mtmd reads past the end of half a file without noticing, and says little about a file of another kind.
void check_file(const std::string & path) {
    std::error_code missing;
    const uint64_t size = std::filesystem::file_size(path, missing);
    if (missing) throw std::runtime_error("cannot read the projector " + path + ": " + missing.message());
    const std::unique_ptr<gguf_context, decltype(&gguf_free)> file(
        gguf_init_from_file(path.c_str(), {/* no_alloc */ true, /* ctx */ nullptr}), gguf_free);
    if (!file) throw std::runtime_error("the projector " + path + " is damaged, or no GGUF file");
    const auto has = [&](const char * key) { return gguf_find_key(file.get(), key) >= 0; };
    if (!has("clip.has_vision_encoder") && !has("clip.has_audio_encoder")) {
        throw std::runtime_error(path + " contains no projector");
    }
    uint64_t end = 0;
    for (int64_t tensor = 0; tensor < gguf_get_n_tensors(file.get()); tensor++) {
        const uint64_t offset = gguf_get_tensor_offset(file.get(), tensor);
        end = std::max<uint64_t>(end, offset + gguf_get_tensor_size(file.get(), tensor));
    }
    if (gguf_get_data_offset(file.get()) + end > size) {
        throw std::runtime_error("the projector " + path + " is incomplete");
    }
}

mtmd_context_params parameters(const common_json & config) {
    const auto tokens = [&](const char * name) {
        const int value = config.at(name).get<int>();
        return value > 0 ? value : -1;
    };
    mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = config.at("gpu").get<bool>();
    params.n_threads = config.at("threads").get<int>();
    params.flash_attn_type = flash_attention(config.at("flashAttention").get<std::string>());
    params.image_min_tokens = tokens("imageMinTokens");
    params.image_max_tokens = tokens("imageMaxTokens");
    params.print_timings = false;
    params.media_marker = state.marker.c_str();
    params.cb_eval = on_node;
    params.progress_callback = on_progress;
    return params;
}

void load(const Request & request) {
    Complaint complaint;
    forward_log();
    state.marker = random_marker();
    const std::string path = request.config.at("path").get<std::string>();
    check_file(path);
    mtmd_context * context = mtmd_init_from_file(path.c_str(), request.model, parameters(request.config));
    if (!context) throw std::runtime_error(complaint.added_to("cannot load the projector " + path));
    state.context = context;
    state.width = llama_model_n_embd_inp(request.model);
    state.vision = mtmd_support_vision(context);
    state.audio = mtmd_support_audio(context);
    state.sample_rate = state.audio ? mtmd_get_audio_sample_rate(context) : 0;
    state.audio_seconds = request.config.at("audioSeconds").get<int>();
    state.mrope = mtmd_decode_use_mrope(context);
    state.non_causal = mtmd_decode_use_non_causal(context, nullptr);
    state.cache.set_limit(static_cast<size_t>(request.config.at("cacheBytes").get<long>()));
}

void finish(int32_t result, const std::string & error) {
    std::lock_guard<std::mutex> lock(loading.mutex);
    loading.result = result;
    loading.error = error;
    state.ready = result == 1;
}

void load_on_thread(void * pointer) {
    const std::unique_ptr<Request> request(static_cast<Request *>(pointer));
    std::string error = "unknown native exception";
    try {
        load(*request);
        return finish(1, "");
    } catch (const std::exception & caught) {
        error = caught.what();
    } catch (...) {
    }
    finish(FAILED, error);
}

} // namespace
} // namespace media

using namespace media;

extern "C" {

int32_t svc_media_load_start(uint64_t model, const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(FAILED, [&] {
        if (model == 0) return fail("no model is loaded");
        const std::string text(reinterpret_cast<const char *>(config), static_cast<size_t>(config_length));
        auto request = std::make_unique<Request>(
            Request{reinterpret_cast<const llama_model *>(model), common_json::parse(text)});
        std::lock_guard<std::mutex> lock(loading.mutex);
        if (loading.result == 0) return fail("a projector is loading already");
        if (state.context) return fail("a projector is loaded already");
        start_thread(load_on_thread, request.get());
        request.release();
        loading.result = 0;
        loading.progress = 0;
        return 0;
    });
}

int32_t svc_media_load_poll(void) {
    return guarded<int32_t>(FAILED, [&] {
        std::lock_guard<std::mutex> lock(loading.mutex);
        if (loading.result < 0) set_error(loading.error);
        return loading.result;
    });
}

double svc_media_load_progress(void) { return static_cast<double>(loading.progress.load()); }

int32_t svc_media_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(FAILED, [&] {
        if (!state.ready) return fail("no projector is loaded");
        const common_json info = {
            {"vision", state.vision},
            {"audio", state.audio},
            {"sampleRate", state.sample_rate},
            {"width", state.width},
            {"mrope", state.mrope},
            {"nonCausal", state.non_causal},
            {"marker", state.marker},
        };
        const int32_t length = copy_out(info.dump_safe(), out, capacity);
        return length < 0 ? fail("the JSON buffer is too small") : length;
    });
}

int32_t svc_media_unload(void) {
    return guarded<int32_t>(FAILED, [&] {
        std::lock_guard<std::mutex> lock(loading.mutex);
        if (loading.result == 0) return fail("a projector is loading");
        state.ready = false;
        forget_jobs();
        state.cache.clear();
        mtmd_free(state.context);
        state.context = nullptr;
        loading.result = FAILED;
        loading.error = "no projector has been loaded";
        return 0;
    });
}

} // extern "C"

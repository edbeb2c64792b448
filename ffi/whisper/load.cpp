// Loads the model, describes it and unloads it.

#include "state.hpp"

#include "../common/platform.hpp"
#include "inside.hpp"

#include "ggml-backend.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace whisper {

State & state = *new State;

namespace {

void on_log(ggml_log_level level, const char * text, void *) {
    // Messages about a computation that was stopped on purpose, and about the progress of each one, are not logged.
    if (!text || is_stopping()) return;
    if (is_loaded() && (level == GGML_LOG_LEVEL_INFO || level == GGML_LOG_LEVEL_DEBUG)) return;
    keep_log_line(level, text);
}

void load_backends(const std::string & folder) {
    whisper_log_set(on_log, nullptr);
    ggml_log_set(on_log, nullptr);
    if (ggml_backend_dev_count() > 0) return;
    // ggml would also load the backend that this variable names.
    forget_variable("GGML_BACKEND_PATH");
    ggml_backend_load_all_from_path(folder.c_str());
    if (ggml_backend_dev_count() == 0) throw std::runtime_error("no compute backend in " + folder);
}

// A file that reports how much of it has been read.
struct Source {
    FILE * file;
    double size;
    double read = 0;
};

whisper_model_loader loader_of(Source & source) {
    whisper_model_loader loader = {};
    loader.context = &source;
    loader.read = [](void * context, void * out, size_t size) {
        auto & from = *static_cast<Source *>(context);
        const size_t got = std::fread(out, 1, size, from.file);
        from.read += static_cast<double>(got);
        on_load_progress(static_cast<float>(from.read / from.size), nullptr);
        return got;
    };
    loader.eof = [](void * context) { return std::feof(static_cast<Source *>(context)->file) != 0; };
    loader.close = [](void *) {};
    return loader;
}

// Checks a file, then has `make` read it through a loader. `make` returns null when it cannot.
template <typename Make> auto * read_from(const std::string & path, void (*check)(const std::string &), Make && make) {
    open_file(path);
    check(path);
    const std::unique_ptr<FILE, decltype(&std::fclose)> file(ggml_fopen(path.c_str(), "rb"), std::fclose);
    if (!file) throw std::runtime_error("cannot read " + path);
    Source source{file.get(), static_cast<double>(std::filesystem::file_size(std::filesystem::u8path(path)))};
    whisper_model_loader loader = loader_of(source);
    forget_complaint();
    auto * made = make(&loader);
    if (!made) throw std::runtime_error(with_complaint("whisper.cpp cannot load " + path));
    return made;
}

void load_model(const std::string & path, bool gpu, bool flash_attention) {
    whisper_context_params params = whisper_context_default_params();
    params.use_gpu = gpu;
    params.flash_attn = flash_attention;
    state.context = read_from(path, check_model, [&](auto * loader) { return whisper_init_with_params_no_state(loader, params); });
    state.bytes = std::filesystem::file_size(std::filesystem::u8path(path));
}

void load_vad(const std::string & path) {
    whisper_vad_context_params params = whisper_vad_default_context_params();
    // A step takes less time than waking another thread.
    params.n_threads = 1;
    params.use_gpu = false;
    state.vad = read_from(path, check_vad, [&](auto * loader) { return whisper_vad_init_with_params(loader, params); });
}

void load(const common_json & config) {
    load_backends(config.at("libraries").get<std::string>());
    state.threads = std::max(1, config.at("threads").get<int>());
    load_model(config.at("path").get<std::string>(), config.at("gpu").get<bool>(), config.at("flashAttention").get<bool>());
    if (config.contains("vadPath")) load_vad(config.at("vadPath").get<std::string>());
    start_workers(std::max(1, config.at("workers").get<int>()));
}

common_json languages() {
    common_json codes = common_json::array();
    const bool multilingual = whisper_is_multilingual(state.context) != 0;
    const int32_t count = multilingual ? language_count(state.context) : 1;
    for (int32_t id = 0; id < count; id++) codes.push_back(std::string(whisper_lang_str(id)));
    return codes;
}

} // namespace
} // namespace whisper

using namespace whisper;

void svc::unload() {
    stop_workers();
    if (state.vad) whisper_vad_free(state.vad);
    if (state.context) whisper_free(state.context);
    state.vad = nullptr;
    state.context = nullptr;
}

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

int32_t svc_whisper_load_start(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        return start_load([config = common_json::parse(text_of(config, config_length))] { load(config); });
    });
}

int32_t svc_whisper_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        const common_json info = {
            {"type", std::string(whisper_model_type_readable(state.context))},
            {"bytes", state.bytes},
            {"languages", languages()},
            {"device", device_of(state.context)},
            {"audioContext", whisper_n_audio_ctx(state.context)},
        };
        return copy_out(info.dump_safe(), out, capacity);
    });
}

} // extern "C"

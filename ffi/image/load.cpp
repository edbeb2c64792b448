// Loads the model from its parts, describes it and unloads it.

#include "state.hpp"

#include "ggml-backend.h"

#include <algorithm>
#include <cstring>

namespace image {

State & state = *new State;

namespace {

// Removes the source location from the library's "file.cpp:123  - text".
const char * without_place(const char * text) {
    const char * dash = std::strstr(text, " - ");
    return dash && dash - text < 60 ? dash + 3 : text;
}

// Log callback. While drawing, keeps only warnings and errors, which quote no prompt: prompts are private.
void on_log(sd_log_level_t level, const char * text, void *) {
    if (!text) return;
    if (is_loaded() && (level < SD_LOG_WARN || is_stopped(nullptr))) return;
    text = without_place(text);
    // The library writes one such line per tensor for every image, followed by a line with their count.
    if (std::strncmp(text, "unused lora tensor", 18) == 0) return;
    static constexpr ggml_log_level LEVELS[] = {GGML_LOG_LEVEL_DEBUG, GGML_LOG_LEVEL_INFO, GGML_LOG_LEVEL_WARN,
                                                GGML_LOG_LEVEL_ERROR};
    keep_log_line(LEVELS[level], text);
}

// Progress callback: counts tensors while loading, and tiles while enlarging a picture.
void on_progress(int done, int all, float, void *) {
    if (!is_loaded() && all > 0) on_load_progress(static_cast<float>(done) / static_cast<float>(all), nullptr);
    if (counts_tiles) on_step(done, all, 0);
}

void check_processor() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool is_there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (!is_there) throw std::runtime_error("drawing needs a processor with AVX2, FMA and BMI2 (x86-64-v3)");
#endif
}

struct Files {
    std::string whole, diffusion, vae, taesd, clip_l, clip_g, t5, llm, llm_vision;
};

void read_text_encoder(const std::string & path, Files & files) {
    switch (part_of(path)) {
        case Part::clip_l: files.clip_l = path; return;
        case Part::clip_g: files.clip_g = path; return;
        case Part::t5: files.t5 = path; return;
        case Part::llm: files.llm = path; return;
        case Part::llm_vision: files.llm_vision = path; return;
        case Part::unreadable: throw std::runtime_error(with_complaint("cannot read the text encoder " + path));
        default: throw std::runtime_error("no text encoder of a known kind is in " + path);
    }
}

Files read_files(const Json & config) {
    Files files;
    const auto path = config.at("path").get<std::string>();
    const auto encoders = config.at("textEncoders").get<std::vector<std::string>>();
    forget_complaint();
    open_file(path);
    switch (part_of(path)) {
        case Part::whole: files.whole = path; break;
        case Part::diffusion: files.diffusion = path; break;
        case Part::unreadable: throw std::runtime_error(with_complaint("cannot read the image model " + path));
        default: throw std::runtime_error("no image model is in " + path);
    }
    for (const std::string & encoder : encoders) {
        open_file(encoder);
        read_text_encoder(encoder, files);
    }
    files.vae = config.value("vae", "");
    files.taesd = config.value("taesd", "");
    for (const std::string & decoder : {files.vae, files.taesd}) {
        if (decoder.empty()) continue;
        open_file(decoder);
        if (part_of(decoder) == Part::unreadable) throw std::runtime_error(with_complaint("cannot read " + decoder));
    }
    return files;
}

// All files by name, because the library does not say which of them it cannot use.
std::string all_of(const Json & config) {
    std::string names = config.at("path");
    for (const std::string encoder : config.at("textEncoders")) names += ", " + encoder;
    for (const char * decoder : {"vae", "taesd"}) {
        if (config.contains(decoder)) names += ", " + config.at(decoder).get<std::string>();
    }
    return names;
}

const char * given(const std::string & path) { return path.empty() ? nullptr : path.c_str(); }

void load(const Json & config) {
    check_processor();
    sd_set_log_callback(on_log, nullptr);
    sd_set_progress_callback(on_progress, nullptr);
    state.threads = std::max(1, config.at("threads").get<int>());
    // A failed load may have left a path here.
    state.upscaler_path.clear();
    state.scale = 1;
    if (config.at("upscales").get<bool>()) {
        state.upscaler_path = config.at("path").get<std::string>();
        open_file(state.upscaler_path);
        state.scale = get_upscale_factor(open_upscaler(state.threads).get());
        // Placeholders for the traits of models that draw.
        state.traits = {"ESRGAN", /* multiple */ 1, /* draws */ false, /* has_tiny_decoder */ true,
                        /* is_transformer */ false, /* takes_references */ false, /* needs_reference */ true};
        return;
    }
    const Files files = read_files(config);
    sd_ctx_params_t params;
    sd_ctx_params_init(&params);
    params.model_path = given(files.whole);
    params.diffusion_model_path = given(files.diffusion);
    params.vae_path = given(files.vae);
    params.taesd_path = given(files.taesd);
    params.clip_l_path = given(files.clip_l);
    params.clip_g_path = given(files.clip_g);
    params.t5xxl_path = given(files.t5);
    params.llm_path = given(files.llm);
    params.llm_vision_path = given(files.llm_vision);
    params.n_threads = state.threads;
    params.enable_mmap = config.at("mmap").get<bool>();
    params.diffusion_flash_attn = config.at("flashAttention").get<bool>();
    // When there is also a large decoder, the small one only decodes previews.
    params.tae_preview_only = !files.vae.empty() || !files.whole.empty();
    // Adapters that were merged into the weights would leave traces: the same request would then give different pixels.
    params.lora_apply_mode = LORA_APPLY_AT_RUNTIME;
    forget_complaint();
    // It reads all files again: an error is no longer about the last one.
    open_file(config.at("path"));
    state.context = new_sd_ctx(&params);
    if (!state.context) throw std::runtime_error(with_complaint("stable-diffusion.cpp cannot load " + all_of(config)));
    state.traits = traits_of(state.context);
    if (!state.traits.draws) throw std::runtime_error("models of the family " + state.traits.family + " draw no images");
    if (!read_weights(state.context)) throw std::runtime_error(with_complaint("the weights cannot be loaded"));
    const preview_t preview = state.traits.has_tiny_decoder ? PREVIEW_TAE : PREVIEW_PROJ;
    sd_set_preview_callback(on_preview, preview, 1, true, false, nullptr);
}

std::string device() {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return cpu ? ggml_backend_dev_name(cpu) : "CPU";
}

// Side of a tile when upscaling, in pixels. Larger tiles need more memory; smaller tiles overlap more.
constexpr int TILE = 128;

template <typename Kind> std::vector<std::string> names(const char * (*name_of)(Kind), int count) {
    std::vector<std::string> found;
    for (int at = 0; at < count; at++) found.emplace_back(name_of(static_cast<Kind>(at)));
    return found;
}

void remove(std::vector<std::string> & list, const std::string & name) {
    list.erase(std::remove(list.begin(), list.end(), name), list.end());
}

} // namespace

Upscaler open_upscaler(int32_t threads) {
    forget_complaint();
    Upscaler opened(new_upscaler_ctx(state.upscaler_path.c_str(), false, threads, TILE, nullptr, nullptr), free_upscaler_ctx);
    if (!opened) throw std::runtime_error(with_complaint("no upscaling model can be loaded from " + state.upscaler_path));
    return opened;
}

std::vector<std::string> sampler_names() { return names(sd_sample_method_name, SAMPLE_METHOD_COUNT); }

std::vector<std::string> scheduler_names() {
    std::vector<std::string> found = names(sd_scheduler_name, SCHEDULER_COUNT);
    // Each of these schedulers has fixed noise levels, measured for other models.
    remove(found, "ltx2");
    if (!state.traits.is_transformer) return found;
    remove(found, "ays");
    remove(found, "gits");
    return found;
}

} // namespace image

using namespace image;

void svc::unload() {
    stop_drawing();
    if (state.context) free_sd_ctx(state.context);
    state.context = nullptr;
    state.upscaler_path.clear();
}

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

int32_t svc_image_load_start(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        return start_load([config = Json::parse(text_of(config, config_length))] { load(config); });
    });
}

int32_t svc_image_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        const bool draws = !is_upscaler();
        const std::vector<std::string> none = {"none"};
        const sample_method_t sampler = draws ? sd_get_default_sample_method(state.context) : SAMPLE_METHOD_COUNT;
        const Json info = {
            {"family", state.traits.family},
            {"multiple", state.traits.multiple},
            {"hasTinyDecoder", state.traits.has_tiny_decoder},
            {"takesReferences", state.traits.takes_references},
            {"needsReference", state.traits.needs_reference},
            {"device", device()},
            {"sampler", draws ? sd_sample_method_name(sampler) : "none"},
            {"scheduler", draws ? sd_scheduler_name(sd_get_default_scheduler(state.context, sampler)) : "none"},
            {"samplers", draws ? sampler_names() : none},
            {"schedulers", draws ? scheduler_names() : none},
            {"scale", state.scale},
        };
        return copy_out(info.dump(), out, capacity);
    });
}

} // extern "C"

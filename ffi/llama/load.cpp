// Loading a model on its own native thread, and what there is to know about it afterwards.

#include "state.hpp"

#include "ggml-backend.h"
#include "ggml-cpu.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>

namespace svc {
namespace {

enum LoadState { IDLE, LOADING, READY, FAILED };

std::atomic<int> load_state{IDLE};
std::atomic<float> load_progress{0};
std::string load_error;

ggml_type kv_type(const std::string & name) {
    static const std::map<std::string, ggml_type> types = {
        {"f32", GGML_TYPE_F32},   {"f16", GGML_TYPE_F16},   {"bf16", GGML_TYPE_BF16},
        {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0},
    };
    const auto found = types.find(name);
    if (found == types.end()) throw std::runtime_error("unknown KV cache type " + name);
    return found->second;
}

llama_flash_attn_type flash_attention(const std::string & name) {
    if (name == "on") return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    if (name == "off") return LLAMA_FLASH_ATTN_TYPE_DISABLED;
    return LLAMA_FLASH_ATTN_TYPE_AUTO;
}

bool on_progress(float share, void *) {
    load_progress = share;
    return true;
}

void load_model(const common_json & config) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = config.at("gpuLayers").get<int>();
    const bool mmap = config.at("mmap").get<bool>();
    const bool mlock = config.at("mlock").get<bool>();
    params.load_mode = mmap ? (mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP)
                            : (mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE);
    params.progress_callback = on_progress;
    const auto path = config.at("path").get<std::string>();
    state.model = llama_model_load_from_file(path.c_str(), params);
    if (!state.model) throw std::runtime_error("llama.cpp could not load the model; its log has the reason");
    state.vocab = llama_model_get_vocab(state.model);
}

void create_context(const common_json & config) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(config.at("context").get<int>());
    params.n_batch = static_cast<uint32_t>(config.at("batch").get<int>());
    params.n_ubatch = static_cast<uint32_t>(config.at("microBatch").get<int>());
    params.n_seq_max = static_cast<uint32_t>(config.at("parallel").get<int>());
    params.n_threads = params.n_threads_batch = config.at("threads").get<int>();
    params.flash_attn_type = flash_attention(config.at("flashAttention").get<std::string>());
    params.type_k = params.type_v = kv_type(config.at("kvType").get<std::string>());
    params.kv_unified = config.at("unified").get<bool>();
    params.no_perf = true;
    params.abort_callback = abort_requested;
    state.context = llama_init_from_model(state.model, params);
    if (!state.context) throw std::runtime_error("llama.cpp could not create the context; is there enough memory for --ctx?");
    state.n_batch = static_cast<int32_t>(llama_n_batch(state.context));
    state.n_seq_max = static_cast<int32_t>(llama_n_seq_max(state.context));
    state.unified = params.kv_unified;
}

// The pool's functions live in the CPU variant that was chosen at run time, so they are found through its registry.
void attach_threadpool(int threads) {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!cpu) return;
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(cpu);
    auto * create = reinterpret_cast<decltype(ggml_threadpool_new) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_new"));
    if (!create) return;
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    // Spinning workers would take the cores from sampling and from the front process.
    params.poll = 0;
    if (ggml_threadpool * pool = create(&params)) llama_attach_threadpool(state.context, pool, nullptr);
}

std::string describe_device(int threads) {
    std::string gpus;
    const bool offloads = llama_supports_gpu_offload();
    for (size_t i = 0; offloads && i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_GPU) continue;
        gpus += (gpus.empty() ? "" : ", ") + std::string(ggml_backend_dev_description(device));
    }
    if (!gpus.empty()) return gpus;
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    const std::string name = cpu ? ggml_backend_dev_description(cpu) : "CPU";
    return name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

// Touches the weights and the buffers once, so that the first request does not pay for it.
void warm_up() {
    llama_token token = llama_vocab_bos(state.vocab);
    if (token == LLAMA_TOKEN_NULL) token = llama_vocab_eos(state.vocab);
    if (token == LLAMA_TOKEN_NULL) token = 0;
    llama_decode(state.context, llama_batch_get_one(&token, 1));
    llama_memory_clear(llama_get_memory(state.context), true);
    llama_synchronize(state.context);
}

void load(const common_json & config) {
    load_model(config);
    if (!llama_model_has_decoder(state.model) || llama_model_has_encoder(state.model)) {
        throw std::runtime_error("this model does not generate text from left to right (it has an encoder)");
    }
    create_context(config);
    const int threads = config.at("threads").get<int>();
    attach_threadpool(threads);
    state.templates = common_chat_templates_init(state.model, "");
    state.has_chat_template = llama_model_chat_template(state.model, nullptr) != nullptr;
    state.device = describe_device(threads);
    if (config.at("warmup").get<bool>()) warm_up();
}

std::string meta(const char * key) {
    char text[256];
    return llama_model_meta_val_str(state.model, key, text, sizeof text) >= 0 ? text : "";
}

common_json sampling_of_file() {
    static const std::pair<const char *, llama_model_meta_key> numbers[] = {
        {"temperature", LLAMA_MODEL_META_KEY_SAMPLING_TEMP},
        {"topK", LLAMA_MODEL_META_KEY_SAMPLING_TOP_K},
        {"topP", LLAMA_MODEL_META_KEY_SAMPLING_TOP_P},
        {"minP", LLAMA_MODEL_META_KEY_SAMPLING_MIN_P},
        {"repetitionPenalty", LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_REPEAT},
        {"repetitionWindow", LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_LAST_N},
    };
    common_json sampling = common_json::object();
    for (const auto & [name, key] : numbers) {
        const std::string text = meta(llama_model_meta_key_str(key));
        char * end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str()) sampling[name] = value;
    }
    return sampling;
}

bool can_remove_partial() {
    return !llama_model_is_recurrent(state.model) && !llama_model_is_hybrid(state.model);
}

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_load_start(const uint8_t * config, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        if (load_state != IDLE) return fail("a model was loaded in this process already");
        const common_json parsed = parse_json(config, config_length);
        load_state = LOADING;
        std::thread([parsed] {
            try {
                load(parsed);
                load_state = READY;
            } catch (const std::exception & error) {
                load_error = error.what();
                load_state = FAILED;
            }
        }).detach();
        return 0;
    });
}

int32_t svc_load_poll(void) {
    switch (load_state.load()) {
        case LOADING: return 0;
        case READY:   return 1;
        case FAILED:  return fail(load_error);
        default:      return fail("no load was started");
    }
}

double svc_load_progress(void) { return load_progress.load(); }

int32_t svc_model_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (load_state != READY) return fail("no model is loaded");
        char description[256] = "";
        llama_model_desc(state.model, description, sizeof description);
        common_json info = common_json::object();
        info["description"] = std::string(description);
        info["architecture"] = meta("general.architecture");
        info["parameters"] = llama_model_n_params(state.model);
        info["bytes"] = llama_model_size(state.model);
        info["vocabulary"] = llama_vocab_n_tokens(state.vocab);
        info["trainedContext"] = llama_model_n_ctx_train(state.model);
        info["context"] = llama_n_ctx(state.context);
        info["contextPerSequence"] = llama_n_ctx_seq(state.context);
        info["batch"] = state.n_batch;
        info["hasChatTemplate"] = state.has_chat_template;
        info["device"] = state.device;
        info["canRemovePartial"] = can_remove_partial();
        info["sampling"] = sampling_of_file();
        return copy_out(info.dump_safe(), out, capacity);
    });
}

} // extern "C"

// Describes the loaded model and the device it runs on.

#include "../common/platform.hpp"
#include "chat-template.hpp"
#include "spread.hpp"

#include <cstdlib>
#include <utility>

namespace svc {

void * cpu_function(const char * name) {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return cpu ? ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), name) : nullptr;
}

namespace {

// Returns "sapphirerapids" when the functions come from libggml-cpu-sapphirerapids.so.
std::string cpu_variant() {
    void * function = cpu_function("ggml_threadpool_new");
    const std::string path = function ? library_of(function) : "";
    const std::string prefix = "ggml-cpu-";
    const size_t start = path.rfind(prefix);
    if (start == std::string::npos) return "";
    const size_t from = start + prefix.size();
    return path.substr(from, path.find('.', from) - from);
}

// Returns "CPU (sapphirerapids variant, 2 threads)", or the names of the GPUs that compute; this machine only.
std::string describe_device() {
    std::string gpus;
    for (size_t i = 0; state.offloads && i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        const auto type = ggml_backend_dev_type(device);
        if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
        if (is_remote(device)) continue;
        gpus += (gpus.empty() ? "" : ", ") + std::string(ggml_backend_dev_description(device));
    }
    if (!gpus.empty()) return gpus;
    const std::string variant = cpu_variant();
    return "CPU (" + (variant.empty() ? "" : variant + " variant, ") + std::to_string(state.threads) +
           (state.threads == 1 ? " thread)" : " threads)");
}

} // namespace

bool uses_gpu() {
    return state.offloads && (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) ||
                              ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU));
}

std::string meta(const char * key) {
    char text[256];
    return llama_model_meta_val_str(state.model, key, text, sizeof text) >= 0 ? text : "";
}

common_json describe_model() {
    char description[256] = "";
    llama_model_desc(state.model, description, sizeof description);
    std::string text = description;
    // llama.cpp writes this for a size that it has no name for; the parameter count says more.
    if (const size_t unnamed = text.find(" ?B"); unnamed != std::string::npos) text.erase(unnamed, 3);
    common_json info = common_json::object();
    info["description"] = text;
    info["architecture"] = meta("general.architecture");
    info["parameters"] = llama_model_n_params(state.model);
    info["bytes"] = llama_model_size(state.model);
    info["vocabulary"] = state.n_vocab;
    info["trainedContext"] = llama_model_n_ctx_train(state.model);
    info["device"] = describe_device();
    return info;
}

namespace {

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

std::string token_text(llama_token token) { return token < 0 ? "" : llama_vocab_get_text(state.vocab, token); }

// Returns the maximum bytes of text that a token stands for; 0 where tokenizing may drop text.
size_t longest_token() {
    const auto type = llama_vocab_type(state.vocab);
    if (type != LLAMA_VOCAB_TYPE_BPE && type != LLAMA_VOCAB_TYPE_SPM) return 0;
    size_t longest = 0;
    for (llama_token token = 0; token < state.n_vocab; token++) {
        longest = std::max(longest, std::strlen(llama_vocab_get_text(state.vocab, token)));
    }
    return longest;
}

} // namespace

// A recurrent state has no positions to remove.
bool can_roll_back(const llama_model * model) { return !llama_model_is_recurrent(model) && !llama_model_is_hybrid(model); }

// A sliding window has already lost the positions before it.
bool can_remove_partial() { return can_roll_back(state.model) && llama_model_n_swa(state.model) == 0; }

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_model_info(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        common_json info = describe_model();
        info["context"] = state.n_cells;
        info["layout"] = state.layout == Layout::unified ? "unified" : state.layout == Layout::streams ? "streams" : "paged";
        info["contextPerSequence"] = llama_n_ctx_seq(state.context);
        info["sequences"] = state.n_seq_max;
        info["batch"] = state.n_batch;
        info["chunk"] = state.chunk_rows;
        info["template"] = template_abilities();
        info["chatTemplate"] = common_chat_templates_source(chat_template.templates.get());
        info["bosToken"] = token_text(llama_vocab_bos(state.vocab));
        info["eosToken"] = token_text(llama_vocab_eos(state.vocab));
        info["canRemovePartial"] = can_remove_partial();
        info["canRollBack"] = can_roll_back(state.model);
        info["longestToken"] = longest_token();
        info["sampling"] = sampling_of_file();
        return copy_out(info.dump_safe(), out, capacity);
    });
}

uint64_t svc_model_pointer(void) { return is_loaded() ? reinterpret_cast<uintptr_t>(state.model) : 0; }

int32_t svc_token_piece(int32_t token, int32_t special, uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(0, [&] {
        if (!is_loaded() || token < 0 || token >= state.n_vocab) return 0;
        return llama_token_to_piece(state.vocab, token, reinterpret_cast<char *>(out), capacity, 0, special != 0);
    });
}

int32_t svc_token_is_end(int32_t token) {
    return is_loaded() && token >= 0 && token < state.n_vocab && llama_vocab_is_eog(state.vocab, token);
}

} // extern "C"

// Loads the model's LoRA adapters and selects which of them are used.

#include "state.hpp"

#include <stdexcept>
#include <utility>

namespace svc {
namespace {

// The latest selection; it applies to every computation that begins from now on.
struct Choice {
    std::vector<llama_adapter_lora *> adapters;
    std::vector<float> scales;
};
Choice & choice = *new Choice;

} // namespace

void load_adapters(const std::vector<std::string> & paths) {
    forget_adapters();
    for (const std::string & path : paths) {
        forget_complaint();
        open_file(path);
        llama_adapter_lora * adapter = llama_adapter_lora_init(state.model, path.c_str());
        if (!adapter) throw std::runtime_error(with_complaint("llama.cpp cannot use the adapter " + path));
        state.adapters.push_back(adapter);
    }
}

void forget_adapters() {
    state.adapters.clear();
    choice = {};
}

void use_adapters(llama_context * context) {
    if (state.adapters.empty()) return;
    state.may_plan = true;
    // llama.cpp does nothing when the context already uses this set.
    llama_set_adapters_lora(context, choice.adapters.data(), choice.adapters.size(), choice.scales.data());
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_adapters_set(const int32_t * ids, const float * scales, int32_t count) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        Choice chosen;
        for (int32_t i = 0; i < count; i++) {
            if (ids[i] < 0 || ids[i] >= static_cast<int32_t>(state.adapters.size())) return fail("there is no such adapter");
            chosen.adapters.push_back(state.adapters[static_cast<size_t>(ids[i])]);
            chosen.scales.push_back(scales[i]);
        }
        choice = std::move(chosen);
        return 0;
    });
}

} // extern "C"

#include "spread.hpp"

#include <cstring>
#include <stdexcept>

namespace svc {
namespace {

using AddServer = ggml_backend_reg_t (*)(const char * endpoint);

void add_worker(const std::string & endpoint) {
    ggml_backend_reg_t backend = ggml_backend_reg_by_name("RPC");
    void * add = backend ? ggml_backend_reg_get_proc_address(backend, "ggml_backend_rpc_add_server") : nullptr;
    if (!add) throw std::runtime_error("the library for workers is missing: rebuild the native libraries");
    ggml_backend_reg_t worker = reinterpret_cast<AddServer>(add)(endpoint.c_str());
    if (!worker) throw std::runtime_error("the worker " + endpoint + " has no devices");
    ggml_backend_register(worker);
}

llama_split_mode split_mode(const std::string & name) {
    if (name == "layer") return LLAMA_SPLIT_MODE_LAYER;
    if (name == "row") return LLAMA_SPLIT_MODE_ROW;
    if (name == "none") return LLAMA_SPLIT_MODE_NONE;
    throw std::runtime_error("unknown split mode " + name);
}

} // namespace

bool is_remote(ggml_backend_dev_t device) {
    return std::strcmp(ggml_backend_reg_name(ggml_backend_dev_backend_reg(device)), "RPC") == 0;
}

void spread(const common_json & config, llama_model_params & params) {
    const auto workers = config.at("workers").get<std::vector<std::string>>();
    for (const auto & endpoint : workers) add_worker(endpoint);
    params.split_mode = split_mode(config.at("splitMode").get<std::string>());
    params.main_gpu = config.at("mainGpu").get<int>();
    auto shares = config.at("tensorSplit").get<std::vector<float>>();
    if (shares.empty()) return;
    // llama.cpp reads this many shares when it loads the model.
    static std::vector<float> & kept = *new std::vector<float>;
    shares.resize(llama_max_devices());
    kept = shares;
    params.tensor_split = kept.data();
}

void stay_here(llama_model_params & params) {
    static std::vector<ggml_backend_dev_t> & devices = *new std::vector<ggml_backend_dev_t>;
    devices.clear();
    bool has_workers = false;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        has_workers = has_workers || is_remote(device);
        if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU && !is_remote(device)) devices.push_back(device);
    }
    if (!has_workers) return;
    devices.push_back(nullptr);
    params.devices = devices.data();
}

} // namespace svc

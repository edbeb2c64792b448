// Version, log and compute backends: everything that exists before a model does.

#include "../common/platform.hpp"
#include "state.hpp"

#include "build-info.h"
#include "ggml-backend.h"
#include "log.h"

#include <cstring>

namespace svc {

State & state = *new State;

namespace {

void on_log(ggml_log_level level, const char * text, void *) {
    // Messages about a computation that was stopped on purpose are not logged.
    if (!text || is_stopping()) return;
    // Nor is this one: all requests share the cache, and each is limited to the context that the model was trained for.
    if (std::strstr(text, "possible training context overflow")) return;
    // Nor is graph planning, which happens each time the adapters change.
    if (state.may_plan && (level == GGML_LOG_LEVEL_INFO || level == GGML_LOG_LEVEL_DEBUG)) return;
    keep_log_line(level, text);
}

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

const char * svc_library_version(void) {
    static const std::string & version = *new std::string(std::string("llama.cpp ") + llama_version() + " (" + llama_commit() + ")");
    return version.c_str();
}

int32_t svc_init(const char * backend_dir) {
    return guarded<int32_t>(-1, [&] {
        // This also sets ggml's log callback, which another library in this process may have taken.
        llama_log_set(on_log, nullptr);
        if (ggml_backend_dev_count() > 0) return 0;
        // The common library would print to stderr from a thread of its own.
        common_log_set_verbosity_thold(-1);
        common_log_pause(common_log_main());
        // ggml would also load the backend that this variable names.
        forget_variable("GGML_BACKEND_PATH");
        state.libraries = backend_dir;
        ggml_backend_load_all_from_path(backend_dir);
        if (ggml_backend_dev_count() == 0) return fail(std::string("no compute backend in ") + backend_dir);
        llama_backend_init();
        return 0;
    });
}

} // extern "C"

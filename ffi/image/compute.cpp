// Stands between stable-diffusion.cpp and ggml: stable-diffusion.cpp is compiled to compute its graphs through this
// file, so that a computation can be stopped.

#include "state.hpp"

#include "ggml-backend.h"
#include "ggml-cpu.h"

using namespace image;

// Throws Stopped when the image was stopped. The callers in stable-diffusion.cpp release everything through guards.
extern "C" ggml_status svc_image_compute(ggml_backend_t backend, ggml_cgraph * graph) {
    if (is_stopped(nullptr)) throw Stopped();
    if (ggml_backend_is_cpu(backend)) ggml_backend_cpu_set_abort_callback(backend, is_stopped, nullptr);
    const ggml_status status = ggml_backend_graph_compute(backend, graph);
    if (status == GGML_STATUS_ABORTED) throw Stopped();
    if (status == GGML_STATUS_ALLOC_FAILED) throw std::bad_alloc();
    return status;
}

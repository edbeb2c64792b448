// A model over several devices: those of this machine and, by llama.cpp's RPC backend, those of others.
#pragma once

#include "state.hpp"

#include "ggml-backend.h"

namespace svc {

// Whether the device is another machine's.
bool is_remote(ggml_backend_dev_t device);

// Makes the devices of the workers ("address:port" each) known, and says how `config` divides a model over all devices there
// are: {workers, splitMode ("layer"|"row"|"none"), mainGpu, tensorSplit (a share for each device, workers first; empty: by
// free memory)}. A worker that is not there ends the process: whoever names it has looked before.
void spread(const common_json & config, llama_model_params & params);

// Keeps a second model off the workers.
void stay_here(llama_model_params & params);

} // namespace svc

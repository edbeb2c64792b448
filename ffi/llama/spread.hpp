// Splits a model over several devices: those of this machine and, by llama.cpp's RPC backend, those of other machines.
#pragma once

#include "state.hpp"

#include "ggml-backend.h"

namespace svc {

// Returns whether the device belongs to another machine.
bool is_remote(ggml_backend_dev_t device);

// Registers the devices of the workers ("address:port" each), and sets how `config` splits a model over all devices:
// {workers, splitMode ("layer"|"row"|"none"), mainGpu, tensorSplit (share of each device, workers first; empty: by free
// memory)}. An unreachable worker ends the process, so the caller must check it first.
void spread(const common_json & config, llama_model_params & params);

// Restricts a second model to the devices of this machine.
void stay_here(llama_model_params & params);

} // namespace svc

// Loading on a native thread, with progress.
#pragma once

#include <functional>
#include <string>

#include <cstdint>

namespace svc {

// Runs `load` on a thread of its own; svc_load_poll tells how that ends. What it throws is the failure. 0, or negative when
// something is loaded or loading already.
int32_t start_load(std::function<void()> load);

// Whether a load has ended well and was not unloaded since. Any thread.
bool is_loaded();

// What is read from here on is this file's. Waits until a poll has told so and another has come: a file that crashes its
// reader is to be known by then. Only within `load`.
void open_file(const std::string & path);

// A progress callback for llama.cpp and its like.
bool on_load_progress(float share, void *);

// Each shim's own: frees what `load` made, or a part of that.
void unload();

} // namespace svc

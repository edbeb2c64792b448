// Loads a model on a native thread and reports progress.
#pragma once

#include <functional>
#include <string>

#include <cstdint>

namespace svc {

// Runs `load` on its own thread; svc_load_poll reports how it ends. An exception from `load` becomes the failure.
// Returns 0, or a negative number when something is already loaded or loading.
int32_t start_load(std::function<void()> load);

// Returns whether a load has succeeded and nothing has unloaded it since. Any thread.
bool is_loaded();

// Announces that this file is read from here on. Waits until one poll has reported the file and another poll has come,
// so that the caller knows which file crashed its reader. Call it only within `load`.
void open_file(const std::string & path);

// Progress callback for llama.cpp and similar libraries.
bool on_load_progress(float share, void *);

// Frees what `load` made, even when only part of it was made. Each shim defines its own.
void unload();

} // namespace svc

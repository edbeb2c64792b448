#pragma once

#include <functional>

namespace svc {

// Runs `body`, which must not throw, on a detached thread with a stack that deep templates and regular expressions fit in.
// Objects with a destructor that such threads use are leaked on purpose: they still run while the process exits.
void start_thread(std::function<void()> body);

} // namespace svc

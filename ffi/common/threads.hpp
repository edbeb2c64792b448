#pragma once

#include <functional>

namespace svc {

// Runs `body`, which must not throw, on a detached thread whose stack is large enough for deep templates and regular
// expressions. Objects with destructors that such threads use are leaked on purpose, because the threads still run
// while the process exits.
void start_thread(std::function<void()> body);

} // namespace svc

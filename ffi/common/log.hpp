// Keeps native log lines for JavaScript, and finds the line that explains a failure.
#pragma once

#include "ggml.h"

#include <string>

namespace svc {

// Log callback for ggml and libraries built on it: keeps the line for svc_log_drain and as a complaint. Any thread.
void keep_log_line(ggml_log_level level, const char * text, void * = nullptr);

// Keeps this thread's first error line as its complaint: the first line names the cause, later ones only repeat it.
void note_complaint(ggml_log_level level, const char * text);

// Clears this thread's complaint; call it before an operation that may fail.
void forget_complaint();

// Returns `sentence`, followed by this thread's complaint if there is one.
std::string with_complaint(const std::string & sentence);

} // namespace svc

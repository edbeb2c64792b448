// Log lines on their way to JavaScript, and what they say about a failure.
#pragma once

#include "ggml.h"

#include <string>

namespace svc {

// A log callback for ggml and what is built on it: keeps the line for svc_log_drain, and as below. Any thread.
void keep_log_line(ggml_log_level level, const char * text, void * = nullptr);

// Keeps an error line as this thread's complaint, if it is the first one: it names the cause, the others repeat it.
void note_complaint(ggml_log_level level, const char * text);

// Begins to watch for one.
void forget_complaint();

// `sentence`, and the complaint, if there is one.
std::string with_complaint(const std::string & sentence);

} // namespace svc

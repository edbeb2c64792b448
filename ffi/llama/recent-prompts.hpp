// Keeps recent prompts by their request: a prompt with many answers is rendered once. Only for a short time, because
// templates may contain the date. Any thread.
#pragma once

#include "rendered.hpp"

namespace svc {

// Returns the prompt that a recent request gave, or null.
RenderedPtr find_recent(const std::string & request);

void keep_recent(const std::string & request, const RenderedPtr & rendered);

// Part of svc_unload.
void forget_recent();

} // namespace svc

// Rewrites long lists of literals in grammars as branching rules.
#pragma once

#include <string>

namespace svc {

// Returns the same grammar with each long list of literals (`"a1" | "a2" | …`) as rules that branch where the literals
// differ. llama.cpp goes through the whole vocabulary once for each open alternative: with thousands in one list, each
// token would take a second and delay every request. Text that is not a valid grammar stays invalid.
std::string with_branches(const std::string & grammar);

} // namespace svc

// Answer parsers whose recursion is bounded, however deep the text nests.
#pragma once

#include "state.hpp"

#include "peg-parser.h"

#include <string>

namespace svc {

// Maximum recursions of a parser; each nested value takes one or two. JSON from clients has at most 128 levels.
constexpr int DEEPEST = 200;

// Returns the parser serialized as `saved`; values nested deeper than DEEPEST do not follow its format.
common_peg_arena bounded_parser(const std::string & saved);

} // namespace svc

// Lists of texts in grammars, made to branch where the texts part.
#pragma once

#include <string>

namespace svc {

// The same grammar, in which long lists of literals (`"a1" | "a2" | …`) are rules that branch where the literals part.
// llama.cpp goes through the whole vocabulary once for each alternative that is open: of thousands beside one another each
// token would take a second, for everybody. A text that is no grammar is none afterwards.
std::string with_branches(const std::string & grammar);

} // namespace svc

#include "answer.hpp"

#include "sampler.hpp"

#include "chat-peg-parser.h"
#include "unicode.h"

namespace svc {
namespace {

std::unique_ptr<common_chat_peg_mapper> mapper_of(common_chat_format format, common_chat_msg & message) {
    if (format == COMMON_CHAT_FORMAT_PEG_GEMMA4) return std::make_unique<common_chat_peg_gemma4_mapper>(message);
    if (format == COMMON_CHAT_FORMAT_PEG_MINIMAX_M3) return std::make_unique<common_chat_peg_minimax_m3_mapper>(message);
    return std::make_unique<common_chat_peg_mapper>(message);
}

// Does what common_chat_parse does, which copies the parser each time: thousands of nodes at every token. Throws when the
// text does not follow the format.
common_chat_msg parsed(const std::string & text, bool partial, const common_chat_parser_params & parser) {
    if (parser.parser.empty()) return common_chat_parse(text, partial, parser);
    common_peg_parse_context context(parser.generation_prompt + text, COMMON_PEG_PARSE_FLAG_LENIENT);
    const common_peg_parse_result result = parser.parser.parse(context);
    if (result.fail() && !(partial && result.end > 0)) throw std::runtime_error("the text does not follow the format");
    common_chat_msg message;
    message.role = "assistant";
    mapper_of(parser.format, message)->from_ast(context.ast, result);
    return message;
}

// Returns the length of the text without an incomplete character at its end.
size_t whole_characters(std::string text) {
    while (!common_utf8_is_complete(text)) text.pop_back();
    return text.size();
}

// Moves `reported` forward to `now` and returns the added text; returns nothing when `now` retracts text.
std::string advance(std::string & reported, const std::string & now) {
    if (now.size() <= reported.size() || !string_starts_with(now, reported)) return "";
    std::string rest = now.substr(reported.size());
    reported = now;
    return rest;
}

} // namespace

AnswerReader::AnswerReader(std::shared_ptr<const AnswerFormat> made) : format(std::move(made)) {
    if (!format->parser.is_continuation || !parse(false)) return;
    reported = current;
    given = reported.content.size();
}

void AnswerReader::push(const uint8_t * bytes, size_t count) { text.append(reinterpret_cast<const char *>(bytes), count); }

void AnswerReader::push(llama_token token) {
    text += common_token_to_piece(state.vocab, token, format->preserved.count(token) > 0);
}

// Returns whether a call may have begun: the text has what the grammar of calls waits for.
bool AnswerReader::may_call() {
    // A call may have begun in the prompt.
    if (format->parser.is_continuation) return true;
    for (const auto & trigger : format->triggers) {
        const size_t from = searched - std::min(searched, trigger.value.size());
        if (text.find(trigger.value, from) != std::string::npos) return true;
    }
    searched = text.size();
    return false;
}

bool AnswerReader::calls_tool() {
    // Parsing begins at the first byte each time, and this may be asked at every token of a long answer.
    if (!may_call()) return false;
    parse(false);
    return !current.tool_calls.empty();
}

// Returns the length of the longest prefix of the text, up to `length`, that follows the format.
size_t AnswerReader::followed(size_t length) const {
    size_t good = 0;
    for (size_t bad = length; bad - good > 1;) {
        const size_t middle = good + (bad - good) / 2;
        (follows(format->parser, text.substr(0, middle)) ? good : bad) = middle;
    }
    return whole_characters(text.substr(0, good));
}

// Parses the text up to `length`. Returns false when the text does not follow the format, or has fewer tool calls than
// were already reported.
bool AnswerReader::parse_to(size_t length, bool partial) {
    try {
        common_chat_msg now = parsed(text.substr(0, length), partial, format->parser);
        if (now.tool_calls.size() < reported.tool_calls.size()) return false;
        current = std::move(now);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

// Returns false from the first byte that does not follow the format. What is reported of the text before that byte must
// not depend on how often the caller reads.
bool AnswerReader::parse(bool final) {
    if (broken) return false;
    const size_t length = final ? text.size() : whole_characters(text);
    if (parse_to(length, !final) && (!final || follows(format->parser, text.substr(0, length)))) return true;
    broken = true;
    parse_to(followed(length), true);
    return false;
}

common_json AnswerReader::updates(bool complete) {
    common_json out = common_json::object();
    const std::string reasoning = advance(reported.reasoning_content, current.reasoning_content);
    if (!reasoning.empty()) out["reasoning"] = reasoning;
    const std::string content = advance(reported.content, current.content);
    if (!content.empty()) out["content"] = content;
    common_json calls = common_json::array();
    for (size_t i = 0; i < current.tool_calls.size(); i++) {
        const common_chat_tool_call & now = current.tool_calls[i];
        if (now.name.empty()) break;
        // Until something follows it, a name may still grow into another name.
        if (i + 1 == current.tool_calls.size() && now.arguments.size() < 2 && !complete) break;
        common_json call = common_json::object();
        if (i == reported.tool_calls.size()) {
            reported.tool_calls.push_back({now.name, "", now.id});
            call["name"] = now.name;
            call["id"] = now.id;
        }
        const std::string arguments = advance(reported.tool_calls[i].arguments, now.arguments);
        if (!arguments.empty()) call["arguments"] = arguments;
        if (call.empty()) continue;
        call["index"] = static_cast<int64_t>(i);
        calls.push_back(call);
    }
    if (!calls.empty()) out["calls"] = calls;
    return out;
}

// Returns where the text goes on after the reported reasoning; npos where that is not known.
size_t AnswerReader::after_reasoning() const {
    if (reported.reasoning_content.empty()) return 0;
    // Reasoning that began in the prompt is not found in the text.
    const size_t at = text.find(reported.reasoning_content);
    const size_t rest = at == std::string::npos ? 0 : at + reported.reasoning_content.size();
    for (const auto & tag : format->thinking_ends) {
        const size_t end = text.find(tag, rest);
        if (end != std::string::npos) return end + tag.size();
    }
    return at == std::string::npos ? at : rest;
}

// Returns the text after what was reported as reasoning and content.
std::string AnswerReader::unread() const {
    const size_t from = after_reasoning();
    const std::string written = reported.content.substr(given);
    if (written.empty()) return from == std::string::npos ? "" : text.substr(from);
    const size_t at = text.find(written, from == std::string::npos ? 0 : from);
    return at == std::string::npos ? "" : text.substr(at + written.size());
}

common_json AnswerReader::read(bool final) {
    const bool was_broken = broken;
    const bool parsed = parse(final);
    common_json out = was_broken ? common_json::object() : updates(parsed && final);
    if (parsed || !final) return out;
    // The answer does not follow the format. What was parsed so far stands; the rest is reported as content.
    if (reported.tool_calls.empty()) {
        const std::string rest = unread();
        if (!rest.empty()) out["content"] = (out.contains("content") ? out.at("content").get<std::string>() : "") + rest;
        reported.content += rest;
    }
    out["failed"] = true;
    return out;
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_answer_push(int32_t sampler, const uint8_t * bytes, int32_t count) {
    return guarded<int32_t>(-1, [&] {
        Sampler * found = sampler_at(sampler);
        if (!found || !found->reader) return fail("no such answer is parsed");
        found->reader->push(bytes, static_cast<size_t>(count));
        return 0;
    });
}

int32_t svc_answer_read(int32_t sampler, int32_t final, uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(0, [&] {
        Sampler * found = sampler_at(sampler);
        if (!found || !found->reader) return 0;
        // Output that did not fit last time must be reported first.
        if (found->unsent.empty()) {
            const common_json updates = found->reader->read(final != 0);
            if (updates.empty()) return 0;
            found->unsent = updates.dump_safe();
        }
        const int32_t length = copy_out(found->unsent, out, capacity);
        if (length >= 0) found->unsent.clear();
        return length;
    });
}

} // extern "C"

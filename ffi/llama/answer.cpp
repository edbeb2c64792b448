#include "answer.hpp"

#include "sampler.hpp"

namespace svc {
namespace {

// Length of the text without an unfinished character at its end.
size_t whole_characters(const std::string & text) {
    for (size_t back = 1; back <= std::min<size_t>(4, text.size()); back++) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0) == 0x80) continue;
        const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return back < length ? text.size() - back : text.size();
    }
    return text.size();
}

bool starts_with(const std::string & text, const std::string & start) { return text.compare(0, start.size(), start) == 0; }

// Moves `reported` on to `now` and returns the difference; nothing when `now` takes something back.
std::string advance(std::string & reported, const std::string & now) {
    if (now.size() <= reported.size() || !starts_with(now, reported)) return "";
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

bool AnswerReader::parse(bool final) {
    try {
        current = common_chat_parse(final ? text : text.substr(0, whole_characters(text)), !final, format->parser);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

common_json AnswerReader::news() {
    common_json out = common_json::object();
    const std::string reasoning = advance(reported.reasoning_content, current.reasoning_content);
    if (!reasoning.empty()) out["reasoning"] = reasoning;
    const std::string content = advance(reported.content, current.content);
    if (!content.empty()) out["content"] = content;
    common_json calls = common_json::array();
    for (size_t i = 0; i < current.tool_calls.size(); i++) {
        const common_chat_tool_call & now = current.tool_calls[i];
        if (now.name.empty()) break;
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

// The text behind what was reported as reasoning and content.
std::string AnswerReader::unread() const {
    const std::string written = reported.content.substr(given);
    if (!written.empty()) {
        const size_t at = text.find(written);
        return at == std::string::npos ? "" : text.substr(at + written.size());
    }
    if (reported.reasoning_content.empty()) return text;
    const size_t at = text.find(reported.reasoning_content);
    if (at == std::string::npos) return "";
    const std::string rest = text.substr(at + reported.reasoning_content.size());
    for (const auto & tag : format->thinking_ends) {
        const size_t end = rest.find(tag);
        if (end != std::string::npos) return rest.substr(end + tag.size());
    }
    return rest;
}

common_json AnswerReader::read(bool final) {
    const bool parsed = parse(final);
    if (parsed || !final) return parsed ? news() : common_json::object();
    // Not what the format says. Whatever can be read of it counts; the rest is what the model said.
    common_json out = parse(false) ? news() : common_json::object();
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
        // What did not fit the last time is still to be told.
        if (found->unsent.empty()) {
            const common_json news = found->reader->read(final != 0);
            if (news.empty()) return 0;
            found->unsent = news.dump_safe();
        }
        const int32_t length = copy_out(found->unsent, out, capacity);
        if (length >= 0) found->unsent.clear();
        return length;
    });
}

} // extern "C"

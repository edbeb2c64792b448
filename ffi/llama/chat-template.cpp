// Loads, analyses and applies the chat template.

#include "chat-template.hpp"

#include "chat-auto-parser.h"
#include "jinja/runtime.h"
#include "jinja/value.h"
#include "grammar-text.hpp"

#include <optional>
#include <stdexcept>

namespace svc {
namespace {

const char * const ANY_OBJECT = R"({"type": "object"})";

// Returns true when llama.cpp has special code for this template, which may change messages before they are rendered.
bool is_specialized(const std::string & source) {
    try {
        const common_chat_template parsed(source, "", "");
        autoparser::generation_params probe;
        probe.messages = common_json::parse(R"([{"role": "user", "content": "Hi"}])");
        probe.add_generation_prompt = true;
        return common_chat_try_specialized_template(parsed, source, probe).has_value();
    } catch (const std::exception &) {
        return true;
    }
}

// Returns whether the template requests thinking when its variable is not set. A template that ignores the variable
// counts as requesting it, because it may think anyway. (llama.cpp always sets the variable.)
bool asks_by_itself(const std::string & source) {
    try {
        const common_chat_template parsed(source, "", "");
        const auto render = [&](std::optional<bool> thinks) {
            common_json inputs = common_json::parse(
                R"({"messages": [{"role": "user", "content": "Hi"}], "bos_token": "", "eos_token": "", "add_generation_prompt": true})");
            if (thinks) inputs["enable_thinking"] = *thinks;
            jinja::context context(source);
            jinja::global_from_json(context, inputs, false);
            jinja::runtime runtime(context);
            return jinja::runtime::gather_string_parts(runtime.execute(parsed.prog))->as_string().str();
        };
        const std::string plain = render(std::nullopt);
        return plain != render(false) || plain == render(true);
    } catch (const std::exception &) {
        return true;
    }
}

common_chat_templates_inputs probe_inputs() {
    common_chat_templates_inputs inputs;
    inputs.messages.resize(1);
    inputs.messages[0].role = "user";
    inputs.messages[0].content = "Hi";
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    return inputs;
}

common_chat_params learn(const common_chat_templates_inputs & inputs) {
    const bool plain = inputs.force_pure_content || inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE;
    if (!chat_template.verbatim || plain) return common_chat_templates_apply(chat_template.templates.get(), inputs);
    common_chat_params params = common_chat_templates_apply(chat_template.bare.get(), inputs);
    common_chat_templates_inputs pure = inputs;
    pure.force_pure_content = true;
    params.prompt = common_chat_templates_apply(chat_template.templates.get(), pure).prompt;
    return params;
}

} // namespace

ChatTemplate & chat_template = *new ChatTemplate;

bool loosen(common_chat_templates_inputs & inputs) {
    bool changed = false;
    for (auto & tool : inputs.tools) {
        changed = changed || tool.parameters != ANY_OBJECT;
        tool.parameters = ANY_OBJECT;
    }
    return changed;
}

common_chat_params apply_template(const common_chat_templates_inputs & inputs, bool & loosened) {
    try {
        common_chat_params params = learn(inputs);
        const bool forced = !inputs.tools.empty() && inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
        if (forced && !params.grammar.empty()) params.grammar = without_preamble(params.grammar);
        return params;
    } catch (const std::invalid_argument &) {
        if (inputs.force_pure_content) throw;
        // No grammar can be made from some tool's schema, but tool names and framing are still known.
        common_chat_templates_inputs less = inputs;
        if (loosen(less)) {
            loosened = true;
            return apply_template(less, loosened);
        }
        // The template can be rendered but not analysed: all output of the model is then content.
        if (!chat_template.verbatim) throw;
        less.force_pure_content = true;
        return common_chat_templates_apply(chat_template.templates.get(), less);
    }
}

common_json template_abilities() {
    common_json abilities = common_json::object();
    const auto can = [&](const char * name) {
        const auto found = chat_template.abilities.find(name);
        return found != chat_template.abilities.end() && found->second;
    };
    abilities["tools"] = can("supports_tools") || can("supports_tool_calls");
    abilities["thinking"] = chat_template.thinks;
    abilities["system"] = can("supports_system_role");
    return abilities;
}

void check_chat_template(const std::string & override_source) {
    if (override_source.empty()) return;
    try {
        const common_chat_template parsed(override_source, "", "");
    } catch (const std::exception & error) {
        const std::string said = error.what();
        // The lines after the first repeat the template.
        throw std::runtime_error("--chat-template: " + said.substr(0, said.find('\n')));
    }
}

void load_chat_template(const std::string & override_source) {
    chat_template.templates = common_chat_templates_init(state.model, override_source);
    const common_chat_templates * templates = chat_template.templates.get();
    chat_template.bare = common_chat_templates_init(nullptr, common_chat_templates_source(templates));
    const std::string source = common_chat_templates_source(templates);
    chat_template.verbatim = !is_specialized(source);
    chat_template.thinks_by_itself = asks_by_itself(source);
    chat_template.short_ids = source.find("length != 9") != std::string::npos;
    chat_template.abilities = common_chat_templates_get_caps(templates);
    try {
        const common_chat_params params = learn(probe_inputs());
        chat_template.thinks = params.supports_thinking || !params.thinking_end_tags.empty();
    } catch (const std::exception &) {
        // A failed analysis says nothing about rendering.
        chat_template.thinks = false;
    }
}

void forget_chat_template() {
    chat_template.templates.reset();
    chat_template.bare.reset();
}

} // namespace svc

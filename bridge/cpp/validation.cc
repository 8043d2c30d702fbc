#include "bridge/cpp/validation.h"

#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "bridge/cpp/columns.h"
#include "bridge/cpp/contract.h"

namespace causeway {
namespace {

// clang-format off
constexpr const char *kNames[Operand::NONE] = {
    "time_ps", "node", "ref", "peer", "size_bytes", "interface", "topic", "patient_node", "patient_topic",
    "patience_ps", "nodes", "interfaces", "channels", "first_mover", "movers", "tcp", "connections", "earliest_ps",
};
// clang-format on

Operand::Value operand(const std::string &name) {
    for (size_t i = 0; i < Operand::NONE; ++i) {
        if (name == kNames[i]) return static_cast<Operand::Value>(i);
    }
    return Operand::NONE;
}

int64_t constant(const std::string &name) {
    const auto *value = Constant::Value_descriptor()->FindValueByName(name);
    if (!value) throw std::logic_error("causeway: no rule can be bound by '" + name + "'");
    const auto &options = value->options();
    return options.HasExtension(exactly) ? options.GetExtension(exactly) : value->number();
}

struct Range {
    int64_t least, most;
};

// Returns the range of a type.
Range range_of(const std::string &type) {
    if (type == "u1") return {0, std::numeric_limits<uint8_t>::max()};
    if (type == "i4") return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
}

const Column &column_of(const google::protobuf::FieldDescriptor *field) {
    return field->options().GetExtension(column);
}

std::vector<Check> rules_of_table(const std::string &table) {
    std::vector<Check> found;
    const auto *actions = Actions::descriptor();
    for (int i = 0; i < actions->field_count(); ++i) {
        const auto *field = actions->field(i);
        if (field->options().HasExtension(rule) && column_of(field).table() == table) {
            found.emplace_back(field->options().GetExtension(rule), field->name(), column_of(field).type());
        }
    }
    return found;
}

std::vector<Check> rules_of(const google::protobuf::EnumValueDescriptor *kind) {
    std::vector<Check> found = rules_of_table("actions");
    const auto &options = kind->options();
    for (int i = 0; i < options.ExtensionSize(needs); ++i) {
        const Rule &own = options.GetExtension(needs, i);
        const auto *field = Actions::descriptor()->FindFieldByName(own.of());
        found.emplace_back(own, own.of(), field ? column_of(field).type() : "i8");
    }
    return found;
}

void replace_all(std::string *text, const std::string &name, int64_t value) {
    const std::string wanted = "{" + name + "}";
    for (size_t at = text->find(wanted); at != std::string::npos; at = text->find(wanted)) {
        text->replace(at, wanted.size(), std::to_string(value));
    }
}

// The bounds of a field.
struct FieldRule {
    const Rule *rule;
    int64_t least, most;

    FieldRule(const Rule &declared, const std::string &type, int32_t nodes) : rule(&declared) {
        const Range range = range_of(type);
        least = bound(rule->least(), nodes, range.least);
        most = rule->below().empty() ? bound(rule->most(), nodes, range.most) : bound(rule->below(), nodes, 0) - 1;
    }

    template <class T>
    void check(T value) const {
        if (value >= static_cast<T>(least) && value <= static_cast<T>(most)) return;  // NaN satisfies neither bound
        std::ostringstream words;
        words << rule->wrong() << " is " << +value << "; allowed: " << least << " to " << most;
        throw std::runtime_error(words.str());
    }

    template <class T>
    void check_column(const std::string &bytes) const {
        for (const T value : numbers<T>(bytes)) check(value);
    }

  private:
    static int64_t bound(const std::string &text, int32_t nodes, int64_t unbounded) {
        if (text.empty()) return unbounded;
        if (text == "nodes") return nodes;
        char *end = nullptr;
        const int64_t number = std::strtoll(text.c_str(), &end, 10);
        return *end == '\0' ? number : constant(text);
    }
};

void check_column(const std::string &bytes, const std::string &type, const FieldRule &rule) {
    if (type == "u1") return rule.check_column<uint8_t>(bytes);
    if (type == "i4") return rule.check_column<int32_t>(bytes);
    if (type == "i8") return rule.check_column<int64_t>(bytes);
    rule.check_column<double>(bytes);
}

}  // namespace

void check_fields(const google::protobuf::Message &message, int32_t nodes) {
    using Field = google::protobuf::FieldDescriptor;
    const auto *fields = message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
        const Field *field = message.GetDescriptor()->field(i);
        if (field->cpp_type() == Field::CPPTYPE_MESSAGE && !field->is_repeated() && fields->HasField(message, field)) {
            check_fields(fields->GetMessage(message, field), nodes);
        }
        if (!field->options().HasExtension(rule)) continue;
        const bool is_column = field->options().HasExtension(column),
                   is_int = field->cpp_type() == Field::CPPTYPE_INT32;
        const std::string type = is_column ? column_of(field).type() : is_int ? "i4" : "i8";
        const FieldRule held(field->options().GetExtension(rule), type, nodes);
        std::string unused;
        if (is_column) check_column(fields->GetStringReference(message, field, &unused), type, held);
        if (is_int) held.check<int64_t>(fields->GetInt32(message, field));
        if (field->cpp_type() == Field::CPPTYPE_INT64) held.check(fields->GetInt64(message, field));
        if (field->cpp_type() == Field::CPPTYPE_DOUBLE) held.check(fields->GetDouble(message, field));
    }
}

Check::Check(const Rule &rule, const std::string &of, const std::string &type)
    : of_(operand(of)),
      unlike_(operand(rule.unlike())),
      least_(bound(rule.least(), range_of(type).least)),
      most_(bound(rule.below().empty() ? rule.most() : rule.below(), range_of(type).most)),
      words_(rule.wrong() + "; allowed: " + (rule.allowed().empty() ? "{least} to {most}" : rule.allowed())) {
    if (!rule.below().empty()) --most_.plus;
}

Check::Bound Check::bound(const std::string &text, int64_t unbounded) {
    if (text.empty()) return {Operand::NONE, unbounded};
    if (operand(text) != Operand::NONE) return {operand(text), 0};
    char *end = nullptr;
    const int64_t number = std::strtoll(text.c_str(), &end, 10);
    return {Operand::NONE, *end == '\0' ? number : constant(text)};
}

std::string Check::words(const Held &held) const {
    std::string message = words_;
    replace_all(&message, "value", held[of_]);
    replace_all(&message, "least", held[least_.base] + least_.plus);
    replace_all(&message, "most", held[most_.base] + most_.plus);
    for (size_t i = 0; i < Operand::NONE; ++i) replace_all(&message, kNames[i], held[i]);
    return message;
}

const std::vector<Check> &rules_of_action(uint8_t kind) {
    static const std::vector<std::vector<Check>> known = [] {
        std::vector<std::vector<Check>> found(std::numeric_limits<uint8_t>::max() + 1);
        for (int i = 0; i < Act::Value_descriptor()->value_count(); ++i) {
            const auto *value = Act::Value_descriptor()->value(i);
            found[value->number()] = rules_of(value);
        }
        return found;
    }();
    return known[kind];
}

const std::vector<Check> &rules_of_lookahead() {
    static const std::vector<Check> known = rules_of_table("promises");
    return known;
}

std::string kinds_of_actions() {
    std::string found;
    for (int i = 0; i < Act::Value_descriptor()->value_count(); ++i) {
        const auto *value = Act::Value_descriptor()->value(i);
        found += (found.empty() ? "" : ", ") + std::to_string(value->number()) + " " + value->name();
    }
    return found;
}

}  // namespace causeway

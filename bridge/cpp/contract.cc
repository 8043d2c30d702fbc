#include "bridge/cpp/contract.h"

#include <unordered_map>
#include <vector>

namespace causeway {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct ColumnField {
    const FieldDescriptor *field;
    size_t width;  // of an element, in bytes
    bool may_lack;
    size_t first;  // the index of the first column of its table
};

// Returns the columns of a kind of message. Looked up once, because every answer of the controller is checked.
const std::vector<ColumnField> &columns_of(const Descriptor *kind) {
    static std::unordered_map<const Descriptor *, std::vector<ColumnField>> known;
    const auto found = known.find(kind);
    if (found != known.end()) return found->second;
    std::vector<ColumnField> columns;
    std::unordered_map<std::string, size_t> tables;
    for (int i = 0; i < kind->field_count(); ++i) {
        const FieldDescriptor *field = kind->field(i);
        if (!field->options().HasExtension(column)) continue;
        const Column &about = field->options().GetExtension(column);
        const size_t first = tables.emplace(about.table(), columns.size()).first->second;
        columns.push_back({field, static_cast<size_t>(about.type().back() - '0'), about.may_lack(), first});
    }
    return known[kind] = columns;
}

std::string damaged_columns(const Message &message) {
    const auto &columns = columns_of(message.GetDescriptor());
    const auto *fields = message.GetReflection();
    const auto bytes = [&](const ColumnField &c) {
        std::string unused;
        return fields->GetStringReference(message, c.field, &unused).size();
    };
    for (const ColumnField &c : columns) {
        const size_t size = bytes(c);
        if (size % c.width != 0) return c.field->full_name() + " does not hold whole numbers";
        const size_t rows = bytes(columns[c.first]) / columns[c.first].width;
        if (size / c.width != rows && !(c.may_lack && size == 0)) {
            return "its columns differ in length: " + c.field->full_name() + " has " + std::to_string(size / c.width) +
                   " rows, " + columns[c.first].field->name() + " has " + std::to_string(rows);
        }
    }
    return "";
}

}  // namespace

int64_t exactly_of(Constant::Value constant) {
    return Constant::Value_descriptor()->FindValueByNumber(constant)->options().GetExtension(exactly);
}

const std::string &words_of(End::Value end) {
    return End::Value_descriptor()->FindValueByNumber(end)->options().GetExtension(words);
}

std::string damage(const Message &message) {
    std::string wrong = damaged_columns(message);
    const Descriptor *kind = message.GetDescriptor();
    for (int i = 0; wrong.empty() && i < kind->field_count(); ++i) {
        const FieldDescriptor *field = kind->field(i);
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) continue;
        if (message.GetReflection()->HasField(message, field)) {
            wrong = damage(message.GetReflection()->GetMessage(message, field));
        }
    }
    return wrong;
}

}  // namespace causeway

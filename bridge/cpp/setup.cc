#include "bridge/cpp/setup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "bridge/cpp/columns.h"
#include "bridge/cpp/contract.h"

namespace causeway {

namespace {

std::string text(int64_t number) { return std::to_string(number); }

std::string text(double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", number);
    return digits;
}

[[noreturn]] void refuse(const std::string &what) { throw Refused(what); }

int64_t latest_ps() {
    static const int64_t latest = exactly_of(Constant::LATEST_PS);
    return latest;
}

template <class T>
void check_range(const std::string &what, T value, T low, T high) {
    if (!(low <= value && value <= high))
        refuse(what + " must be " + text(low) + " to " + text(high) + ", not " + text(value));
}

void check_time(const std::string &what, int64_t ps, int64_t low_ps = 0) {
    if (ps < low_ps || ps > latest_ps()) {
        refuse(what + " must be " + text(low_ps) + " to " + text(latest_ps()) + " ps, not " + text(ps));
    }
}

// Checks that the instants of a list do not decrease.
void check_instants(const std::string &what, const std::string &column) {
    int64_t last_ps = 0;
    for (const int64_t ps : numbers<int64_t>(column)) {
        if (ps < last_ps) refuse(what + " goes back from " + text(last_ps) + " to " + text(ps) + " ps");
        last_ps = ps;
    }
}

void check_node(const std::string &what, int32_t node, int32_t nodes) {
    const int64_t last = (nodes > 0 ? nodes : Constant::MOST_NODES) - 1;
    if (node < 0 || node > last)
        refuse(what + " node " + text(int64_t{node}) + "; the network has nodes 0 to " + text(last));
}

// Checks that a table of quantiles has the right length and does not decrease.
void check_quantiles(const std::string &what, const std::string &column, double most) {
    const auto table = numbers<double>(column);
    if (table.size() != Constant::QUANTILE_BINS + 1) {
        refuse(what + " has " + text(static_cast<int64_t>(table.size())) + " quantiles, not " +
               text(int64_t{Constant::QUANTILE_BINS} + 1));
    }
    double last = 0;
    for (const double value : table) {
        check_range<double>(what + ": a quantile", value, last, most);
        last = value;
    }
}

constexpr double kPsPerNs = 1000;
constexpr double kMostExponential = 64;  // a unit exponential exceeds it once in 10^27 draws

void check_segments(const Workload &w) {
    const auto mean_ns = numbers<double>(w.segment_mean_ns());
    const auto hot = numbers<int32_t>(w.segment_hot_nodes());
    if (mean_ns.empty()) return;
    check_instants("the start of a segment of the workload", w.segment_start_ps());
    if (at<int64_t>(w.segment_start_ps(), 0) != 0) refuse("the first segment of the workload must start at 0");
    check_quantiles("the exponential of the workload", w.exponential_quantiles(), kMostExponential);
    const double longest = at<double>(w.exponential_quantiles(), Constant::QUANTILE_BINS);
    const double most_ns = std::floor(static_cast<double>(latest_ps()) / kPsPerNs / std::max(1.0, longest));
    for (size_t i = 0; i < mean_ns.size(); ++i) {
        if (mean_ns[i] != 0)
            check_range<double>("the mean time between broadcasts, in ns,", mean_ns[i], 1, most_ns);  // whole ns
        check_range<int64_t>("the number of hot nodes", hot[i], 0, w.nodes());
        if (mean_ns[i] > 0 && w.nodes() == 0) refuse("the workload has broadcasts but no nodes");
    }
}

void check_workload(const Workload &w) {
    check_instants("a broadcast of the script", w.script_time_ps());
    if (w.script_time_ps().empty()) check_segments(w);
}

void check_wires(const MobileNetwork &network, int32_t stations) {
    const auto from = numbers<int32_t>(network.wire_from()), to = numbers<int32_t>(network.wire_to());
    for (size_t i = 0; i < from.size(); ++i) {
        const std::string ends = "a wire goes from station " + text(int64_t{from[i]}) + " to " + text(int64_t{to[i]});
        const bool there = from[i] >= 0 && from[i] < stations && to[i] >= 0 && to[i] < stations;
        if (!there) refuse(ends + "; there are stations 0 to " + text(int64_t{stations} - 1));
        if (from[i] == to[i]) refuse(ends + ", which is itself");
    }
}

// Checks traces, speeds and the area, which adapters read without further checks.
void check_movement(const MobileNetwork &network) {
    const auto speeds = numbers<int32_t>(network.host_speed_mm_s()), area = numbers<int32_t>(network.area_mm());
    if (!speeds.empty() && speeds.size() != static_cast<size_t>(network.hosts()))
        refuse("there are speeds for " + text(static_cast<int64_t>(speeds.size())) + " hosts");
    if (!area.empty() && (area.size() != 4 || area[0] >= area[2] || area[1] >= area[3]))
        refuse("the area must have two corners, the lower one first");
    const auto host = numbers<int32_t>(network.trace_host());
    const auto time_ps = numbers<int64_t>(network.trace_time_ps());
    for (size_t i = 0; i < host.size(); ++i) {
        check_range<int64_t>("the host of a trace", host[i], i == 0 ? 0 : host[i - 1], network.hosts() - 1);
        const bool first = i == 0 || host[i] != host[i - 1];
        check_time("an instant of a trace", time_ps[i], first ? 0 : time_ps[i - 1] + 1);
    }
}

void check_mobile(const MobileNetwork &network) {
    const size_t stations = numbers<int32_t>(network.station_x_mm()).size();
    check_range<int64_t>("the number of stations", static_cast<int64_t>(stations), 0, Constant::MOST_NODES);
    check_range<int64_t>("the number of nodes", static_cast<int64_t>(stations) + network.hosts(), 1,
                         Constant::MOST_NODES);
    const size_t places = numbers<int32_t>(network.host_x_mm()).size();
    if (places != 0 && places != static_cast<size_t>(network.hosts())) {
        refuse("there are places for " + text(static_cast<int64_t>(places)) + " hosts; there are " +
               text(int64_t{network.hosts()}));
    }
    check_wires(network, static_cast<int32_t>(stations));
    check_movement(network);
}

// Checks the links, which adapters read without further checks.
void check_links(const AbstractNetwork &network) {
    const auto site = numbers<int32_t>(network.site());
    const auto delay_ps = numbers<int64_t>(network.link_delay_ps());
    if (site.empty() && delay_ps.empty()) return;
    const auto sites = static_cast<size_t>(std::llround(std::sqrt(static_cast<double>(delay_ps.size()))));
    if (sites * sites != delay_ps.size() || sites == 0)
        refuse("the links are no square table: " + text(static_cast<int64_t>(delay_ps.size())) + " latencies");
    if (site.size() != static_cast<size_t>(network.nodes()))
        refuse("there are sites of " + text(static_cast<int64_t>(site.size())) + " nodes; there are " +
               text(int64_t{network.nodes()}));
    for (const int32_t one : site) check_range<int64_t>("the site of a node", one, 0, static_cast<int64_t>(sites) - 1);
}

void check_network_faults(const Troubles &troubles, int32_t nodes) {
    const auto kind = numbers<uint8_t>(troubles.kind());
    const auto a = numbers<int32_t>(troubles.a()), b = numbers<int32_t>(troubles.b());
    for (size_t i = 0; i < kind.size(); ++i) {
        if (!Trouble::Value_IsValid(kind[i])) refuse("a fault is of kind " + text(int64_t{kind[i]}));
        if (kind[i] != Trouble::CUT) continue;
        check_node("a link failure ends at", a[i], nodes);
        check_node("a link failure ends at", b[i], nodes);
    }
    for (const int32_t row : numbers<int32_t>(troubles.side_trouble())) {
        if (row < 0 || row >= static_cast<int32_t>(kind.size()) ||
            (kind[row] != Trouble::PARTITION && kind[row] != Trouble::ONE_WAY))
            refuse("a side of fault " + text(int64_t{row}) + ", which is not a partition");
    }
}

}  // namespace

int32_t nodes_of(const Setup &setup) {
    if (setup.has_abstract_network()) return setup.abstract_network().nodes();
    if (setup.has_own_network()) return setup.own_network().nodes();
    if (!setup.has_mobile_network()) return 0;
    const MobileNetwork &network = setup.mobile_network();
    const int64_t nodes = static_cast<int64_t>(network.station_x_mm().size() / sizeof(int32_t)) + network.hosts();
    return static_cast<int32_t>(std::min<int64_t>(nodes, std::numeric_limits<int32_t>::max()));
}

void check_setup(const Setup &setup) {
    const std::string damaged = damage(setup);
    if (!damaged.empty()) refuse("the setup is damaged: " + damaged);
    try {
        const int32_t nodes = nodes_of(setup) > 0 ? nodes_of(setup) : Constant::MOST_NODES;
        if (setup.has_mobile_network())
            check_fields(setup.mobile_network(), nodes);  // first, since it contains the number of nodes
        check_fields(setup, nodes);
    } catch (const std::runtime_error &wrong) {
        refuse(wrong.what());
    }
    if (setup.has_mobile_network()) check_mobile(setup.mobile_network());
    if (setup.has_abstract_network()) {
        const double most_ns = static_cast<double>(latest_ps()) / kPsPerNs / 2;
        check_quantiles("the delay", setup.abstract_network().delay_quantiles_ns(), most_ns);
        check_links(setup.abstract_network());
    }
    check_workload(setup.workload());
    check_instants("a scripted failure", setup.faults().time_ps());
    check_network_faults(setup.troubles(), nodes_of(setup));
    check_nodes(setup, nodes_of(setup));
}

void check_nodes(const Setup &setup, int32_t nodes) {
    const Workload &w = setup.workload();
    for (const int32_t node : numbers<int32_t>(w.script_node()))
        check_node("the workload broadcasts from", node, nodes);
    for (const double mean_ns : numbers<double>(w.segment_mean_ns())) {
        if (mean_ns > 0) check_node("the workload broadcasts from", w.first_node() + w.nodes() - 1, nodes);
    }
    for (const int32_t node : numbers<int32_t>(setup.faults().node())) {
        check_node("a failure is scripted for", node, nodes);
    }
}

// ---- answers ----

AnswerCheck::AnswerCheck() {
    held_.fill(0);
    held_[Operand::NODES] = held_[Operand::FIRST_MOVER] = Constant::MOST_NODES;
    held_[Operand::INTERFACES] = Interface::Value_descriptor()->value_count();
}

void AnswerCheck::expect_run(const Setup &setup) {
    held_[Operand::CHANNELS] = setup.channels_size();
    held_[Operand::TCP] = setup.has_mobile_network();
    if (setup.has_mobile_network()) held_[Operand::MOVERS] = setup.mobile_network().hosts();
    if (setup.own_network().moves()) held_[Operand::MOVERS] = setup.own_network().nodes();
    expect_nodes(nodes_of(setup));
}

void AnswerCheck::expect_nodes(int32_t nodes) {
    held_[Operand::NODES] = nodes > 0 ? nodes : Constant::MOST_NODES;
    held_[Operand::FIRST_MOVER] = held_[Operand::NODES] - held_[Operand::MOVERS];
}

void AnswerCheck::check(const Actions &answer, int64_t effect_ps) {
    const std::string damaged = damage(answer);
    if (!damaged.empty()) refuse("the controller's answer is damaged: " + damaged);
    held_[Operand::EARLIEST_PS] = effect_ps;
    for (size_t row = 0; row < answer.kind().size(); ++row) check_action(answer, row);
    for (size_t row = 0; row < answer.patient_topic().size(); ++row) check_lookahead(answer, row);
}

void AnswerCheck::check_action(const Actions &answer, size_t row) {
    const auto kind = at<uint8_t>(answer.kind(), row);
    const auto refuse_row = [&](const std::string &why) {
        refuse("action " + std::to_string(row) + " of window " + std::to_string(answer.number()) + " is wrong: " + why);
    };
    if (!Act::Value_IsValid(kind)) {
        refuse_row("kind " + std::to_string(kind) + " is unknown; allowed: " + kinds_of_actions());
    }
    held_[Operand::TIME_PS] = at<int64_t>(answer.time_ps(), row);
    held_[Operand::NODE] = at<int32_t>(answer.node(), row);
    held_[Operand::REF] = at<int64_t>(answer.ref(), row);
    held_[Operand::PEER] = at<int32_t>(answer.peer(), row);
    held_[Operand::SIZE_BYTES] = at<int32_t>(answer.size_bytes(), row);
    held_[Operand::INTERFACE] = at<uint8_t>(answer.interface(), row);
    held_[Operand::TOPIC] = answer.topic().empty() ? 0 : at<uint8_t>(answer.topic(), row);
    for (const Check &rule : rules_of_action(kind)) {
        if (rule.is_broken(held_)) refuse_row(rule.words(held_));
    }
    if (kind == Act::CONNECT) ++held_[Operand::CONNECTIONS];
}

void AnswerCheck::check_lookahead(const Actions &answer, size_t row) {
    held_[Operand::PATIENT_NODE] = at<int32_t>(answer.patient_node(), row);
    held_[Operand::PATIENT_TOPIC] = at<uint8_t>(answer.patient_topic(), row);
    held_[Operand::PATIENCE_PS] = at<int64_t>(answer.patience_ps(), row);
    for (const Check &rule : rules_of_lookahead()) {
        if (rule.is_broken(held_)) refuse(rule.words(held_));
    }
}

}  // namespace causeway

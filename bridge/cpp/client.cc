#include "bridge/cpp/client.h"

#include "causeway_schema.h"

namespace causeway {

const Setup &Client::hello(const std::string &engine, const std::string &engine_version) {
    Hello *hello = out_.mutable_hello();
    hello->set_contract(kContract);
    hello->set_schema_sha256(kSchemaSha256);
    hello->set_engine(engine);
    hello->set_engine_version(engine_version);
    channel_.send(out_);
    channel_.receive(&in_);
    expect(Frame::kSetup, "the setup of the run");
    setup_.Swap(in_.mutable_setup());
    if (setup_.contract() != kContract || setup_.schema_sha256() != kSchemaSha256) {
        fail("this edge was built from contract " + std::to_string(kContract) + " (schema " + std::string(kSchemaSha256, 12) +
             "), the controller speaks contract " + std::to_string(setup_.contract()) + " (schema " +
             setup_.schema_sha256().substr(0, 12) + "); rebuild the edge");
    }
    if (setup_.reaction_ps() <= 0) fail("the reaction time must be greater than 0");
    window_.configure(setup_.reaction_ps(), setup_.cap(), setup_.passive_kinds());
    return setup_;
}

size_t Client::exchange(int64_t next_ps) {
    Window *window = out_.mutable_window();
    if (begun_) {
        window_.close(within_run(next_ps), window);
    } else {
        window_.first(window);
        begun_ = true;
    }
    window_end_ps_ = window->end_ps();
    channel_.send(out_);
    if (!window->reply()) return 0;
    channel_.receive(&in_);
    expect(Frame::kActions, "the answer to a window");
    stopped_ = in_.actions().stop();
    const size_t rows = check_actions();
    take_topics(rows);
    take_promises();
    return rows;
}

void Client::take_topics(size_t rows) {
    const Actions &a = in_.actions();
    if (a.topic().empty()) return;
    if (a.topic().size() != rows) fail("the topics of the controller's answer are not as many as its actions");
    for (size_t i = 0; i < rows; ++i) {
        const uint8_t topic = at<uint8_t>(a.topic(), i);
        if (topic >= PatienceTable::kTopics) fail("there is no topic " + std::to_string(topic) + "; topics are 0 to 15");
        if (topic > 0) window_.patience().sent(at<int64_t>(a.ref(), i), topic);
    }
}

void Client::take_promises() {
    const Actions &a = in_.actions();
    const size_t promises = a.patient_topic().size();
    if (promises == 0) return;
    if (a.patient_node().size() != promises * 4 || a.patience_ps().size() != promises * 8) {
        fail("the promises of the controller's answer differ in length");
    }
    for (size_t i = 0; i < promises; ++i) {
        const int32_t node = at<int32_t>(a.patient_node(), i);
        const uint8_t topic = at<uint8_t>(a.patient_topic(), i);
        if (node < 0 || topic == 0 || topic >= PatienceTable::kTopics) {
            fail("a node can promise patience for topics 1 to 15, not for " + std::to_string(topic) + " (node " + std::to_string(node) + ")");
        }
        window_.patience().promise(node, topic, at<int64_t>(a.patience_ps(), i));
    }
    window_.look_again();
}

// Every column has as many rows as the kinds, the answer belongs to the window, nothing is in effect too early.
size_t Client::check_actions() {
    const Actions &a = in_.actions();
    const size_t rows = a.kind().size();
    if (a.number() != out_.window().number()) {
        fail("the controller answered window " + std::to_string(a.number()) + " instead of " + std::to_string(out_.window().number()));
    }
    if (a.time_ps().size() != rows * 8 || a.node().size() != rows * 4 || a.ref().size() != rows * 8 ||
        a.peer().size() != rows * 4 || a.size_bytes().size() != rows * 4 || a.interface().size() != rows) {
        fail("the columns of the controller's answer differ in length");
    }
    for (size_t i = 0; i < rows; ++i) {
        if (at<int64_t>(a.time_ps(), i) < window_end_ps_) {
            fail("action " + std::to_string(i) + " of window " + std::to_string(a.number()) + " takes effect at " +
                 std::to_string(at<int64_t>(a.time_ps(), i)) + " ps, before the window's end at " + std::to_string(window_end_ps_) + " ps");
        }
    }
    return rows;
}

Action Client::action(size_t i) const {
    const Actions &a = in_.actions();
    return {static_cast<Act>(at<uint8_t>(a.kind(), i)), at<uint8_t>(a.interface(), i), at<int32_t>(a.node(), i),
            at<int32_t>(a.peer(), i), at<int32_t>(a.size_bytes(), i), at<int64_t>(a.time_ps(), i), at<int64_t>(a.ref(), i)};
}

void Client::expect(Frame::BodyCase body, const char *what) {
    if (in_.body_case() == Frame::kError) channel_.give_up("the controller ended the run: " + in_.error().what());
    if (in_.body_case() != body) fail(std::string("expected ") + what + " from the controller, got another frame");
}

void Client::finish(const std::string &reason, int64_t end_ps, uint64_t events, const std::vector<Measured> &scalars) {
    Finish *finish = out_.mutable_finish();
    finish->set_reason(reason);
    finish->set_end_ps(end_ps);
    finish->set_events(events);
    for (const Measured &m : scalars) {
        Scalar *scalar = finish->add_scalars();
        scalar->set_module(m.module);
        scalar->set_name(m.name);
        scalar->set_value(m.value);
    }
    channel_.send(out_);
    channel_.close();
}

void Client::fail(const std::string &why) {
    out_.mutable_error()->set_what(why);
    channel_.send(out_);
    channel_.close();
    channel_.give_up(why);
}

}  // namespace causeway

#include "bridge/cpp/client.h"

#include "causeway_schema.h"

namespace causeway {

const Setup &Client::hello(const std::string &engine, const std::string &engine_version) {
    Hello *hello = out_.mutable_hello();
    hello->set_contract(Constant::CONTRACT);
    hello->set_schema_sha256(kSchemaSha256);
    hello->set_engine(engine);
    hello->set_engine_version(engine_version);
    channel_.introduce(out_, &in_);
    expect(Frame::kSetup, "the setup of the run");
    setup_.Swap(in_.mutable_setup());
    if (setup_.contract() != Constant::CONTRACT || setup_.schema_sha256() != kSchemaSha256) {
        fail("this adapter was built from contract " + std::to_string(int{Constant::CONTRACT}) + " (schema " +
             std::string(kSchemaSha256, 12) + "), the controller speaks contract " + std::to_string(setup_.contract()) +
             " (schema " + setup_.schema_sha256().substr(0, 12) + "); rebuild the adapter");
    }
    try {
        check_setup(setup_);
    } catch (const Refused &refused) {
        fail(refused.what());
    }
    check_.expect_run(setup_);
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
    channel_.send(out_);
    return window->reply() ? take_answer() : 0;
}

size_t Client::take_answer() {
    const auto began = Clock::now();
    channel_.receive(&in_);
    waited_ += Clock::now() - began;
    expect(Frame::kActions, "the answer to a window");
    stopped_ = in_.actions().stop();
    const uint64_t number = last_window().number();
    if (in_.actions().number() != number) {
        fail("the controller answered window " + std::to_string(in_.actions().number()) + " instead of " +
             std::to_string(number));
    }
    try {
        check_.check(in_.actions(), last_window().end_ps());
    } catch (const Refused &refused) {
        fail(refused.what());
    }
    take_topics();
    take_lookaheads();
    return in_.actions().kind().size();
}

void Client::take_topics() {
    const Actions &a = in_.actions();
    for (size_t i = 0, rows = a.topic().size(); i < rows; ++i) {
        const uint8_t topic = at<uint8_t>(a.topic(), i);
        if (topic > 0) window_.lookahead().sent(at<int64_t>(a.ref(), i), topic);
    }
}

void Client::take_lookaheads() {
    const Actions &a = in_.actions();
    const size_t promises = a.patient_topic().size();
    for (size_t i = 0; i < promises; ++i) {
        window_.lookahead().declare(at<int32_t>(a.patient_node(), i), at<uint8_t>(a.patient_topic(), i),
                                    at<int64_t>(a.patience_ps(), i));
    }
    if (promises > 0) window_.update_horizon();
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
    finish->set_waited_ns(std::chrono::nanoseconds(waited_).count());
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

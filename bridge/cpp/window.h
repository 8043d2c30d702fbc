// Collects events until their window must close; the rules are those of bridge/engine.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bridge/cpp/columns.h"
#include "bridge/cpp/contract.h"
#include "bridge/cpp/lookahead.h"
#include "causeway.pb.h"

namespace causeway {

class WindowBuilder {
  public:
    struct Row {
        int64_t time_ps;
        int64_t ref;
        int32_t node;
        int32_t arg;
        int32_t z_mm;
        uint8_t kind;
    };

    // The maximum number of events of a window, even without a cap, so that memory is bounded.
    static constexpr size_t kMostRows = 1 << 16;
    // One in this number of windows wants a reply even if all events are passive. This keeps an adapter from running
    // far ahead, and below the socket's high-water mark, beyond which libzmq drops frames that it has not read when a
    // peer closes.
    static constexpr int kMostUnanswered = 8;

    void configure(int64_t reaction_ps, uint32_t cap, uint32_t passive_kinds) {
        reaction_ps_ = reaction_ps;
        cap_ = cap > 0 ? std::min<size_t>(cap, kMostRows) : kMostRows;
        passive_kinds_ = passive_kinds;
    }

    // Adds an event. Times must not decrease.
    void event(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg, int32_t z_mm) {
        if (time_ps < last_ps_) throw std::logic_error("causeway: an event was reported after a later one");
        if ((kind == Kind::ARRIVAL || kind == Kind::LOST) && lookahead_.of(node, ref) == Constant::IGNORED) return;
        last_ps_ = time_ps;
        rows_.push_back({time_ps, ref, node, arg, z_mm, static_cast<uint8_t>(kind)});
        horizon_ps_ = std::min(horizon_ps_, deadline_ps(rows_.back()));
    }

    // The topics of packets and the lookaheads of nodes. Call `update_horizon` after a change of a lookahead.
    LookaheadTable &lookahead() { return lookahead_; }
    void update_horizon() { keep_from(0); }

    // Returns the first instant at which an action may answer the events. The simulator must not reach it before the
    // window is sent.
    int64_t horizon_ps() const { return horizon_ps_; }

    // Returns whether the window has as many events as the cap allows.
    bool full() const { return rows_.size() >= cap_; }

    // Returns whether the window must close before the simulator continues to next_ps (kNever: no events are left).
    bool must_close(int64_t next_ps) const {
        if (next_ps >= horizon_ps_ && horizon_ps_ != kNever) return true;
        if (rows_.empty() || next_ps == last_ps_) return false;
        return next_ps == kNever || full();
    }

    // Moves the events before the window's end into `window`, in canonical order, and begins the next window.
    void close(int64_t next_ps, Window *window) {
        const bool active = horizon_ps_ != kNever;
        const int64_t end_ps = !active || next_ps < horizon_ps_ ? last_ps_ + 1 : horizon_ps_;
        sort_ties();
        size_t count = rows_.size();
        while (count > 0 && rows_[count - 1].time_ps >= end_ps) --count;
        write(count, window);
        window->set_number(number_++);
        window->set_end_ps(end_ps);
        unanswered_ = active || unanswered_ + 1 == kMostUnanswered ? 0 : unanswered_ + 1;
        window->set_reply(unanswered_ == 0);
        keep_from(count);
    }

    // Makes window 0: it is empty, ends at 0 and wants a reply.
    void first(Window *window) {
        window->set_number(number_++);
        window->set_end_ps(0);
        window->set_reply(true);
    }

  private:
    std::vector<Row> rows_;
    int64_t reaction_ps_ = 1;
    size_t cap_ = kMostRows;
    uint32_t passive_kinds_ = 0;
    uint64_t number_ = 0;
    int unanswered_ = 0;
    int64_t last_ps_ = 0;
    int64_t horizon_ps_ = kNever;
    LookaheadTable lookahead_;

    // Returns the first instant at which an action may answer an event.
    int64_t deadline_ps(const Row &row) const {
        if (passive_kinds_ >> row.kind & 1) return kNever;
        const int64_t lookahead_ps = row.kind == Kind::ARRIVAL ? lookahead_.of(row.node, row.ref) : 0;
        const int64_t wait_ps = std::max(reaction_ps_, lookahead_ps);
        return wait_ps < kNever - row.time_ps ? row.time_ps + wait_ps : kNever;
    }

    // Sorts rows of one instant by (kind, node, ref). Rows are already in order of time.
    void sort_ties() {
        const auto canonical = [](const Row &a, const Row &b) {
            return std::tie(a.kind, a.node, a.ref) < std::tie(b.kind, b.node, b.ref);
        };
        for (size_t i = 0; i < rows_.size();) {
            size_t j = i + 1;
            while (j < rows_.size() && rows_[j].time_ps == rows_[i].time_ps) ++j;
            if (j - i > 1) std::stable_sort(rows_.begin() + i, rows_.begin() + j, canonical);
            i = j;
        }
    }

    template <class T, class Get>
    void fill(std::string *bytes, size_t count, Get get) {
        bytes->resize(count * sizeof(T));
        char *to = bytes->empty() ? nullptr : &(*bytes)[0];
        for (size_t i = 0; i < count; ++i) {
            const T value = get(rows_[i]);
            std::memcpy(to + i * sizeof(T), &value, sizeof(T));
        }
    }

    void write(size_t count, Window *window) {
        fill<uint8_t>(window->mutable_kind(), count, [](const Row &r) { return r.kind; });
        fill<int64_t>(window->mutable_time_ps(), count, [](const Row &r) { return r.time_ps; });
        fill<int32_t>(window->mutable_node(), count, [](const Row &r) { return r.node; });
        fill<int64_t>(window->mutable_ref(), count, [](const Row &r) { return r.ref; });
        fill<int32_t>(window->mutable_arg(), count, [](const Row &r) { return r.arg; });
        const bool flat = std::all_of(rows_.begin(), rows_.begin() + count, [](const Row &r) { return r.z_mm == 0; });
        fill<int32_t>(window->mutable_z_mm(), flat ? 0 : count, [](const Row &r) { return r.z_mm; });
    }

    // Drops the events that were sent. Those at or after the window's end stay for the next one (a simulator may finish
    // an instant before it stops).
    void keep_from(size_t count) {
        rows_.erase(rows_.begin(), rows_.begin() + count);
        horizon_ps_ = kNever;
        for (const Row &row : rows_) horizon_ps_ = std::min(horizon_ps_, deadline_ps(row));
    }
};

}  // namespace causeway

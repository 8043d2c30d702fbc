// Reports the nearest station of every host, and its changes.
#pragma once

#include <functional>
#include <vector>

#include "bridge/cpp/cells.h"
#include "inet/mobility/contract/IMobility.h"

namespace causeway {

class Adapter;

class StationWatcher : public omnetpp::cSimpleModule {
  public:
    // Makes every change call `call(node, station)`.
    void onChange(std::function<void(int, int)> call) { calls_.push_back(call); }

    // Starts the checks when a host that stood until now begins to move.
    void somebodyMoves();

    ~StationWatcher() override {
        cancelAndDelete(timer_);
        cancelAndDelete(place_timer_);
    }

  protected:
    struct Walker {
        int node;
        inet::IMobility *mobility;
        int station = -1;
    };

    Cells cells_;
    bool moving_ = false;  // true if any node can move
    omnetpp::simtime_t check_every_, position_every_;
    omnetpp::simtime_t places_every_;  // for the recorded positions; 0: never
    std::vector<Walker> walkers_;
    std::vector<Walker> all_;  // stations, too
    std::vector<std::function<void(int, int)>> calls_;
    Adapter *adapter_ = nullptr;
    omnetpp::cMessage *timer_ = nullptr, *place_timer_ = nullptr;

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;
    void findNodes();
    // Checks for changes of the nearest station, and reports them, or all positions.
    void look(bool check, bool report_all);
    void tellPlaces();
    void scheduleNext(omnetpp::cMessage *timer, omnetpp::simtime_t every);
    bool isMultipleOf(omnetpp::simtime_t every) const;
    omnetpp::simtime_t nextMultipleOf(omnetpp::simtime_t every) const;
};

}  // namespace causeway

// Which station is nearest to every host, and when that changes.
#pragma once

#include <functional>
#include <vector>

#include "inet/mobility/contract/IMobility.h"

namespace causeway {

class Edge;

class StationWatcher : public omnetpp::cSimpleModule {
  public:
    // Calls `tell(node, station)` whenever it changes.
    void onChange(std::function<void(int, int)> tell) { tellees.push_back(tell); }

    ~StationWatcher() override { cancelAndDelete(timer); }

  protected:
    struct Walker {
        int node;
        inet::IMobility *mobility;
        int station = -1;
    };

    double cellRadius = 0;
    bool moving = false;  // whether anybody can move
    omnetpp::simtime_t checkEvery, positionEvery;
    std::vector<inet::Coord> stations;
    std::vector<Walker> walkers;
    std::vector<std::function<void(int, int)>> tellees;
    Edge *edge = nullptr;
    omnetpp::cMessage *timer = nullptr;

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;
    void findNodes();
    void look(bool tellAll);
};

}  // namespace causeway

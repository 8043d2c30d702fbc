// INET 4.7: names and calls that differ between the versions of INET.
#pragma once

#include <cstdint>

#include "inet/physicallayer/wireless/common/contract/packetlevel/IReception.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/ITransmission.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"
#include "inet/transportlayer/tcp/Tcp.h"

namespace causeway {

// Returns the radio that sent a transmission.
inline const inet::physicallayer::IRadio *radio_of(const inet::physicallayer::ITransmission *transmission) {
    return transmission->getTransmitterRadio();
}

// Returns the radio at which a transmission was received.
inline const inet::physicallayer::IRadio *radio_of(const inet::physicallayer::IReception *reception) {
    return reception->getReceiverRadio();
}

// Has TCP keep the data that arrives at a socket, which is not open yet, until the program reads it. A socket that
// listens passes this on to those it accepts.
inline void keep_data(inet::tcp::Tcp &, inet::TcpSocket &socket) { socket.setAutoRead(false); }

// Returns whether a message says that TCP keeps new data for a socket: TCP sends none.
inline bool tells_of_data(const omnetpp::cMessage *) { return false; }

// Has TCP pass on all data that it keeps for a socket: sockets that do not read get it at once.
inline void take_all(inet::TcpSocket &) {}

// Has TCP pass on data that the program has read.
inline void take_read(inet::TcpSocket &socket, int64_t bytes, bool) {
    if (bytes > 0) socket.read(static_cast<int32_t>(bytes));
}

}  // namespace causeway

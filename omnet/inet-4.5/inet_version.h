// INET 4.5: names and calls that differ between the versions of INET.
#pragma once

#include <cstdint>

#include "inet/common/packet/Message.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IReception.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/ITransmission.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"
#include "inet/transportlayer/tcp/Tcp.h"

namespace causeway {

// Returns the radio that sent a transmission.
inline const inet::physicallayer::IRadio *radio_of(const inet::physicallayer::ITransmission *transmission) {
    return transmission->getTransmitter();
}

// Returns the radio at which a transmission was received.
inline const inet::physicallayer::IRadio *radio_of(const inet::physicallayer::IReception *reception) {
    return reception->getReceiver();
}

// Has TCP keep the data that arrives at a socket, which is not open yet, until the program reads it. TCP knows this
// for all sockets of a node or for none.
inline void keep_data(inet::tcp::Tcp &tcp, inet::TcpSocket &) { tcp.useDataNotification = true; }

// Returns whether a message says that TCP keeps new data for a socket.
inline bool tells_of_data(const omnetpp::cMessage *message) {
    return message->getKind() == inet::TCP_I_DATA_NOTIFICATION;
}

// Has TCP pass on all data that it keeps for a socket.
inline void take_all(inet::TcpSocket &socket) { socket.sendCommand(new inet::Request("READ", inet::TCP_C_READ)); }

// Has TCP pass on data that the program has read; `last` is true if it has read all that arrived. TCP passes on all its
// data or none: it is asked once all was read.
inline void take_read(inet::TcpSocket &socket, int64_t bytes, bool last) {
    if (bytes > 0 && last) take_all(socket);
}

}  // namespace causeway

// A bare ZeroMQ peer: answers every message with one of the size given. Nothing of the bridge is in it.
#include <zmq.h>

#include <cstdlib>
#include <vector>

int main(int, char **argv) {
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_PAIR);
    zmq_connect(socket, argv[1]);
    std::vector<char> answer(std::atoi(argv[2]), 'x');
    char question[1 << 16];
    while (zmq_recv(socket, question, sizeof question, 0) > 0) zmq_send(socket, answer.data(), answer.size(), 0);
    zmq_close(socket);
    zmq_ctx_term(context);
}

#include "ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace heat {
namespace {

void check(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw std::runtime_error(std::string(call) + ": " + text);
}

} // namespace

Ranks::Ranks(int* argc, char*** argv) {
    int level = 0;
    check(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_SERIALIZED)
        abort("this MPI allows calls by the main thread only, and host nodes have another");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_), "MPI_Comm_size");
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(here, &local_), "MPI_Comm_rank");
    MPI_Comm_free(&here);
}

Ranks::~Ranks() {
    MPI_Finalize();
}

void Ranks::exchange(std::span<const float> send, std::span<float> receive) const {
    const int above = rank_ == 0 ? MPI_PROC_NULL : rank_ - 1;
    const int below = rank_ == count_ - 1 ? MPI_PROC_NULL : rank_ + 1;
    const std::size_t half = send.size() / 2;
    const int length = static_cast<int>(half);
    const auto swap = [&](std::size_t sent, int to, std::size_t received, int from) {
        check(MPI_Sendrecv(send.data() + sent, length, MPI_FLOAT, to, 0, receive.data() + received, length, MPI_FLOAT,
                           from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
    };
    swap(0, above, half, below);
    swap(half, below, 0, above);
}

float Ranks::largest(float mine) const {
    float all = 0;
    check(MPI_Allreduce(&mine, &all, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    return all;
}

double Ranks::largest(double mine) const {
    double all = 0;
    check(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    return all;
}

std::vector<float> Ranks::gather(std::span<const float> mine) const {
    const int size = static_cast<int>(mine.size());
    std::vector<int> sizes(static_cast<std::size_t>(count_));
    check(MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
    std::vector<int> begins(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::vector<float> all(static_cast<std::size_t>(std::reduce(sizes.begin(), sizes.end())));
    check(MPI_Gatherv(mine.data(), size, MPI_FLOAT, all.data(), sizes.data(), begins.data(), MPI_FLOAT, 0,
                      MPI_COMM_WORLD),
          "MPI_Gatherv");
    return all;
}

// gather begins
cudag::AllGather Ranks::all_gather() const {
    return [](std::span<const std::byte> mine, std::span<std::byte> all) {
        const int bytes = static_cast<int>(mine.size());
        check(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Allgather");
    };
}
// gather ends

void Ranks::broadcast(std::span<char> bytes) const {
    check(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
}

void Ranks::abort(const std::string& reason) const {
    std::fprintf(stderr, "heat: rank %d: %s\n", rank_, reason.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

} // namespace heat

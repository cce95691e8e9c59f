// apply: compact
// Restructured by hand: a queue of the block, filled warp by warp.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        const cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

__global__ void refine(const float *__restrict__ x, const int *__restrict__ tag, float *__restrict__ y, int n)
{
    __shared__ int queue[256];
    __shared__ int length;
    if (threadIdx.x == 0)
        length = 0;
    __syncthreads();
    const int own = blockIdx.x * blockDim.x + threadIdx.x;
    const bool wanted = own < n && tag[own] % 32 == 3;
    const unsigned votes = __ballot_sync(0xffffffffu, wanted);
    const int lane = threadIdx.x & 31;
    int first = 0;
    if (lane == 0 && votes != 0)
        first = atomicAdd(&length, __popc(votes));
    first = __shfl_sync(0xffffffffu, first, 0);
    if (wanted)
        queue[first + __popc(votes & ((1u << lane) - 1u))] = own;
    __syncthreads();
    if (threadIdx.x < length) {
        const int i = queue[threadIdx.x];
        float v = x[i];
        for (int k = 0; k < 256; ++k)
            v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
        y[i] = v;
    }
}

void run(const float *x, const int *tag, float *y, int n, cudaStream_t stream)
{
    refine<<<(n + 255) / 256, 256, 0, stream>>>(x, tag, y, n);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const bool small = argc > 2 && std::strcmp(argv[2], "small") == 0;
    const int n = small ? 10007 : 1 << 22;
    std::vector<float> x(n);
    std::vector<int> tag(n);
    unsigned state = 2463534242u;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) / (float)(1 << 24);
        state = state * 1664525u + 1013904223u;
        tag[i] = (int)(state >> 16);
    }
    float *d_x, *d_y;
    int *d_tag;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMalloc(&d_tag, n * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_tag, tag.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!small) {
        for (int k = 0; k < 3; ++k)
            run(d_x, d_tag, d_y, n, 0);
        CHECK(cudaDeviceSynchronize());
        const int rounds = 15;
        std::vector<cudaEvent_t> begin(rounds), end(rounds);
        std::vector<float> times(rounds);
        for (int k = 0; k < rounds; ++k) {
            CHECK(cudaEventCreate(&begin[k]));
            CHECK(cudaEventCreate(&end[k]));
        }
        for (int k = 0; k < rounds; ++k) {
            CHECK(cudaEventRecord(begin[k], 0));
            run(d_x, d_tag, d_y, n, 0);
            CHECK(cudaEventRecord(end[k], 0));
        }
        CHECK(cudaDeviceSynchronize());
        for (int k = 0; k < rounds; ++k)
            CHECK(cudaEventElapsedTime(&times[k], begin[k], end[k]));
        std::sort(times.begin(), times.end());
        std::printf("time_us=%.3f\n", times[rounds / 2] * 1000.0f);
    }

    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    run(d_x, d_tag, d_y, n, 0);
    std::vector<float> y(n);
    CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    FILE *file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
    if (file != nullptr) {
        std::fwrite(y.data(), sizeof(float), n, file);
        std::fclose(file);
    }
    return 0;
}

// apply: compact:grid --even-if-it-loses
// Restructured by hand: a pass that gathers indices, and a kernel over them.
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

// All threads do the light part; the indices of the others are gathered, one atomic a block.
__global__ void refine_light(const float *__restrict__ level, const unsigned *__restrict__ tag, float *__restrict__ out, int n, int *list, int *length)
{
    __shared__ int warp_total[32];
    __shared__ int base;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool heavy = false;
    if (i < n) {
        heavy = tag[i] % 2 == 1;
        if (!heavy)
            out[i] = level[i];
    }
    const unsigned ballot = __ballot_sync(0xffffffffu, heavy);
    if (lane == 0)
        warp_total[warp] = __popc(ballot);
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int t = warp_total[w];
            warp_total[w] = total;
            total += t;
        }
        base = total == 0 ? 0 : atomicAdd(length, total);
    }
    __syncthreads();
    if (heavy)
        list[base + warp_total[warp] + __popc(ballot & ((1u << lane) - 1))] = i;
}

__global__ void refine_heavy(const float *__restrict__ level, float *__restrict__ out, const int *__restrict__ list, const int *__restrict__ length)
{
    const int m = *length;
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < m; j += gridDim.x * blockDim.x) {
        const int i = list[j];
        float a = level[i];
        for (int k = 0; k < 16; ++k)
            a = a * 0.9375f + sqrtf(a * a + 0.25f) * 0.0625f;
        out[i] = a;
    }
}

void run(const float *level, const unsigned *tag, float *out, int n, cudaStream_t stream)
{
    const int blocks = (n + 255) / 256;
    int *list, *length;
    CHECK(cudaMallocAsync(&list, n * sizeof(int), stream));
    CHECK(cudaMallocAsync(&length, sizeof(int), stream));
    CHECK(cudaMemsetAsync(length, 0, sizeof(int), stream));
    refine_light<<<blocks, 256, 0, stream>>>(level, tag, out, n, list, length);
    refine_heavy<<<std::min(blocks, 1056), 256, 0, stream>>>(level, out, list, length);
    CHECK(cudaGetLastError());
    CHECK(cudaFreeAsync(length, stream));
    CHECK(cudaFreeAsync(list, stream));
}

int main(int argc, char **argv)
{
    const bool small = argc > 2 && std::strcmp(argv[2], "small") == 0;
    const int n = small ? 10007 : 1 << 22;
    std::vector<float> level(n);
    std::vector<unsigned> tag(n);
    unsigned state = 12345u;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        level[i] = (float)(state >> 8) / (float)(1 << 24);
        state = state * 1664525u + 1013904223u;
        tag[i] = state >> 16;
    }
    float *d_level, *d_out;
    unsigned *d_tag;
    CHECK(cudaMalloc(&d_level, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMalloc(&d_tag, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_level, level.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_tag, tag.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, n * sizeof(float)));
    if (!small) {
        for (int k = 0; k < 3; ++k)
            run(d_level, d_tag, d_out, n, 0);
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
            run(d_level, d_tag, d_out, n, 0);
            CHECK(cudaEventRecord(end[k], 0));
        }
        CHECK(cudaDeviceSynchronize());
        for (int k = 0; k < rounds; ++k)
            CHECK(cudaEventElapsedTime(&times[k], begin[k], end[k]));
        std::sort(times.begin(), times.end());
        std::printf("time_us=%.3f\n", times[rounds / 2] * 1000.0f);
    }

    CHECK(cudaMemset(d_out, 0, n * sizeof(float)));
    run(d_level, d_tag, d_out, n, 0);
    std::vector<float> out(n);
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    FILE *file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
    if (file != nullptr) {
        std::fwrite(out.data(), sizeof(float), n, file);
        std::fclose(file);
    }
    return 0;
}

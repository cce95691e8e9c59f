// apply: split
// A mode that streams, in one of 16 launches beside a mode that keeps 80 values in registers: few warps do not keep memory busy.
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

__global__ void link(const float *__restrict__ x, float *__restrict__ y, int n, bool smooth)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // divmod: p=0.0625
    if (smooth) {
        float w[80];
        for (int k = 0; k < 80; ++k)
            w[k] = x[(i + k) % n];
        for (int r = 0; r < 2; ++r)
            for (int k = 0; k < 40; ++k)
                w[k] = w[k] * 0.5f + w[79 - k] * 0.25f;
        float sum = 0.0f;
        for (int k = 0; k < 80; ++k)
            sum += w[k] * w[79 - k];
        y[i] = sum;
    } else {
        y[i] = x[i] * 0.5f + 1.0f;
    }
}

void run(const float *x, float *y, int n, cudaStream_t stream)
{
    for (int round = 0; round < 16; ++round)
        link<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n, round == 0);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const bool small = argc > 2 && std::strcmp(argv[2], "small") == 0;
    const int n = small ? 10240 : 1 << 22;
    std::vector<float> x(n);
    unsigned state = 12345u;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) / (float)(1 << 24);
    }
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!small) {
        for (int k = 0; k < 3; ++k)
            run(d_x, d_y, n, 0);
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
            run(d_x, d_y, n, 0);
            CHECK(cudaEventRecord(end[k], 0));
        }
        CHECK(cudaDeviceSynchronize());
        for (int k = 0; k < rounds; ++k)
            CHECK(cudaEventElapsedTime(&times[k], begin[k], end[k]));
        std::sort(times.begin(), times.end());
        std::printf("time_us=%.3f\n", times[rounds / 2] * 1000.0f);
    }

    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    run(d_x, d_y, n, 0);
    std::vector<float> y(n);
    CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    FILE *file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
    if (file != nullptr) {
        std::fwrite(y.data(), sizeof(float), n, file);
        std::fclose(file);
    }
    return 0;
}

// apply: compact:loop --even-if-it-loses
// Half the lanes have four long steps in an iteration: too short to be put off.
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

__global__ void march(const float *__restrict__ in, float *__restrict__ out, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float total = 0.0f;
    for (int k = 0; k < steps; ++k) {
        float v = in[(size_t)k * n + i];
        if (v < 0.5f) {  // divmod: p=0.5
            for (int s = 0; s < 4; ++s)
                v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
            total = total * 0.5f + v;
        }
    }
    out[i] = total;
}

void run(const float *in, float *out, int n, int steps, cudaStream_t stream)
{
    march<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n, steps);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const bool small = argc > 2 && std::strcmp(argv[2], "small") == 0;
    const int n = small ? 1000 : 1 << 18, steps = small ? 20 : 256;
    const size_t count = (size_t)n * steps, results = n;
    std::vector<float> in(count);
    unsigned state = 12345u;
    for (size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        in[i] = (float)(state >> 8) / (float)(1 << 24);
    }
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, count * sizeof(float)));
    CHECK(cudaMalloc(&d_out, results * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, results * sizeof(float)));
    if (!small) {
        for (int k = 0; k < 3; ++k)
            run(d_in, d_out, n, steps, 0);
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
            run(d_in, d_out, n, steps, 0);
            CHECK(cudaEventRecord(end[k], 0));
        }
        CHECK(cudaDeviceSynchronize());
        for (int k = 0; k < rounds; ++k)
            CHECK(cudaEventElapsedTime(&times[k], begin[k], end[k]));
        std::sort(times.begin(), times.end());
        std::printf("time_us=%.3f\n", times[rounds / 2] * 1000.0f);
    }

    CHECK(cudaMemset(d_out, 0, results * sizeof(float)));
    run(d_in, d_out, n, steps, 0);
    std::vector<float> out(results);
    CHECK(cudaMemcpy(out.data(), d_out, results * sizeof(float), cudaMemcpyDeviceToHost));
    FILE *file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
    if (file != nullptr) {
        std::fwrite(out.data(), sizeof(float), results, file);
        std::fclose(file);
    }
    return 0;
}

#!/usr/bin/env node
/**
 * Writes a program that runs conformance.cu on a device with the inputs of conformance-inputs.mjs in a file beside it.
 *
 *   node bench/gpu/conformance-generate.mjs OUT
 *   nvcc -arch=native -fmad=false OUT/conformance-main.cu -o OUT/conformance && OUT/conformance OUT/conformance.in OUT/conformance.bin
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROWS, float32, float64, int32, int64 } from './conformance-inputs.mjs';

const out = path.resolve(process.argv[2] ?? 'agree');
mkdirSync(out, { recursive: true });
const rows = Array.from({ length: ROWS }, (_, i) => i);
writeFileSync(path.join(out, 'conformance.in'), Buffer.concat([
  ...[0, 1].map((b) => Int32Array.from(rows, (i) => int32(b, i))), ...[0, 1].map((b) => BigInt64Array.from(rows, (i) => int64(b, i))),
  ...[0, 1, 2].map((b) => Float32Array.from(rows, (i) => float32(b, i))), ...[0, 1, 2].map((b) => Float64Array.from(rows, (i) => float64(b, i))),
].map((a) => Buffer.from(a.buffer))));
copyFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'conformance.cu'), path.join(out, 'conformance.cu'));
writeFileSync(path.join(out, 'conformance-main.cu'), `#include <cstdio>
#include <vector>
#include "conformance.cu"
template <typename T> T *device(const void *from, size_t count) { T *p; cudaMalloc(&p, count * sizeof(T)); if (from) cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyHostToDevice); else cudaMemset(p, 0, count * sizeof(T)); return p; }
template <typename T> T *next(FILE *f, size_t count) { std::vector<T> v(count); if (fread(v.data(), sizeof(T), count, f) != count) printf("short input\\n"); return device<T>(v.data(), count); }
template <typename T> void save(FILE *f, const T *p, size_t count) { std::vector<T> v(count); cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost); fwrite(v.data(), sizeof(T), count, f); }
int main(int, char **argv)
{
    const int n = ${ROWS};
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    int *ia = next<int>(in, n), *ib = next<int>(in, n);
    long long *la = next<long long>(in, n), *lb = next<long long>(in, n);
    float *fa = next<float>(in, n), *fb = next<float>(in, n), *fc = next<float>(in, n);
    double *da = next<double>(in, n), *db = next<double>(in, n), *dc = next<double>(in, n);
    int *oi = device<int>(0, n * 48), *q = device<int>(0, n * 32), *qd = device<int>(0, n * 8), *ol = device<int>(0, n * 32);
    std::vector<int> seed(n * 32, 0), first(n);
    cudaMemcpy(first.data(), ia, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) seed[i * 32] = first[i];
    cudaMemcpy(q, seed.data(), n * 32 * 4, cudaMemcpyHostToDevice);
    long long *oll = device<long long>(0, n * 32);
    float *of = device<float>(0, n * 64);
    double *od = device<double>(0, n * 32);
    integers<<<n / 128, 128>>>(ia, ib, oi, n);
    longs<<<n / 128, 128>>>(la, lb, oll, n);
    floats<<<n / 128, 128>>>(fa, fb, fc, of, q, n);
    doubles<<<n / 128, 128>>>(da, db, dc, od, qd, n);
    lanes<<<n / 128, 128>>>(ia, fa, ol);
    printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
    save(out, oi, n * 48); save(out, oll, n * 32); save(out, of, n * 64); save(out, q, n * 32); save(out, od, n * 32); save(out, qd, n * 8); save(out, ol, n * 32);
    fclose(out);
    return 0;
}
`);
console.log(`wrote ${out}`);

#!/usr/bin/env node
/**
 * Writes CUDA programs that run generated kernels on a device and store what they wrote, for agree-compare.mjs.
 *
 *   node bench/gpu/agree-generate.mjs OUT [--count 300] [--first 0] [--files 12]
 *   nvcc -arch=native -fmad=false OUT/agree-*.cu -o OUT/agree && OUT/agree OUT/results.bin
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { streamFromSeed } from '../../dist/src/generate/choices.js';
import { kernelFrom } from '../../dist/src/generate/kernel.js';
import { HOST_INPUTS } from './inputs.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '300' }, first: { type: 'string', default: '0' }, files: { type: 'string', default: '12' } },
});
const out = path.resolve(positionals[0] ?? 'agree');
const count = Number(values.count);
const first = Number(values.first);
const files = Number(values.files);
mkdirSync(out, { recursive: true });

const kernels = Array.from({ length: count }, (_, k) => ({ seed: first + k, kernel: kernelFrom(streamFromSeed(first + k, 160)) }));
const chunk = Math.ceil(count / files);
for (let f = 0; f < files; f++) {
  const part = kernels.slice(f * chunk, (f + 1) * chunk).map(({ seed, kernel }) => {
    const { n, scalars: s } = kernel;
    const body = kernel.source.split('\n').filter((line) => !line.startsWith('#include')).join('\n');
    return `namespace k${seed} {\n${body}\n}\nvoid run_${seed}(const float *in, const int *key, const int *lut, float *out, int *outi, int *total)\n{\n` +
      `    k${seed}::launch(in, key, lut, out, outi, total, ${n}, ${s.m}, ${s.mode}, ${s.flag}, ${s.w}f);\n}\n`;
  });
  writeFileSync(path.join(out, `agree-${f}.cu`), `#include <cuda_runtime.h>\n${part.join('\n')}`);
}

const elements = kernels[0]?.kernel.elements ?? 4096;
writeFileSync(path.join(out, 'agree-main.cu'), `// Writes, for each kernel, its seed and the bytes of out, outi and total.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
${HOST_INPUTS}
typedef void (*Run)(const float *, const int *, const int *, float *, int *, int *);
${kernels.map(({ seed }) => `void run_${seed}(const float *, const int *, const int *, float *, int *, int *);`).join('\n')}
static const struct { unsigned seed; Run run; } table[] = {
${kernels.map(({ seed }) => `    { ${seed}u, run_${seed} },`).join('\n')}
};
int main(int argc, char **argv)
{
    const size_t elements = ${elements};
    FILE *file = fopen(argc > 1 ? argv[1] : "results.bin", "wb");
    std::vector<float> in(elements); std::vector<int> key(elements), lut(8);
    float *din, *dout; int *dkey, *dlut, *douti, *dtotal;
    cudaMalloc(&din, elements * 4); cudaMalloc(&dout, elements * 4); cudaMalloc(&dkey, elements * 4);
    cudaMalloc(&dlut, 32); cudaMalloc(&douti, elements * 4); cudaMalloc(&dtotal, 32);
    std::vector<unsigned> back(elements * 2 + 8);
    int failed = 0;
    for (auto &one : table) {
        fill(in, key, lut, one.seed);
        cudaMemcpy(din, in.data(), elements * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(dkey, key.data(), elements * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(dlut, lut.data(), 32, cudaMemcpyHostToDevice);
        cudaMemset(dout, 0, elements * 4); cudaMemset(douti, 0, elements * 4); cudaMemset(dtotal, 0, 32);
        one.run(din, dkey, dlut, dout, douti, dtotal);
        cudaError_t e = cudaDeviceSynchronize();
        if (e != cudaSuccess) { printf("kernel %u: %s\\n", one.seed, cudaGetErrorString(e)); ++failed; return 1; }
        cudaMemcpy(back.data(), dout, elements * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(back.data() + elements, douti, elements * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(back.data() + 2 * elements, dtotal, 32, cudaMemcpyDeviceToHost);
        fwrite(&one.seed, 4, 1, file);
        fwrite(back.data(), 4, back.size(), file);
    }
    fclose(file);
    printf("%zu kernels run\\n", sizeof table / sizeof table[0]);
    return failed;
}
`);
console.log(`${count} kernels in ${files} files under ${out}`);

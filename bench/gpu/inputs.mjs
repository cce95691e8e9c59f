/** Inputs of generated kernels, computed alike here and on the device: every value is exact in its type. */
export function hash(buffer, index, seed) {
  let x = (Math.imul(index, 0x9e3779b1) + Math.imul(buffer, 0x85ebca6b) + Math.imul(seed, 0xc2b2ae35)) >>> 0;
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) >>> 0;
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39) >>> 0;
  return (x ^ (x >>> 15)) >>> 0;
}

/** @param {number} elements @param {number} seed */
export function inputs(elements, seed) {
  return {
    in: Float32Array.from({ length: elements }, (_, i) => ((hash(0, i, seed) & 0xffff) - 32768) / 16384),
    key: Int32Array.from({ length: elements }, (_, i) => (hash(1, i, seed) >>> 4) & 63),
    lut: Int32Array.from({ length: 8 }, (_, i) => hash(2, i, seed) & 3),
  };
}

/** The same in CUDA C++, for the host program. */
export const HOST_INPUTS = `
static unsigned hash3(unsigned buffer, unsigned index, unsigned seed)
{
    unsigned x = index * 0x9e3779b1u + buffer * 0x85ebca6bu + seed * 0xc2b2ae35u;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12)) * 0x297a2d39u;
    return x ^ (x >> 15);
}
static void fill(std::vector<float> &in, std::vector<int> &key, std::vector<int> &lut, unsigned seed)
{
    for (size_t i = 0; i < in.size(); ++i) in[i] = ((int)(hash3(0, i, seed) & 0xffffu) - 32768) / 16384.0f;
    for (size_t i = 0; i < key.size(); ++i) key[i] = (int)((hash3(1, i, seed) >> 4) & 63u);
    for (size_t i = 0; i < lut.size(); ++i) lut[i] = (int)(hash3(2, i, seed) & 3u);
}
`;

// Every row is one thread: what the device gives for operations whose bits the simulator claims to know.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void integers(const int *a, const int *b, int *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int x = a[t], y = b[t];
    unsigned ux = x, uy = y;
    int *p = o + t * 48;
    int s = y & 31;
    p[0] = (int)(ux + uy); p[1] = (int)(ux - uy); p[2] = (int)(ux * uy);
    p[3] = y == 0 || y == -1 ? 0 : x / y; p[4] = y == 0 || y == -1 ? 0 : x % y;
    p[5] = uy == 0 ? 0 : (int)(ux / uy); p[6] = uy == 0 ? 0 : (int)(ux % uy);
    p[7] = (int)(ux << s); p[8] = x >> s; p[9] = (int)(ux >> s);
    p[10] = x < y; p[11] = ux < uy; p[12] = x < uy; p[13] = (x & y) | (x ^ ~y);
    p[14] = (signed char)x; p[15] = (unsigned char)x; p[16] = (short)x; p[17] = (unsigned short)x;
    p[18] = __mulhi(x, y); p[19] = (int)__umulhi(ux, uy); p[20] = __mul24(x, y); p[21] = (int)__umul24(ux, uy);
    p[22] = __popc(ux); p[23] = __clz(x); p[24] = __ffs(x); p[25] = (int)__brev(ux);
    p[26] = (int)__byte_perm(ux, uy, (unsigned)s * 0x1357u); p[27] = (int)__funnelshift_l(ux, uy, (unsigned)y); p[28] = (int)__funnelshift_rc(ux, uy, (unsigned)(y & 63));
    p[29] = (int)__sad(x, y, 7u); p[30] = __hadd(x, y); p[31] = __rhadd(x, y);
    p[32] = x == (int)0x80000000 ? 0 : abs(x); p[33] = min(x, y); p[34] = (int)max(ux, uy); p[35] = (int)__usad(ux, uy, 9u);
    p[36] = (char)x + (unsigned char)y; p[37] = (short)x * (unsigned short)(y & 0xff); p[38] = -(x >> 1); p[39] = !x;
    p[40] = (x > y ? x : (int)uy) >> 3; p[41] = (int)((ux - 1u < 31u) + (uy % 7u)); p[42] = (int)__funnelshift_r(ux, uy, (unsigned)y);
    p[43] = (int)(1u << (uy % 40u)); p[44] = x >> (int)(uy % 40u); p[45] = (bool)x + (bool)(y & 1); p[46] = x % 10; p[47] = x / 7;
}
__global__ void longs(const long long *a, const long long *b, long long *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    long long x = a[t], y = b[t];
    unsigned long long ux = x, uy = y;
    long long *p = o + t * 32;
    int s = (int)(y & 63);
    p[0] = (long long)(ux + uy); p[1] = (long long)(ux - uy); p[2] = (long long)(ux * uy);
    p[3] = y == 0 || y == -1 ? 0 : x / y; p[4] = y == 0 || y == -1 ? 0 : x % y; p[5] = uy == 0 ? 0 : (long long)(ux / uy); p[6] = uy == 0 ? 0 : (long long)(ux % uy);
    p[7] = (long long)(ux << s); p[8] = x >> s; p[9] = (long long)(ux >> s); p[10] = x < y; p[11] = ux < uy;
    p[12] = (x & y) ^ (x | ~y); p[13] = __mul64hi(x, y); p[14] = (long long)__umul64hi(ux, uy);
    p[15] = __popcll(ux); p[16] = __clzll(x); p[17] = __ffsll(x); p[18] = (long long)__brevll(ux);
    p[19] = (int)x; p[20] = (unsigned)x; p[21] = (short)x; p[22] = (unsigned char)x; p[23] = (long long)(int)x * (int)y; p[24] = (long long)((unsigned long long)(unsigned)x * (unsigned)y);
    p[25] = (long long)(double)x; p[26] = (long long)__float_as_int((float)x); p[27] = (long long)__float_as_int((float)ux); p[28] = min(x, y); p[29] = (long long)max(ux, uy);
    p[30] = x % 1000; p[31] = ~x + (y >> 1);
}
__global__ void floats(const float *a, const float *b, const float *c, float *o, int *q, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float x = a[t], y = b[t], z = c[t];
    float *p = o + t * 64;
    p[0] = x + y; p[1] = x - y; p[2] = x * y; p[3] = x / y; p[4] = sqrtf(x); p[5] = fmaf(x, y, z); p[6] = x * y + z; p[7] = (x + y) * z - x;
    p[8] = __fadd_rz(x, y); p[9] = __fadd_ru(x, y); p[10] = __fadd_rd(x, y); p[11] = __fmul_rz(x, y); p[12] = __fmul_ru(x, y); p[13] = __fmul_rd(x, y);
    p[14] = __fdiv_rz(x, y); p[15] = __fdiv_ru(x, y); p[16] = __fdiv_rd(x, y); p[17] = __fsqrt_rz(x); p[18] = __fsqrt_ru(x); p[19] = __fsqrt_rd(x);
    p[20] = __fmaf_rz(x, y, z); p[21] = __fmaf_ru(x, y, z); p[22] = __fmaf_rd(x, y, z); p[23] = __frcp_rz(x); p[24] = __frcp_ru(x); p[25] = __frcp_rd(x);
    p[26] = floorf(x); p[27] = ceilf(x); p[28] = truncf(x); p[29] = rintf(x); p[30] = roundf(x); p[31] = nearbyintf(x);
    p[32] = fminf(x, y); p[33] = fmaxf(x, y); p[34] = fabsf(x); p[35] = copysignf(x, y); p[36] = fmodf(x, y); p[37] = remainderf(x, y); p[38] = nextafterf(x, y); p[39] = fdimf(x, y);
    p[40] = ldexpf(x, q[t * 32] & 15); p[41] = __saturatef(x); p[42] = -x; p[43] = x < y ? x : y; p[44] = (float)(int)x; p[45] = (float)(unsigned)(q[t * 32]); p[46] = (float)q[t * 32]; p[47] = __half2float(__float2half(x));
    p[48] = __half2float(__hadd(__float2half(y), __float2half(z))); p[49] = __half2float(__hmul(__float2half(y), __float2half(z))); p[50] = __half2float(__hfma(__float2half(y), __float2half(z), __float2half(x)));
    p[51] = __bfloat162float(__float2bfloat16(x)); p[52] = (float)((double)x * (double)y + 0.1); p[53] = x * 0.1f + 1.0f; p[54] = (float)(x * 0.1); p[55] = 1.0f / x;
    p[56] = __int2float_rz(q[t * 32]); p[57] = __uint2float_ru((unsigned)q[t * 32]); p[58] = __double2float_rz((double)x * 1.0000001); p[59] = __double2float_rd((double)x * 1.0000001);
    p[60] = __half2float(__hdiv(__float2half(y), __float2half(z))); p[61] = __half2float(__hsub(__float2half(y), __float2half(z))); p[62] = __frsqrt_rn(y); p[63] = x - truncf(x);
    int *r = q + t * 32;
    int keep = r[0];
    r[1] = (int)x; r[2] = (int)(unsigned)x; r[3] = __float2int_rn(x); r[4] = __float2int_ru(x); r[5] = __float2int_rd(x); r[6] = (int)__float2uint_rn(x);
    r[7] = __float_as_int(x); r[8] = (int)(long long)x; r[9] = (int)((unsigned long long)x >> 32); r[10] = __half_as_ushort(__float2half(x)); r[11] = isnan(x) + 2 * isinf(x) + 4 * (signbit(x) != 0) + 8 * (isfinite(x) != 0);
    r[12] = x == y; r[13] = x < y; r[14] = x >= y; r[15] = x != x; r[16] = (int)lrintf(y); r[17] = (int)llroundf(y); r[18] = (int)(short)(int)y; r[19] = __float2int_rz(y) + keep; r[20] = (int)((long long)x >> 32); r[21] = (int)__bfloat16_as_ushort(__float2bfloat16(y));
}
__global__ void doubles(const double *a, const double *b, const double *c, double *o, int *q, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    double x = a[t], y = b[t], z = c[t];
    double *p = o + t * 32;
    p[0] = x + y; p[1] = x - y; p[2] = x * y; p[3] = x / y; p[4] = sqrt(x); p[5] = fma(x, y, z); p[6] = x * y + z; p[7] = floor(x); p[8] = ceil(x); p[9] = trunc(x); p[10] = rint(x); p[11] = round(x);
    p[12] = fmin(x, y); p[13] = fmax(x, y); p[14] = fabs(x); p[15] = copysign(x, y); p[16] = fmod(x, y); p[17] = remainder(x, y); p[18] = nextafter(x, y); p[19] = fdim(x, y); p[20] = (double)(float)x; p[21] = 1.0 / x;
    p[22] = __hiloint2double(__double2hiint(x), __double2loint(y)); p[23] = ldexp(x, 3); p[24] = (double)(long long)x; p[25] = (double)(unsigned long long)x; p[26] = -x; p[27] = x - trunc(x); p[28] = __dmul_rn(x, y); p[29] = (double)(int)y; p[30] = (x + y) * z; p[31] = x < y ? x : z;
    int *r = q + t * 8;
    r[0] = (int)x; r[1] = (int)(unsigned)x; r[2] = __double2int_rn(x); r[3] = __double2int_rd(y); r[4] = x < y; r[5] = (int)(__double_as_longlong(x) >> 40); r[6] = __float_as_int((float)x); r[7] = (int)llrint(y);
}
__global__ void lanes(const int *a, const float *f, int *o)
{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int x = a[i];
    float y = f[i];
    int *p = o + i * 32;
    p[0] = __shfl_sync(0xffffffffu, x, x & 63); p[1] = __shfl_sync(0xffffffffu, x, x, 8); p[2] = __shfl_up_sync(0xffffffffu, x, 3); p[3] = __shfl_up_sync(0xffffffffu, x, 5, 16);
    p[4] = __shfl_down_sync(0xffffffffu, x, 7); p[5] = __shfl_down_sync(0xffffffffu, x, 2, 4); p[6] = __shfl_xor_sync(0xffffffffu, x, 9); p[7] = __shfl_xor_sync(0xffffffffu, x, 5, 8);
    p[8] = (int)__ballot_sync(0xffffffffu, x & 1); p[9] = __any_sync(0xffffffffu, x == 3) + 2 * __all_sync(0xffffffffu, x < 2000000000); p[10] = (int)__match_any_sync(0xffffffffu, x & 3);
    int agree; p[11] = (int)__match_all_sync(0xffffffffu, x >> 31, &agree); p[12] = agree;
    p[13] = __reduce_add_sync(0xffffffffu, x); p[14] = __reduce_min_sync(0xffffffffu, x); p[15] = (int)__reduce_max_sync(0xffffffffu, (unsigned)x); p[16] = (int)__reduce_xor_sync(0xffffffffu, (unsigned)x);
    p[17] = __float_as_int(__shfl_xor_sync(0xffffffffu, y, 1) + y); p[18] = 0;
    int v = 0;
    if (x & 1) { for (int k = 0; k < (x & 7); ++k) v += __popc(__activemask()) > 0 ? k : 0; } else { v = -1; if (x & 2) v = x; }
    p[19] = v;
    if (t & 4) p[20] = (int)__ballot_sync(0xf0f0f0f0u, x & 8); else p[20] = (int)__ballot_sync(0x0f0f0f0fu, x & 8);
    p[21] = __syncthreads_count(x & 1); p[22] = __syncthreads_and(x != 7); p[23] = __syncthreads_or(x == 7);
    int s = 0;
    switch (x & 7) { case 0: s += 1; case 1: s += 2; break; case 3: s = 7; default: s += 9; case 5: s *= 3; break; case 6: p[24] = -6; return; }
    p[24] = s;
    for (int k = 0; ; ++k) { if (k == (x & 15)) continue; if (k > 17) break; s += k * k; if (s > 300 && (x & 16)) { s = -s; break; } }
    p[25] = s; p[26] = (x > 5 && y > 0.0f) || (x < -5 && y < 0.0f) ? 1 : 0;
    int w[5] = { 1, 2, 3, 4, 5 };
    for (int k = 0; k < 5; ++k) w[(k + x) & 3] ^= w[k] + k;
    p[27] = w[0] + 10 * w[1] + 100 * w[2] + 1000 * w[3] + 10000 * w[4];
    p[28] = (int)sizeof(long) + 100 * (int)sizeof(size_t); p[29] = (int)(unsigned char)(char)x; p[30] = (x & 1 ? 2 : 3) << 2; p[31] = -17 / 5 * 100 + -17 % 5;
}

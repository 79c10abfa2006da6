/* The whole boundary between the extension and the GPU module: one exported function, one table, C types only. */
#ifndef NEARDUP_GPU_H
#define NEARDUP_GPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rules for both sides
 * - The extension opens neardup_gpu.so by its absolute path, looks up NEARDUP_GPU_SYMBOL, and compares `abi`
 *   with NEARDUP_GPU_ABI before it reads anything else. Both libraries come from one build, so the numbers
 *   must be equal; there is no negotiation.
 * - Every function returns a status and never lets an exception out. On any status but NEARDUP_GPU_OK it has
 *   written a reason into the caller's `error` buffer: plain ASCII words, lower-case start, no full stop, always
 *   terminated, cut where it does not fit. `error` may be NULL when `error_size` is 0.
 * - The caller owns every buffer. The module keeps no pointer after a call returns, calls nothing back and
 *   touches no PostgreSQL symbol.
 * - One thread calls at a time. A call may start driver threads, which inherit the caller's signal mask: the
 *   caller blocks its signals first. A call may change the current CUDA device of the calling thread.
 * - Never call, nor open the module, in a process that will fork and use CUDA in the child.
 */

/* Raised by one whenever a struct, a function or the meaning of a value changes. */
#define NEARDUP_GPU_ABI 1u

#define NEARDUP_GPU_FILE "neardup_gpu.so"
#define NEARDUP_GPU_SYMBOL "neardup_gpu_get_api"

/* Bytes of every text field, the terminator included; enough for an `error` buffer too. */
#define NEARDUP_GPU_TEXT 256

/* The numbers are part of the ABI. */
enum {
  NEARDUP_GPU_OK = 0,
  NEARDUP_GPU_NO_DRIVER = 1,        /* no NVIDIA driver here, or one too old for this module */
  NEARDUP_GPU_NO_DEVICE = 2,        /* a driver, but no GPU that this process may see */
  NEARDUP_GPU_DEVICE_ERROR = 3,     /* a CUDA call failed; the text names call, CUDA's error, file and line */
  NEARDUP_GPU_OUT_OF_MEMORY = 4,    /* device or pinned memory is exhausted: less at a time may succeed */
  NEARDUP_GPU_INVALID_ARGUMENT = 5, /* the caller's mistake */
  NEARDUP_GPU_INTERNAL = 6          /* anything else, host memory included */
};
typedef int32_t NeardupGpuStatus;

/* What one GPU is, and whether the module can use it. */
typedef struct NeardupGpuDevice {
  uint64_t memory_bytes;    /* all of its memory, not the free part */
  uint32_t device;          /* CUDA's ordinal, as CUDA_VISIBLE_DEVICES leaves it: 0 .. count - 1 */
  int32_t usable;           /* 1: a kernel of this module has just run on it and gave the right answer; else 0 */
  int32_t capability_major; /* compute capability, such as 9.0 */
  int32_t capability_minor;
  char name[NEARDUP_GPU_TEXT];   /* NVIDIA's product name */
  char reason[NEARDUP_GPU_TEXT]; /* why it is not usable; empty when it is */
} NeardupGpuDevice;

typedef struct NeardupGpuApi {
  /* These two stay first, with these types, in every version. */
  uint32_t abi;  /* NEARDUP_GPU_ABI of the module */
  uint32_t size; /* sizeof(NeardupGpuApi) of the module */

  /*
   * The driver in words, such as "580.82.07, CUDA 13.0", or only "CUDA 13.0" where the kernel module does not
   * tell its release. Reads versions only: succeeds without a GPU, and with a driver too old to be used.
   * NO_DRIVER when there is none. Cost: the first call loads the driver library.
   */
  NeardupGpuStatus (*driver)(char* text, uint32_t text_size, char* error, uint32_t error_size);

  /* How many GPUs this process may see, usable or not: at least 1, else NO_DRIVER or NO_DEVICE (and *count = 0). */
  NeardupGpuStatus (*device_count)(uint32_t* count, char* error, uint32_t error_size);

  /*
   * Describes one GPU and tries it: makes a context unless the process has one there, runs one small kernel, and
   * takes down the context that it made. OK with usable = 0 and a reason when the GPU can be described
   * but not used; any other status when it cannot even be described (then *info is all zero).
   * Cost: some tenths of a second for a context, and some hundred megabytes of device memory meanwhile.
   */
  NeardupGpuStatus (*device_info)(uint32_t device, NeardupGpuDevice* info, char* error, uint32_t error_size);
} NeardupGpuApi;

/* The one exported symbol. Cheap, cannot fail, touches no driver; the table is constant and lives as long as the
 * module. */
typedef const NeardupGpuApi* (*NeardupGpuGetApi)(void);

__attribute__((visibility("default"))) const NeardupGpuApi* neardup_gpu_get_api(void);

#ifdef __cplusplus
}
#endif

#endif /* NEARDUP_GPU_H */

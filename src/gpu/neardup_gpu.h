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
 * - The caller owns every buffer. The module keeps no pointer after a call returns, but for those of search_start(),
 *   words_begin() and words_probe(), calls nothing back and touches no PostgreSQL symbol.
 * - One thread calls at a time. driver(), device_count(), device_info(), search_create() and words_create() may start
 *   driver threads, which inherit the caller's signal mask: the caller blocks its signals first. A call may change the
 *   current CUDA device of the calling thread.
 * - Never call, nor open the module, in a process that will fork and use CUDA in the child.
 */

/* Raised by one whenever a struct, a function or the meaning of a value changes. */
#define NEARDUP_GPU_ABI 3u

#define NEARDUP_GPU_FILE "neardup_gpu.so"
#define NEARDUP_GPU_SYMBOL "neardup_gpu_get_api"

/* Bytes of every text field, the terminator included; enough for an `error` buffer too. */
#define NEARDUP_GPU_TEXT 256

/* The numbers are part of the ABI. */
enum {
  NEARDUP_GPU_OK = 0,
  NEARDUP_GPU_NO_DRIVER = 1,    /* no NVIDIA driver here, or one too old for this module */
  NEARDUP_GPU_NO_DEVICE = 2,    /* a driver, but no GPU that this process may see */
  NEARDUP_GPU_DEVICE_ERROR = 3, /* a CUDA call failed; the text names call, CUDA's error, file and line */
  NEARDUP_GPU_OUT_OF_MEMORY =
      4, /* device, pinned or host memory is exhausted: less at a time, or another time, may succeed */
  NEARDUP_GPU_INVALID_ARGUMENT = 5, /* the caller's mistake */
  NEARDUP_GPU_INTERNAL = 6          /* anything else */
};
typedef int32_t NeardupGpuStatus;

/* A GPU, and whether the module can use it. */
typedef struct NeardupGpuDevice {
  uint64_t memory_bytes;    /* all of its memory, not the free part */
  uint32_t device;          /* CUDA's ordinal, as CUDA_VISIBLE_DEVICES leaves it: 0 .. count - 1 */
  int32_t usable;           /* 1: a kernel of this module has just run on it and gave the right answer; else 0 */
  int32_t capability_major; /* compute capability, such as 9.0 */
  int32_t capability_minor;
  char name[NEARDUP_GPU_TEXT];   /* NVIDIA's product name */
  char reason[NEARDUP_GPU_TEXT]; /* why it is not usable; empty when it is */
} NeardupGpuDevice;

/* The kinds of a search; the numbers are part of the ABI. */
enum {
  NEARDUP_GPU_MINHASH = 0, /* components that agree: at least `need`; the value of a pair is how many do */
  NEARDUP_GPU_SIMHASH = 1, /* bits that differ: at most `most`; the value is how many do */
  NEARDUP_GPU_CTPH = 2     /* parts of one block size, Levenshtein distance d at most most_by_sum[s], s the sum of
                              their lengths; the value is d << 16 | s */
};

/* The ways to rule out parts before they are compared; results do not depend on them. */
enum {
  NEARDUP_GPU_FILTER_AUTO = 0,
  NEARDUP_GPU_FILTER_SYMBOLS = 1, /* by the symbols in common, then as below */
  NEARDUP_GPU_FILTER_LCS = 2      /* by the longest common subsequence */
};

/* The ways to bring minhashes and simhashes together, and rows of words; results do not depend on them. */
enum {
  NEARDUP_GPU_WAY_AUTO = 0,
  NEARDUP_GPU_WAY_GROUP = 1,  /* those that share a part, where every pair must share one of few enough; words: by
                                 lists of the words that have a feature */
  NEARDUP_GPU_WAY_COMPARE = 2 /* all with all; words: as products of matrices, as far as memory goes */
};

/* All 0: what the module thinks best. */
typedef struct NeardupGpuOptions {
  uint64_t memory_limit; /* bytes of each device that a search may take; 0: what is free, less a reserve */
  uint64_t devices;      /* bit i: device i may be used; 0: all that are usable */
  uint32_t filter;       /* NEARDUP_GPU_FILTER_... */
  uint32_t way;          /* NEARDUP_GPU_WAY_... */
} NeardupGpuOptions;

/* A part of a digest. list = 4 * number of the block size + 0 part 1 of set A, 1 part 1 of set B, 2 part 2 of set A,
 * 3 part 2 of set B. Of each block size part 1 is joined with part 1 and with part 2, not part 2 with part 2. */
typedef struct NeardupGpuPart {
  const char* text; /* characters A-Z a-z 0-9 + / */
  uint32_t row;     /* the number that stands for it in a pair */
  uint16_t length;  /* 1..1024 */
  uint16_t list;    /* 0..255 */
} NeardupGpuPart;

/* The rows of a search, those of set A before those of set B, each distinct within its set. */
typedef struct NeardupGpuJob {
  uint32_t kind;                 /* NEARDUP_GPU_MINHASH, .. */
  uint32_t two_sets;             /* 1: pairs of a row of A and a row of B; 0: pairs of rows of A */
  uint32_t count_a;              /* rows of A (not for ctph) */
  uint32_t count;                /* rows, or parts */
  const void* const* rows;       /* minhash: of num_perm * bits / 8 bytes each, native byte order */
  const uint64_t* values;        /* simhash */
  const NeardupGpuPart* parts;   /* ctph: by list, then length */
  const uint16_t* most_by_sum;   /* ctph: 2049 of them from 0 on, each the one before or 1 more */
  uint32_t num_perm, bits, need; /* minhash: 16..4096; 8, 16 or 32; 1..num_perm */
  uint32_t most;                 /* simhash: 0..64 */
} NeardupGpuJob;

/* A pair of rows. With one set a < b; with two sets a is of A. */
typedef struct NeardupGpuPair {
  uint32_t a;
  uint32_t b;
  uint32_t value;
} NeardupGpuPair;

typedef struct NeardupGpuStats {
  double create_ms;      /* making contexts and loading code, in search_create() */
  double start_ms;       /* in search_start() */
  double step_ms;        /* in all calls of search_step() */
  uint64_t looked;       /* pairs that shared what rows were grouped by, or that all were compared by */
  uint64_t compared;     /* pairs that a filter did not rule out */
  uint64_t found;        /* pairs */
  uint64_t device_bytes; /* memory taken, of the device that holds most */
  uint32_t devices;      /* that take part */
  uint32_t slabs;        /* pieces that the rows were cut into to fit */
  uint32_t halvings;     /* tiles that were redone in halves because their pairs did not fit */
  uint32_t brute_force;  /* 1: all pairs were compared */
} NeardupGpuStats;

/* A search in progress. */
typedef struct NeardupGpuSearch NeardupGpuSearch;

/* Rows of words: row i is that of word first + i, at begin[i] .. begin[i + 1] - 1 of the arrays. */
typedef struct NeardupGpuWordRows {
  const uint64_t* begin;    /* rows + 1 of them, none below the one before */
  const uint32_t* features; /* of a row ascending, each below `features` of the block */
  const uint16_t* values;   /* 1..32767 */
  uint32_t rows;
  uint32_t first;
} NeardupGpuWordRows;

/* Words that others are compared with. */
typedef struct NeardupGpuWordBlock {
  NeardupGpuWordRows rows;
  const uint32_t* weights; /* of all words the sum of the values, below 2^30 */
  uint32_t words;          /* 1..2^24: there are so many in all; those of any rows are below */
  uint32_t features;       /* 1..2^25 */
  uint32_t k;              /* how many similar words of each count: 1..65535 */
} NeardupGpuWordBlock;

typedef struct NeardupGpuWordStats {
  double create_ms;      /* making contexts and loading code, in words_create() */
  double begin_ms;       /* in words_begin() */
  double step_ms;        /* in all calls of words_probe() and words_step() */
  uint64_t pairs;        /* of words that were compared */
  uint64_t told;         /* of these */
  uint64_t device_bytes; /* memory taken, of the device that holds most */
  uint32_t devices;      /* that take part */
  uint32_t slices;       /* pieces that the latest block was cut into to fit */
  uint32_t dense;        /* features of the latest block that matrices are multiplied for */
  uint32_t halvings;     /* pieces that were redone in halves because what they told did not fit */
} NeardupGpuWordStats;

/* Words being compared. */
typedef struct NeardupGpuWords NeardupGpuWords;

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

  /* The number of GPUs that this process may see, usable or not: at least 1, else NO_DRIVER or NO_DEVICE (and *count =
   * 0). */
  NeardupGpuStatus (*device_count)(uint32_t* count, char* error, uint32_t error_size);

  /*
   * Describes one GPU and tries it: makes a context unless the process has one there, runs one small kernel, and
   * takes down the context that it made. OK with usable = 0 and a reason when the GPU can be described
   * but not used; any other status when it cannot even be described (then *info is all zero).
   * Cost: some tenths of a second for a context, and some hundred megabytes of device memory meanwhile.
   */
  NeardupGpuStatus (*device_info)(uint32_t device, NeardupGpuDevice* info, char* error, uint32_t error_size);

  /*
   * Prepares a search: makes contexts on the devices that it will use and loads the code. On failure *search is NULL;
   * NO_DEVICE where none of the devices asked for is usable. Cost: some tenths of a second where no context is open.
   */
  NeardupGpuStatus (*search_create)(const NeardupGpuOptions* options, NeardupGpuSearch** search, char* error,
                                    uint32_t error_size);

  /*
   * Says what is sought, once, and takes device memory: less, where there is not enough, down to a few megabytes, else
   * OUT_OF_MEMORY. The job is copied; what it points to must stay as it is until search_destroy().
   */
  NeardupGpuStatus (*search_start)(NeardupGpuSearch* search, const NeardupGpuJob* job, char* error,
                                   uint32_t error_size);

  /*
   * Goes on for some tens of milliseconds at most, and gives up to max (at least 1) pairs, in no order, each once in
   * the whole search. *done: the share of the work that is done, 1 when this was the last call. On any failure the
   * search can only be destroyed.
   */
  NeardupGpuStatus (*search_step)(NeardupGpuSearch* search, NeardupGpuPair* pairs, uint32_t max, uint32_t* count,
                                  double* done, char* error, uint32_t error_size);

  void (*search_stats)(const NeardupGpuSearch* search, NeardupGpuStats* stats);

  /* Frees everything but the contexts. NULL: nothing happens. */
  void (*search_destroy)(NeardupGpuSearch* search);

  /* As search_create(), and opens cuBLAS where it is installed. Of the options `filter` means nothing. */
  NeardupGpuStatus (*words_create)(const NeardupGpuOptions* options, NeardupGpuWords** words, char* error,
                                   uint32_t error_size);

  /*
   * Takes a block in the place of the one before, and device memory: less, where there is not enough, else
   * OUT_OF_MEMORY. The block is copied; what it points to must stay as it is until the next words_begin() or
   * words_destroy(). Not in the middle of a probe. Cost: some tens of milliseconds; loading is a matter of the probes.
   */
  NeardupGpuStatus (*words_begin)(NeardupGpuWords* words, const NeardupGpuWordBlock* block, char* error,
                                  uint32_t error_size);

  /*
   * Says which rows are to be compared with the block; the work is done by words_step(). least[w], of all words: pairs
   * of w with similarity below are of no use to w. What is pointed to must stay as it is until the probe is done.
   */
  NeardupGpuStatus (*words_probe)(NeardupGpuWords* words, const NeardupGpuWordRows* rows, const float* least,
                                  char* error, uint32_t error_size);

  /*
   * Goes on with the probe for some tens of milliseconds, or for one piece of work where that takes longer, and gives
   * up to max (at least 1) pairs: a a word of the rows, b > a one of the block, value the sum of both values over the
   * features that both have, above 0. The similarity of a pair is that over the sum of both weights. Given are, in no
   * order and each once in a probe, all pairs that are among the k most similar of a within the block and not below
   * least[a], and all that are among the k most similar of b within the rows and not below least[b], equally similar
   * ones included; and maybe others. *done: the share of the probe that is done, 1 when this was its last call. After
   * any failure only words_destroy() is allowed.
   */
  NeardupGpuStatus (*words_step)(NeardupGpuWords* words, NeardupGpuPair* pairs, uint32_t max, uint32_t* count,
                                 double* done, char* error, uint32_t error_size);

  void (*words_stats)(const NeardupGpuWords* words, NeardupGpuWordStats* stats);

  /* Frees everything but the contexts. NULL: nothing happens. */
  void (*words_destroy)(NeardupGpuWords* words);
} NeardupGpuApi;

/* The one exported symbol. Cheap, cannot fail, touches no driver; the table is constant and lives as long as the
 * module. */
typedef const NeardupGpuApi* (*NeardupGpuGetApi)(void);

__attribute__((visibility("default"))) const NeardupGpuApi* neardup_gpu_get_api(void);

#ifdef __cplusplus
}
#endif

#endif /* NEARDUP_GPU_H */

/* A backend for dmlcts as a shared library, in C or anything that speaks its ABI.
 *
 * Define the seven functions at the end of this file, build a shared library, and run
 *
 *     dmlcts doctor --backend dylib:path/to/mine.so
 *     dmlcts run --suite ci --backend dylib:path/to/mine.so
 *
 * The library is loaded into worker processes, so that a crash or a hang costs one case. A whole backend in C lies beside this
 * file, in ../c/example_backend.c. What is expected of a case is never passed.
 *
 * Integers have the widths of DirectML.h's structs, and data types, enumerators, flags and feature levels its numbers. Texts are
 * UTF-8, at most DMLCTS_LONGEST_TEXT bytes, and end with a zero byte. Structs have no padding that matters, on every ABI of 64 bits.
 */
#ifndef DMLCTS_BACKEND_H
#define DMLCTS_BACKEND_H

#include <stdint.h>

/* The version of this header. A library that was built with another one is refused. */
#define DMLCTS_ABI_VERSION 1u

/* The most bytes of a text before its zero byte. A library that declares a longer one does not open. */
#define DMLCTS_LONGEST_TEXT 255u
/* The most operators that a library can name. */
#define DMLCTS_MOST_OPERATORS 1000u
#define DMLCTS_MOST_LACKS 1000u

#if defined(_WIN32)
#define DMLCTS_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define DMLCTS_EXPORT __attribute__((visibility("default")))
#else
#define DMLCTS_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function comes to. Any other number is a failure of the backend. */
typedef int32_t dmlcts_result;
enum {
    DMLCTS_OK = 0,
    /* The desc is invalid: E_INVALIDARG, the only refusal that an invalid desc is to get. */
    DMLCTS_INVALID = 1,
    /* It may be valid, and this backend cannot do it. Held against what dmlcts_describe declared. */
    DMLCTS_UNSUPPORTED = 2,
    /* There is too little memory: E_OUTOFMEMORY. */
    DMLCTS_OUT_OF_MEMORY = 3,
    /* Something went wrong that is no refusal. */
    DMLCTS_FAILED = 4,
    /* Of dmlcts_run: the result has other sizes, or another data type, than the output. The reason says both. */
    DMLCTS_WRONG_SHAPE = 5,
    DMLCTS_WRONG_TYPE = 6
};

/* Room for the reason of a result other than DMLCTS_OK, in words for people. It is all zero when a function is called, and is
 * the caller's: write a text of at most DMLCTS_LONGEST_TEXT bytes and a zero, or nothing. */
typedef struct dmlcts_reason {
    char text[256];
} dmlcts_reason;

/* DML_BUFFER_TENSOR_DESC. It may hold anything, valid or not. */
typedef struct dmlcts_tensor {
    uint32_t data_type;
    uint32_t flags;
    /* What the desc says; that the lists have as many values is not sure. */
    uint32_t dimension_count;
    uint32_t guaranteed_base_offset_alignment;
    /* sizes_length values, or null. In elements, outermost axis first. */
    const uint32_t *sizes;
    /* strides_length values, or null, which means packed. In elements. */
    const uint32_t *strides;
    uint32_t sizes_length;
    uint32_t strides_length;
    uint64_t total_tensor_size_in_bytes;
} dmlcts_tensor;

/* What a member is. */
enum {
    DMLCTS_UINT = 0,  /* value.as_uint: counts, data types */
    DMLCTS_INT = 1,   /* value.as_int: enumerators */
    DMLCTS_UINTS = 2, /* value.as_uints: `length` values, or null */
    DMLCTS_INTS = 3,  /* value.as_ints: `length` values, or null */
    DMLCTS_SCALAR = 4 /* value.as_bytes: DML_SCALAR_UNION, in the order of memory */
};

/* One member of an operator's struct. */
typedef struct dmlcts_member {
    /* As DirectML.h spells it: "InputWindowOffsets". */
    const char *name;
    /* DMLCTS_UINT and so on. */
    uint32_t kind;
    /* Of a list, how many values there are, whatever the desc's DimensionCount says; otherwise 0. */
    uint32_t length;
    union {
        uint32_t as_uint;
        int32_t as_int;
        const uint32_t *as_uints;
        const int32_t *as_ints;
        uint8_t as_bytes[8];
    } value;
} dmlcts_member;

/* An operator desc. */
typedef struct dmlcts_desc {
    /* Without DML_ and _OPERATOR_DESC: "SLICE1". */
    const char *operator_name;
    /* InputTensor and OutputTensor, or null. */
    const dmlcts_tensor *input;
    const dmlcts_tensor *output;
    /* The other members, in the order of the struct, which never changes for an operator. */
    const dmlcts_member *members;
    uint32_t member_count;
    /* 0. */
    uint32_t reserved;
} dmlcts_desc;

/* What a created operator runs on. Both memories are aligned to 16 bytes and do not overlap. */
typedef struct dmlcts_memory {
    /* The input's TotalTensorSizeInBytes, to be read and not to be written to. */
    const uint8_t *input;
    uint64_t input_bytes;
    /* The output's TotalTensorSizeInBytes, to be written to, and nothing outside of it. What is there before is arbitrary. In a
     * worker process, the 256 bytes before and behind it are looked at afterwards, and all of the input. On Unix, a repeat has
     * its memory between guard pages there, and its input is read-only: a read or write out of bounds is a SIGSEGV or SIGBUS. */
    uint8_t *output;
    uint64_t output_bytes;
    /* DML_BUFFER_BINDING.Offset of each in bytes, for a backend that binds buffers: the memory lies behind it. */
    uint64_t input_offset;
    uint64_t output_offset;
} dmlcts_memory;

/* A kind of valid descs of an operator that a backend does not support. These descs are not asked. */
typedef struct dmlcts_lack {
    /* Such as "PADDING1"; not null. */
    const char *operator_name;
    /* The condition on its descs in the language of --where, such as "PaddingMode != CONSTANT"; not null. */
    const char *condition;
    /* Why, in a few words for reports; not null. */
    const char *reason;
} dmlcts_lack;

/* What a backend is and what it supports. Calling something unsupported that is declared here is a failure. What is not declared is
 * not asked, but for descs of an operator that it has which are invalid, since these are for everybody to refuse. */
typedef struct dmlcts_capabilities {
    /* What reports call it, and its own version; not null. */
    const char *name;
    const char *version;
    /* The device and the driver in their makers' words, or null. */
    const char *device;
    const char *driver;
    /* `operator_count` names, such as "SLICE1", at most DMLCTS_MOST_OPERATORS; null where it has whatever it is asked for. */
    const char *const *operators;
    uint32_t operator_count;
    /* DML_FEATURE_LEVEL: 0x6400 is 6.4. */
    uint32_t feature_level;
    /* Bit n stands for the DML_TENSOR_DATA_TYPE n: 1u << 1 is FLOAT32. */
    uint32_t data_types;
    /* The least and the greatest dimension count. */
    uint32_t least_rank;
    uint32_t greatest_rank;
    /* The number of `lacks`, at most DMLCTS_MOST_LACKS. */
    uint32_t lack_count;
    /* The largest tensor in bytes that it can run; 0 where there is no such limit. */
    uint64_t tensor_bytes;
    /* The largest number of elements of a tensor, the product of its sizes, that it can run; 0 where there is no such limit. A
     * stride of 0 makes a tensor of many elements in few bytes. */
    uint64_t elements;
    /* The valid descs that it does not support although the fields above cover them; null if there are none. */
    const dmlcts_lack *lacks;
    /* The time in milliseconds that dmlcts_create may take beyond the time limit of a case, at most 600,000. A backend that
     * compiles each desc may need seconds. 0 for a backend that does not. */
    uint64_t create_timeout;
} dmlcts_capabilities;

/* Yours, whatever they are. */
typedef struct dmlcts_backend dmlcts_backend;
typedef struct dmlcts_operator dmlcts_operator;

/* Threads: a backend and its operators are used by one thread at a time, not always the same. With --in-process several backends
 * are open at a time, each used by a thread of its own.
 *
 * Lifetimes: pointers that a function is given are valid until it returns, unless something else is said. */

/* Returns DMLCTS_ABI_VERSION. It is called first, and nothing else where the version is another one. */
DMLCTS_EXPORT uint32_t dmlcts_abi_version(void);

/* Opens a backend: writes a pointer of your own to *backend, which is null before and may stay so. Where it returns anything but
 * DMLCTS_OK, the run does not start, for this reason. */
DMLCTS_EXPORT dmlcts_result dmlcts_open(dmlcts_backend **backend, dmlcts_reason *reason);

/* Says what an open backend is, before it sees any case, and the same in every process. The struct and all that it points to
 * stay yours, and must stay as they are until dmlcts_close. Not null. */
DMLCTS_EXPORT const dmlcts_capabilities *dmlcts_describe(dmlcts_backend *backend);

/* Up to 64 operators are alive at a time. They are created, run and destroyed in any order.
 *
 * Creates an operator from a desc, which is valid or not: writes a pointer of your own to *created, which is null before and may
 * stay so. Copy what you need of the desc. Nothing is destroyed where the result is not DMLCTS_OK. */
DMLCTS_EXPORT dmlcts_result dmlcts_create(dmlcts_backend *backend, const dmlcts_desc *desc, dmlcts_operator **created,
                                          dmlcts_reason *reason);

/* Runs a created operator. It is called any number of times, each time on other memory. */
DMLCTS_EXPORT dmlcts_result dmlcts_run(dmlcts_backend *backend, dmlcts_operator *created, const dmlcts_memory *memory,
                                       dmlcts_reason *reason);

/* Destroys what dmlcts_create made; once for each DMLCTS_OK, before dmlcts_close. */
DMLCTS_EXPORT void dmlcts_destroy(dmlcts_backend *backend, dmlcts_operator *created);

/* Closes what dmlcts_open opened; once for each DMLCTS_OK. A fault in it fails the run, though no case of it. */
DMLCTS_EXPORT void dmlcts_close(dmlcts_backend *backend);

#ifdef __cplusplus
}
#endif

#endif

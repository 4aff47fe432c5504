/* attention_spec.h: a C function that `attention-spec certify ./libmine.so:attend` tests.
 *
 *     #include "attention_spec.h"
 *
 *     ATTENTION_SIGNATURE(attend, "(query, key, value, mask=None, is_causal=False, scale=None)");
 *     ATTENTION_FORMATS(attend, "float32");
 *
 *     int attend(attention_call *call) {
 *         const attention_array *query = attention_find(call, "query");
 *         attention_array *out = attention_result(call, query->format, 4, query->shape);
 *         ...
 *         return ATTENTION_DONE;
 *     }
 *
 *     cc -O2 -fPIC -shared -o libmine.so mine.c -lm
 *
 * The signature is written in the syntax of Python; an argument that equals its default is left
 * out of a call. Three other functions with a signature are optional. They return the gradients of
 * query, key and value, the log-sum-exp, and the weights:
 *
 *     attend_backward, "(dout, query, key, value, ...)"    attend_lse    attend_weights
 *
 * docs/languages.md explains all of it. This is version 1 of the header.
 */
#ifndef ATTENTION_SPEC_H
#define ATTENTION_SPEC_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ATTENTION_VERSION 1

#ifdef __cplusplus
#define ATTENTION_TEXT(name, text) extern "C" { extern const char name[]; const char name[] = text; }
extern "C" {
#else
#define ATTENTION_TEXT(name, text) const char name[] = text
#endif

/* Which function there is, and how it is called. */
#define ATTENTION_SIGNATURE(name, text) ATTENTION_TEXT(name##_signature, text)
/* The formats of floating-point numbers that it takes; without this, float64 and float32. */
#define ATTENTION_FORMATS(name, text) ATTENTION_TEXT(name##_formats, text)

enum { /* of the numbers of an array */
    ATTENTION_FLOAT64 = 1,
    ATTENTION_FLOAT32 = 2,
    ATTENTION_FLOAT16 = 3,
    ATTENTION_BFLOAT16 = 4,
    ATTENTION_BOOL = 5, /* a byte: 0 or 1 */
    ATTENTION_INT32 = 6,
    ATTENTION_INT64 = 7
};

enum { /* what a function returns */
    ATTENTION_DONE = 0,
    ATTENTION_REFUSED = 1, /* such a problem is not supported; the message says why */
    ATTENTION_ERROR = 2
};

typedef struct attention_array {
    const char *name;
    void *data;             /* the first number; those of an argument must not be changed */
    const int64_t *shape;
    const int64_t *strides; /* bytes from a number to the next one, for each axis; also 0 */
    int32_t format;
    int32_t rank;           /* the number of axes */
} attention_array;

typedef struct attention_option { /* an argument that is no array: numbers */
    const char *name;
    const double *values;   /* True is 1, False is 0 */
    int64_t count;          /* 1, the length of a tuple, or 0 for None */
} attention_option;

typedef struct attention_call {
    int32_t version;        /* ATTENTION_VERSION of the caller */
    int32_t array_count;
    int32_t option_count;
    int32_t message_size;
    const attention_array *arrays;
    const attention_option *options;
    char *message;          /* for the person who reads the report */
    /* Makes the next result, whose memory belongs to the caller; NULL if it is too large. */
    attention_array *(*result)(struct attention_call *, int32_t format, int32_t rank,
                               const int64_t *shape);
} attention_call;

typedef int attention_function(attention_call *call);

/* An argument that is an array; NULL if it is not given. */
static inline const attention_array *attention_find(const attention_call *call, const char *name) {
    for (int32_t i = 0; i < call->array_count; i++)
        if (!strcmp(call->arrays[i].name, name)) return &call->arrays[i];
    return NULL;
}

/* An argument that is a number; `other` if it is not given. */
static inline double attention_number(const attention_call *call, const char *name, double other) {
    for (int32_t i = 0; i < call->option_count; i++)
        if (!strcmp(call->options[i].name, name) && call->options[i].count)
            return call->options[i].values[0];
    return other;
}

/* The next result: an array that the function fills. */
static inline attention_array *attention_result(attention_call *call, int32_t format, int32_t rank,
                                                const int64_t *shape) {
    return call->result(call, format, rank, shape);
}

/* What a function returns that does not support a call. */
static inline int attention_refused(attention_call *call, const char *why) {
    snprintf(call->message, (size_t)call->message_size, "%s", why);
    return ATTENTION_REFUSED;
}

#ifdef __cplusplus
}
#endif
#endif

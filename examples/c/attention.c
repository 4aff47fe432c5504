/* Attention in C with its gradients and its log-sum-exp, as functions of a shared library.
 *
 *     attention-spec header > examples/c/attention_spec.h
 *     cc -O2 -fPIC -shared -o examples/c/libattention.so examples/c/attention.c -lm
 *     attention-spec certify ./examples/c/libattention.so:attend --profile quick
 *
 * Expect "attend: certified (quick)" and exit code 0, in float64 and float32. To see a failure,
 * write 1.0 for 1 / sqrt((double)a.D) and run the last two commands again.
 */
#include "attention_spec.h"

#include <math.h>
#include <stdlib.h>

#define OPTIONS "query, key, value, mask=None, is_causal=False, scale=None, enable_gqa=False"
ATTENTION_SIGNATURE(attend, "(" OPTIONS ")");
ATTENTION_SIGNATURE(attend_backward, "(dout, " OPTIONS ", dlse=None)");
ATTENTION_SIGNATURE(attend_lse, "(" OPTIONS ")");
ATTENTION_FORMATS(attend, "float64 float32");

typedef struct { /* the arguments of a call, and the weights of one query */
    const attention_array *q, *k, *v, *mask;
    int64_t B, H, G, N, M, D, E;
    double scale, *weights;
    int causal;
} problem;

/* The address of an entry of an array. Strides are bytes, so any order in memory is right. */
static char *at(const attention_array *x, int64_t b, int64_t h, int64_t n, int64_t d) {
    const int64_t place[4] = {b, h, n, d};
    char *found = x->data;
    for (int axis = 0; axis < x->rank; axis++) /* a mask may have fewer axes, or axes of length 1 */
        if (x->shape[axis] > 1) found += place[4 - x->rank + axis] * x->strides[axis];
    return found;
}

static double get(const attention_array *x, int64_t b, int64_t h, int64_t n, int64_t d) {
    char *found = at(x, b, h, n, d);
    if (x->format == ATTENTION_BOOL) return *found ? 0 : -INFINITY;
    return x->format == ATTENTION_FLOAT64 ? *(double *)found : *(float *)found;
}

static void add(attention_array *x, int64_t b, int64_t h, int64_t n, int64_t d, double number) {
    char *found = at(x, b, h, n, d);
    if (x->format == ATTENTION_FLOAT64) *(double *)found += number;
    else *(float *)found += (float)number;
}

/* The next result, which begins as zeros. */
static attention_array *zeros(attention_call *call, int rank, const int64_t *shape) {
    int32_t format = attention_find(call, "query")->format;
    attention_array *x = attention_result(call, format, rank, shape);
    size_t size = format == ATTENTION_FLOAT64 ? 8 : 4;
    for (int axis = 0; axis < rank; axis++) size *= (size_t)shape[axis];
    if (x) memset(x->data, 0, size);
    return x;
}

static int begin(attention_call *call, problem *a) {
    a->q = attention_find(call, "query"), a->k = attention_find(call, "key");
    a->v = attention_find(call, "value"), a->mask = attention_find(call, "mask");
    a->B = a->q->shape[0], a->H = a->q->shape[1], a->N = a->q->shape[2], a->D = a->q->shape[3];
    a->G = a->k->shape[1], a->M = a->k->shape[2], a->E = a->v->shape[3];
    a->scale = attention_number(call, "scale", 1 / sqrt((double)a->D));
    a->causal = attention_number(call, "is_causal", 0) != 0;
    if (a->G != a->H && !(attention_number(call, "enable_gqa", 0) && a->G && a->H % a->G == 0))
        return attention_refused(call, "fewer heads of keys than of queries, without enable_gqa");
    a->weights = malloc(sizeof(double) * (size_t)(a->M + 1));
    return ATTENTION_DONE;
}

/* The head of keys and values that a head of queries attends to. */
static int64_t group(const problem *a, int64_t h) { return h * a->G / a->H; }

/* The weights of a query, which are zero if it may attend to no key; its log-sum-exp. */
static double softmax(problem *a, int64_t b, int64_t h, int64_t n) {
    double top = -INFINITY, sum = 0, *w = a->weights;
    for (int64_t m = 0; m < a->M; m++) {
        double bias = a->mask ? get(a->mask, b, h, n, m) : 0, score = 0;
        if (a->causal && m > n) bias = -INFINITY;
        for (int64_t d = 0; d < a->D; d++)
            score += get(a->q, b, h, n, d) * get(a->k, b, group(a, h), m, d);
        w[m] = bias == -INFINITY ? bias : score * a->scale + bias; /* NaN is masked, too */
        if (!(w[m] <= top)) top = w[m];
    }
    for (int64_t m = 0; m < a->M; m++) sum += w[m] = top == -INFINITY ? 0 : exp(w[m] - top);
    for (int64_t m = 0; m < a->M; m++) w[m] /= sum == 0 ? 1 : sum;
    return top + log(sum);
}

#define EACH_QUERY                        \
    for (int64_t b = 0; b < a.B; b++)     \
        for (int64_t h = 0; h < a.H; h++) \
            for (int64_t n = 0; n < a.N; n++)
#define EACH_KEY                      \
    for (int64_t m = 0; m < a.M; m++) \
        if (a.weights[m] != 0) /* a masked key may have a value that is NaN */

int attend(attention_call *call) {
    problem a;
    int code = begin(call, &a);
    if (code != ATTENTION_DONE) return code;
    attention_array *out = zeros(call, 4, (int64_t[]){a.B, a.H, a.N, a.E});
    EACH_QUERY {
        softmax(&a, b, h, n);
        for (int64_t e = 0; e < a.E; e++) {
            double sum = 0;
            EACH_KEY sum += a.weights[m] * get(a.v, b, group(&a, h), m, e);
            add(out, b, h, n, e, sum);
        }
    }
    free(a.weights);
    return ATTENTION_DONE;
}

int attend_lse(attention_call *call) {
    problem a;
    int code = begin(call, &a);
    if (code != ATTENTION_DONE) return code;
    attention_array *lse = zeros(call, 3, a.q->shape);
    EACH_QUERY add(lse, 0, b, h, n, softmax(&a, b, h, n));
    free(a.weights);
    return ATTENTION_DONE;
}

/* The gradients of sum(dout * out) + sum(dlse * lse). */
int attend_backward(attention_call *call) {
    problem a;
    int code = begin(call, &a);
    if (code != ATTENTION_DONE) return code;
    const attention_array *dout = attention_find(call, "dout"), *dlse = attention_find(call, "dlse");
    attention_array *dq = zeros(call, 4, a.q->shape), *dk = zeros(call, 4, a.k->shape);
    attention_array *dv = zeros(call, 4, a.v->shape);
    EACH_QUERY {
        double mean = dlse ? -get(dlse, 0, b, h, n) : 0;
        softmax(&a, b, h, n);
        for (int64_t e = 0; e < a.E; e++)
            EACH_KEY mean += a.weights[m] * get(dout, b, h, n, e) * get(a.v, b, group(&a, h), m, e);
        EACH_KEY {
            double dweight = 0;
            for (int64_t e = 0; e < a.E; e++) {
                dweight += get(dout, b, h, n, e) * get(a.v, b, group(&a, h), m, e);
                add(dv, b, group(&a, h), m, e, a.weights[m] * get(dout, b, h, n, e));
            }
            double dscore = a.weights[m] * (dweight - mean) * a.scale;
            for (int64_t d = 0; d < a.D; d++) {
                add(dq, b, h, n, d, dscore * get(a.k, b, group(&a, h), m, d));
                add(dk, b, group(&a, h), m, d, dscore * get(a.q, b, h, n, d));
            }
        }
    }
    free(a.weights);
    return ATTENTION_DONE;
}

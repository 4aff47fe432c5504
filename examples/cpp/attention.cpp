// Attention in C++, as a program that answers the messages of docs/languages.md.
//
//     c++ -O2 -std=c++17 -o examples/cpp/attention examples/cpp/attention.cpp
//     attention-spec certify ./examples/cpp/attention --profile quick
//
// Expect "attend: certified (quick)" and exit code 0, in float64 and float32. To see a failure,
// write `1.0` for `1 / std::sqrt(double(D))` and run both commands again.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Array {
    std::string format;
    std::vector<size_t> shape;
    std::vector<char> bytes;

    size_t size() const {
        size_t found = 1;
        for (size_t length : shape) found *= length;
        return found;
    }
    template <class T> const T* as() const { return reinterpret_cast<const T*>(bytes.data()); }
};

std::map<std::string, Array> arrays;
std::map<std::string, double> options;

size_t width(const std::string& format) {
    return format == "bool" ? 1 : format == "float32" || format == "int32" ? 4 : 8;
}

// An entry of a mask, whose axes are the last ones of (B, H, N, M), and may have length 1.
size_t place(const Array& mask, const size_t (&at)[4]) {
    size_t found = 0, axes = mask.shape.size();
    for (size_t i = 0; i < axes; i++)
        found = found * mask.shape[i] + (mask.shape[i] == 1 ? 0 : at[4 - axes + i]);
    return found;
}

template <class T> std::vector<T> attend() {
    const Array &query = arrays["query"], &key = arrays["key"], &value = arrays["value"];
    const Array* mask = arrays.count("mask") ? &arrays["mask"] : nullptr;
    const size_t B = query.shape[0], H = query.shape[1], N = query.shape[2], D = query.shape[3];
    const size_t G = key.shape[1], M = key.shape[2], E = value.shape[3];
    const double scale = options.count("scale") ? options["scale"] : 1 / std::sqrt(double(D));
    const bool causal = options["is_causal"] != 0;
    if (G != H && (options["enable_gqa"] == 0 || G == 0 || H % G))
        throw std::invalid_argument("as many heads of keys as of queries, without enable_gqa");
    std::vector<T> out(B * H * N * E);
    std::vector<double> scores(M), sums(E);
    for (size_t b = 0; b < B; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t n = 0; n < N; n++) {
                const size_t g = b * G + h / (H / G);
                const T* q = query.as<T>() + ((b * H + h) * N + n) * D;
                double top = -INFINITY, total = 0;
                for (size_t m = 0; m < M; m++) {
                    const T* k = key.as<T>() + (g * M + m) * D;
                    double score = 0;
                    for (size_t d = 0; d < D; d++) score += double(q[d]) * k[d];
                    score *= scale;
                    if (mask) {
                        const size_t at = place(*mask, {b, h, n, m});
                        const bool is_bool = mask->format == "bool";
                        const double bias = is_bool ? (mask->as<char>()[at] ? 0 : -INFINITY)
                                                    : double(mask->as<T>()[at]);
                        score = bias == -INFINITY ? bias : score + bias;  // NaN is masked, too
                    }
                    scores[m] = causal && m > n ? -INFINITY : score;
                    if (!(scores[m] <= top)) top = scores[m];  // also of NaN
                }
                sums.assign(E, 0);
                for (size_t m = 0; m < M && top != -INFINITY; m++) {
                    const double weight = std::exp(scores[m] - top);
                    total += weight;
                    if (weight == 0) continue;  // a masked key may have a value that is NaN
                    const T* v = value.as<T>() + (g * M + m) * E;
                    for (size_t e = 0; e < E; e++) sums[e] += weight * v[e];
                }
                T* o = out.data() + ((b * H + h) * N + n) * E;
                for (size_t e = 0; e < E; e++) o[e] = total == 0 ? T(0) : T(sums[e] / total);
            }
    return out;
}

template <class T> void answer() {
    const std::vector<T> out = attend<T>();
    const std::vector<size_t>& shape = arrays["query"].shape;
    std::cout << "array out " << arrays["query"].format << " " << shape[0] << " " << shape[1];
    std::cout << " " << shape[2] << " " << arrays["value"].shape[3] << "\n";
    std::cout << "data " << out.size() * sizeof(T) << "\n";
    std::cout.write(reinterpret_cast<const char*>(out.data()), out.size() * sizeof(T));
}

// Read a message up to its arrays; what it is about. Empty at the end.
std::string asked() {
    std::vector<std::string> order;
    std::string line, word, name, first;
    arrays.clear();
    options.clear();
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        words >> word;
        if (word == "data") break;
        if (first.empty()) first = word;
        words >> name;
        if (word == "option") words >> options[name];
        if (word != "array") continue;
        words >> arrays[name].format;
        for (size_t length; words >> length;) arrays[name].shape.push_back(length);
        order.push_back(name);
    }
    for (const std::string& each : order) {
        Array& x = arrays[each];
        x.bytes.resize(x.size() * width(x.format));
        std::cin.read(x.bytes.data(), x.bytes.size());
    }
    return first;
}

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string what; !(what = asked()).empty(); std::cout.flush()) {
        if (what == "describe") {
            std::cout << "protocol 1\nformats float64 float32\n";
            std::cout << "function attend(query, key, value, mask=None, is_causal=False, ";
            std::cout << "scale=None, enable_gqa=False)\ndata 0\n";
            continue;
        }
        try {
            arrays["query"].format == "float64" ? answer<double>() : answer<float>();
        } catch (const std::exception& error) {
            std::cout << "refused " << error.what() << "\ndata 0\n";
        }
    }
}

// Attention in Rust, as a program that answers the messages of docs/languages.md.
//
//     rustc --edition 2021 -O -o examples/rust/attention examples/rust/attention.rs
//     attention-spec certify ./examples/rust/attention --profile quick
//
// Expect "attend: certified (quick)" and exit code 0, in float64 and float32. To see a failure,
// write `1.0` for `1.0 / (d as f64).sqrt()` and run both commands again.
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

const DESCRIPTION: &str = "protocol 1
formats float64 float32
function attend(query, key, value, mask=None, is_causal=False, scale=None, enable_gqa=False)
data 0
";

// An array, whose numbers are kept in float64.
struct Array {
    format: String,
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

impl Array {
    // The position of an entry; `at` has four places, and an axis of length 1 has only one.
    fn place(&self, at: [usize; 4]) -> usize {
        let last = &at[4 - self.shape.len()..];
        let steps = self.shape.iter().zip(last);
        steps.fold(0, |found, (&length, &i)| found * length + if length == 1 { 0 } else { i })
    }

    fn row(&self, b: usize, h: usize, n: usize) -> &[f64] {
        let width = self.shape[3];
        let first = ((b * self.shape[1] + h) * self.shape[2] + n) * width;
        &self.numbers[first..first + width]
    }
}

struct Call {
    arrays: HashMap<String, Array>,
    options: HashMap<String, f64>,
}

fn decoded(format: &str, bytes: &[u8]) -> Vec<f64> {
    let single = |x: &[u8]| f32::from_ne_bytes(x.try_into().unwrap()) as f64;
    let double = |x: &[u8]| f64::from_ne_bytes(x.try_into().unwrap());
    match format {
        "bool" => bytes.iter().map(|&x| if x != 0 { 0.0 } else { f64::NEG_INFINITY }).collect(),
        "float32" => bytes.chunks(4).map(single).collect(),
        _ => bytes.chunks(8).map(double).collect(),
    }
}

fn attend(call: &Call) -> Result<(Vec<usize>, Vec<f64>), String> {
    let (q, k, v) = (&call.arrays["query"], &call.arrays["key"], &call.arrays["value"]);
    let option = |name: &str, other: f64| *call.options.get(name).unwrap_or(&other);
    let (batch, heads, queries, d) = (q.shape[0], q.shape[1], q.shape[2], q.shape[3]);
    let (groups, keys, width) = (k.shape[1], k.shape[2], v.shape[3]);
    let scale = option("scale", 1.0 / (d as f64).sqrt());
    let grouped = option("enable_gqa", 0.0) != 0.0 && groups > 0 && heads % groups == 0;
    if groups != heads && !grouped {
        return Err("fewer heads of keys than of queries, without enable_gqa".to_string());
    }
    let mut out = vec![];
    for row in 0..batch * heads * queries {
        let (b, h, n) = (row / (heads * queries), row / queries % heads, row % queries);
        let g = h * groups / heads;
        let score = |m: usize| {
            let bias = call.arrays.get("mask").map_or(0.0, |x| x.numbers[x.place([b, h, n, m])]);
            if bias == f64::NEG_INFINITY || option("is_causal", 0.0) != 0.0 && m > n {
                return f64::NEG_INFINITY; // also where the score is NaN
            }
            let pairs = q.row(b, h, n).iter().zip(k.row(b, g, m));
            pairs.map(|(x, y)| x * y).sum::<f64>() * scale + bias
        };
        let scores: Vec<f64> = (0..keys).map(score).collect();
        let larger = |x: f64, &y: &f64| if y <= x { x } else { y }; // NaN is the largest
        let top = scores.iter().fold(f64::NEG_INFINITY, larger);
        let (mut sums, mut total) = (vec![0.0; width], 0.0);
        for m in (0..keys).filter(|&m| scores[m] != f64::NEG_INFINITY) {
            let weight = (scores[m] - top).exp();
            total += weight;
            for (sum, x) in sums.iter_mut().zip(v.row(b, g, m)) {
                *sum += weight * x;
            }
        }
        out.extend(sums.iter().map(|x| if total == 0.0 { 0.0 } else { x / total }));
    }
    Ok((vec![batch, heads, queries, width], out))
}

// The next message: what it is about, and the arguments of a call. None at the end.
fn asked(input: &mut impl BufRead) -> Option<(String, Call)> {
    let mut call = Call { arrays: HashMap::new(), options: HashMap::new() };
    let (mut first, mut order) = (String::new(), vec![]);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "data" => break,
            "array" => {
                let shape: Vec<usize> = words[3..].iter().map(|x| x.parse().unwrap()).collect();
                order.push((words[1].to_string(), words[2].to_string(), shape));
            }
            "option" if words.len() > 2 => {
                call.options.insert(words[1].to_string(), words[2].parse().unwrap());
            }
            word => first = word.to_string(),
        }
    }
    for (name, format, shape) in order {
        let width = match format.as_str() {
            "bool" => 1,
            "float32" => 4,
            _ => 8,
        };
        let mut bytes = vec![0; width * shape.iter().product::<usize>()];
        input.read_exact(&mut bytes).unwrap();
        let numbers = decoded(&format, &bytes);
        call.arrays.insert(name, Array { format, shape, numbers });
    }
    Some((first, call))
}

fn answer(call: &Call) -> Vec<u8> {
    let (shape, numbers) = match attend(call) {
        Ok(found) => found,
        Err(why) => return format!("refused {why}\ndata 0\n").into_bytes(),
    };
    let format = &call.arrays["query"].format;
    let bytes: Vec<u8> = match format.as_str() {
        "float32" => numbers.iter().flat_map(|&x| (x as f32).to_ne_bytes()).collect(),
        _ => numbers.iter().flat_map(|x| x.to_ne_bytes()).collect(),
    };
    let lengths: Vec<String> = shape.iter().map(|x| x.to_string()).collect();
    let head = format!("array out {format} {}\ndata {}\n", lengths.join(" "), bytes.len());
    [head.into_bytes(), bytes].concat()
}

fn main() {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Some((what, call)) = asked(&mut input) {
        let said = match what.as_str() {
            "describe" => DESCRIPTION.as_bytes().to_vec(),
            _ => answer(&call),
        };
        output.write_all(&said).and_then(|_| output.flush()).unwrap();
    }
}

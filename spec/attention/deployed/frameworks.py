"""Libraries of graphs, layers and arrays, and servers that call kernels of other libraries."""

from spec.attention.deployed.entry import (
    ALIBI,
    BEFORE,
    BESIDE,
    EITHER,
    FLASH,
    ROWS,
    WITHIN,
    at,
    called,
    says,
)
from spec.attention.libraries import QUERIES_FIRST, Library

JAX = ("jax-ml/jax", "cec06d116c05f0d52adfceee3d3b730fdbcb0ce5")
SPLASH = "jax/experimental/pallas/ops/tpu/splash_attention/splash_attention"
ENGINE = "transformer_engine/pytorch/attention"

FRAMEWORKS: tuple[Library, ...] = (
    Library(
        "cuDNN",
        (
            at(
                "NVIDIA/cudnn-frontend",
                "3929da2ef4c1dba1bb8acb68727b9134f26f40c0",
                *("include/cudnn_frontend/graph_properties.h", "test/python/sdpa/fp16_ref.py"),
            ),
        ),
        called(
            "diagonal_alignment left_bound score_mod sink_token - alibi_mask - "
            "ragged_offset paged_attention_k_table generate_stats"
        ),
        says(
            causal=EITHER,
            window_alignment=EITHER,
            left_bound=WITHIN,
            no_bound="None",
            whose_slopes="computed from H",
            slopes_ahead="signed",
            slopes_alignment="top-left",
            fully_masked="zero",
            lse_base="e",
            lse_sink="with",
            fully_masked_lse="-inf",
            table=ROWS,
        ),
    ),
    Library(
        "TransformerEngine",
        (
            at(
                "NVIDIA/TransformerEngine",
                "d0067d0da6cb01811b8072a7d304f0e00344ce2b",
                *(
                    f"{ENGINE}/dot_product_attention/{x}.py"
                    for x in ("dot_product_attention", "utils")
                ),
                f"{ENGINE}/inference.py",
            ),
        ),
        called(
            "attn_mask_type window_size - softmax_type - alibi_slopes - "
            "cu_seqlens_q inference_params -"
        ),
        says(
            causal=EITHER,
            window_alignment=EITHER,
            left_bound=BESIDE,
            no_bound="-1",
            whose_slopes=("an argument", "computed from H"),
            slopes_ahead="distance",
            slopes_alignment=EITHER,
            texts=FLASH["texts"],
            table=ROWS,
        ),
    ),
    Library(
        "jax.nn",
        (at(*JAX, "jax/_src/nn/functions.py"),),
        called("is_causal local_window_size - - - - - query_seq_lengths - return_residual"),
        says(
            causal="top-left",
            window_alignment="top-left",
            left_bound=BESIDE,
            texts="lengths",
            no_bound="a large number",
            mask_beside_causal="both apply",
            fully_masked="uniform",
            lse_base="e",
            lse_axes=QUERIES_FIRST,
            fully_masked_lse="finite",
        ),
    ),
    Library(
        "splash attention",
        (at(*JAX, f"{SPLASH}_mask.py", f"{SPLASH}_kernel.py"),),
        called(
            "CausalMask LocalMask attn_logits_soft_cap sinks - - - segment_ids - save_residuals"
        ),
        says(
            causal=EITHER,
            window_alignment=EITHER,
            left_bound=BESIDE,
            no_bound="None",
            no_cap="None",
            lse_base="e",
            lse_sink="with",
            texts="segment ids",
        ),
    ),
    Library(
        "tokamax",
        (
            at(
                "openxla/tokamax",
                "783ea95704a581ea5b09c80d9d058c819cd8bf03",
                *(f"tokamax/_src/ops/attention/{x}.py" for x in ("api", "base")),
            ),
        ),
        called(
            "is_causal local_window_size logits_soft_cap - - - q_indices "
            "query_seq_lengths paging_info return_residuals"
        ),
        says(
            causal="top-left",
            left_bound=BESIDE,
            no_bound="a large number",
            softcap="after-bias",
            no_cap="None",
            mask_beside_causal="both apply",
            fully_masked="uniform",
            lse_base="e",
            texts="lengths",
            table=ROWS,
        ),
    ),
    Library(
        "ONNX Attention",
        (
            at(
                "onnx/onnx",
                "f7546912001bc31e92a238b17068a21b373d882e",
                "onnx/reference/ops/op_attention.py",
            ),
        ),
        called("is_causal left_window_size softcap - - - - nonpad_kv_seqlen - -"),
        says(
            causal=EITHER,
            window_alignment=EITHER,
            left_bound=BESIDE,
            no_bound="-1",
            **BEFORE,
            mask_beside_causal="both apply",
            fully_masked="zero",
            texts="lengths",
        ),
    ),
    Library(
        "onnxruntime",
        (
            at(
                "microsoft/onnxruntime",
                "004b79eda305a216ab8d0e21eabe81d7713eb768",
                "onnxruntime/core/graph/contrib_ops/bert_defs.cc",
            ),
        ),
        called(
            "causal local_window_size softcap head_sink - - - "
            "cumulative_sequence_length block_table -"
        ),
        says(left_bound=WITHIN, no_bound="-1", no_cap="0", texts=FLASH["texts"], table=ROWS),
    ),
    Library(
        "MLX",
        (
            at(
                "ml-explore/mlx",
                "846d176227a0ac13d2667e58d2bb68b322109ab0",
                *("mlx/fast.cpp", "mlx/backend/metal/kernels/sdpa_vector.h"),
            ),
        ),
        called("mask - - sinks - - - - - -"),
        says(
            causal="bottom-right",
            mask_beside_causal="raises an exception",
            fully_masked=("zero", "uniform"),
        ),
    ),
    Library(
        "ggml",
        (
            at(
                "ggml-org/ggml",
                "d99724f2b141fed9e1a9f402213506c081433465",
                *("include/ggml.h", "src/ggml-cpu/ops.cpp"),
            ),
        ),
        called("mask mask logit_softcap sinks - max_bias - mask - -"),
        says(**BEFORE, whose_slopes="computed from H", fully_masked="zero", texts="a mask"),
    ),
    Library(
        "vLLM",
        (
            at(
                "vllm-project/vllm",
                "5704f34f361c6c59a9c092c4e1e96730cc6dc14d",
                "vllm/v1/attention/backends/flash_attn.py",
            ),
            at(
                "vllm-project/flash-attention",
                "617264c1c7955c9e84817654ebeedff069f3c5f1",
                *("vllm_flash_attn/flash_attn_interface.py", "hopper/softmax.h"),
            ),
        ),
        called(
            "causal sliding_window logits_soft_cap sinks - alibi_slopes - "
            "query_start_loc block_table return_softmax_lse"
        ),
        says(
            **{**FLASH, "left_bound": WITHIN, "no_bound": "None", "no_cap": "None"},
            **ALIBI,
            fully_masked="zero",
            lse_base="e",
            lse_sink="with",
            table=ROWS,
        ),
    ),
    Library(
        "TensorRT-LLM",
        (
            at(
                "NVIDIA/TensorRT-LLM",
                "0071496dc625910229bf433821453636ef3770eb",
                "tensorrt_llm/functional.py",
            ),
            at(
                "NVIDIA/TensorRT-LLM",
                "5a211b915ae98e8f12c517570802914b085bbb11",
                "docs/source/advanced/gpt-attention.md",
            ),
        ),
        called(
            "mask_type host_max_attention_window_sizes attn_logit_softcapping_scale - "
            "host_sink_token_length alibi_slopes - context_lengths kv_cache_block_offsets -"
        ),
        says(no_cap="0", whose_slopes="an argument", texts="lengths", table=ROWS),
    ),
)

"""Libraries of kernels: flash-attention and similar interfaces, torch, FlashInfer."""

from spec.attention.deployed.entry import (
    ALIBI,
    BESIDE,
    EITHER,
    FLASH,
    ROWS,
    WITHIN,
    at,
    called,
    says,
)
from spec.attention.libraries import HEADS_FIRST, QUERIES_FIRST, Library

DAO = ("Dao-AILab/flash-attention", "0251105a2fb19d2957484b7f023cd8c115286ced")
TORCH = ("pytorch/pytorch", "cf30153c4c131c8164ee7798e5022d810682e2cb")
FLASHINFER = "include/flashinfer/attention"

KERNELS: tuple[Library, ...] = (
    Library(
        "flash-attn 2",
        (
            at(*DAO, "flash_attn/flash_attn_interface.py", "csrc/flash_attn/flash_api.cpp"),
            at(*DAO, *(f"csrc/flash_attn/src/{x}.h" for x in ("mask", "softmax"))),
            at(*DAO, "csrc/flash_attn/src/flash_fwd_kernel.h"),
        ),
        called(
            "causal window_size softcap - - alibi_slopes - "
            "cu_seqlens_q block_table return_attn_probs"
        ),
        says(
            **FLASH,
            **ALIBI,
            softcap="before-bias",
            fully_masked="zero",
            lse_base="e",
            lse_axes=HEADS_FIRST,
            fully_masked_lse="+inf",
            table=ROWS,
        ),
    ),
    Library(
        "flash-attn 3",
        (
            at(*DAO, "hopper/flash_attn_interface.py", "hopper/flash_api.cpp", "hopper/mask.h"),
            at(*DAO, "hopper/softmax.h", "hopper/epilogue_fwd.hpp"),
        ),
        called("causal window_size softcap - - - - cu_seqlens_q page_table return_attn_probs"),
        says(**FLASH, fully_masked="zero", lse_base="e", fully_masked_lse="-inf", table=ROWS),
    ),
    Library(
        "flash-attn 4",
        (at(*DAO, *(f"flash_attn/cute/{x}.py" for x in ("interface", "mask", "softmax"))),),
        called(
            "causal window_size softcap learnable_sink - - - cu_seqlens_q page_table return_lse"
        ),
        says(
            **{**FLASH, "no_bound": "None"},
            mask_beside_causal="only the mask applies",
            fully_masked="zero",
            lse_base="e",
            lse_sink="with",
            fully_masked_lse="-inf",
            table=ROWS,
        ),
    ),
    Library(
        "torch sdpa",
        (at(*TORCH, "torch/nn/functional.py"),),
        called("is_causal - - - - - - - - -"),
        says(causal="top-left", mask_beside_causal="raises an exception"),
    ),
    Library(
        "torch varlen_attn",
        (
            at(*TORCH, "torch/nn/attention/varlen.py"),
            at(
                "pytorch/pytorch",
                "449ec0076b6f8f6821d272adfcade825c264e37a",
                "aten/src/ATen/native/transformers/cuda/flash_attn/mask.h",
            ),
        ),
        called("window_size window_size - - - - - cu_seq_q block_table return_aux"),
        says(**{x: FLASH[x] for x in FLASH if x != "no_cap"}, table=ROWS),
    ),
    Library(
        "torch flex_attention",
        (
            at(*TORCH, "torch/nn/attention/flex_attention.py"),
            at(*TORCH, "torch/_higher_order_ops/flex_attention.py"),
        ),
        called("mask_mod mask_mod score_mod - - score_mod - mask_mod - return_aux"),
        says(fully_masked="zero", lse_base="e", fully_masked_lse="-inf", texts="a mask"),
    ),
    Library(
        "xFormers",
        (
            at(
                "facebookresearch/xformers",
                "ca6d2aa0d43241fc8a8dcd872debc2406160160d",
                "xformers/ops/fmha/attn_bias.py",
            ),
            at(
                "meta-pytorch/MSLK",
                "2a3c89786adf55359cfcc5d5cb9f4c41875eaac6",
                *(f"mslk/attention/fmha/{x}.py" for x in ("attn_bias", "__init__")),
            ),
        ),
        called(
            "attn_bias attn_bias - - - - - attn_bias attn_bias memory_efficient_attention_partial"
        ),
        says(
            causal=EITHER,
            window_alignment=EITHER,
            left_bound=(BESIDE, WITHIN),
            texts="lengths",
            lse_base="e",
            table=ROWS,
        ),
    ),
    Library(
        "FlashInfer",
        (
            at(
                "flashinfer-ai/flashinfer",
                "fb28d7242b3506a2348265962041acc1fb56cca4",
                *("flashinfer/prefill.py", "flashinfer/jit/attention/variants.py"),
                *(f"{FLASHINFER}/{x}.cuh" for x in ("variants", "prefill")),
                "docs/tutorials/kv_layout.rst",
            ),
        ),
        called(
            "causal window_left logits_soft_cap sink - pos_encoding_mode - "
            "qo_indptr paged_kv_indptr return_lse"
        ),
        says(
            **{**FLASH, "no_cap": ("None", "0")},
            softcap="after-bias",
            whose_slopes="computed from H",
            slopes_ahead="signed",
            slopes_alignment="top-left",
            fully_masked="zero",
            lse_base="2",
            lse_axes=QUERIES_FIRST,
            mask_beside_causal="only the mask applies",
            lse_sink="with",
            fully_masked_lse="-inf",
            table="one list and offsets into it",
        ),
    ),
    Library(
        "FlashMLA",
        (
            at(
                "deepseek-ai/FlashMLA",
                "9241ae3ef9bac614dd25e45e507e089f888280e0",
                *("flash_mla/flash_mla_interface.py", "tests/ref.py"),
                "tests/test_flash_mla_dense_decoding.py",
            ),
        ),
        called("causal - - attn_sink - - - cu_seqlens_qo block_table softmax_lse"),
        says(
            causal="bottom-right",
            fully_masked="zero",
            lse_base="e",
            lse_sink="without",
            fully_masked_lse="+inf",
            texts=FLASH["texts"],
            table=(ROWS, "the index of each key in the pool"),
        ),
    ),
    Library(
        "aiter",
        (
            at(
                "ROCm/aiter",
                "e4048607a535ace3a2b51ded31b1c8c2d45c0879",
                *("aiter/ops/mha.py", "op_tests/test_batch_prefill.py"),
            ),
        ),
        called(
            "causal window_size logits_soft_cap sink_ptr window_size[2] alibi_slopes - "
            "cu_seqlens_q block_table return_lse"
        ),
        says(**FLASH, **ALIBI, fully_masked="zero", table=(ROWS, "one list and offsets into it")),
    ),
)

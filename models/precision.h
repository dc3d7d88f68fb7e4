// Precision: the number formats training runs in.
//
// "fp16" and "bf16" mean mixed precision as frameworks do it: matrix work and activations in two
// bytes, master weights, gradients and optimizer state in four (autocast). "tf32" is fp32 storage with
// TF32 tensor-core products.
#pragma once

#include <string>
#include <vector>

namespace foretrain::models {

enum class Precision { fp32, tf32, fp16, bf16, fp8 };

[[nodiscard]] const char* to_string(Precision precision);
[[nodiscard]] const std::vector<std::string>& precision_names();
[[nodiscard]] Precision precision_from(const std::string& name);  // name is one of precision_names()
// Bytes of one activation element as it is stored.
[[nodiscard]] double activation_bytes(Precision precision);
[[nodiscard]] bool is_mixed(Precision precision);  // fp16, bf16, fp8: a two-byte copy of the weights is used

}  // namespace foretrain::models

// Attention time: what a fused attention kernel takes on one device.
//
// Such a kernel computes scores, softmax and context block by block without storing the scores. Its rate falls short of
// that of long rows and wide heads for three reasons:
//
//   time = work / (peak · share) · (1 + width / head_dimension) · (1 + diagonal / keys) · (1 + fill · waves⁻¹)
//   waves = batch · heads · queries / 128 / multiprocessors
//
// exponentials cost the same however wide a head is (`width` elements of it); of causal attention the blocks on the
// diagonal are computed in whole and rows end at different times (`diagonal` keys); and few blocks leave multiprocessors
// idle (`fill` blocks of 128 queries each). Work counts four FLOPs per score and element of a head, half of them when
// causal, 2.5 times as many on the way back, which computes the scores again. Fitted per device and generation of
// kernels (docs/data.md) it reproduces tables of measured kernels within 3 to 10 % in the mean.
#pragma once

#include "base/units.h"
#include "calibrate/device.h"
#include "models/operator.h"

namespace foretrain::calibrate {

// FLOPs that the kernel does, those of masked blocks apart; forward or backward.
[[nodiscard]] Flops attention_work(const models::AttentionShape& shape, bool forward);

// Device time of the kernel's arithmetic at `peak`, without launches and the passes over its operands.
[[nodiscard]] Seconds attention_time(const AttentionPass& pass, const models::AttentionShape& shape, bool forward,
                                     FlopsPerSecond peak, int multiprocessors);

}  // namespace foretrain::calibrate

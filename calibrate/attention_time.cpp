#include "calibrate/attention_time.h"

namespace foretrain::calibrate {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

Flops attention_work(const models::AttentionShape& s, bool forward) {
  constexpr double products_forward = 2, products_backward = 5, flops_of_a_multiplication = 2;
  const double scores = real(s.batch) * real(s.heads) * real(s.query_length) * real(s.key_length);
  return Flops((forward ? products_forward : products_backward) * flops_of_a_multiplication * scores *
               real(s.head_dimension) * (s.causal ? 0.5 : 1.0));
}

Seconds attention_time(const AttentionPass& pass, const models::AttentionShape& s, bool forward, FlopsPerSecond peak,
                       int multiprocessors) {
  constexpr double block_queries = 128;
  const double waves = real(s.batch) * real(s.heads) * real(s.query_length) / block_queries / multiprocessors;
  const double narrow = 1 + pass.width / real(s.head_dimension);
  const double masked = s.causal ? 1 + pass.diagonal / real(s.key_length) : 1.0;
  const double idle = 1 + pass.fill / waves;
  return attention_work(s, forward) / FlopsPerSecond(peak.value * pass.share) * (narrow * masked * idle);
}

}  // namespace foretrain::calibrate

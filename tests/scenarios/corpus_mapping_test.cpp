// What free text is mapped to, checked by hand.
#include <string>

#include "models/model.h"
#include "models/precision.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using models::Precision;
using sim::Family;

namespace {

std::string model_of(const std::string& name, const Columns& more = {}) {
  Columns changes = more;
  changes["model"] = name;
  changes["seq_or_image"] = "";
  return family_of(changes).anchor.scenario.model.name;
}

std::string stack_of(const std::string& framework, const std::string& strategy) {
  return family_of({{"framework", framework}, {"strategy", strategy}}).anchor.scenario.stack.name;
}

}  // namespace

TEST_CASE("specific names of models come before those they contain") {
  CHECK(model_of("ALBERT-base") == "albert-base-pretraining");
  CHECK(model_of("BERT-base pretrain") == "bert-base-pretraining");
  CHECK(model_of("BERT-large fine-tune SQuAD") == "bert-large");
  CHECK(model_of("BioBERT (BERT-base) pretrain") == "biobert-pretraining");
  CHECK(model_of("BioBERT (BERT-base) fine-tune NER") == "biobert");
  CHECK(model_of("SSD300 ResNet-34 (MLPerf v1.1)") == "ssd300-resnet34");
  CHECK(model_of("SSD300 (ResNet-50)") == "ssd300-resnet50");
  CHECK(model_of("SSD320 (ResNet-50 FPN)") == "ssd320-resnet50-fpn");
  CHECK(model_of("RetinaNet ResNeXt50 (MLPerf ssd v2.1)", {{"source", "MLPerf Training v2.1"}}) ==
        "retinanet-resnext50-openimages");
  CHECK(model_of("InsightFace R100 PartialFC") == "insightface-r100-glint360k");
  CHECK(model_of("InsightFace MobileFaceNet / MS1M face_emore") == "mobilefacenet");
  CHECK(truth_family("F0338").anchor.scenario.model.name == "dlrm");
  CHECK(truth_family("F0803").anchor.scenario.model.name == "dlrm-dcnv2");
}

TEST_CASE("names are known in the spellings that people use") {
  CHECK(model_of("ResNet50") == "resnet50");
  CHECK(model_of("resnet-50 v1b") == "resnet50");
  CHECK(model_of("ResNet 101") == "resnet101");
  CHECK(model_of("VGG16") == "vgg16");
  CHECK(model_of("inception3") == "inception-v3");
  CHECK(model_of("bert_large") == "bert-large-pretraining");
  CHECK(model_of("GPT-2 XL") == "gpt2-xl");
  CHECK(model_of("GPT2") == "gpt2");
  CHECK(model_of("GPT-2 (124M)") == "gpt2");
  CHECK(model_of("GPT-2 (345M)") == "gpt2-medium");
  CHECK(model_of("Transformer") == "transformer-base");
  CHECK(model_of("Inception v3") == "inception-v3");
  // tf_cnn_benchmarks' own ResNets are of the first version.
  CHECK(model_of("ResNet-152", {{"framework", "TensorFlow (tf_cnn_benchmarks)"}, {"strategy", "horovod"}}) ==
        "resnet152-v1");
}

TEST_CASE("a model that the zoo does not have is declined") {
  CHECK(reason_of({{"model", "PolyNet"}}) == "unsupported: model");
  CHECK(reason_of({{"model", "DistilBERT"}}) == "unsupported: model");
  CHECK(reason_of({{"model", "GoogLeNet"}}) == "unsupported: model");
  CHECK(reason_of({{"model", "EfficientNet-B7"}}) == "unsupported: model");
  CHECK(reason_of({{"model", ""}}) == "unsupported: model");
}

TEST_CASE("sequence length and image size come from their column, else from the recipe") {
  const auto scenario = [](const Columns& changes) { return family_of(changes).anchor.scenario; };
  const sim::Scenario long_bert = scenario({{"model", "BERT-large pretrain"}, {"seq_or_image", "seq512"}});
  CHECK(long_bert.training.sequence == 512);
  CHECK(long_bert.model.overrides.at("predictions_per_sequence") == 80);
  const sim::Scenario short_bert = scenario({{"model", "BERT-large pretrain"}, {"seq_or_image", "seq128"}});
  CHECK(short_bert.training.sequence == 128);
  CHECK(short_bert.model.overrides.empty());
  CHECK(scenario({{"model", "BERT-large fine-tune SQuAD"}, {"seq_or_image", ""}}).training.sequence == 384);
  CHECK(scenario({{"model", "BERT-large pretrain"}, {"seq_or_image", "512"}}).training.sequence == 512);
  CHECK(scenario({{"model", "GPT-2"}, {"seq_or_image", "512 tokens"}}).training.sequence == 512);
  CHECK(scenario({{"seq_or_image", "224"}}).model.overrides.empty());
  CHECK(scenario({{"seq_or_image", "160x160"}}).model.overrides.at("image") == 160);
  CHECK(reason_of({{"seq_or_image", "2"}}).find("unsupported") == 0);  // no ResNet sees two pixels
}

TEST_CASE("GPUs are told apart by name, memory and node") {
  const auto machine = [](const char* gpu, const char* node) {
    return family_of({{"gpu", gpu}, {"intra_node", node}}).anchor.scenario.cluster;
  };
  CHECK(machine("V100-16GB", "DGX-1").machine == "DGX-1 V100");
  CHECK(machine("V100-32GB", "DGX-1").machine == "DGX-1 V100 32GB");
  CHECK(machine("P100", "DGX-1 (P100)").machine == "DGX-1 P100");
  CHECK(machine("A100-80GB", "DGX A100").machine == "DGX A100 80GB");
  CHECK(machine("H100 80GB PCIe Gen5", "PCIe").gpu == "H100-PCIE-80GB");
  CHECK(machine("Blackwell GPU (GB200)", "").machine == "GB200 NVL72");
  CHECK(machine("Blackwell GPU (B200-SXM-180GB)", "").machine == "DGX B200");
  CHECK(machine("NVIDIA L40S", "").gpu == "L40S");
  CHECK(reason_of({{"gpu", "TPU v4"}}) == "unsupported: device");
  CHECK(reason_of({{"gpu", "MI300X"}}) == "unsupported: device");
}

TEST_CASE("software is found by framework, strategy and version") {
  CHECK(stack_of("PyTorch", "DDP (Apex)") == "pytorch-ddp");
  CHECK(stack_of("PyTorch Lightning DDP", "DDP") == "pytorch-ddp");
  CHECK(stack_of("TensorFlow 1.15 (NGC 20.03)", "horovod") == "horovod-tensorflow1");
  CHECK(stack_of("TensorFlow 2.1 + Horovod", "horovod") == "horovod-tensorflow2");
  CHECK(stack_of("MXNet 1.6", "horovod") == "horovod-mxnet");
  CHECK(stack_of("PyTorch 1.6", "Horovod") == "horovod-pytorch");
  CHECK(stack_of("PaddlePaddle 1.8.3", "Paddle fleet (DP)") == "paddle-fleet-1.8.3");
  CHECK(stack_of("PaddlePaddle 2.0", "Paddle fleet (DP)") == "paddle-fleet");
  CHECK(stack_of("TensorFlow 2.3", "MultiWorkerMirroredStrategy") == "tensorflow-multi-worker-mirrored-2.3");
  CHECK(stack_of("TensorFlow 2.11", "MultiWorkerMirroredStrategy") == "tensorflow-multi-worker-mirrored");
  CHECK(stack_of("MXNet", "PS (kvstore dist_device_sync)") == "mxnet-kvstore");
  CHECK(stack_of("TensorFlow 1.4", "parameter_server(cpu)") == "tensorflow-parameter-server");
  CHECK(stack_of("OneFlow 0.3.4", "OneFlow DP") == "oneflow");
  CHECK(stack_of("TensorFlow 1.x", "Horovod") == "horovod-tensorflow1");
  CHECK(stack_of("tf_cnn_benchmarks", "horovod") == "horovod-tensorflow1");
  CHECK(stack_of("TensorFlow 1.12 + Horovod", "") == "horovod-tensorflow1");
  CHECK(stack_of("Horovod, PyTorch", "data parallel") == "horovod-pytorch");
  CHECK(stack_of("PyTorch 1.2", "PyTorch DDP") == "pytorch-ddp");
  CHECK(stack_of("MXNet 1.1", "dist_sync") == "mxnet-kvstore");
  CHECK(stack_of("tf_cnn_benchmarks", "distributed_replicated") == "tensorflow-parameter-server");
  CHECK(stack_of("TensorFlow 1.9", "collective_all_reduce") == "tensorflow-multi-worker-mirrored-2.3");
  // One node is mirrored without workers.
  const Family one_node =
      family_of({{"framework", "TensorFlow 2.3"}, {"strategy", "MirroredStrategy"}, {"gpus", "1 2 8"}});
  CHECK(one_node.anchor.scenario.stack.name == "tensorflow-mirrored");
  // MLPerf names who submitted.
  CHECK(family_of({{"source", "MLPerf Training v3.1"}, {"framework", "Dell"}}).anchor.scenario.stack.name == "mlperf");
}

TEST_CASE("classes of software without calibration are declined") {
  const auto reason = [](const char* framework, const char* strategy) {
    return reason_of({{"framework", framework}, {"strategy", strategy}});
  };
  CHECK(reason("Chainer", "") == "unsupported: software");
  CHECK(reason("Caffe2", "parameter server") == "unsupported: software");
  CHECK(reason("PyTorch", "BytePS") == "unsupported: a system of its own for gradients");
  CHECK(reason("PyTorch", "DDP, PowerSGD rank 4") == "unsupported: compressed gradients");
  CHECK(reason("MXNet", "dist_async") == "unsupported: asynchronous training");
  CHECK(reason("TensorFlow 1.4", "MPI all-reduce on CPU") == "unsupported: all-reduce over MPI or on CPUs");
  CHECK(reason("PyTorch", "nn.DataParallel") == "unsupported: replication by a single process");
  CHECK(reason("PyTorch", "DistributedDataParallel").empty());
  CHECK(reason("PyTorch", "FSDP") == "unsupported: sharded or model-parallel training");
  CHECK(reason("TensorFlow 1.4", "asynchronous parameter server") == "unsupported: asynchronous training");
}

TEST_CASE("parameter servers say where their variables lie and who adds gradients up") {
  const Family& on_gpu = truth_family("F1699");
  CHECK(on_gpu.kind == "parameter server");
  CHECK(on_gpu.anchor.scenario.stack.options.at("servers_on_gpu") == 1);
  CHECK(truth_family("F1692").anchor.scenario.stack.options.count("servers_on_gpu") == 0);
  const Family& mxnet = truth_family("F1036");
  CHECK(mxnet.kind == "parameter server");
  CHECK(mxnet.anchor.scenario.stack.options.at("local_aggregation") == 1);
}

TEST_CASE("classifiers and embeddings that the strategy spreads are spread") {
  CHECK(truth_family("F1593").anchor.scenario.plan.tables == "sharded");     // model-parallel FC
  CHECK(truth_family("F1591").anchor.scenario.plan.tables == "replicated");  // data parallelism
  CHECK(truth_family("F1625").anchor.scenario.plan.tables == "sharded");     // model-parallel embedding
  CHECK(truth_family("F0338").anchor.scenario.plan.tables == "sharded");     // DLRM of MLPerf
  CHECK(truth_family("F1595").anchor.scenario.model.overrides.at("sample_percent") == 10);
  CHECK(truth_family("F1581").anchor.scenario.model.overrides.at("sample_percent") == 10);
  CHECK(truth_family("F1579").anchor.scenario.model.overrides.count("sample_percent") == 0);  // ratio 1.0
}

TEST_CASE("precision is what the row says, or follows from the device and the anchor") {
  const auto precision = [](const Columns& changes) { return family_of(changes).anchor.scenario.training.precision; };
  CHECK(precision({{"precision", "mixed FP16"}}) == Precision::fp16);
  CHECK(precision({{"precision", "TF32"}}) == Precision::tf32);
  CHECK(precision({{"precision", "FP32/TF32 (script name FP32)"}}) == Precision::tf32);
  CHECK(precision({{"precision", "FP32/TF32 (script name FP32)"}, {"gpu", "V100-16GB"}, {"intra_node", "DGX-1"}}) ==
        Precision::fp32);
  CHECK(precision({{"precision", "FP32"}}) == Precision::fp32);
  CHECK(precision({{"precision", ""}, {"source", "MLPerf Training v2.0"}}) == Precision::fp16);
  // 24.5 GFLOP per image in forward and backward: 300 images/s are 7.4 TFLOP/s, which a V100 computes in fp32 (15.7),
  // 1300 are 32 TFLOP/s, which it only reaches in mixed precision.
  Columns silent = {{"precision", ""}, {"gpu", "V100-16GB"}, {"intra_node", "DGX-1"}, {"values", "300 2200 4300"}};
  CHECK(precision(silent) == Precision::fp32);
  silent["values"] = "1300 9500 18000";
  CHECK(precision(silent) == Precision::fp16);
  CHECK(truth_family("F0006").anchor.scenario.training.precision == Precision::fp16);  // 123 sequences/s of 512
  CHECK(truth_family("F0009").anchor.scenario.training.precision == Precision::fp32);  // 102 images/s of ViT-B
  CHECK(truth_family("F0009").anchor.scenario.name ==
        "F0009 (precision not stated: fp32 assumed; batch not stated: 32 per GPU assumed)");
}

TEST_CASE("the anchor's step follows from throughput and batch, in the metric's units") {
  const auto step = [](const Columns& changes) {
    return family_of(changes).anchor.scenario.measured.at(0).step_seconds;
  };
  CHECK(step({}) == Approx(64. / 640.).epsilon(1e-12));
  // Four GPUs with 64 images each.
  CHECK(step({{"gpus", "4 8 16"}, {"values", "2560 4800 9000"}}) == Approx(4 * 64. / 2560.).epsilon(1e-12));
  CHECK(step({{"metric", "step_time_s"}, {"values", "0.1 0.11 0.125"}}) == 0.1);
  const Columns xl = {
      {"model", "Transformer-XL base"}, {"seq_or_image", ""}, {"metric", "tokens_per_s"}, {"batch", "32/GPU"}};
  CHECK(step([&] {
          Columns row = xl;
          row["values"] = "61440 450000 880000";
          return row;
        }()) == Approx(32 * 192 / 61440.).epsilon(1e-12));
  // Batches of the translation Transformer are tokens already.
  const Family big = family_of({{"model", "Transformer-big (MT)"},
                                {"seq_or_image", ""},
                                {"metric", "tokens_per_s"},
                                {"batch", "2560/GPU"},
                                {"values", "12800 90000 170000"}});
  CHECK(big.anchor.scenario.measured.at(0).step_seconds == Approx(0.2).epsilon(1e-12));
  CHECK(big.anchor.scenario.training.micro_batch == 2560 / 32);
  // WaveGlow counts sound samples, 8000 of them in a segment: 48 · 8000 / 469282 = 0.818 s.
  CHECK(truth_family("F0170").anchor.scenario.measured.at(0).step_seconds == Approx(0.81827).epsilon(1e-4));
}

TEST_CASE("steps that no GPU takes are units that do not belong together") {
  CHECK(reason_of({{"values", "6e6 5e7 9e7"}}) ==
        "unsupported: units of metric and batch that make no plausible step");  // 64 images in 11 µs
  CHECK(reason_of({{"values", "2 15 30"}}) == "unsupported: units of metric and batch that make no plausible step");
  CHECK(reason_of({{"metric", "tokens_per_s"}}) == "unsupported: metric");  // of a ResNet
}

TEST_CASE("a model that no GPU of the kind holds is declined") {
  // 26 billion parameters of tables, copied to every GPU.
  const Columns dlrm = {
      {"model", "DLRM-DCNv2"}, {"seq_or_image", ""}, {"metric", "samples_per_s"}, {"batch", "65536/GPU"}};
  CHECK(reason_of(dlrm) == "unsupported: model larger than the GPU");
}

TEST_CASE("strong scaling shares the batch out, and the anchor is a step of the same batch") {
  const Family& family = truth_family("F0373");  // 3264 images on 8 and 64 GPUs
  CHECK(family.anchor.scenario.training.micro_batch == 408);
  const sim::Scenario& larger = family.points.at(0).scenario;
  CHECK(larger.training.micro_batch == 51);
  CHECK(larger.training.global_batch == 3264);
  CHECK(larger.training.scaling == sim::Scaling::strong);
  CHECK(larger.measured.at(0).gpus == 8);
  CHECK(larger.measured.at(0).micro_batch == 408);
  // 56 patches on 72 GPUs: 16 of them only evaluate.
  const Family& unet = truth_family("F0376");
  CHECK(unet.points.at(0).gpus == 72);
  CHECK(unet.points.at(0).scenario.cluster.gpus == 56);
  CHECK(unet.points.at(0).samples == 56);
}

TEST_CASE("a share that is rounded up keeps the anchor's own batch for the measured step") {
  const Family family =
      family_of({{"scaling", "strong (constant global batch)"}, {"batch", "global 500"}, {"gpus", "4 8 16"}});
  const sim::Scenario& sixteen = family.points.at(1).scenario;  // 500 / 16 = 31.25
  CHECK(sixteen.training.micro_batch == 32);
  CHECK(sixteen.training.global_batch == 512);
  CHECK(family.points.at(1).samples == 500);
  CHECK(sixteen.training.scaling == sim::Scaling::weak);
  CHECK(sixteen.measured.at(0).micro_batch == 125);
  CHECK(family.points.at(0).scenario.training.scaling == sim::Scaling::weak);  // 63 · 8 = 504
}

TEST_CASE("recipes that accumulate keep their micro-batch") {
  const Family& bert = truth_family("F1301");  // BERT-large, 65536 sequences on 16 to 512 V100 of 32 GB
  for (const auto& point : bert.points) {
    CHECK(point.scenario.training.micro_batch == bert.anchor.scenario.training.micro_batch);
    CHECK(point.scenario.training.global_batch == 65536);
  }
  CHECK(bert.anchor.scenario.training.micro_batch > 16);
  CHECK(bert.anchor.scenario.training.micro_batch < 65536 / 16);
}

TEST_CASE("input is limited where images are decoded on CPUs") {
  const auto input = [](const char* id) { return truth_family(id).anchor.scenario.input; };
  CHECK(input("F1520").samples_per_s_per_vcpu == 38.0);    // torch.utils.data.DataLoader
  CHECK(input("F1521").samples_per_s_per_node == 9500.0);  // DALI on the same nodes
  CHECK(input("F1575").samples_per_s_per_node == 1030.0);  // one process of MXNet
  CHECK(input("F1036").samples_per_s_per_vcpu == 62.0);    // AlexNet on p2.16xlarge
  CHECK(input("F1386").samples_per_s_per_vcpu == 80.0);    // EfficientNet on DGX A100
  CHECK(input("F1070").samples_per_s_per_vcpu == 62.0);
  for (const char* id : {"F1562", "F1049", "F1505", "F0373"}) {
    INFO(id);
    CHECK_FALSE(input(id).samples_per_s_per_node);
    CHECK_FALSE(input(id).samples_per_s_per_vcpu);
  }
  // An anchor of 4000 images/s on a node with 48 vCPUs refutes 62 for each of them.
  const Family fast = family_of({{"source", "Oneflow-Inc/DLPerf"},
                                 {"gpu", "V100-SXM2-16GB"},
                                 {"intra_node", ""},
                                 {"framework", "PaddlePaddle 2.0"},
                                 {"gpus", "8 16 32"},
                                 {"values", "4000 7500 14000"}});
  CHECK_FALSE(fast.anchor.scenario.input.samples_per_s_per_vcpu);
}

# SPDX-License-Identifier: Apache-2.0
"""Which family of operators a node test is for, by the operator that it is named after."""
FAMILIES = {
    "elementwise": """Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
        Cast CastLike Ceil Celu Clip Cos Cosh Div Dropout Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual
        HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or
        PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh
        ThresholdedRelu Where Xor""",
    "shape and constant": "Constant ConstantOfShape EyeLike Range Shape Size HannWindow HammingWindow BlackmanWindow",
    "reductions": """ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
        ReduceProd ReduceSum ReduceSumSquare CumSum""",
    "movement": """CenterCropPad Compress Concat DepthToSpace Expand Flatten Gather GatherElements GatherND OneHot Pad
        Reshape ReverseSequence Scatter ScatterElements ScatterND Slice SpaceToDepth Split Squeeze TensorScatter Tile
        Transpose Trilu Unsqueeze""",
    "products": "Einsum Gemm MatMul MatMulInteger Det",
    "normalisation": """BatchNormalization GroupNormalization Hardmax InstanceNormalization LRN LayerNormalization
        LogSoftmax LpNormalization MeanVarianceNormalization RMSNormalization Softmax""",
    "windows": """AveragePool Col2Im Conv ConvInteger ConvTranspose DeformConv GlobalAveragePool GlobalLpPool
        GlobalMaxPool LpPool MaxPool MaxUnpool""",
    "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "sampling": "AffineGrid GridSample Resize RoiAlign Upsample",
    "attention and recurrent": "Attention GRU LSTM RNN RotaryEmbedding",
    "quantisation": "DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear",
    "sorting": "NonMaxSuppression NonZero TopK Unique",
    "control": "If Loop Scan",
    "signal": "DFT MelWeightMatrix STFT",
    "ai.onnx.ml": "ArrayFeatureExtractor Binarizer LabelEncoder TreeEnsemble",
}
OF = {op: family for family, ops in FAMILIES.items() for op in ops.split()}


def finder(root):
    """family_of(test's name, its model): an expanded test is of the family of the one that was expanded."""
    import onnx

    def family_of(name, model):
        if "_expanded" in name:
            twin = root / name[:name.index("_expanded")] / "model.onnx"
            if twin.exists():
                model = onnx.load(twin, load_external_data=False)
        found = [OF.get(n.op_type) for n in model.graph.node if n.op_type != "Constant"] or ["shape and constant"]
        return next((f for f in found if f), "others")

    return family_of

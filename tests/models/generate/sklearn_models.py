# SPDX-License-Identifier: Apache-2.0
"""Models of scikit-learn, trained on made-up data and exported by skl2onnx.

Usage: sklearn_models.py OUT_DIR [NAME...]
"""
import pathlib
import sys
import warnings

import numpy as np
from skl2onnx import to_onnx
from sklearn import cluster, datasets, decomposition, ensemble, linear_model, naive_bayes, neighbors, neural_network
from sklearn import pipeline, preprocessing, svm, tree

FEATURES = 8


def classes(count):
    return datasets.make_classification(200, FEATURES, n_informative=6, n_classes=count, random_state=count)


def numbers():
    x, y = datasets.make_regression(200, FEATURES, noise=5, random_state=4)
    return x, y / 50


def categories():
    x = np.random.default_rng(5).integers(0, 4, (60, 3)).astype(np.float32)
    return x, None


def named():
    x, y = classes(3)
    return x, np.array(["idle", "walk", "run"])[y]


TWO, THREE = (lambda: classes(2)), (lambda: classes(3))
FOREST = {"n_estimators": 10, "max_depth": 5, "random_state": 1}
MODELS = {
    "logistic_regression": (linear_model.LogisticRegression(), THREE),
    "logistic_regression_2": (linear_model.LogisticRegression(), TWO),
    "decision_tree": (tree.DecisionTreeClassifier(random_state=1), THREE),
    "decision_tree_2": (tree.DecisionTreeClassifier(max_depth=4, random_state=1), TWO),
    "decision_tree_regressor": (tree.DecisionTreeRegressor(max_depth=6, random_state=1), numbers),
    "random_forest": (ensemble.RandomForestClassifier(**FOREST), THREE),
    "random_forest_2": (ensemble.RandomForestClassifier(**FOREST), TWO),
    "random_forest_regressor": (ensemble.RandomForestRegressor(**FOREST), numbers),
    "random_forest_names": (ensemble.RandomForestClassifier(**FOREST), named),
    "extra_trees": (ensemble.ExtraTreesClassifier(**FOREST), THREE),
    "gradient_boosting": (ensemble.GradientBoostingClassifier(n_estimators=8, random_state=1), THREE),
    "gradient_boosting_2": (ensemble.GradientBoostingClassifier(n_estimators=8, random_state=1), TWO),
    "gradient_boosting_regressor": (ensemble.GradientBoostingRegressor(n_estimators=8, random_state=1), numbers),
    "linear_svc": (svm.LinearSVC(random_state=1), THREE),
    "linear_svc_2": (svm.LinearSVC(random_state=1), TWO),
    "svc": (svm.SVC(), THREE),
    "svc_2": (svm.SVC(), TWO),
    "svc_probability": (svm.SVC(probability=True, random_state=1), THREE),
    "svc_probability_2": (svm.SVC(probability=True, random_state=1), TWO),
    "svc_poly": (svm.SVC(kernel="poly"), THREE),
    "svc_linear": (svm.SVC(kernel="linear"), TWO),
    "svr": (svm.SVR(), numbers),
    "mlp": (neural_network.MLPClassifier((12,), max_iter=300, random_state=1), THREE),
    "mlp_2": (neural_network.MLPClassifier((12,), max_iter=300, random_state=1), TWO),
    "mlp_regressor": (neural_network.MLPRegressor(hidden_layer_sizes=(12,), max_iter=300, random_state=1), numbers),
    "k_neighbors": (neighbors.KNeighborsClassifier(), THREE),
    "k_neighbors_regressor": (neighbors.KNeighborsRegressor(), numbers),
    "gaussian_nb": (naive_bayes.GaussianNB(), THREE),
    "k_means": (cluster.KMeans(4, random_state=1), THREE),
    "pca": (decomposition.PCA(3), THREE),
    # As skl2onnx exports them by itself: scores are a list of dictionaries.
    "dictionaries": (pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC()), THREE),
    "dictionaries_names": (linear_model.LogisticRegression(), named),
    "ridge": (linear_model.Ridge(), numbers),
    "one_hot_encoder": (preprocessing.OneHotEncoder(sparse_output=False, handle_unknown="ignore"), categories),
}


def export(name, out):
    model, data = MODELS[name]
    x, y = data()
    x = x.astype(np.float32)
    model.fit(x) if y is None else model.fit(x, y)
    # Probabilities as a table, not as a list of dictionaries.
    table = (hasattr(model, "predict_proba") or isinstance(model, svm.SVC)) and not name.startswith("dictionaries")
    options = {id(model): {"zipmap": False}} if table else None
    (out / f"{name}.onnx").write_bytes(to_onnx(model, x[:1], options=options, target_opset=17).SerializeToString())


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        if name not in MODELS:
            sys.exit(f"there is no model {name}: {' '.join(MODELS)}")
        export(name, out)


if __name__ == "__main__":
    main()

"""A text classifier with a choice of attention layers: an example, and an end-to-end certificate.

    topics          the words of five topics, some of them shared
    grammar         generates labelled texts from them
    documents       our own corpus, a folder, or a dataset of the hub
    hub             downloads one file of such a dataset
    tokens          a vocabulary of 1,000 pieces, trained on the training texts
    model           the published text-classifier, and the table of LAYERS
    training        its training loop
    demonstration   the models that the source compares, and its published results
    budgets         bounds for the effect of rounding on a prediction
    laws            which predictions word order changes, and which it does not
    variations      one model with another order of summation, or with random perturbations
    faults          layers with a known bug
    certificate     correct layers have the same loss curve, faulty layers another one
    pictures, report, files, command_line

It needs torch and the extra `classifier`: tokenizers, tqdm, and matplotlib for the pictures.

    python -m implementations.classifier
"""

"""A text classifier with a choice of attention layers: an example, and an end-to-end certificate.

    topics          the words that five topics use, some of them in common
    grammar         writes labelled texts with them
    documents       our own corpus, a folder, or a dataset of the hub
    hub             one file of such a dataset
    tokens          a vocabulary of 1,000 pieces, learnt from the training texts
    model           the classifier of source S3, and the table of LAYERS
    training        its training loop
    demonstration   the models that S3 compares, and what it publishes of them
    budgets         what rounding can do to a prediction
    laws            what order does to a prediction, and what it does not
    variations      one model, computed in another order, or jostled
    faults          layers with a known fault
    certificate     one curve for all right layers, and another for the faulty
    pictures, report, files, command_line

It needs torch and the extra `classifier`: tokenizers and tqdm, and matplotlib for the pictures.

    python -m implementations.classifier
"""

"""Small models with their task and training, which lessons train live and ``experiments/`` trains many times."""

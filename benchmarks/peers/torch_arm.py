"""PyTorch: `python torch_arm.py eager|compile|lightning JOB DATA.npz BATCH EPOCHS`.

Eager and compiled training loop over tensors with a permutation each epoch, which is faster than a
`DataLoader`; Lightning is given the `DataLoader` its documentation asks for, without logger, progress bar
and checkpoints. All keep the mean loss and the accuracy of the epoch, as Keras does, and read them once at
its end.
"""

import itertools
import json
import statistics
import sys
import time

import numpy as np
import torch
from torch import nn


class LastStep(nn.Module):
    """An LSTM that gives its last output."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(28, 32, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


def convolution(channels_in: int, channels: int) -> list[nn.Module]:
    return [nn.Conv2d(channels_in, channels, 3), nn.ReLU()]


MODELS = {
    "mlp-32": lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10)),
    "lstm-32": lambda: nn.Sequential(LastStep(), nn.Linear(32, 10)),
    "cnn-32": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 28)),
        *convolution(1, 32),
        nn.MaxPool2d(2),
        *convolution(32, 64),
        nn.MaxPool2d(2),
        *convolution(64, 64),
        nn.Flatten(),
        nn.Linear(576, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    ),
}


class Plain:
    """A loop as PyTorch's tutorials write it."""

    def __init__(
        self, model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch: int, *, compiled: bool
    ) -> None:
        self.x, self.y, self.batch = x, y, batch
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.001, eps=1e-7)
        loss_of = nn.CrossEntropyLoss()

        def forward(x, y):
            logits = model(x)
            return loss_of(logits, y), (logits.detach().argmax(1) == y).sum()

        self.forward = torch.compile(forward) if compiled else forward

    def train(self, epochs: int) -> tuple[list[float], list[float]]:
        losses, epochs_s = [], []
        for _ in range(epochs):
            begin_ns = time.perf_counter_ns()
            total, correct = torch.zeros(()), torch.zeros((), dtype=torch.int64)
            order = torch.randperm(len(self.x))
            for start in range(0, len(order), self.batch):
                chosen = order[start : start + self.batch]
                loss, right = self.forward(self.x[chosen], self.y[chosen])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.detach() * len(chosen)
                correct += right
            losses.append(total.item() / len(order))
            correct.item()
            epochs_s.append((time.perf_counter_ns() - begin_ns) / 1e9)
        return losses, epochs_s


class Lightning:
    """The same training by `lightning.Trainer`."""

    def __init__(self, model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch: int) -> None:
        import lightning

        class Module(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.model, self.loss_of = model, nn.CrossEntropyLoss()
                self.begin_ns: list[int] = []
                self.losses: list[float] = []

            def on_train_epoch_start(self):
                self.begin_ns.append(time.perf_counter_ns())
                self.total, self.correct = torch.zeros(()), torch.zeros((), dtype=torch.int64)

            def training_step(self, batch, _):
                x, y = batch
                logits = self.model(x)
                loss = self.loss_of(logits, y)
                self.total += loss.detach() * len(x)
                self.correct += (logits.detach().argmax(1) == y).sum()
                return loss

            def on_train_epoch_end(self):
                self.losses.append(self.total.item() / len(loader.dataset))
                self.correct.item()

            def configure_optimizers(self):
                return torch.optim.Adam(self.model.parameters(), lr=0.001, eps=1e-7)

        examples = torch.utils.data.TensorDataset(x, y)
        loader = torch.utils.data.DataLoader(examples, batch_size=batch, shuffle=True)
        self.module, self.loader, self.lightning = Module(), loader, lightning

    def train(self, epochs: int) -> tuple[list[float], list[float]]:
        trainer = self.lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        self.module.begin_ns, self.module.losses = [], []
        trainer.fit(self.module, self.loader)
        stamps = [*self.module.begin_ns, time.perf_counter_ns()]
        return self.module.losses, [(after - before) / 1e9 for before, after in itertools.pairwise(stamps)]


def main() -> None:
    way, job, path, batch, epochs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    with np.load(path, allow_pickle=False) as arrays:
        x, y = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"]).long()
    torch.manual_seed(1)
    model = MODELS[job]()
    training = (
        Lightning(model, x, y, batch)
        if way == "lightning"
        else Plain(model, x, y, batch, compiled=way == "compile")
    )
    begin_ns = time.perf_counter_ns()
    losses, _ = training.train(1)
    call_s = (time.perf_counter_ns() - begin_ns) / 1e9
    more, epochs_s = training.train(epochs)
    steady_s = epochs_s[1:]
    print(
        json.dumps(
            {
                "call_s": call_s,
                "epoch_s": statistics.median(steady_s),
                "step_s": statistics.median(steady_s) / -(-len(x) // batch),
                "longest_epoch_s": max(steady_s),
                "loss": [*losses, *more],
            }
        )
    )


if __name__ == "__main__":
    main()

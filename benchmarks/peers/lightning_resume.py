"""The trainings of `resume_jobs.py` by Lightning, with its own checkpoints: serves orders (see nursery.py).

Checkpoints are written every 20 steps and at the ends of epochs, and `fit(ckpt_path="last")` goes on from the
newest, as Lightning's documentation asks. Seeds are set by `seed_everything(..., workers=True)`.
"""

# ruff: noqa: ARG002 - hooks have the signatures of the framework that calls them

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch
from lightning.pytorch import callbacks
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import nursery

BATCH, EPOCHS, SAMPLES, VALIDATION_SAMPLES = 32, 5, 1950, 256
EVERY_STEPS = 20
STEPS = -(-SAMPLES // BATCH)


def mlp(dropout: float | None = None) -> nn.Module:
    middle = [] if dropout is None else [nn.Dropout(dropout)]
    return nn.Sequential(
        nn.Linear(64, 192), nn.ReLU(), *middle, nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 4)
    )


def convolution() -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding="same"),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3),
        nn.BatchNorm2d(16),
        nn.Flatten(),
        nn.LazyLinear(4),
    )


MODELS = {
    "dropout": lambda: mlp(0.3),
    "batch-norm": convolution,
    "early-stopping": lambda: mlp(0.2),
    "tf-data": lambda: mlp(0.3),
}


class Module(lightning.LightningModule):
    """A classifier that keeps its history as a person would: in an attribute."""

    def __init__(self, job: str, mark: nursery.Mark) -> None:
        super().__init__()
        self.job, self.mark = job, mark
        self.model = MODELS.get(job, mlp)()
        self.loss_of = nn.CrossEntropyLoss()
        self.seen: dict[str, list[float]] = {"loss": [], "val_loss": []}
        self.epochs: list[int] = []

    def on_train_epoch_start(self) -> None:
        self.mark("epoch", epoch=self.current_epoch)

    def training_step(self, batch: Any, index: int) -> Any:
        loss = self.loss_of(self.model(batch[0]), batch[1])
        self.log("loss", loss, on_step=False, on_epoch=True, batch_size=len(batch[1]))
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Any, index: int) -> None:
        if index % 5 == 4:
            self.mark("block", step=self.current_epoch * STEPS + index + 1, epoch=self.current_epoch)

    def on_validation_start(self) -> None:
        self.mark("validation")

    def validation_step(self, batch: Any, index: int) -> None:
        self.log("val_loss", self.loss_of(self.model(batch[0]), batch[1]), batch_size=len(batch[1]))

    def on_validation_end(self) -> None:
        self.mark("validated")

    def on_train_epoch_end(self) -> None:
        self.mark("between", epoch=self.current_epoch)
        self.epochs.append(self.current_epoch)
        for name, column in self.seen.items():
            column.append(float(self.trainer.callback_metrics[name]))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        # Lightning's own place for what a person wants kept.
        checkpoint["kept"] = {"seen": self.seen, "epochs": self.epochs}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        kept = checkpoint["kept"]
        self.seen, self.epochs = kept["seen"], kept["epochs"]

    def configure_optimizers(self) -> Any:
        if self.job == "schedule":
            optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, nesterov=True)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 300)
            return [optimizer], [{"scheduler": schedule, "interval": "step"}]
        if self.job == "shuffled-arrays":
            return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)
        optimizer = torch.optim.Adam(self.parameters(), lr=0.002, eps=1e-7)
        if self.job != "early-stopping":
            return optimizer
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        return [optimizer], [{"scheduler": schedule, "monitor": "val_loss"}]


class Shuffled(IterableDataset):  # type: ignore[type-arg]
    """A stream shuffled in a buffer, as `tf.data`'s shuffle does."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.pairs = list(zip(x, y, strict=True))

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Any:
        buffer: list[Any] = []
        for pair in self.pairs:
            if len(buffer) < 512:
                buffer.append(pair)
                continue
            place = int(torch.randint(512, ()))
            yield buffer[place]
            buffer[place] = pair
        for place in torch.randperm(len(buffer)):
            yield buffer[int(place)]


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(SAMPLES + VALIDATION_SAMPLES, 64)).astype("float32")
    scores = np.tanh(x @ rng.normal(size=(64, 16))) @ rng.normal(size=(16, 4))
    y = (scores + rng.normal(size=scores.shape)).argmax(1)
    tensors = torch.from_numpy(x), torch.from_numpy(y)
    return tuple(t[:SAMPLES] for t in tensors), tuple(t[SAMPLES:] for t in tensors)


def train(order: dict[str, Any], mark: nursery.Mark) -> None:
    """Execute an order in the child."""
    torch.set_num_threads(1)
    folder, job = Path(order["folder"]), order["job"]
    folder.mkdir(parents=True, exist_ok=True)
    lightning.seed_everything(11, workers=True)
    (x, y), validation = data()
    module = Module(job, mark)
    module.model(x[:2])  # lazy layers get their shapes
    loader = (
        DataLoader(Shuffled(x, y), batch_size=BATCH)
        if job == "tf-data"
        else DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True)
    )
    trainer = _trainer(folder, job, mark)
    last = folder / "checkpoints" / "last.ckpt"
    mark("restore")
    trainer.fit(
        module,
        loader,
        DataLoader(TensorDataset(*validation), batch_size=BATCH),
        ckpt_path=str(last) if last.exists() else None,
        weights_only=False,
    )
    _write_result(folder, module, trainer)


def _trainer(folder: Path, job: str, mark: nursery.Mark) -> lightning.Trainer:
    class Checkpoints(callbacks.ModelCheckpoint):
        def _save_checkpoint(self, trainer: Any, filepath: str) -> None:
            mark("writing")
            super()._save_checkpoint(trainer, filepath)

    own: list[Any] = [
        Checkpoints(folder / "checkpoints", every_n_train_steps=EVERY_STEPS, save_last=True, save_top_k=1)
    ]
    if job == "early-stopping":
        own.append(callbacks.EarlyStopping("val_loss", patience=3))
    if job == "ema":
        own.append(callbacks.EMAWeightAveraging(decay=0.95))
    return lightning.Trainer(
        max_epochs=12 if job == "early-stopping" else EPOCHS,
        accelerator="cpu",
        accumulate_grad_batches=3 if job == "accumulation" else 1,
        logger=False,
        callbacks=own,
        num_sanity_val_steps=0,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def _write_result(folder: Path, module: Module, trainer: lightning.Trainer) -> None:
    values = [value.detach().numpy() for value in module.model.state_dict().values()]
    np.savez(folder / "result.npz", *values)
    digest = hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()
    result = {
        "weights": digest,
        "history": {
            k: [v if math.isfinite(v) else None for v in column] for k, column in module.seen.items()
        },
        "epochs": module.epochs,
        "batches": trainer.fit_loop.epoch_loop.batch_progress.total.completed,
        "loop": "lightning",
    }
    part = folder / "result.part"
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(folder / "result.json")


if __name__ == "__main__":
    nursery.serve(train)

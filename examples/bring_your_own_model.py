"""Train a small PyTorch network on SCAN in a minute and write its predictions for `daxy score`."""

import json
from pathlib import Path

import torch
from torch import nn

import daxy

torch.set_num_threads(1)  # faster for a network of this size
split = daxy.load("scan/simple")
lines = [[*pair.source, "<end>", *pair.target, "<end>"] for pair in split.train]
words = sorted({word for line in lines for word in line})  # "<end>" comes first: it is number 0
rows = [torch.tensor([words.index(word) for word in line]) for line in lines]
text = nn.utils.rnn.pad_sequence(rows, batch_first=True)  # filled up with 0, "<end>"
embed, output = nn.Embedding(len(words), 64), nn.Linear(192, len(words))
recur = nn.GRU(64, 192, batch_first=True)
optimizer = torch.optim.Adam(nn.ModuleList([embed, recur, output]).parameters(), lr=0.006)
for step in range(1, 601):
    batch = text[torch.randint(len(text), (64,))]
    logits = output(recur(embed(batch[:, :-1]))[0])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimizer.param_groups[0]["lr"] -= 0.006 / 600
    print(f"step {step} of 600: loss {loss.item():.3f}", end="\r", flush=True)
with torch.no_grad(), Path("predictions.jsonl").open("w") as file:
    for length in sorted({len(pair.source) for pair in split.test}):  # sources of a length together
        pairs = [pair for pair in split.test if len(pair.source) == length]
        given = [[words.index(word) for word in (*pair.source, "<end>")] for pair in pairs]
        tokens, state, answers = torch.tensor(given), None, []
        for _ in range(50):
            states, state = recur(embed(tokens), state)
            answers.append(tokens := output(states[:, -1:]).argmax(-1))
        for pair, answer in zip(pairs, torch.cat(answers, 1).tolist(), strict=True):
            said = " ".join(words[token] for token in answer).partition("<end>")[0]
            file.write(json.dumps({"key": pair.key, "prediction": said}) + "\n")

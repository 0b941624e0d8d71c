"""Teach SCAN to a small PyTorch network in a minute and write its answers for `daxy score`."""

import json
from pathlib import Path

import torch
from torch import nn

import daxy

split = daxy.load("scan/simple")
lines = [[*pair.source, "<end>", *pair.target, "<end>"] for pair in split.train]
words = sorted({word for line in lines for word in line})  # "<end>" comes first: it is number 0
rows = [torch.tensor([words.index(word) for word in line]) for line in lines]
text = nn.utils.rnn.pad_sequence(rows, batch_first=True)  # filled up with 0, "<end>"
embed, output = nn.Embedding(len(words), 64), nn.Linear(256, len(words))
recur = nn.GRU(64, 256, batch_first=True)
optimizer = torch.optim.Adam(nn.ModuleList([embed, recur, output]).parameters(), lr=0.003)
for step in range(1, 601):
    batch = text[torch.randint(len(text), (64,))]
    logits = output(recur(embed(batch[:, :-1]))[0])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}: loss {loss.item():.3f}")

with torch.no_grad(), Path("predictions.jsonl").open("w") as file:
    for pair in split.test:
        heard, said, state = [*pair.source, "<end>"], [], None
        while said[-1:] != ["<end>"] and len(said) < 50:
            inputs = torch.tensor([[words.index(word) for word in heard]])
            states, state = recur(embed(inputs), state)
            heard = [words[output(states[0, -1]).argmax()]]
            said += heard
        prediction = " ".join(said).removesuffix("<end>").strip()
        file.write(json.dumps({"key": pair.key, "prediction": prediction}) + "\n")
print("daxy score scan/simple --predictions predictions.jsonl")

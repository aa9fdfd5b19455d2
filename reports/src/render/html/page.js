"use strict";
// Flame graphs: one box a frame, callers below. A choice makes a frame as wide as the page.
const boxesOf = (focus, count) => {
  const boxes = [];
  const add = (frame, left, width, level) => {
    boxes.push({ frame, left, width, level });
    let at = left;
    for (const [name, node] of Object.entries(frame.node.c)) {
      const share = width * count(node) / count(frame.node);
      // What is narrower than a pixel or two only costs time.
      if (share > 0.0015) add({ name, node, up: frame }, at, share, level + 1);
      at += share;
    }
  };
  let below = 0;
  for (let frame = focus.up; frame; frame = frame.up) below++;
  for (let frame = focus.up, level = below - 1; frame; frame = frame.up, level--) {
    boxes.push({ frame, left: 0, width: 1, level });
  }
  add(focus, 0, 1, below);
  return { boxes, below };
};
// Draws `focus` in `place`, and scrolls to a few frames below it.
const drawIn = (place, focus, { count, colour, title, choose }) => {
  const { boxes, below } = boxesOf(focus, count);
  const height = 18 * (1 + Math.max(...boxes.map((box) => box.level)));
  place.style.height = `${height}px`;
  place.replaceChildren(...boxes.map(({ frame, left, width, level }) => {
    const box = document.createElement("div");
    box.textContent = frame.name;
    box.title = title(frame);
    box.style.left = `${left * 100}%`;
    box.style.width = `${width * 100}%`;
    box.style.top = `${height - 18 * (level + 1)}px`;
    box.style.background = colour(frame);
    box.addEventListener("click", () => choose(frame));
    return box;
  }));
  const tower = place.parentElement;
  tower.scrollTop = height - 18 * Math.max(0, below - 4) - tower.clientHeight;
};
const rootOf = (id) => {
  const data = document.getElementById(`${id}-data`);
  return { name: "all", node: JSON.parse(data.textContent), up: null };
};
const warm = (name) => {
  let hash = 0;
  for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) | 0;
  return `hsl(${20 + Math.abs(hash) % 35} 85% ${62 + Math.abs(hash >> 8) % 14}%)`;
};
for (const place of document.querySelectorAll(".flame")) {
  const root = rootOf(place.id);
  const draw = (focus) => drawIn(place, focus, {
    count: (node) => node.n,
    colour: (frame) => warm(frame.name),
    title: (frame) => `${frame.name}: ${frame.node.n.toLocaleString("en")} of ${root.node.n.toLocaleString("en")}`,
    choose: draw,
  });
  draw(root);
}
// What ran and what is claimed, in one graph. A frame is red where its share of the claims is larger than its true
// share, and blue where it is smaller. Its width is the mean of both shares, so that widths add up.
for (const place of document.querySelectorAll(".flames")) {
  const root = rootOf(place.id);
  const [instants, answers] = [place.dataset.instants, place.dataset.answers].map((n) => Math.max(1, Number(n)));
  const shares = (node) => [node.n[0] / instants, node.n[1] / answers];
  const colour = (frame) => {
    const [truth, claimed] = shares(frame.node);
    const bias = (claimed - truth) / Math.max(claimed, truth, 1e-12);
    const much = Math.min(1, Math.abs(bias));
    return `hsl(${bias > 0 ? 5 : 215} ${85 * Math.sqrt(much)}% ${88 - 22 * Math.sqrt(much)}%)`;
  };
  const title = (frame) => {
    const [truth, claimed] = shares(frame.node).map((share) => (100 * share).toFixed(2));
    const [ran, shown] = frame.node.n.map((n) => n.toLocaleString("en"));
    return `${frame.name}: ran ${truth} % (${ran}), shown ${claimed} % (${shown})`;
  };
  const count = (node) => shares(node)[0] + shares(node)[1];
  const draw = (focus) => drawIn(place, focus, { count, colour, title, choose: draw });
  draw(root);
}
// A link to a folded part opens it.
const unfold = () => {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = part && part.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
};
addEventListener("hashchange", unfold);
unfold();
// Everything is printed.
addEventListener("beforeprint", () => document.querySelectorAll("details.example").forEach((fold) => { fold.open = true; }));

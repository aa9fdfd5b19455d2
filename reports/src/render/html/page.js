"use strict";
// Flame graphs: one box a frame, callers below. A click makes a frame as wide as the page.
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
// Draws `focus` in `place`. Returns the height, and the height of the frame below `focus`.
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
  return [height, 18 * Math.max(0, below - 4)];
};
// Deep stacks need to be scrolled: begin a few frames below the chosen one.
const scroll = (tower, height, below) => {
  tower.scrollTop = height - below - tower.clientHeight;
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
  const draw = (focus) => {
    const [height, below] = drawIn(place, focus, {
      count: (node) => node.n,
      colour: (frame) => warm(frame.name),
      title: (frame) => `${frame.name}: ${frame.node.n} of ${root.node.n}`,
      choose: draw,
    });
    scroll(place.parentElement, height, below);
  };
  draw(root);
}
// Two graphs of one tree. A frame is red where its share is larger on the right, and blue where it is smaller.
for (const place of document.querySelectorAll(".flames")) {
  const root = rootOf(place.id);
  const share = (frame, side) => frame.node.n[side] / Math.max(1, root.node.n[side]);
  const colour = (frame) => {
    const [truth, claimed] = [share(frame, 0), share(frame, 1)];
    const bias = (claimed - truth) / Math.max(claimed, truth, 1e-12);
    const much = Math.min(1, Math.abs(bias));
    return `hsl(${bias > 0 ? 5 : 215} ${85 * Math.sqrt(much)}% ${88 - 26 * Math.sqrt(much)}%)`;
  };
  const title = (frame) => {
    const text = (side) => `${(100 * share(frame, side)).toFixed(2)} % (${frame.node.n[side]})`;
    return `${frame.name}: ran ${text(0)}, shown ${text(1)}`;
  };
  const draw = (focus) => {
    const drawn = [...place.children].map((graph, side) =>
      drawIn(graph, focus, { count: (node) => node.n[side], colour, title, choose: draw }));
    scroll(place.parentElement, Math.max(...drawn.map(([height]) => height)), drawn[0][1]);
  };
  draw(root);
}

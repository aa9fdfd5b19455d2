"use strict";
// Flame graphs: one box a frame, callers below. A click makes a frame as wide as the page.
for (const place of document.querySelectorAll(".flame")) {
  const data = document.getElementById(`${place.id}-data`);
  const root = { name: "all", node: JSON.parse(data.textContent), up: null };
  const colour = (name) => {
    let hash = 0;
    for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) | 0;
    return `hsl(${20 + Math.abs(hash) % 35} 85% ${62 + Math.abs(hash >> 8) % 14}%)`;
  };
  const draw = (focus) => {
    const boxes = [];
    const add = (frame, left, width, level) => {
      boxes.push({ frame, left, width, level });
      let at = left;
      for (const [name, node] of Object.entries(frame.node.c)) {
        const share = width * node.n / frame.node.n;
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
    const height = 18 * (1 + Math.max(...boxes.map((box) => box.level)));
    place.style.height = `${height}px`;
    place.replaceChildren(...boxes.map(({ frame, left, width, level }) => {
      const box = document.createElement("div");
      box.textContent = frame.name;
      box.title = `${frame.name}: ${frame.node.n} of ${root.node.n}`;
      box.style.left = `${left * 100}%`;
      box.style.width = `${width * 100}%`;
      box.style.top = `${height - 18 * (level + 1)}px`;
      box.style.background = colour(frame.name);
      box.addEventListener("click", () => draw(frame));
      return box;
    }));
    // Deep stacks need to be scrolled: begin a few frames below the chosen one.
    const tower = place.parentElement;
    tower.scrollTop = height - 18 * Math.max(0, below - 4) - tower.clientHeight;
  };
  draw(root);
}

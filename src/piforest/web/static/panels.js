// Views in the pixels of images: matches over two images, segments and maps over one.

import { rangeOf } from "./format.js";
import { isDark } from "./theme.js";

export const isFlat = (mode) => mode === "matches" || mode === "segments" || mode === "map";

// The columns of x and y of each image.
const corners = ({ mode }) => (mode === "matches" ? [[0, 1], [2, 3]] : mode === "segments" ? [[0, 1, 2, 3]] : [[0, 1]]);

function imageSizes({ data, state }) {
  if (data.images.length) return data.images.map((each) => [0, 0, each.width, each.height]);
  return corners(state).map((at) => {
    const range = (odd) => {
      const found = at.filter((k) => k % 2 === odd).map((k) => rangeOf(data.seen[k].numbers));
      return [Math.min(...found.map(([low]) => low)), Math.max(...found.map(([, high]) => high))];
    };
    const [left, right] = range(0), [top, bottom] = range(1);
    const margin = (state.mode === "map" ? 0.004 : 0.03) * Math.max(right - left, bottom - top);
    return [left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin];
  });
}

// Two images lie side by side if the canvas is wide enough, else one below the other.
export function placeImages(plot, width) {
  const [first, second] = (plot.sizes ??= { mode: null }).mode === plot.state.mode
    ? plot.sizes.found
    : (plot.sizes = { mode: plot.state.mode, found: imageSizes(plot) }).found;
  plot.panels = [first];
  plot.shift = [0, 0];
  if (second) {
    const gap = 0.015 * Math.max(first[2], first[3]);
    plot.shift = width < 620
      ? [first[0] - second[0], first[1] + first[3] + gap - second[1]]
      : [first[0] + first[2] + gap - second[0], first[1] - second[1]];
    plot.panels.push([second[0] + plot.shift[0], second[1] + plot.shift[1], second[2], second[3]]);
  }
  const right = Math.max(...plot.panels.map((each) => each[0] + each[2]));
  const bottom = Math.max(...plot.panels.map((each) => each[1] + each[3]));
  return [[first[0], right], [first[1], bottom]];
}

export function loadPictures(plot) {
  return plot.data.images.map(({ uri }) => {
    const picture = new Image();
    picture.src = uri;
    picture.addEventListener("load", () => plot.changed("images"));
    return picture;
  });
}

export function drawPanels(plot, project) {
  const { pen, pictures, colours } = plot;
  plot.panels.forEach(([x, y, width, height], k) => {
    const [left, top] = project(plot, [x, y]), [right, bottom] = project(plot, [x + width, y + height]);
    if (pictures[k]?.complete && pictures[k].naturalWidth) {
      pen.globalAlpha = isDark(plot.host) ? 0.8 : 0.75;
      pen.drawImage(pictures[k], left, top, right - left, bottom - top);
      pen.globalAlpha = 1;
    }
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.strokeRect(left, top, right - left, bottom - top);
  });
}

// Many points, drawn by WebGL 2. The rows lie in its memory in the order of their scores, so that
// a row is anomalous if its index is at least a number: a move of the threshold costs one uniform.

import { axisColumns, midX, midY } from "./camera.js";
import { rangeOfColumn } from "./data.js";
import { growth } from "./draw.js";
import { distanceShare, radiusOf, scoreShare, updateStyles } from "./styles.js";
import { splatLayer } from "./splats.js";
import { withinReach } from "./state.js";
import { channels } from "./theme.js";

// Fewer points are as fast on the canvas.
export const GPU_ROWS = 20000;
const NONE = 255;

const VERTEX = `#version 300 es
precision highp float;
in vec3 place;
in vec3 about; // shade of the score, shade of the distance, structure
uniform vec3 scale;
uniform vec4 turn; // sine and cosine of yaw and of pitch
uniform vec2 middle;
uniform vec2 size;
uniform bool solid;
uniform float reach; // of the depth, to each side
uniform float radius;
uniform int first; // the first anomalous index
uniform int only;
uniform int colouring;
uniform bool shown[24];
uniform vec3 kept, flagged, between, dim, paper, structures[6];
out vec3 colour;
flat out int diamond;

vec3 shaded(float share) {
  return share < 0.5 ? mix(kept, between, share * 2.0) : mix(between, flagged, share * 2.0 - 1.0);
}

void main() {
  bool anomalous = gl_VertexID >= first;
  int nearest = int(about.z + 0.5);
  int own = anomalous ? ${NONE} : nearest;
  bool visible = only == 0 || (only == 1 && anomalous) || (only == 2 && !anomalous)
    || (only == 3 && !anomalous && own == ${NONE}) || only == 4 + own;
  if (!visible || place.x > 1e30) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 0.0;
    return;
  }
  vec3 at = place * scale;
  vec2 pixel = vec2(at.x, -at.y);
  float depth = 0.0;
  if (solid) {
    float away = at.x * turn.x + at.y * turn.y;
    pixel = vec2(at.x * turn.y - at.y * turn.x, -(at.z * turn.w + away * turn.z));
    depth = (away * turn.w - at.z * turn.z) / reach;
  }
  pixel += middle;
  float nearness = solid ? clamp(0.5 - 0.5 * depth, 0.0, 1.0) : 1.0;
  bool marked = anomalous && (colouring == 0 || colouring == 2);
  diamond = marked ? 1 : 0;
  float r = radius * (0.75 + 0.25 * nearness) * (marked && colouring == 0 ? 1.3 : 1.0);
  if (colouring == 0) colour = anomalous ? flagged : kept;
  else if (colouring == 1) colour = shaded(about.x);
  else if (colouring == 3) colour = shaded(about.y);
  else if (anomalous) colour = flagged;
  else colour = own < 24 && shown[own] ? structures[own % 6] : dim;
  colour = mix(paper, colour, 0.4 + 0.6 * nearness);
  gl_Position = vec4(2.0 * pixel / size - 1.0, clamp(depth, -1.0, 1.0), 1.0) * vec4(1.0, -1.0, 1.0, 1.0);
  gl_PointSize = max(1.0, 2.0 * r);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec3 colour;
flat in int diamond;
out vec4 pixel;
void main() {
  vec2 from = abs(gl_PointCoord - 0.5);
  if (diamond == 1 ? from.x + from.y > 0.5 : dot(from, from) > 0.25) discard;
  pixel = vec4(colour, 1.0);
}`;

function compiled(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

// The layer that draws the points of a plot, on the GPU if there is one; null if they are few.
export function gpuLayer(data) {
  if (data.size <= GPU_ROWS) return null;
  return webglLayer(true) ?? splatLayer();
}

// Browsers draw WebGL in software where there is no GPU, and do not always say so when asked.
function isSoftware(gl) {
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  return /SwiftShader|llvmpipe|softpipe|software|Basic Render/i.test(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

// `fast`: not if WebGL is drawn in software.
export function webglLayer(fast) {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", {
    antialias: false, preserveDrawingBuffer: true, failIfMajorPerformanceCaveat: fast,
  });
  const program = gl && !(fast && isSoftware(gl)) && compiled(gl);
  if (!program) return null;
  const layer = {
    draw: drawOnGpu, canvas, gl, program, axes: "", uniforms: {}, place: gl.createBuffer(), about: gl.createBuffer(),
    remove: () => gl.getExtension("WEBGL_lose_context")?.loseContext(),
  };
  gl.useProgram(program);
  gl.bindVertexArray(gl.createVertexArray());
  for (const name of ["place", "about"]) {
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, layer[name]);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 0, 0);
  }
  return layer;
}

function upload({ gl, ...layer }, name, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, layer[name]);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
}

// Places relative to the centre of the range, so that float32 is precise enough.
function uploadPlaces(plot) {
  const { data, gpu } = plot, drawn = axisColumns(plot);
  const centres = drawn.map((each) => rangeOfColumn(each).reduce((a, b) => (a + b) / 2));
  const values = new Float32Array(3 * data.size);
  data.byScore.forEach((row, at) => {
    drawn.forEach((each, k) => {
      values[3 * at + k] = each.numbers[row] - centres[k];
    });
    const missing = drawn.some((each) => Number.isNaN(each.numbers[row]));
    if (missing) values[3 * at] = 3e38;
  });
  upload(gpu, "place", values);
}

function uploadAbout(plot) {
  const { data, gpu } = plot, share = scoreShare(plot);
  const far = data.nearest ? distanceShare(plot) : () => 0;
  const values = new Float32Array(3 * data.size);
  data.byScore.forEach((row, at) => {
    const own = withinReach(data, row);
    values.set([share(row), far(row), own < 0 ? NONE : own], 3 * at);
  });
  upload(gpu, "about", values);
}

// How many rows are not above the threshold.
export function keptCount({ byScore, scores }, threshold) {
  let low = 0, high = byScore.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (scores[byScore[middle]] > threshold) high = middle;
    else low = middle + 1;
  }
  return low;
}

const ONLY = { all: 0, flagged: 1, kept: 2, none: 3 };
const COLOURING = { label: 0, score: 1, structure: 2, distance: 3 };
const light = (colour) => channels(colour).map((part) => part / 255);

function uniformsOf(plot, ratio) {
  const { camera, colours, data, frame, state } = plot;
  const solid = state.mode === "3d";
  const scale = frame.unit.map((unit) => unit * camera.zoom * ratio);
  const half = frame.range.map(([low, high], k) => ((high - low) / 2) * scale[k]);
  return [
    ["3fv", "scale", [...scale, 0].slice(0, 3)],
    ["4fv", "turn", [Math.sin(camera.yaw), Math.cos(camera.yaw), Math.sin(camera.pitch), Math.cos(camera.pitch)]],
    ["2fv", "middle", [midX(plot) * ratio, midY(plot) * ratio]],
    ["2fv", "size", [plot.gpu.canvas.width, plot.gpu.canvas.height]],
    ["1i", "solid", solid ? 1 : 0],
    ["1f", "reach", Math.hypot(...half)],
    ["1f", "radius", radiusOf(data) * growth(plot) * ratio],
    ["1i", "first", keptCount(data, state.threshold)],
    ["1i", "only", ONLY[state.only] ?? 4 + Number(state.only)],
    ["1i", "colouring", COLOURING[state.colour]],
    ["1iv", "shown", Array.from({ length: 24 }, (_, k) => (state.structures[k] ? 1 : 0))],
    ["3fv", "kept", light(colours.kept)], ["3fv", "flagged", light(colours.flagged)],
    ["3fv", "between", light(colours.middle)], ["3fv", "dim", light(colours.dim)],
    ["3fv", "paper", light(colours.plot)], ["3fv", "structures", colours.structures.flatMap(light)],
  ];
}

// The system may take the GPU away: then the points are drawn without it.
function withoutGpu(plot) {
  plot.gpu = splatLayer();
  updateStyles(plot);
  plot.gpu.draw(plot);
}

function drawOnGpu(plot) {
  const { canvas, data, gpu, pen, state } = plot;
  if (gpu.gl.isContextLost()) {
    withoutGpu(plot);
    return;
  }
  const { gl, program, uniforms } = gpu;
  const ratio = canvas.width / plot.frame.width;
  if (!gpu.axes) uploadAbout(plot);
  if (gpu.axes !== state.axes.join()) uploadPlaces(plot);
  gpu.axes = state.axes.join();
  if (gpu.canvas.width !== canvas.width || gpu.canvas.height !== canvas.height) {
    Object.assign(gpu.canvas, { width: canvas.width, height: canvas.height });
  }
  gl.viewport(0, 0, canvas.width, canvas.height);
  for (const [kind, name, value] of uniformsOf(plot, ratio)) {
    uniforms[name] ??= gl.getUniformLocation(program, name);
    gl[`uniform${kind}`](uniforms[name], value);
  }
  if (state.mode === "3d") gl.enable(gl.DEPTH_TEST);
  else gl.disable(gl.DEPTH_TEST);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.drawArrays(gl.POINTS, 0, data.size);
  pen.drawImage(gpu.canvas, 0, 0, plot.frame.width, plot.frame.height);
}

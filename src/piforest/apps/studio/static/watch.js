// A job while it runs: its stage, time and memory, and a button that cancels it.

import { button, element } from "../web/dom.js";
import { get, remove } from "./api.js";
import { bytes, say, trying } from "./ui.js";

const EVERY = 400;
export const isOver = (job) => !["queued", "running"].includes(job.state);

function statusText(job) {
  if (job.state === "queued") return "Waiting for another job to end.";
  const parts = [job.stage ? `${job.stage[0].toUpperCase()}${job.stage.slice(1)}` : "Starting"];
  if (job.done !== null && job.done !== undefined) parts.push(`${Math.round(100 * job.done)} %`);
  return `${parts.join(", ")}.`;
}

function usedText(job) {
  const parts = [];
  if (job.seconds) parts.push(`${job.seconds.toFixed(job.seconds < 10 ? 1 : 0)} s`);
  if (job.memory_mb) parts.push(bytes(job.memory_mb * 1e6));
  return parts.join(" · ");
}

// An element that follows the job; `over` gets the job when it has ended.
export function watched(first, { isCurrent, over }) {
  const bar = element("progress", { max: "1", "aria-label": "Progress" });
  const status = element("b", {}), used = element("span", { class: "note" }), stages = element("ol", { class: "stages" });
  const cancel = button("Cancel", () => trying(() => remove(`/jobs/${first.id}`)), { id: "cancel" });
  const made = element("div", { class: "watch" }, element("p", { role: "status" }, status), bar, element("p", { class: "bar" }, used, cancel), stages);
  const seen = new Set();
  const show = (job) => {
    status.textContent = statusText(job);
    used.textContent = usedText(job);
    if (job.done === null || job.done === undefined) bar.removeAttribute("value");
    else bar.value = job.done;
    if (job.stage && !seen.has(job.stage)) {
      seen.add(job.stage);
      stages.append(element("li", {}, job.stage));
    }
  };
  const look = async () => {
    if (!isCurrent()) return;
    const job = await get(`/jobs/${first.id}`).catch((error) => ({ error }));
    if (!isCurrent()) return;
    if (job.error instanceof Error) {
      // Without a status nobody answered: the server may be starting again.
      made.classList.add("lost");
      status.textContent = job.error.status ? job.error.message : "Studio does not answer. This page tries again until it does.";
      bar.removeAttribute("value");
      setTimeout(look, 5 * EVERY);
      return;
    }
    if (made.classList.contains("lost")) {
      made.classList.remove("lost");
      say("Studio answers again.");
    }
    if (isOver(job)) {
      over(job);
      return;
    }
    show(job);
    setTimeout(look, EVERY);
  };
  show(first);
  setTimeout(look, EVERY / 2);
  return made;
}

// Where the slider of a run stands, for the pages that need it; as long as the tab is open.

const key = (job) => `threshold-${job}`;

export const keepThreshold = (job, value) => (value === null ? sessionStorage.removeItem(key(job)) : sessionStorage.setItem(key(job), value));

export function keptThreshold(job) {
  const text = sessionStorage.getItem(key(job));
  return text === null ? null : Number(text);
}

// The part of an address that names the threshold; empty if it is the detector's.
export function thresholdQuery(job, first = "?") {
  const value = keptThreshold(job);
  return value === null ? "" : `${first}threshold=${value}`;
}

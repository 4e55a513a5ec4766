// Numbers as text.

export const whole = (count) => count.toLocaleString("en");

export const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

export function short(value, digits = 5) {
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

export const rounded = (value) => short(value, 3);

// Significant digits that distinguish values of a range: more if they are far from zero.
export function digitsFor(low, high, digits = 5) {
  const far = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
  return Number.isFinite(far) ? Math.min(digits + Math.max(0, Math.ceil(Math.log10(far)) - 1), 15) : digits;
}

export function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) return [0, 1];
  if (low === high) return [low - 0.5, high + 0.5];
  return [low, high];
}

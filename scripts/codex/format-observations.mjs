// Formats several observations as one line, without the fields that are equal in all of them.

/** `columns` are pairs of a name and an observation. */
export function formatObservations(columns) {
  const values = columns.map(([, value]) => value);
  const same = values.every(isPlain)
    ? Object.keys(values[0]).filter((key) => values.every((value) => json(value[key]) === json(values[0][key])))
    : [];
  return columns.map(([name, value]) => `${name} ${shorten(json(without(value, same)))}`).join(" | ");
}

function without(value, keys) {
  if (keys.length === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function json(value) {
  return JSON.stringify(value) ?? "nothing";
}

function shorten(text) {
  return text.length <= 600 ? text : `${text.slice(0, 600)}... (${text.length} characters)`;
}

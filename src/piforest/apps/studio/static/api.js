// Requests to the server. An answer that is no success is an Error with the server's words.

async function ask(method, path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch(`/api${path}`, {
      method, body, headers: body === undefined ? {} : { "content-type": type },
    });
  } catch {
    throw new Error("Studio does not answer. Is it still running?");
  }
  if (!answer.ok) {
    const said = answer.status === 401
      ? { error: "Studio was started again with another token. Open the address that it printed." }
      : await answer.json().catch(() => ({}));
    throw Object.assign(new Error(said.error || `The server answered ${answer.status}.`), { status: answer.status });
  }
  return answer;
}

const json = async (method, path, body) => {
  const answer = await ask(method, path, body === undefined ? undefined : JSON.stringify(body));
  return answer.status === 204 ? null : answer.json();
};

export const get = (path) => json("GET", path);
export const post = (path, body) => json("POST", path, body);
export const put = (path, body) => json("PUT", path, body);
export const patch = (path, body) => json("PATCH", path, body);
export const remove = (path) => json("DELETE", path);
export const text = async (path) => (await ask("GET", path)).text();
// The server makes a file before it answers; the answer itself is left to a download.
export const prepare = async (path) => (await ask("GET", path)).body.cancel();

// `name` in the query: a header cannot hold every name.
export async function upload(file) {
  const answer = await ask("POST", `/sources?name=${encodeURIComponent(file.name)}`, file, "application/octet-stream");
  return answer.json();
}

const TYPES = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u1: Uint8Array,
  b1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
};

// An array of a job: numbers, or a list of texts.
export async function array(job, name) {
  const answer = await ask("GET", `/jobs/${job}/arrays/${encodeURIComponent(name)}`);
  const type = answer.headers.get("x-dtype");
  if (type === "json") return answer.json();
  if (type.endsWith("i8")) return Float64Array.from(new BigInt64Array(await answer.arrayBuffer()), Number);
  return new TYPES[type.slice(-2)](await answer.arrayBuffer());
}

/** Values in the browser's storage. A browser that refuses it costs the memory, not the page. */
export function load<T>(name: string, otherwise: T, storage: Storage | undefined = local()): T {
  try {
    const text = storage?.getItem(`freshet.${name}`);
    return text ? (JSON.parse(text) as T) : otherwise;
  } catch {
    return otherwise;
  }
}

export function save(name: string, value: unknown, storage: Storage | undefined = local()): void {
  try {
    if (value === null) storage?.removeItem(`freshet.${name}`);
    else storage?.setItem(`freshet.${name}`, JSON.stringify(value));
  } catch {
    // The storage is full or forbidden.
  }
}

function local(): Storage | undefined {
  return typeof localStorage === 'undefined' ? undefined : localStorage;
}

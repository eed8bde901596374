/** Prometheus' text as numbers: histograms, and values by a label. */
export interface Histogram {
  count: number;
  sum: number;
  /** Upper bounds, ascending, with how many samples are not above them. */
  buckets: [number, number][];
}

const LINE = /^(\w+)(?:\{([^}]*)\})? (\S+)$/;

/** The histograms of a scrape whose names end in `_seconds`, those with labels left out. */
export function histograms(text: string): Map<string, Histogram> {
  const found = new Map<string, Histogram>();
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    const [, base, part] = /^freshet_(\w+)_seconds_(bucket|sum|count)$/.exec(name) ?? [];
    if (!base || (labels && !/^le="[^"]*"$/.test(labels))) continue;
    const histogram = found.get(base) ?? { count: 0, sum: 0, buckets: [] };
    found.set(base, histogram);
    if (part === 'bucket') histogram.buckets.push([Number(labels.slice(4, -1).replace('+Inf', 'Infinity')), Number(value)]);
    else if (part === 'sum') histogram.sum = Number(value);
    else histogram.count = Number(value);
  }
  return found;
}

/** The bound of the bucket in which the quantile lies: no sample of that share is above it. */
export function quantile(histogram: Histogram, share: number): number | null {
  if (!histogram.count) return null;
  return histogram.buckets.find(([, count]) => count >= share * histogram.count)?.[0] ?? null;
}

/** Values by one label, of a gauge or counter: rows by relation, for instance. */
export function byLabel(text: string, name: string, label: string): [string, number][] {
  const found: [string, number][] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue;
    const [, value = ''] = new RegExp(`[{,]${label}="((?:[^"\\\\]|\\\\.)*)"`).exec(line) ?? [];
    found.push([value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)), Number(line.split(' ').at(-1))]);
  }
  return found;
}

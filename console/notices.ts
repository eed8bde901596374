/**
 * The notices: the name, version and licence of every package whose code is in the build, with the licence's text.
 * A package without a text keeps the build from being made.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

export const NOTICES = 'notices.txt';
const TEXTS = /^(licen[cs]e|copying|notice)/i;
const RULE = '='.repeat(80);

interface Package {
  name: string;
  version: string;
  license: string;
  folder: string;
}

export function notices(): Plugin {
  return {
    name: 'notices',
    generateBundle() {
      const found = new Map<string, Package>();
      for (const id of this.getModuleIds()) {
        const one = packageOf(id.replace(/^\0/, '').replace(/\?.*$/, ''));
        if (one) found.set(`${one.name} ${one.version}`, one);
      }
      const all = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      this.emitFile({ type: 'asset', fileName: NOTICES, source: all.map(noticeOf).join('\n') });
    },
  };
}

/** The package of a module; null for a module of our own. */
function packageOf(path: string): Package | null {
  if (!path.includes('/node_modules/')) return null;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const { name, version, license } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Package>;
    if (name && version) return { name, version, license: license ?? '', folder };
  }
  throw new Error(`${path} is in no package`);
}

function noticeOf({ name, version, license, folder }: Package): string {
  const texts = readdirSync(folder).filter((file) => TEXTS.test(file)).sort();
  if (!texts.length || !license) throw new Error(`${name} ${version} has no licence or no text of it: it cannot be shipped`);
  const written = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${RULE}\n${name} ${version}\nLicence: ${license}\n${RULE}\n\n${written.join('\n\n')}\n`;
}

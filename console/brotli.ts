/**
 * A copy of every text of the build in Brotli, as small as can be: what takes seconds once is not done at each request.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXTS = /\.(css|js)$/;
const PARAMETERS = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

export function brotli(): Plugin {
  return {
    name: 'brotli',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((file) => TEXTS.test(file))) {
        const path = join(dir, name);
        writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path), { params: PARAMETERS }));
      }
    },
  };
}

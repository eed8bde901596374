import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { brotli } from './brotli.ts';
import { notices } from './notices.ts';

/** The build is static: it is served by the service under /console/, and no request of it leaves the machine. */
export default defineConfig({
  base: '/console/',
  plugins: [svelte(), notices(), brotli()],
  build: {
    outDir: '../service/console',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 2000,
  },
  worker: { format: 'es' },
  server: { proxy: { '/v1': 'http://127.0.0.1:8000', '/readyz': 'http://127.0.0.1:8000' } },
});

/** Calls of the service: the key goes along as a bearer token, and every failure is a `Problem`. */
import { keys } from '../state/keys.svelte';
import { parseExact, writeExact, type Json } from './exact';
import { problemOf, unreachable } from './problem';

export interface Options {
  method?: string;
  body?: Json;
  accept?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A successful response. Raises a Problem for any other, and for a service that is away. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: options.accept ?? 'application/json', ...options.headers };
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (keys.current) headers.Authorization = `Bearer ${keys.current}`;
  const response = await fetch(path, {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    headers,
    body: options.body === undefined ? undefined : writeExact(options.body),
    signal: options.signal,
    cache: 'no-store',
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.wantsKey) keys.ask(problem);
  throw problem;
}

export async function call<T>(path: string, options: Options = {}): Promise<T> {
  const response = await send(path, options);
  const text = await response.text();
  return (text === '' ? null : parseExact(text)) as T;
}

/** A path whose parts are escaped. A relation's name stands in it as in SQL: see `quoteName`. */
export function path(...parts: string[]): string {
  return '/' + parts.map(encodeURIComponent).join('/');
}

export function query(parameters: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : '';
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** What went wrong with a call, in one shape: a problem of the service, or a service that cannot be reached. */
import type { Position, ProblemBody } from './types';

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly hint: string;
  readonly position: Position | null;
  readonly index: number | null;

  constructor(body: Partial<ProblemBody> & { detail: string; code: string }) {
    super(body.detail);
    this.code = body.code;
    this.status = body.status ?? 0;
    this.hint = body.hint ?? '';
    this.position = body.position ?? null;
    this.index = body.index ?? null;
  }

  /** Whether the same call may succeed later: the service is away, starting or overloaded. */
  get passes(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }

  /** Whether the page has to ask for a key. */
  get wantsKey(): boolean {
    return this.status === 401;
  }
}

export function unreachable(): Problem {
  return new Problem({
    code: 'unreachable',
    detail: 'the service cannot be reached',
    hint: 'the page tries again by itself; see whether the service runs',
  });
}

/** The problem of a response that is not a success. */
export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as ProblemBody;
    if (typeof body.detail === 'string' && typeof body.code === 'string') return new Problem(body);
  } catch {
    // Something in between answered, such as a proxy.
  }
  return new Problem({ code: 'unexpected', status: response.status, detail: `the answer was ${response.status}` });
}

/** Any error as a problem, so that every page shows it in one way. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ code: 'console', detail, hint: 'reload the page; if it comes again, report it' });
}

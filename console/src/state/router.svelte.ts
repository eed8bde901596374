/** The place in the console, as the address's fragment has it: #/relation/NAME?epoch=12. */
export interface Place {
  page: string;
  name: string;
  parameters: URLSearchParams;
}

export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', ...rest] = path.split('/');
  return { page: page || 'query', name: decoded(rest.join('/')), parameters: new URLSearchParams(search) };
}

export function hashOf(page: string, name = '', parameters: Record<string, string> = {}): string {
  const search = new URLSearchParams(parameters).toString();
  return `#/${page}${name ? `/${encodeURIComponent(name)}` : ''}${search ? `?${search}` : ''}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

class Router {
  place = $state<Place>(placeOf(typeof location === 'undefined' ? '' : location.hash));

  constructor() {
    if (typeof window === 'undefined') return;
    window.addEventListener('hashchange', () => (this.place = placeOf(location.hash)));
  }

  go(page: string, name = '', parameters: Record<string, string> = {}): void {
    location.hash = hashOf(page, name, parameters);
  }
}

export const router = new Router();

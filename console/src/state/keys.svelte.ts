/** The key that calls carry. It lives as long as the tab, and the prompt asks for one when the service does. */
import type { Problem } from '../api/problem';
import { load, save } from './stored';

const tab = typeof sessionStorage === 'undefined' ? undefined : sessionStorage;

class Keys {
  current = $state(load<string>('key', '', tab));
  /** The refusal that made the page ask; null while no key is wanted. */
  refusal = $state<Problem | null>(null);
  /** Counts the keys that were given, so that pages begin again with a new one. */
  given = $state(0);

  ask(refusal: Problem): void {
    this.refusal = refusal;
  }

  give(key: string): void {
    this.current = key.trim();
    save('key', this.current || null, tab);
    this.refusal = null;
    this.given += 1;
  }

  forget(): void {
    this.give('');
  }
}

export const keys = new Keys();

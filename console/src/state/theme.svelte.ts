/** Light or dark: what the system says, until the reader chooses. */
import { load, save } from './stored';

export type Choice = 'system' | 'light' | 'dark';
const ORDER: Choice[] = ['system', 'light', 'dark'];

class Theme {
  choice = $state<Choice>(load<Choice>('theme', 'system'));
  private systemDark = $state(false);

  constructor() {
    if (typeof matchMedia === 'undefined') return;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.systemDark = dark.matches;
    dark.addEventListener('change', (event) => (this.systemDark = event.matches));
  }

  get dark(): boolean {
    return this.choice === 'dark' || (this.choice === 'system' && this.systemDark);
  }

  next(): void {
    this.choose(ORDER[(ORDER.indexOf(this.choice) + 1) % ORDER.length] ?? 'system');
  }

  choose(choice: Choice): void {
    this.choice = choice;
    save('theme', choice);
  }
}

export const theme = new Theme();

/** The branch on which the page is. The choice lives as long as the tab. */
import { quoteAny } from '../sql/statements';
import { load, save } from './stored';

const tab = typeof sessionStorage === 'undefined' ? undefined : sessionStorage;

class ChosenBranch {
  /** Its name; null for main. */
  name = $state(load<string | null>('branch', null, tab));

  /** What a request says so that it is for the branch: its name as SQL writes it. */
  get parameter(): string | null {
    return quoteAny(this.name);
  }

  choose(name: string | null): void {
    this.name = name;
    save('branch', name, tab);
  }
}

export const chosenBranch = new ChosenBranch();

/** How a box of the graph is shown, besides what it is. */
import type { Flow } from './replay';

export interface Shown {
  /** From 0 to 1. */
  heat: number;
  /** Whether the part of the SQL under the pointer, or the chosen one, is its own. */
  lit?: boolean;
  /** Whether it is the operator of the step that is shown. */
  now?: boolean;
  /** Whether it has had nothing to do until then. */
  still?: boolean;
  /** What it has taken and passed on until then. */
  flow?: Flow;
  /** The differences that it has passed on since the page last looked. */
  fresh?: number;
}

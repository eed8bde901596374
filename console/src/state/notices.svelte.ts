/** Short notices: what has been done, or why not. */
class Notices {
  shown = $state<{ id: number; text: string; bad: boolean }[]>([]);
  private last = 0;

  tell(text: string, bad = false): void {
    const id = ++this.last;
    this.shown = [...this.shown.slice(-2), { id, text, bad }];
    setTimeout(() => this.drop(id), bad ? 8000 : 3500);
  }

  drop(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id);
  }
}

export const notices = new Notices();

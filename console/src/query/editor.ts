/**
 * The SQL editor: CodeMirror in a shadow root, because its style sheets are then adopted ones, which the strict
 * Content-Security-Policy allows. Colours are the page's variables.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { MySQL, PostgreSQL, sql, StandardSQL, type SQLDialect } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export type Schema = Record<string, string[]>;

export interface EditorActions {
  onChange(text: string): void;
  onRun(): void;
  onRunAll(): void;
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--literal)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--keyword)' },
  { tag: [tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
]);

const looks = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--muted)', border: 'none', paddingLeft: '6px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-ground) !important',
  },
  '.cm-selectionMatch, .cm-matchingBracket': { backgroundColor: 'var(--accent-ground)' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent-ground)', color: 'var(--text)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '4px',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-placeholder': { color: 'var(--muted)' },
});

const DIALECTS: Record<string, SQLDialect> = { postgres: PostgreSQL, mysql: MySQL };

export class SqlEditor {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  private schema: Schema = {};
  private dialect = 'postgres';

  constructor(host: HTMLElement, text: string, label: string, actions: EditorActions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const run = (action: () => void) => (view: EditorView): boolean => {
      closeCompletion(view);
      action();
      return true;
    };
    const extensions: Extension[] = [
      keymap.of([
        { key: 'Mod-Enter', run: run(actions.onRun) },
        { key: 'Mod-Shift-Enter', run: run(actions.onRunAll) },
        { key: 'Escape', run: leave },
      ]),
      lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(),
      highlightSelectionMatches(), autocompletion({ icons: false }),
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
      this.language.of(this.sql()), syntaxHighlighting(colours), looks,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      placeholder('SELECT …    Ctrl Enter runs the statement at the cursor'),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) actions.onChange(update.state.doc.toString());
      }),
    ];
    this.view = new EditorView({ state: EditorState.create({ doc: text, extensions }), parent: root, root });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  get selection(): { from: number; to: number } {
    return this.view.state.selection.main;
  }

  know(schema: Schema, dialect: string): void {
    this.schema = schema;
    this.dialect = dialect;
    this.view.dispatch({ effects: this.language.reconfigure(this.sql()) });
  }

  /** Underlines what begins at `from`; nothing if it is null. */
  underline(from: number | null, message = ''): void {
    const found: Diagnostic[] = [];
    if (from !== null) {
      const start = Math.min(from, Math.max(0, this.view.state.doc.length - 1));
      const word = /^("[^"]*"|\w+|\S)?/.exec(this.text.slice(start))?.[0] ?? '';
      found.push({ from: start, to: Math.min(start + Math.max(1, word.length), this.view.state.doc.length), severity: 'error', message });
    }
    this.view.dispatch(setDiagnostics(this.view.state, found));
    if (from !== null) this.view.dispatch({ effects: EditorView.scrollIntoView(found[0]?.from ?? 0) });
  }

  focus(): void {
    this.view.focus();
  }

  destroy(): void {
    this.view.destroy();
  }

  private sql(): Extension {
    return sql({ dialect: DIALECTS[this.dialect] ?? StandardSQL, schema: this.schema, upperCaseKeywords: true });
  }
}

/** Tab indents inside the editor, so Escape is the way out for the keyboard. */
function leave(view: EditorView): boolean {
  view.contentDOM.blur();
  return false;
}

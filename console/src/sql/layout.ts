/** SQL on lines of its own clauses. Only blanks change: the words, texts and comments stay as they are. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|\/\*[\s\S]*?\*\/|[A-Za-z_]\w*|\d[\w.]*|[(),]|\s+|[^\s\w'"(),]/g;
const CLAUSES = new Set(
  'select from where group having order limit offset union except intersect with window qualify values'.split(' '),
);
const JOINS = new Set(['join', 'left', 'right', 'full', 'inner', 'cross', 'natural', 'outer']);

/** A parenthesis that is open: the indent of its content, and whether that is a query. */
interface Paren {
  indent: number;
  isQuery: boolean;
}

/** A text that has lines or comments already is left as its author wrote it. */
export function layout(sql: string): string {
  const text = sql.trim();
  if (/\n|--/.test(text)) return text;
  const tokens = [...text.matchAll(TOKENS)].map((match) => match[0]);
  return tokens.join('') === text ? placed(tokens) : text;
}

function placed(tokens: string[]): string {
  const open: Paren[] = [{ indent: 0, isQuery: true }];
  let written = '';
  let last = '';
  const breakLine = (indent: number): void => {
    written = `${written.trimEnd()}\n${'  '.repeat(indent)}`;
  };
  tokens.forEach((token, place) => {
    const { indent, isQuery } = open.at(-1) ?? { indent: 0, isQuery: true };
    if (token === '(') {
      const inner = /^(select|with|values)$/i.test(tokens.slice(place + 1).find((next) => next.trim()) ?? '');
      open.push({ indent: inner ? indent + 1 : indent, isQuery: inner });
      written += token;
      if (inner) breakLine(indent + 1);
    } else if (token === ')' && open.length > 1) {
      open.pop();
      if (isQuery) breakLine(open.at(-1)?.indent ?? 0);
      written += token;
    } else if (/^\s+$/.test(token)) {
      written += /\s$/.test(written) ? '' : ' ';
    } else {
      if (isQuery && written.trim() && begins(token, last) && !/\n *$/.test(written)) breakLine(indent);
      written += token;
    }
    if (token.trim()) last = token.toLowerCase();
  });
  return written;
}

/** Whether a word begins a line: a clause, or the first word of a join. */
function begins(token: string, last: string): boolean {
  const word = token.toLowerCase();
  if (JOINS.has(word)) return !JOINS.has(last);
  return CLAUSES.has(word) && last !== 'distinct' && last !== 'within' && last !== '.';
}

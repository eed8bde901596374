/** What a person has typed, as the JSON that the contract wants for the type (docs/http.md, "Values"). */
import { parseExact, type Json } from '../api/exact';
import { Problem } from '../api/problem';

/** The value of a text. Raises a Problem if it is no value of the type; the service judges what is left. */
export function givenValue(text: string, type: string): Json {
  const trimmed = text.trim();
  if (/^(SMALLINT|INTEGER|BIGINT)$/.test(type)) {
    if (!/^[+-]?\d+$/.test(trimmed)) throw refused(text, type, 'write digits, with a minus sign if need be');
    const whole = BigInt(trimmed.replace(/^\+/, ''));
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (/^(REAL|DOUBLE PRECISION)$/.test(type)) {
    const number = trimmed === '' ? NaN : Number(trimmed);
    if (Number.isFinite(number)) return number;
    if (/^(NaN|-?Infinity)$/.test(trimmed)) return trimmed;
    throw refused(text, type, 'write a number such as 1.5, or NaN, Infinity, -Infinity');
  }
  if (type === 'BOOLEAN') {
    if (/^(true|t|yes|1)$/i.test(trimmed)) return true;
    if (/^(false|f|no|0)$/i.test(trimmed)) return false;
    throw refused(text, type, 'write true or false');
  }
  if (type === 'JSON' || type.endsWith(']') || /^(STRUCT|MAP)\(/.test(type)) {
    try {
      return parseExact(trimmed);
    } catch {
      throw refused(text, type, type.endsWith(']') ? 'write an array as JSON: [1, 2]' : 'write JSON, texts in double quotes');
    }
  }
  return /^(TEXT|VARCHAR|CHAR)/.test(type) ? text : trimmed;
}

function refused(text: string, type: string, hint: string): Problem {
  return new Problem({ code: 'invalid_value', status: 422, detail: `"${text}" is not a valid ${type}`, hint });
}

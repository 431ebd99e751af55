/**
 * Comma-separated values by RFC 4180: CRLF, quotes where they are needed. Spreadsheets run cells that look like formulas,
 * so what others wrote never begins like one. A number column holds nothing but numbers, negative ones too.
 */
export interface CsvColumn<Row> {
  readonly name: string;
  /** Null is an empty cell. */
  readonly cell: (row: Row) => string;
}

export function textColumn<Row>(name: string, value: (row: Row) => string | null): CsvColumn<Row> {
  return { name, cell: (row) => quoted(withoutFormula(value(row) ?? '')) };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

export function numberColumn<Row>(name: string, value: (row: Row) => string | null): CsvColumn<Row> {
  return {
    name,
    cell: (row) => {
      const number = value(row);
      if (number === null) return '';
      if (!NUMBER.test(number)) throw new TypeError(`${name} is a column of numbers`);
      return number;
    },
  };
}

export function csvHeader(columns: readonly CsvColumn<never>[]): string {
  return `${columns.map(({ name }) => name).join(',')}\r\n`;
}

export function csvLines<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  let text = '';
  for (const row of rows) text += `${columns.map(({ cell }) => cell(row)).join(',')}\r\n`;
  return text;
}

// Full-width forms count too: some spreadsheets take them for the plain ones.
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
// A spreadsheet that separates by semicolons, bars or tabs splits at them whatever the quotes say.
const INNER_FORMULA = /([;|\t\r\n]\s*)(?=[=+\-@＝＋－＠])/g;

/** An apostrophe makes a spreadsheet take the cell for text. */
export function withoutFormula(text: string): string {
  const inner = text.replace(INNER_FORMULA, "$1'");
  return FORMULA.test(inner) ? `'${inner}` : inner;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

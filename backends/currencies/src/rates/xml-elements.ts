/** One start tag of a document, with the names of the elements around it (outermost first). */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly ancestors: readonly string[];
}

export class XmlSyntaxError extends Error {
  override readonly name = 'XmlSyntaxError';
}

const MAX_DEPTH = 32;
const NAME = /^[A-Za-z_][\w.:-]{0,63}/;
const ATTRIBUTE = /\s+([A-Za-z_][\w.:-]{0,63})\s*=\s*(?:"([^"<&]*)"|'([^'<&]*)')/y;

/**
 * Lists the elements of a small data document. It is deliberately less than XML: no document type, no entities, no CDATA, so
 * nothing can expand or point elsewhere. It insists that every element is closed, because a feed cut off in the middle
 * must be refused as a whole and not read up to the cut.
 */
export function listElements(text: string): XmlElement[] {
  const elements: XmlElement[] = [];
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  for (;;) {
    const start = text.indexOf('<', at);
    const between = text.slice(at, start === -1 ? undefined : start);
    if (open.length === 0 && between.replace('\uFEFF', '').trim() !== '')
      throw new XmlSyntaxError('text outside the root');
    if (start === -1) break;
    at = endOfMarkup(text, start);
    const markup = text.slice(start, at);
    if (markup.startsWith('<?') || markup.startsWith('<!--')) continue;
    if (markup.startsWith('<!')) throw new XmlSyntaxError('document types and CDATA are not read');
    if (markup.startsWith('</')) {
      if (open.pop() !== markup.slice(2, -1).trimEnd())
        throw new XmlSyntaxError('end tag without its start tag');
      continue;
    }
    if (open.length === 0) roots += 1;
    const { element, selfClosing } = readStartTag(markup, open);
    elements.push(element);
    if (!selfClosing) open.push(element.name);
    if (open.length > MAX_DEPTH) throw new XmlSyntaxError('nested too deeply');
  }
  if (open.length > 0) throw new XmlSyntaxError('the document ends inside an element');
  if (roots !== 1) throw new XmlSyntaxError('a document has one root');
  return elements;
}

function endOfMarkup(text: string, start: number): number {
  const closing = text.startsWith('<!--', start) ? '-->' : text.startsWith('<?', start) ? '?>' : '>';
  const end = text.indexOf(closing, start + 1);
  if (end === -1) throw new XmlSyntaxError('the document ends inside a tag');
  return end + closing.length;
}

function readStartTag(
  markup: string,
  open: readonly string[],
): { element: XmlElement; selfClosing: boolean } {
  const selfClosing = markup.endsWith('/>');
  const inner = markup.slice(1, selfClosing ? -2 : -1);
  const name = NAME.exec(inner)?.[0];
  if (name === undefined) throw new XmlSyntaxError('a tag without a name');
  const attributes: Record<string, string> = Object.create(null);
  ATTRIBUTE.lastIndex = name.length;
  let end = name.length;
  for (let match = ATTRIBUTE.exec(inner); match !== null; match = ATTRIBUTE.exec(inner)) {
    const key = match[1] ?? '';
    if (key in attributes) throw new XmlSyntaxError('an attribute is given twice');
    attributes[key] = match[2] ?? match[3] ?? '';
    end = ATTRIBUTE.lastIndex;
  }
  if (inner.slice(end).trim() !== '') throw new XmlSyntaxError('a tag that cannot be read');
  return { element: { name, attributes, ancestors: [...open] }, selfClosing };
}
